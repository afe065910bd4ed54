import { idOfSuffix, suffixOf, type Uuid } from '../lib/ids.ts'

/** The txid of a dynamic charge: the 26 characters of its id, which the scheme allows. */
export const chargeTxid = suffixOf

/** A static code allows 25 characters. The first of an id's 26 is 0 until the year 3084. */
export const staticTxid = (id: Uuid): string => suffixOf(id).slice(1)

/** The charge that a txid of ours names, or the static code. */
export function namedBy(txid: string | null): { charge: Uuid } | { code: Uuid } | null {
  const charge = txid?.length === 26 ? idOfSuffix(txid) : null
  const code = txid?.length === 25 ? idOfSuffix(`0${txid}`) : null
  return charge ? { charge } : code ? { code } : null
}
