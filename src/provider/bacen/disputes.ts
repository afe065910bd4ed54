import type { Provider } from '../port.ts'
import { accept } from './answers.ts'
import type { AtBank, Bank } from './client.ts'
import type { Disputing } from './disputing.ts'
import { efi } from './efi-disputes.ts'
import type { Profile } from './profile.ts'

const DISPUTING: Record<NonNullable<Profile['disputes']>, Disputing> = { efi }

const disputingOf = ({ connection }: Bank): Disputing | null =>
  connection.profile.disputes && DISPUTING[connection.profile.disputes]

export const disputing = (at: AtBank): Pick<Provider, 'listDisputes' | 'sendDefense'> => ({
  listDisputes: (payee, period) =>
    at(payee, async (bank) => disputingOf(bank)?.list(bank, period) ?? accept([]), 'list'),
  sendDefense: (payee, defense) =>
    at(payee, async (bank) => disputingOf(bank)?.send(bank, defense) ?? accept('not taken')),
})
