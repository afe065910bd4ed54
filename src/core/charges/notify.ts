import type { App } from '../app.ts'
import { toRealTime } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { openPerson } from '../customers/sealing.ts'
import { type NewMail, type SealedMail, sealMail } from '../mails/sealing.ts'
import type { Charge } from './rules.ts'

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
export const linkMail = (app: App, charge: Charge): NewMail =>
  payerMail(app, 'payment-link', charge, toRealTime(app, charge.expiresAt))

/** The mail with the receipt of a charge. */
export const receiptMail = (app: Sending, charge: Charge): NewMail =>
  payerMail(app, 'receipt', charge, null)

/** The mail with a new link, if the merchant wants it and the payer has an address. */
export function mailsOfCreation(app: App, charge: Charge): SealedMail[] {
  if (!charge.link?.notifyCustomer || !hasAddress(app, charge)) return []
  return [sealMail(app.vault, linkMail(app, charge))]
}

/** The mails with receipts, if the company wants them and the payers have addresses. */
export const receiptMails = (app: Sending, company: Company, charges: Charge[]): NewMail[] =>
  company.mailsReceipts
    ? charges.filter((charge) => hasAddress(app, charge)).map((charge) => receiptMail(app, charge))
    : []
