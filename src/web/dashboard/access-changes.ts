import type { App } from '../../core/app.ts'
import type { Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'

/**
 * Refuses too many changes of who can reach the money of a company, or of how a person proves who
 * they are. Each is mailed: to all owners and to the company, whose address may be anybody's, or to
 * the person and to operators.
 */
export async function requireFewAccessChanges(
  { accessChanges }: Pick<App, 'accessChanges'>,
  id: Uuid,
): Promise<void> {
  const wait_s = (await accessChanges?.take(id)) ?? 0
  if (wait_s === 0) return
  throw problem('rate_limited', undefined, { 'Retry-After': String(Math.ceil(wait_s)) })
}
