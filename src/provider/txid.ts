import { idOfSuffix, suffixOf, type Uuid } from '../lib/ids.ts'

/** The txid of a dynamic charge: the 26 characters of its id, which the scheme allows. */
export const chargeTxid = suffixOf

/** A static code allows 25 characters. The first of an id's 26 is 0 until the year 3084. */
export const staticTxid = (id: Uuid): string => suffixOf(id).slice(1)

/** The charge that a txid of ours names, or the static code. Some banks write it in capitals. */
export function namedBy(txid: string | null): { charge: Uuid } | { code: Uuid } | null {
  const text = txid?.toLowerCase() ?? ''
  const charge = text.length === 26 ? idOfSuffix(text) : null
  const code = text.length === 25 ? idOfSuffix(`0${text}`) : null
  return charge ? { charge } : code ? { code } : null
}

/** What a txid could be. Anything else is that of nothing, and may not even be stored. */
const TXID = /^[\x21-\x7e]{1,64}$/

/** The txid in an object of a bank, which may call it `txId`. Null if there is none. */
export function txidIn(entry: Record<string, unknown>): string | null {
  const name = Object.keys(entry).find((key) => key.toLowerCase() === 'txid')
  const txid = name === undefined ? null : entry[name]
  return typeof txid === 'string' && TXID.test(txid.trim()) ? txid.trim() : null
}
