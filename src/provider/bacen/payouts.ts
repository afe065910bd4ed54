import type { Payouts } from '../port.ts'
import { reject } from './answers.ts'
import type { AtBank, Bank } from './client.ts'
import { efi } from './efi-payouts.ts'
import { inter } from './inter-payouts.ts'
import type { Profile } from './profile.ts'
import { findProfile, PROFILE_NAMES } from './profiles.ts'
import type { Sending } from './sending.ts'
import { sicoob } from './sicoob-payouts.ts'

const SENDING: Record<NonNullable<Profile['payouts']>, Sending> = { efi, inter, sicoob }

const sendingOf = ({ connection }: Bank): Sending | null =>
  connection.profile.payouts && SENDING[connection.profile.payouts]

/**
 * The banks that recognize a withdrawal by our id, or know how long ago it may have been ordered.
 * Others can be asked only by an id of their own, which is lost with the data that had it.
 */
export const ASKED_BY_OUR_ID: readonly string[] = PROFILE_NAMES.filter((name) =>
  ['efi', 'inter'].includes(findProfile(name)!.payouts ?? ''),
)

const NONE = reject('the bank sends no money for others')

export const payouts = (at: AtBank): Payouts => ({
  name: 'bacen',
  send: (payee, order, store) =>
    at(payee, async (bank) => sendingOf(bank)?.send(bank, payee, order, store) ?? NONE),
  findSent: (payee, order) => at(payee, async (bank) => sendingOf(bank)?.find(bank, order) ?? NONE),
})
