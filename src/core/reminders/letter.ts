import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { amountOn, lastDayInTime } from '../../pix/due-amount.ts'
import { localDateOf } from '../../pix/local-time.ts'
import { find as findBilling } from '../billings/store.ts'
import { checkoutUrl } from '../charges/addresses.ts'
import type { AppWithCharges } from '../charges/group.ts'
import { asOf, type Charge } from '../charges/rules.ts'
import { nowOf } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { openPerson } from '../customers/sealing.ts'
import { composeReminder, type ReminderLetter } from '../letters/reminders.ts'
import type { AboutReminder } from '../mails/sealing.ts'
import { unsubscribeUrl } from './addresses.ts'
import { type ReminderRule, sortOf } from './rules.ts'
import { indexesOfStop } from './stops.ts'
import { findStops, listRules } from './store.ts'

type Named = AboutReminder['reminder'] & { companyId: Company['id'] }

/** The amount and the day of a reminder; null if it says nothing that is still so. */
type About = Pick<ReminderLetter, 'amounts' | 'dueDate' | 'nextTry'>

/**
 * The letter of a queued reminder, about the charge as it is now. Null if there is nothing to send
 * any more: the charge is paid, the rule is off, or the payer wants none.
 */
export async function findReminderLetter(
  app: AppWithCharges,
  named: Named,
): Promise<Letter | null> {
  const { companyId, chargeId: id } = named
  const company = await findCompany(app.db, companyId)
  const charge = await app.charges.find({ companyId, id })
  const rule = ruleOf(await listRules(app.db, companyId), named)
  if (!company || company.suspendedAt || !charge?.payer || !rule) return null
  const { email: to } = openPerson(app.vault, companyId, charge.payer)
  if (!to) return null
  const stops = await findStops(app.db, companyId, indexesOfStop(app.vault, companyId, to))
  const about = stops.length > 0 ? null : await aboutOf(app, charge, named)
  if (!about) return null
  return letterOf(company, rule, company.language, {
    to,
    payerName: charge.payer.name,
    description: charge.description,
    devMode: charge.devMode,
    url: checkoutUrl(app, charge),
    unsubscribeUrl: unsubscribeUrl(app, charge),
    ...about,
  })
}

/** The letter of a rule in a language. */
export const letterOf = (
  company: Company,
  rule: Pick<ReminderRule, 'occasion' | 'day' | 'texts'>,
  language: Language,
  letter: Omit<ReminderLetter, 'texts' | 'sort'>,
): Letter =>
  composeReminder(
    { ...company, language },
    { ...letter, texts: rule.texts[language] ?? null, sort: sortOf(rule) },
  )

const ruleOf = (rules: ReminderRule[], { occasion, number }: Named): ReminderRule | undefined =>
  rules.find(
    (rule) =>
      rule.enabled &&
      rule.channel === 'EMAIL' &&
      rule.occasion === occasion &&
      (occasion === 'COLLECTION_FAILED' || rule.day === number),
  )

async function aboutOf(app: AppWithCharges, charge: Charge, named: Named): Promise<About | null> {
  const now = nowOf(app, named)
  const today = localDateOf(now)
  if (named.occasion === 'COLLECTION_FAILED') return failureOf(app, charge, named)
  if (!charge.due || asOf(charge, now).status !== 'OPEN') return null
  const { terms } = charge.due
  return { amounts: amountOn(charge.amount, terms, today), dueDate: lastDayInTime(terms) }
}

/** What failed, and when the bank tries again; 0 is the end of all attempts. */
async function failureOf(
  app: AppWithCharges,
  charge: Charge,
  { number, nextTry = null }: Named,
): Promise<About | null> {
  const billing = await findBilling(app.db, charge.companyId, charge.id)
  if (!billing || charge.status !== (number === 0 ? 'EXPIRED' : 'OPEN')) return null
  // The bank may have tried that day already. The billing itself may not be written yet.
  const isOver = nextTry && billing.nextAt && localDateOf(billing.nextAt) > nextTry
  if (isOver) return null
  return { amounts: plain(charge.amount), dueDate: billing.dueOn, nextTry }
}

const plain = (amount: Cents): ReminderLetter['amounts'] => {
  const none = toCents(0)
  return {
    original: amount,
    fine: none,
    interest: none,
    discount: none,
    rebate: none,
    total: amount,
  }
}
