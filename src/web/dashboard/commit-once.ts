import { guardOfPart, type IdempotencyRef, runOnce } from '../../core/idempotency.ts'
import type { Act } from '../../db/database.ts'
import { newId, suffixOf } from '../../lib/ids.ts'
import type { SignedIn, Visit } from './visit.ts'

const ONCE_FORM = /^[0-9a-z]{26}$/

/** What tells a form from every other, and what it asks for. */
export function formGuard(
  { form, request, site: { app } }: Pick<SignedIn, 'form' | 'request' | 'site'>,
  fields: unknown,
): IdempotencyRef {
  const once = ONCE_FORM.test(form.once ?? '') ? form.once : suffixOf(newId())
  const fingerprint = app.vault.fingerprint([request.url, JSON.stringify(fields)])
  return { key: `pages:${once}`, fingerprint }
}

/**
 * Runs a command that the API does not have, once for each form, or once for each part of it. If
 * the form is sent again, it returns the answer of the first time.
 */
export async function commitOnce<T>(
  visit: Visit,
  fields: unknown,
  act: Act<T>,
  part: string | null = null,
): Promise<T> {
  const { app, company } = visit
  const whole = { companyId: company.id, ...formGuard(visit, fields) }
  const guard = part === null ? whole : { ...whole, ...guardOfPart(app.vault, whole, part) }
  return runOnce(app.db, app.vault, guard, await app.clockWatch.now(), act)
}
