import { invalid, type Problem } from '../../lib/problems.ts'
import { type MailLimit, requireWithinLimit } from '../mails/rules.ts'
import type { Company } from './rules.ts'

/**
 * What a company can change of itself. A new field needs its name here, its schema in view.ts and
 * its column in store.ts; the compiler asks for both.
 */
export const OWN_FIELDS = [
  'name',
  'email',
  'color',
  'imageUrl',
  'city',
  'language',
  'mailsReceipts',
  'strictTaxIds',
  'settlesExactPayments',
  'contactEmail',
  'contactPhone',
  'contactWhatsapp',
  'newCodes',
] as const

/** What only an operator can change: it says whose money it is and where it goes. */
export const OPERATOR_FIELDS = ['pixKey', 'taxId'] as const

export type OwnField = (typeof OWN_FIELDS)[number]
export type ChangeableField = OwnField | (typeof OPERATOR_FIELDS)[number]

/** Only the fields that are there are changed. */
export type CompanyChange = Partial<Pick<Company, ChangeableField>>

/**
 * Who asks for a change. What comes with an API key may come from whoever has stolen it; an
 * operator is trusted.
 */
export type Author = 'company' | 'operator'

/** After a change of address, one-time codes go to the former one for so long, in real time. */
export const CODE_EMAIL_S = 24 * 3600

/** Where one-time codes go now. */
export const codeEmailOf = (company: Company, now: Date): string =>
  company.codeEmailUntil !== null && now < company.codeEmailUntil
    ? company.codeEmail!
    : company.email

type CodeEmail = Pick<Company, 'codeEmail' | 'codeEmailUntil'>

/**
 * Where codes go after a change of address. If the address changes again within a day, codes still
 * go to the first one, and the day begins anew. If it is changed back, nothing has to be kept.
 */
function codeEmailAfter(company: Company, email: string, by: Author, now: Date): CodeEmail {
  const kept = codeEmailOf(company, now)
  if (by === 'operator' || kept === email) return { codeEmail: null, codeEmailUntil: null }
  return { codeEmail: kept, codeEmailUntil: new Date(now.getTime() + CODE_EMAIL_S * 1000) }
}

/** The company after a change. An operator who names the present address confirms it. */
export function change(company: Company, fields: CompanyChange, by: Author, now: Date): Company {
  const names = by === 'operator' ? [...OWN_FIELDS, ...OPERATOR_FIELDS] : OWN_FIELDS
  const sent = names.filter((name) => fields[name] !== undefined)
  const changed: Company = {
    ...company,
    ...Object.fromEntries(sent.map((name) => [name, fields[name]])),
    updatedAt: now,
  }
  const { email } = changed
  const isNamed = by === 'operator' ? fields.email !== undefined : email !== company.email
  return isNamed ? { ...changed, ...codeEmailAfter(company, email, by, now) } : changed
}

/** How often a company can change its address: each change sends mails to all who had it. */
export const EMAIL_CHANGES: MailLimit = { perHour: 5, perDay: 20 }

/**
 * Whether a change counts against that. An operator may always, and so may who takes a change back:
 * a thief must not be able to keep the owner from it.
 */
export const isLimited = (before: Company, after: Company, by: Author, now: Date): boolean =>
  by === 'company' && ![before.email, codeEmailOf(before, now)].includes(after.email)

/** `changed` lists the moments of the last changes, newest first. */
export const requireFewChanges = (changed: Date[], now: Date): void =>
  requireWithinLimit(changed, EMAIL_CHANGES, now, (perHour, perDay) => {
    return `email: can be changed ${perHour} times an hour and ${perDay} times a day.`
  })

/** Who gets a mail about a changed address: all that were in use, but not the new one. */
export function formerEmails(before: Company, after: Company, now: Date): string[] {
  if (before.email === after.email) return []
  const used = new Set([before.email, codeEmailOf(before, now)])
  return [...used].filter((email) => email !== after.email)
}

/**
 * What is changed that has to stay once payers have had anything of a live company that is about
 * real money: printed codes hold the Pix key, and the bank knows charges by key and tax id.
 */
export const fixedChanges = (before: Company, after: Company): string[] =>
  before.mode === 'sandbox' ? [] : OPERATOR_FIELDS.filter((name) => before[name] !== after[name])

export const fixedFault = ([first, ...others]: string[]): Problem => {
  const fault = (name: string) =>
    `${name}: cannot be changed any more, because the company has live charges, codes or subscriptions; create another company`
  return invalid(fault(first!), ...others.map(fault))
}

/** What a bank sends to the key that it is sent from goes nowhere. */
export function payoutFault({ payouts, payoutKey, pixKey }: Company): Problem | null {
  if (payouts !== 'bank' || payoutKey !== pixKey) return null
  return invalid('pixKey: must be another than the key that withdrawals go to')
}
