import { packPair, timeOf, type Uuid, unpackPair } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Addressing } from '../charges/addresses.ts'

/** The charge of a reminder, whose payer wants no more of them. */
type Named = { companyId: Uuid; id: Uuid }

const PAIR_LENGTH = 43

/** Not the tag of the charge's page: whoever has that address may be anybody who pays. */
const taggedOf = (pair: string): string => `reminders:${pair}`

/** Where the payer of a charge says that they want no more reminders of its company. */
export function unsubscribeUrl({ publicUrl, vault }: Addressing, named: Named): string {
  const pair = packPair(named.companyId, named.id)
  return `${publicUrl}/reminders/${pair}${vault.tag(taggedOf(pair))}`
}

/** The charge that such an address names. Null if the address is none of ours. */
export function readUnsubscribeToken(vault: Vault, token: string): Named | null {
  const pair = token.slice(0, PAIR_LENGTH)
  const named = unpackPair(pair)
  const tag = token.slice(PAIR_LENGTH)
  return named && vault.isTag(tag, taggedOf(pair), timeOf(named.id)) ? named : null
}
