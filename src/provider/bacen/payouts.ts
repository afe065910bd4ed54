import type { Payouts } from '../port.ts'
import { reject } from './answers.ts'
import type { AtBank, Bank } from './client.ts'
import { efi } from './efi-payouts.ts'
import { inter } from './inter-payouts.ts'
import type { Profile } from './profile.ts'
import type { Sending } from './sending.ts'
import { sicoob } from './sicoob-payouts.ts'

const SENDING: Record<NonNullable<Profile['payouts']>, Sending> = { efi, inter, sicoob }

const sendingOf = ({ connection }: Bank): Sending | null =>
  connection.profile.payouts && SENDING[connection.profile.payouts]

/**
 * Whether a bank recognizes a withdrawal by our id, or knows how long ago it may have been ordered.
 * Another can be asked only by an id of its own, which is lost with the data that had it.
 */
export const knowsOurIds = ({ payouts }: Pick<Profile, 'payouts'>): boolean =>
  payouts === 'efi' || payouts === 'inter'

const NONE = reject('the bank sends no money for others')

export const payouts = (at: AtBank): Payouts => ({
  name: 'bacen',
  send: (payee, order, store) =>
    at(payee, async (bank) => sendingOf(bank)?.send(bank, payee, order, store) ?? NONE),
  findSent: (payee, order) => at(payee, async (bank) => sendingOf(bank)?.find(bank, order) ?? NONE),
})
