import type { Uuid } from '../../lib/ids.ts'
import { chargeTxid } from '../../provider/txid.ts'
import { type Meaning, meaningsOf } from './meanings.ts'
import type { Charge } from './rules.ts'
import { type Query, searchCharges, type Where } from './search.ts'

/** A text that somebody searches for, and what they have chosen that it means. */
export type SoughtText = { text: string; as?: string | undefined }

/** A search: what the text is taken for, if there is one. */
export type Found = { meaning: Meaning | null; query: Query; charges: Charge[] }

/** The meanings of a text, or the only one that was chosen. */
export function meaningsIn({ text, as }: SoughtText): Meaning[] {
  const meanings = meaningsOf(text)
  const chosen = meanings.filter(({ kind }) => kind === as)
  return chosen.length > 0 ? chosen : meanings
}

/** The conditions of a meaning, beside those of the filters. Null: another amount is asked for. */
function queryOf(filters: Query, meaning: Meaning | null): Query | null {
  if (meaning === null) return filters
  if (meaning.kind === 'charge') return { ...filters, txid: chargeTxid(meaning.value) }
  const { kind, value } = meaning
  if (kind === 'amount' && filters.amount !== undefined && filters.amount !== value) return null
  return { ...filters, [kind]: value }
}

/** One page of charges: of the first meaning that finds any, if something is searched for. */
export async function findCharges(
  where: Where,
  sought: SoughtText,
  filters: Query,
  part: { limit: number; after: Uuid | null },
): Promise<Found> {
  const meanings = meaningsIn(sought)
  for (const meaning of meanings.length > 0 ? meanings : [null]) {
    const query = queryOf(filters, meaning)
    if (query === null) continue
    const charges = await searchCharges(where, query, part)
    if (charges.length > 0 || meanings.length === 0) return { meaning, query, charges }
  }
  return { meaning: null, query: filters, charges: [] }
}
