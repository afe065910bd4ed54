import { formatReais } from '../../lib/money.ts'
import { participantOf } from '../../pix/participants.ts'
import type { Author } from '../activity/rules.ts'
import type { ChargeMail } from '../charges/mails.ts'
import type { Charge } from '../charges/rules.ts'
import type { Company } from '../companies/rules.ts'
import type { AnyEventType } from '../events.ts'
import type { Payment } from '../payments/rules.ts'
import type { SentReminder } from '../reminders/store.ts'
import type { Moment } from './moments.ts'
import type { HistoryTexts } from './texts.ts'

/** What happened, in a few words. */
export function titleOf(
  charge: Charge,
  moment: Moment,
  texts: HistoryTexts,
  nameOf: (type: AnyEventType) => string,
): string {
  switch (moment.kind) {
    case 'mail':
      return texts.mailedAgain
    case 'unsent':
      return texts.unsent[moment.mail.kind]
    case 'reminder':
      return moment.reminder.outcome === 'SENT' && moment.reminder.unmailed === null
        ? texts.reminderSent
        : texts.reminder
    case 'expired':
      return charge.kind === 'RECURRING' ? texts.collectionFailed : texts.expired
    case 'refund': {
      const { amount, bankReason } = moment.refund
      return (bankReason ? texts.bankReturn : texts.refund)(formatReais(amount))
    }
    case 'dispute':
      return texts.disputed(formatReais(moment.dispute.amount))
    case 'unmatched':
      return arrivedText(charge, moment.payment, texts)
    case 'paid':
      return moment.settled ? texts.settled[moment.settled] : texts.paid
    case 'other':
      return moment.events.map(({ type }) => nameOf(type)).join(', ')
    default:
      return texts[moment.kind]
  }
}

/** That a payment did not match the charge, or has settled it later. */
export const arrivedText = (
  { id }: Charge,
  { amount, settled }: Payment,
  texts: Pick<HistoryTexts, 'settling' | 'unmatched'>,
): string => (settled?.chargeId === id ? texts.settling : texts.unmatched)(formatReais(amount))

/** What became of a mail. */
export function mailText(
  { outcome, reason }: Pick<ChargeMail, 'outcome' | 'reason'>,
  { outcomes, mailReasons }: HistoryTexts,
): string {
  return reason ? mailReasons[reason] : outcomes[outcome ?? 'WAITING']
}

/** What became of a reminder; null if its title says it. */
export function reminderText(
  { unmailed, outcome, reason }: SentReminder,
  texts: HistoryTexts,
): string | null {
  if (unmailed !== null) return texts.unmailed[unmailed]
  if (outcome === 'SENT' || outcome === 'GONE') return null
  // A mail that has expired was not sent because the charge was paid, or the rule is off.
  return outcome === 'EXPIRED' ? texts.reminderExpired : mailText({ outcome, reason }, texts)
}

/** Who has done it, if that is known. */
export function authorText(by: Author | null, { madeBy }: HistoryTexts): string | null {
  if (by === null) return null
  if (by.kind === 'person') return madeBy.person(by.name)
  return by.kind === 'key' ? madeBy.key(by.name) : madeBy.other
}

/** The bank that the payment of a charge came from. */
export function payerBankOf(
  { endToEndId, devMode }: Charge,
  { mode }: Pick<Company, 'mode'>,
  { simulatedBank }: HistoryTexts,
): string | null {
  if (devMode || mode === 'sandbox') return simulatedBank
  const bank = participantOf(endToEndId!)
  return bank && (bank.name ?? `ISPB ${bank.ispb}`)
}
