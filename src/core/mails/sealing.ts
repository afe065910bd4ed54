import { newId, type Uuid } from '../../lib/ids.ts'
import type { Letter } from '../../lib/mailer.ts'
import type { Vault } from '../../lib/vault.ts'
import type { MailKind } from './rules.ts'

/**
 * A mail to a payer is composed when it is sent: creating charges and matching payments must
 * not wait for letters. Until then only the charge is known, and the plan if it is about all of it.
 */
type AboutCharge = { chargeId: Uuid; planId?: Uuid }

/**
 * A reminder is composed then too. The version before reminders must not take it for another mail
 * about a charge, so the charge is named elsewhere.
 */
export type AboutReminder = {
  reminder: {
    chargeId: Uuid
    occasion: string
    number: number
    /** Of a debit that has failed: when the bank tries again. Null: never. */
    nextTry?: string | null
    /** The clock of the company when it was queued: what it says is of that time. */
    clockAhead_ms: number
  }
}

/** Times of mails are real times, also if the company has a clock of its own. */
export type NewMail = {
  /**
   * Whose mail it is. Mails are sent one company after the other. A mail that is about a person and
   * no company has the id of the person here, so that it waits for nobody's other mails.
   */
  companyId: Uuid
  kind: MailKind
  letter: Letter | AboutCharge | AboutReminder
  /** After this time it is of no use and is not sent. Null if there is no such time. */
  expiresAt: Date | null
  createdAt: Date
  /** The charge of a mail to a payer. */
  chargeId?: Uuid
}

/** A mail as it is stored. Address and text are encrypted. */
export type SealedMail = Omit<NewMail, 'letter' | 'chargeId'> & {
  id: Uuid
  sealed: Buffer
  chargeId: Uuid | null
}

export const mailContext = (companyId: Uuid, id: Uuid) => `${companyId}:mail:${id}`

export function sealMail(vault: Vault, { letter, ...mail }: NewMail): SealedMail {
  const id = newId()
  const sealed = vault.seal(JSON.stringify(letter), mailContext(mail.companyId, id))
  return { ...mail, chargeId: mail.chargeId ?? null, id, sealed }
}

export const openMail = (
  vault: Vault,
  { companyId, id, sealed }: SealedMail,
): Letter | AboutCharge | AboutReminder =>
  JSON.parse(vault.open(sealed, mailContext(companyId, id)))
