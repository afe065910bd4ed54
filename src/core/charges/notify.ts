import type { App } from '../app.ts'
import { toRealTime } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { openPerson } from '../customers/sealing.ts'
import { composePaymentLink } from '../mails/letters.ts'
import { type NewMail, type SealedMail, sealMail } from '../mails/sealing.ts'
import { checkoutUrl } from './addresses.ts'
import { breakDown } from './breakdown.ts'
import type { Charge } from './rules.ts'

/** The mail with the link to a charge's page. Null if the payer has no address. */
export function linkMail(app: App, company: Company, charge: Charge): NewMail | null {
  const { vault } = app
  const { link, payer, amount, devMode, expiresAt, description } = charge
  const to = payer && openPerson(vault, company.id, payer).email
  if (!payer || !to) return null
  const breakdown = breakDown(amount, link?.items ?? [])
  const url = checkoutUrl(app, charge)
  const payable = { amount, url, expiresAt, devMode, description, breakdown }
  const about = { to, payerName: payer.name, ...payable }
  return {
    companyId: company.id,
    kind: 'payment-link',
    letter: composePaymentLink(company, about),
    expiresAt: toRealTime(app, expiresAt),
    createdAt: app.systemClock.now(),
    chargeId: charge.id,
  }
}

/** The mail with a new link, if the merchant wants it and the payer has an address. */
export function mailsOfCreation(app: App, company: Company, charge: Charge): SealedMail[] {
  const mail = charge.link?.notifyCustomer ? linkMail(app, company, charge) : null
  return mail ? [sealMail(app.vault, mail)] : []
}

type Sending = Pick<App, 'vault' | 'systemClock'>

/** The mail with the receipt of a charge. It is composed when it is sent. */
export const receiptMail = (
  { systemClock }: Sending,
  { companyId, id }: Pick<Charge, 'companyId' | 'id'>,
): NewMail => ({
  companyId,
  kind: 'receipt',
  letter: { chargeId: id },
  expiresAt: null,
  createdAt: systemClock.now(),
  chargeId: id,
})

/** The mails with receipts, if the company wants them and the payers have addresses. */
export function receiptMails(app: Sending, company: Company, charges: Charge[]): NewMail[] {
  if (!company.mailsReceipts) return []
  return charges.flatMap((charge) => {
    const { payer } = charge
    if (!payer || !openPerson(app.vault, company.id, payer).email) return []
    return [receiptMail(app, charge)]
  })
}
