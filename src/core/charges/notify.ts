import type { App } from '../app.ts'
import { toRealTime } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { openPerson } from '../customers/sealing.ts'
import { composePaymentLink } from '../mails/letters.ts'
import { type NewMail, type SealedMail, sealMail } from '../mails/sealing.ts'
import { breakDown } from './breakdown.ts'
import type { Charge } from './rules.ts'
import { checkoutUrl } from './view.ts'

/** The mail with a new link, if the merchant wants it and the payer has an address. */
export function mailsOfCreation(app: App, company: Company, charge: Charge): SealedMail[] {
  const { vault, publicUrl } = app
  const { link, payer, amount, devMode, expiresAt, description } = charge
  if (!link?.notifyCustomer || !payer) return []
  const { email: to } = openPerson(vault, company.id, payer)
  if (!to) return []
  const breakdown = breakDown(amount, link.items)
  const url = checkoutUrl(publicUrl, charge)
  const payable = { amount, url, expiresAt, devMode, description, breakdown }
  const about = { to, payerName: payer.name, ...payable }
  const letter = composePaymentLink(company, about)
  const mail = {
    companyId: company.id,
    kind: 'payment-link',
    letter,
    expiresAt: toRealTime(app, expiresAt),
    createdAt: app.systemClock.now(),
  } as const
  return [sealMail(vault, mail)]
}

/**
 * The mails with receipts, if the company wants them and the payers have addresses. They are
 * composed when they are sent.
 */
export function receiptMails(
  { vault, systemClock }: Pick<App, 'vault' | 'systemClock'>,
  company: Company,
  charges: Charge[],
): NewMail[] {
  if (!company.mailsReceipts) return []
  const mail = { companyId: company.id, kind: 'receipt', expiresAt: null } as const
  return charges.flatMap(({ id, payer }) => {
    if (!payer || !openPerson(vault, company.id, payer).email) return []
    return [{ ...mail, letter: { chargeId: id }, createdAt: systemClock.now() }]
  })
}
