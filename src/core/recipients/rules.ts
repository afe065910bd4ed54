import type { Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { plainPixKey } from '../../pix/pix-key.ts'
import { isTaxIdShape } from '../../pix/tax-id.ts'
import { type Company, checksTaxIds, taxIdFault } from '../companies/rules.ts'
import { type MailLimit, requireWithinLimit } from '../mails/rules.ts'

export const STATUSES = ['ACTIVE', 'INACTIVE'] as const

/** Who gets parts of what a company is paid, such as a seller of a marketplace. */
export type Recipient = {
  companyId: Uuid
  id: Uuid
  name: string
  taxId: string
  /** Where its money is sent. */
  pixKey: string
  status: (typeof STATUSES)[number]
  /** When its key was changed last, in real time. Null: it is the first one. */
  keyChangedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

/** What is wrong with a key. The schema has checked its form. A tax id must be the recipient's. */
export function keyFault(company: Company, pixKey: unknown, taxId: unknown): string | null {
  const key = typeof pixKey === 'string' ? plainPixKey(pixKey) : null
  if (key === null || !isTaxIdShape(key)) return null
  if (typeof taxId === 'string' && isTaxIdShape(taxId) && taxId !== key) {
    return 'pixKey: is a CPF or a CNPJ, and another one than taxId'
  }
  const fault = taxIdFault(checksTaxIds(company), key)
  return fault && `pixKey: ${fault}`
}

type Change = { name?: string; pixKey?: string; status?: Recipient['status'] }

/** Changes only the fields that were sent. `at` is the real time. */
export function change(recipient: Recipient, fields: Change, now: Date, at: Date): Recipient {
  const { name = recipient.name, status = recipient.status } = fields
  const pixKey = (fields.pixKey && plainPixKey(fields.pixKey)) || recipient.pixKey
  const keyChangedAt = pixKey === recipient.pixKey ? recipient.keyChangedAt : at
  return { ...recipient, name, status, pixKey, keyChangedAt, updatedAt: now }
}

/** How often a company can change keys: each change sends it a mail. */
export const KEY_CHANGES: MailLimit = { perHour: 20, perDay: 100 }

/** `changed` lists the moments of the last changes, newest first. */
export const requireFewChanges = (changed: Date[], now: Date): void =>
  requireWithinLimit(changed, KEY_CHANGES, now, (perHour, perDay) => {
    return `pixKey: keys of recipients can be changed ${perHour} times an hour and ${perDay} times a day.`
  })

/**
 * Refuses a payout to a key that was changed a short time ago: whoever has stolen an API key
 * must not be able to have the money sent to themselves before the company has read about it.
 */
export function requireOldKey(
  { keyChangedAt }: Recipient,
  { mode }: Company,
  hours: number,
  at: Date,
): void {
  if (mode === 'sandbox' || keyChangedAt === null) return
  const until = new Date(keyChangedAt.getTime() + hours * 3_600_000)
  if (at >= until) return
  throw problem(
    'recipient_key_changed',
    `The Pix key of the recipient was changed. Payouts to it are possible from ${until.toISOString()} on.`,
  )
}
