import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { openPerson } from '../customers/sealing.ts'
import { sealMail } from '../mails/sealing.ts'
import { queueSealed } from '../mails/store.ts'
import { insertMail, listMails } from './mail-store.ts'
import { linkMail, receiptMail } from './notify.ts'
import { lockCharge } from './record.ts'
import { asOf, type Charge, isSubscriptionLink, notPayable } from './rules.ts'

/** So often a mail about one charge may be sent by hand. */
const LEAST_S = 60
const MAX_PER_DAY = 5
const DAY_S = 86_400

/** The seconds until another mail about a charge may be sent. `sent` has the newest first. */
export function waitFor(sent: Date[], now: Date): number {
  const left_s = (at: Date | undefined, period_s: number) =>
    at === undefined ? 0 : Math.ceil((at.getTime() - now.getTime()) / 1000) + period_s
  return Math.max(0, left_s(sent[0], LEAST_S), left_s(sent[MAX_PER_DAY - 1], DAY_S))
}

/** Which mail the payer of a charge can be sent now. Null: none. */
export function mailKindOf(
  { vault }: Pick<App, 'vault'>,
  charge: Charge,
): 'payment-link' | 'receipt' | null {
  const { payer, status, kind } = charge
  if (!payer || !openPerson(vault, charge.companyId, payer).email) return null
  if (status === 'COMPLETED') return 'receipt'
  const isPaidByPage = status === 'OPEN' && kind !== 'RECURRING' && !isSubscriptionLink(charge)
  return isPaidByPage ? 'payment-link' : null
}

/** Sends the payer the link of an open charge, or the receipt of a paid one. */
export async function sendChargeMail(
  tx: Tx,
  app: App,
  company: Company,
  id: Uuid,
): Promise<'payment-link' | 'receipt'> {
  const now = app.clock.now()
  const charge = asOf(await lockCharge(tx, company.id, id), now)
  const kind = mailKindOf(app, charge)
  if (kind === null) {
    throw charge.status === 'OPEN'
      ? invalid('email: the payer of the charge has no address')
      : notPayable(charge.status)
  }
  const sent = await listMails(tx, charge)
  const wait_s = waitFor(
    sent.map(({ createdAt }) => createdAt),
    now,
  )
  if (wait_s > 0) {
    throw problem(
      'rate_limited',
      `A mail about a charge can be sent once a minute, and ${MAX_PER_DAY} times a day.`,
      { 'Retry-After': String(wait_s) },
    )
  }
  const mail = kind === 'receipt' ? receiptMail(app, charge) : linkMail(app, charge)
  const sealed = sealMail(app.vault, mail)
  await queueSealed(tx, [sealed])
  await insertMail(tx, charge, sealed.id, now)
  return kind
}
