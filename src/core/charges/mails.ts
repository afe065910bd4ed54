import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import type { App, Uses } from '../app.ts'
import { toRealTime } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { openPerson } from '../customers/sealing.ts'
import type { MailOutcome, MailReason } from '../mails/rules.ts'
import { type NewMail, type SealedMail, sealMail } from '../mails/sealing.ts'
import { queueSealed } from '../mails/store.ts'
import type { Plan } from './plan-rules.ts'
import { lockCharge } from './record.ts'
import { asOf, type Charge, isSubscriptionLink, notPayable } from './rules.ts'
import type { ChargeId } from './store.ts'

/** A mail about a charge that somebody has sent. Without an outcome it waits, or is long gone. */
export type ChargeMail = {
  createdAt: Date
  outcome: MailOutcome | null
  reason: MailReason | null
}

/** A mail about a charge that nobody has sent by hand, and that its payer has not got. */
export type UnsentMail = Row & {
  kind: 'payment-link' | 'receipt'
  at: Date
  outcome: MailOutcome
  reason: MailReason | null
}

const MAX_MAILS = 20

/** The newest mails first. */
export async function listMails(tx: Tx, { companyId, id }: ChargeId): Promise<ChargeMail[]> {
  return tx.query<Row & ChargeMail>({
    text: `select s.created_at as "createdAt", m.outcome, m.reason from charge_mails s
           left join mails m on m.company_id = s.company_id and m.id = s.id
           where s.company_id = $1 and s.charge_id = $2 order by s.id desc limit $3`,
    values: [companyId, id, MAX_MAILS],
  })
}

/** The oldest first. */
export const listUnsent = (tx: Tx, { companyId, id }: ChargeId): Promise<UnsentMail[]> =>
  tx.query<UnsentMail>({
    text: `select m.kind, m.finished_at as at, m.outcome, m.reason from mails m
           where m.company_id = $1 and m.charge_id = $2 and m.outcome in ('FAILED', 'EXPIRED')
             and m.kind <> 'reminder' and not exists (select from charge_mails s where s.company_id = m.company_id
               and s.charge_id = m.charge_id and s.id = m.id)
           order by m.id limit $3`,
    values: [companyId, id, MAX_MAILS],
  })

async function insertMail(
  tx: Tx,
  { companyId, id }: ChargeId,
  mailId: Uuid,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `insert into charge_mails (company_id, charge_id, id, created_at)
           values ($1, $2, $3, $4)`,
    values: [companyId, id, mailId, now],
  })
}

type Sending = Pick<App, 'vault' | 'systemClock'>

const hasAddress = ({ vault }: Sending, { companyId, payer }: Charge): boolean =>
  payer !== null && openPerson(vault, companyId, payer).email !== undefined

/** A mail to the payer of a charge. It is composed when it is sent. */
const payerMail = (
  { systemClock }: Sending,
  kind: NewMail['kind'],
  { companyId, id }: Charge,
  expiresAt: Date | null,
): NewMail => ({
  companyId,
  kind,
  letter: { chargeId: id },
  expiresAt,
  createdAt: systemClock.now(),
  chargeId: id,
})

/** The mail with the link to a charge's page. */
const linkMail = (app: Uses<'clock' | 'systemClock' | 'vault'>, charge: Charge): NewMail =>
  payerMail(app, 'payment-link', charge, toRealTime(app, charge.expiresAt))

/** The mail with the receipt of a charge. */
const receiptMail = (app: Sending, charge: Charge): NewMail =>
  payerMail(app, 'receipt', charge, null)

/** The mail with a new link, if the merchant wants it and the payer has an address. */
export function mailsOfCreation(
  app: Uses<'clock' | 'systemClock' | 'vault'>,
  charge: Charge,
): SealedMail[] {
  if (!charge.link?.notifyCustomer || !hasAddress(app, charge)) return []
  return [sealMail(app.vault, linkMail(app, charge))]
}

/** The mail with the page of a plan, if its payer has an address. It is about its first charge. */
export function planMails(
  app: Uses<'clock' | 'systemClock' | 'vault'>,
  { id: planId }: Plan,
  charges: Charge[],
): NewMail[] {
  const [first] = charges
  if (!first || !hasAddress(app, first)) return []
  const expiresAt = toRealTime(app, charges.at(-1)!.expiresAt)
  const mail = payerMail(app, 'payment-link', first, expiresAt)
  return [{ ...mail, letter: { chargeId: first.id, planId } }]
}

/** The mails with receipts, if the company wants them and the payers have addresses. */
export const receiptMails = (app: Sending, company: Company, charges: Charge[]): NewMail[] =>
  company.mailsReceipts
    ? charges.filter((charge) => hasAddress(app, charge)).map((charge) => receiptMail(app, charge))
    : []

/** So often a mail about one charge may be sent by hand. */
const LEAST_S = 60
const MAX_PER_DAY = 5
const DAY_S = 86_400

/** The seconds until another mail about a charge may be sent. `sent` has the newest first. */
function waitFor(sent: Date[], now: Date): number {
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
  app: Uses<'clock' | 'systemClock' | 'vault'>,
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
