import { randomUUID } from 'node:crypto'
import type { Tx } from '../../db/database.ts'
import { openBooks, post } from '../../ledger/post.ts'
import { opening } from '../../ledger/recipes.ts'
import { assert } from '../../lib/assert.ts'
import { DEFAULT_COLOR } from '../../lib/contrast.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Letter } from '../../lib/mailer.ts'
import type { Vault } from '../../lib/vault.ts'
import { composeEmailChanged, composeEmailConfirmed } from '../letters/companies.ts'
import { DAY_S, type MailKind } from '../mails/rules.ts'
import { listSent, queueMails } from '../mails/store.ts'
import { startReconciling } from '../reconciliation-schedule.ts'
import { announceChange } from './announce.ts'
import {
  type Author,
  type CompanyChange,
  change,
  EMAIL_CHANGES,
  fixedChanges,
  fixedFault,
  formerEmails,
  isLimited,
  payoutFault,
  requireFewChanges,
} from './changes.ts'
import { makeKey } from './keys.ts'
import {
  type Company,
  companyFaults,
  DEFAULT_CITY,
  type NewCompany,
  RELEASE_DELAY_S,
  SANDBOX_OPENING,
  SCOPES,
  type Scope,
} from './rules.ts'
import * as store from './store.ts'

export async function createCompany(
  tx: Tx,
  fields: NewCompany & { apiVersion: string; id?: Uuid },
  now: Date,
): Promise<Company> {
  const faults = companyFaults(fields)
  if (faults) throw faults
  const company: Company = {
    id: fields.id ?? newId(),
    name: fields.name,
    taxId: fields.taxId,
    email: fields.email,
    color: fields.color ?? DEFAULT_COLOR,
    imageUrl: fields.imageUrl ?? null,
    // The simulated bank gives a sandbox company a random Pix key, as a bank would.
    pixKey: fields.pixKey ?? randomUUID(),
    city: fields.city ?? DEFAULT_CITY,
    mode: fields.mode,
    apiVersion: fields.apiVersion,
    language: fields.language ?? 'pt',
    releaseDelay_s: fields.releaseDelay_s ?? RELEASE_DELAY_S[fields.mode],
    staticSalesLimit: fields.staticSalesLimit ?? null,
    mailsReceipts: fields.mailsReceipts ?? true,
    strictTaxIds: fields.strictTaxIds ?? false,
    settlesExactPayments: fields.settlesExactPayments ?? false,
    contactEmail: null,
    contactPhone: null,
    contactWhatsapp: null,
    newCodes: 'LINKS',
    reminderDays: [],
    clockAhead_ms: 0,
    bankId: null,
    payouts: null,
    payoutKey: null,
    codeEmail: null,
    codeEmailUntil: null,
    destinationChangedAt: null,
    destinationChangedBy: null,
    suspendedAt: null,
    createdAt: now,
    updatedAt: now,
  }
  await store.insertCompany(tx, company)
  await openBooks(tx, company.id)
  await startReconciling(tx, company.id, now)
  if (company.mode === 'sandbox') await post(tx, company.id, [opening(SANDBOX_OPENING)], now)
  return company
}

/** Changes a company and mails its former addresses. `now` is real time, as mails are sent in it. */
export async function changeCompany(
  tx: Tx,
  vault: Vault,
  id: Uuid,
  fields: CompanyChange,
  by: Author,
  now: Date,
): Promise<{ before: Company; after: Company }> {
  const before = await store.findCompany(tx, id, 'for no key update of c')
  assert(before, 'a company is never deleted')
  const after = change(before, fields, by, now)
  const faults = companyFaults(after) ?? payoutFault(after)
  if (faults) throw faults
  const fixed = fixedChanges(before, after)
  if (fixed.length > 0 && (await store.hasRealSales(tx, id))) throw fixedFault(fixed)
  if (isLimited(before, after, by, now)) await requireWithinLimit(tx, id, now)
  await store.updateCompany(tx, after)
  await mailChange(tx, vault, before, after, now)
  await announceChange(tx, id)
  return { before, after }
}

/** The company is locked: changes at the same moment are counted one after the other. */
async function requireWithinLimit(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  const since = new Date(now.getTime() - DAY_S * 1000)
  const { perDay } = EMAIL_CHANGES
  requireFewChanges(await listSent(tx, companyId, 'email-confirmed', since, perDay), now)
}

async function mailChange(
  tx: Tx,
  vault: Vault,
  before: Company,
  after: Company,
  now: Date,
): Promise<void> {
  if (before.email === after.email) return
  const mail = (kind: MailKind, letter: Letter) => ({
    companyId: after.id,
    kind,
    letter,
    expiresAt: null,
    createdAt: now,
  })
  await queueMails(tx, vault, [
    ...formerEmails(before, after, now).map((to) =>
      mail('email-changed', composeEmailChanged(after, to, now)),
    ),
    mail('email-confirmed', composeEmailConfirmed(after)),
  ])
}

/** Revokes all keys of a company at once. */
export async function revokeAllKeys(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  await store.revokeKeys(tx, companyId, now)
  await announceChange(tx, companyId)
}

/** The key's text is shown to the caller once; the database keeps a keyed hash. */
export async function createKey(
  tx: Tx,
  vault: Vault,
  company: Company,
  options: { name: string; scopes?: Scope[] },
  now: Date,
): Promise<{ id: Uuid; text: string }> {
  const { id, text } = makeKey(company.mode)
  await store.insertKey(tx, {
    companyId: company.id,
    id,
    name: options.name,
    hash: vault.hashKey(text),
    scopes: options.scopes ?? SCOPES,
    createdAt: now,
  })
  return { id, text }
}

export async function revokeKey(tx: Tx, companyId: Uuid, id: Uuid, now: Date): Promise<boolean> {
  const revoked = await store.revokeKey(tx, companyId, id, now)
  if (revoked) await announceChange(tx, companyId)
  return revoked
}

export async function pinVersion(
  tx: Tx,
  companyId: Uuid,
  version: string,
  now: Date,
): Promise<boolean> {
  const pinned = await store.updateVersion(tx, companyId, version, now)
  if (pinned) await announceChange(tx, companyId)
  return pinned
}
