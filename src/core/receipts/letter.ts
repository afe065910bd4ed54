import type { Letter } from '../../lib/mailer.ts'
import { checkoutUrl } from '../charges/addresses.ts'
import type { AppWithCharges } from '../charges/group.ts'
import { amountAt, receivedOf } from '../charges/rules.ts'
import { breakDown } from '../charges/view.ts'
import { nowOf } from '../companies/clock.ts'
import { findCompany } from '../companies/store.ts'
import { openPerson } from '../customers/sealing.ts'
import { composePaymentLink, composeReceipt } from '../letters/payers.ts'
import { openMail, type SealedMail } from '../mails/sealing.ts'
import { findReminderLetter } from '../reminders/letter.ts'
import { findPurchase, receiptLines } from './lines.ts'

/**
 * The contents of a queued mail. If it is to a payer, it is composed from the charge as it is now.
 * Null if there is nothing to send any more.
 */
export async function findLetter(app: AppWithCharges, mail: SealedMail): Promise<Letter | null> {
  const { companyId, kind } = mail
  const contents = openMail(app.vault, mail)
  if ('reminder' in contents) return findReminderLetter(app, { companyId, ...contents.reminder })
  if (!('chargeId' in contents)) return contents
  const company = await findCompany(app.db, companyId)
  const charge = await app.charges.find({ companyId, id: contents.chargeId })
  if (!company || !charge?.payer) return null
  const { email: to } = openPerson(app.vault, companyId, charge.payer)
  if (!to) return null
  const about = { to, payerName: charge.payer.name, url: checkoutUrl(app, charge) }
  if (kind === 'payment-link') {
    const { expiresAt, devMode, description, link, due } = charge
    const breakdown = breakDown(charge.amount, link?.items ?? [])
    const amount = amountAt(charge, nowOf(app, company))
    const dueDate = due?.terms.dueDate
    const payable = { amount, expiresAt, dueDate, devMode, description, breakdown }
    // Nobody is asked to pay what is paid or canceled already.
    return charge.status === 'OPEN' ? composePaymentLink(company, { ...about, ...payable }) : null
  }
  const purchase = await findPurchase(app, charge)
  const lines = receiptLines(app, company, charge, purchase, company.language)
  const paid = {
    amount: receivedOf(charge),
    isRefunded: charge.refunded > 0,
    devMode: charge.devMode,
  }
  return composeReceipt(company, { ...about, ...paid, lines })
}
