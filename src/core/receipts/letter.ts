import type { Uuid } from '../../lib/ids.ts'
import type { Letter } from '../../lib/mailer.ts'
import { checkoutUrl, planUrl } from '../charges/addresses.ts'
import type { AppWithCharges } from '../charges/group.ts'
import { find as findPlanOf } from '../charges/plan-store.ts'
import { chargesOf } from '../charges/plans.ts'
import { amountAt, asOf, type Charge, receivedOf } from '../charges/rules.ts'
import { breakDown } from '../charges/view.ts'
import { nowOf } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { openPerson } from '../customers/sealing.ts'
import { composePaymentLink, composePlanLink, composeReceipt } from '../letters/payers.ts'
import { openMail, type SealedMail } from '../mails/sealing.ts'
import { aboutOf, sortOf } from '../messages/rules.ts'
import { findOwn } from '../messages/store.ts'
import { findReminderLetter } from '../reminders/letter.ts'
import { findPurchase, receiptLines } from './lines.ts'

/** The mail with the page of a plan. Nobody is asked to pay what is paid or canceled already. */
async function planLetter(
  app: AppWithCharges,
  company: Company,
  to: string,
  id: Uuid,
): Promise<Letter | null> {
  const plan = await findPlanOf(app.db, company.id, id)
  if (!plan) return null
  const now = nowOf(app, company)
  const charges = (await chargesOf(app.db, [plan])).map((charge) => asOf(charge, now))
  const open = charges.filter(({ status }) => status === 'OPEN')
  const [next] = open
  if (!next) return null
  return composePlanLink(company, {
    to,
    payerName: next.payer!.name,
    url: planUrl(app, plan),
    total: plan.total,
    count: charges.length,
    next: { amount: amountAt(next, now), dueDate: next.due!.terms.dueDate },
    devMode: plan.devMode,
    description: plan.description,
  })
}

/** What the company has written itself for payers of such charges, as they are now. */
async function ownWords(app: AppWithCharges, company: Company, charge: Charge) {
  const now = nowOf(app, company)
  const text = (await findOwn(app.db, company.id))[sortOf(charge, now)]
  return text === undefined ? null : { text, about: aboutOf(company, charge, now) }
}

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
  if (contents.planId !== undefined) return planLetter(app, company, to, contents.planId)
  const about = {
    to,
    payerName: charge.payer.name,
    url: checkoutUrl(app, charge),
    own: await ownWords(app, company, charge),
  }
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
