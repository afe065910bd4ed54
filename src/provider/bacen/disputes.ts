import type { Provider } from '../port.ts'
import { accept } from './answers.ts'
import type { AtBank, Bank } from './client.ts'
import { efi } from './efi-disputes.ts'
import type { Profile } from './profile.ts'

/** How one bank tells of disputes. API Pix has nothing for it, so each bank has its own way. */
export type Disputing = {
  list(bank: Bank, ...rest: Tail<Provider['listDisputes']>): ReturnType<Provider['listDisputes']>
  send(bank: Bank, ...rest: Tail<Provider['sendDefense']>): ReturnType<Provider['sendDefense']>
}
type Tail<F> = F extends (payee: never, ...rest: infer Rest) => unknown ? Rest : never

const DISPUTING: Record<NonNullable<Profile['disputes']>, Disputing> = { efi }

const disputingOf = ({ connection }: Bank): Disputing | null =>
  connection.profile.disputes && DISPUTING[connection.profile.disputes]

export const disputing = (at: AtBank): Pick<Provider, 'listDisputes' | 'sendDefense'> => ({
  listDisputes: (payee, period) =>
    at(payee, async (bank) => disputingOf(bank)?.list(bank, period) ?? accept([]), 'list'),
  sendDefense: (payee, defense) =>
    at(payee, async (bank) => disputingOf(bank)?.send(bank, defense) ?? accept('not taken')),
})
