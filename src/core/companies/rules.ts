import { assert } from '../../lib/assert.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { EMAIL_FORM } from '../../lib/mailbox.ts'
import { toCents } from '../../lib/money.ts'
import { invalid, type Problem, problem } from '../../lib/problems.ts'
import { isTaxIdShape, isValidTaxId, kindOfTaxId } from '../../pix/tax-id.ts'

export type Mode = 'sandbox' | 'live'

/** On the pages of which expired charges payers may ask for a new code. */
export const NEW_CODES = ['NONE', 'LINKS', 'ALL'] as const
export type NewCodes = (typeof NEW_CODES)[number]

export type Company = {
  id: Uuid
  name: string
  taxId: string
  email: string
  color: string
  imageUrl: string | null
  pixKey: string
  city: string
  mode: Mode
  apiVersion: string
  /** The language of the mails it gets. */
  language: Language
  /** How long after a payment its money is released. The API calls it settlementDelay. */
  releaseDelay_s: number
  staticSalesLimit: number | null
  /** Whether payers who gave an address get a mail when they have paid. */
  mailsReceipts: boolean
  /** On which days, from the due date on, payers of open charges are reminded. */
  reminderDays: number[]
  /** Whether a sandbox checks the digits of payers' tax ids, as a live company always does. */
  strictTaxIds: boolean
  /** Whether a payment that names no charge settles the only charge that it fits. */
  settlesExactPayments: boolean
  /** How payers reach it when something has gone wrong. */
  contactEmail: string | null
  contactPhone: string | null
  contactWhatsapp: string | null
  newCodes: NewCodes
  /** How far a sandbox has moved its time ahead of the real one; 0 for all others. */
  clockAhead_ms: number
  /** The connection to its bank; a live company may have none, a sandbox has the simulated one. */
  bankId: Uuid | null
  /** Who sends its withdrawals to the Pix network when a bank is connected. */
  payouts: 'manual' | 'bank' | null
  /** Where its withdrawals go, if not to its Pix key. */
  payoutKey: string | null
  /** Where one-time codes go until then, if not to its e-mail address: see changes.ts. */
  codeEmail: string | null
  codeEmailUntil: Date | null
  /** When somebody last changed in the dashboard where its money goes, and who. */
  destinationChangedAt: Date | null
  destinationChangedBy: Uuid | null
  /** Since when an operator has suspended it. Null: it is not suspended. */
  suspendedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

export const SCOPES = ['payments', 'catalog', 'webhooks', 'balance', 'company'].flatMap((area) => [
  `${area}:read` as const,
  `${area}:write` as const,
]) as Scope[]
export type Scope =
  `${'payments' | 'catalog' | 'webhooks' | 'balance' | 'company'}:${'read' | 'write'}`

/** What sends money away: refunds, payments that are sent back, withdrawals. */
export const MONEY_SCOPES: readonly Scope[] = ['payments:write', 'balance:write']

/** A sandbox releases money after a minute, so that the step from PAID to RECEIVED is seen. */
export const RELEASE_DELAY_S: Record<Mode, number> = { live: 0, sandbox: 60 }
/** What a sandbox company starts with, R$ 1.000,00, so that a withdrawal can be tried at once. */
export const SANDBOX_OPENING = toCents(100_000)
export const DEFAULT_CITY = 'Sao Paulo'

/** Refuses what only a sandbox company has. Play money never meets real money. */
export function requireSandbox({ mode }: Pick<Company, 'mode'>): void {
  if (mode !== 'sandbox') throw problem('sandbox_only')
}

/** Play money may carry invented documents, unless the company wants to test with real digits. */
export const checksTaxIds = ({ mode, strictTaxIds }: Pick<Company, 'mode' | 'strictTaxIds'>) =>
  mode === 'live' || strictTaxIds

export function taxIdFault(checksDigits: boolean, taxId: string): string | null {
  if (!isTaxIdShape(taxId)) {
    return 'must be a CPF (11 digits) or a CNPJ (14 characters, the last two digits)'
  }
  if (checksDigits && !isValidTaxId(taxId)) return 'has wrong check digits'
  return null
}

export type NewCompany = Pick<Company, 'name' | 'taxId' | 'email' | 'mode'> &
  Partial<
    Pick<
      Company,
      | 'color'
      | 'imageUrl'
      | 'pixKey'
      | 'city'
      | 'releaseDelay_s'
      | 'language'
      | 'mailsReceipts'
      | 'strictTaxIds'
      | 'settlesExactPayments'
    >
  > & {
    staticSalesLimit?: number | null
  }

export function companyFaults(company: NewCompany): Problem | null {
  const faults: string[] = []
  const taxIdRule = taxIdFault(company.mode === 'live', company.taxId)
  if (!/\S/.test(company.name) || company.name.length > 255) {
    faults.push('name: must have 1 to 255 characters')
  }
  if (taxIdRule) faults.push(`taxId: ${taxIdRule}`)
  if (!EMAIL_FORM.test(company.email)) faults.push('email: must be an e-mail address')
  if (company.color && !/^#[0-9a-f]{6}$/.test(company.color)) faults.push('color: like #0f766e')
  if (company.imageUrl && !/^https?:\/\//.test(company.imageUrl))
    faults.push('image: http(s) address')
  if (company.pixKey && !/^[\x21-\x7e]{1,77}$/.test(company.pixKey)) {
    faults.push('pixKey: 1 to 77 characters without spaces')
  }
  if (company.language && !['pt', 'en'].includes(company.language)) {
    faults.push('language: pt or en')
  }
  if (company.mode === 'live' && !company.pixKey) faults.push('pixKey: a live company needs one')
  const [first, ...others] = faults
  return first ? invalid(first, ...others) : null
}

/** Only individuals (CPF) are limited, each month, by their own limit or the installation's. */
export function salesLimitOf(company: Company, defaultLimit: number): number | null {
  assert(isTaxIdShape(company.taxId), 'a stored company has a tax id')
  if (kindOfTaxId(company.taxId) === 'cnpj') return null
  return company.staticSalesLimit ?? defaultLimit
}
