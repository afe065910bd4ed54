import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { plainPixKey } from '../../pix/pix-key.ts'
import type { Uses } from '../app.ts'
import { codeEmailOf } from '../companies/changes.ts'
import type { Company } from '../companies/rules.ts'
import { composeKeyChanged } from '../letters/recipients.ts'
import { DAY_S } from '../mails/rules.ts'
import { listSent, queueMails } from '../mails/store.ts'
import type { Recipient } from './rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'
import type { NewRecipient, RecipientChange } from './view.ts'

export async function createRecipient(
  tx: Tx,
  app: Uses<'clock' | 'vault'>,
  company: Company,
  { name, taxId, pixKey }: Static<typeof NewRecipient>,
): Promise<Recipient> {
  const now = app.clock.now()
  const recipient: Recipient = {
    companyId: company.id,
    id: newId(),
    name,
    taxId,
    pixKey: plainPixKey(pixKey)!,
    status: 'ACTIVE',
    keyChangedAt: null,
    createdAt: now,
    updatedAt: now,
  }
  await store.save(tx, app.vault, recipient)
  return recipient
}

export async function findRecipient(
  tx: Tx,
  { vault }: Uses<'vault'>,
  companyId: Uuid,
  id: Uuid,
  lock: 'for update' | '' = '',
): Promise<Recipient> {
  const recipient = await store.find(tx, vault, companyId, id, lock)
  if (!recipient) throw problem('recipient_not_found')
  return recipient
}

/** Changes a recipient. The company gets a mail about another Pix key. */
export async function changeRecipient(
  tx: Tx,
  app: Uses<'clock' | 'systemClock' | 'vault'>,
  company: Company,
  id: Uuid,
  fields: Static<typeof RecipientChange>,
): Promise<Recipient> {
  const at = app.systemClock.now()
  const before = await findRecipient(tx, app, company.id, id, 'for update')
  const fault = rules.keyFault(company, fields.pixKey, before.taxId)
  if (fault) throw invalid(fault)
  const after = rules.change(before, fields, app.clock.now(), at)
  await store.save(tx, app.vault, after)
  if (after.pixKey !== before.pixKey) await mailChange(tx, app, company, after, at)
  return after
}

async function mailChange(
  tx: Tx,
  { vault }: Uses<'vault'>,
  company: Company,
  after: Recipient,
  at: Date,
): Promise<void> {
  const since = new Date(at.getTime() - DAY_S * 1000)
  const { perDay } = rules.KEY_CHANGES
  const sent = await listSent(tx, company.id, 'recipient-key-changed', since, perDay)
  rules.requireFewChanges(sent, at)
  const letter = composeKeyChanged({ ...company, email: codeEmailOf(company, at) }, after, at)
  const mail = { companyId: company.id, kind: 'recipient-key-changed', letter } as const
  await queueMails(tx, vault, [{ ...mail, expiresAt: null, createdAt: at }])
}
