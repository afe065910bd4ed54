import type { Tx } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { ENTRY, type StatementEntry } from './columns.ts'
import type { Account, Kind } from './recipes.ts'

/** Which movements of an account are looked for. */
export type MovementFilter = {
  account: Account
  /** The entries after `before` until `last`. */
  range: { before: number; last: number }
  /** Null: of all kinds. */
  kinds: readonly Kind[] | null
}

/** A part of them, after the last entry of the part before. */
export type MovementPart = {
  order: 'newest first' | 'oldest first'
  limit: number
  after: number | null
}

/**
 * The movements of an account. Each kind is a part of its own, because the index of the rare ones
 * has the entries of one kind in their order.
 */
export async function readMovements(
  tx: Tx,
  companyId: Uuid,
  { account, range, kinds }: MovementFilter,
  { order, limit, after }: MovementPart,
): Promise<StatementEntry[]> {
  const isNewest = order === 'newest first'
  const before = isNewest ? range.before : Math.max(range.before, after ?? 0)
  const last = isNewest ? Math.min(range.last, (after ?? Number.POSITIVE_INFINITY) - 1) : range.last
  const values: unknown[] = [companyId, before, last, account, limit]
  const sorted = `order by entry ${isNewest ? 'desc' : 'asc'} limit $5`
  const part = (ofKind: string) =>
    `(select ${ENTRY.names} from postings
      where company_id = $1 and entry > $2 and entry <= $3 and $4 in (debit, credit) ${ofKind}
      ${sorted})`
  const parts = kinds?.map((kind) => part(`and kind = $${values.push(kind)}`)) ?? [part('')]
  const text = `${parts.join(' union all ')} ${parts.length > 1 ? sorted : ''}`
  return (await tx.query({ text, values })).map(ENTRY.read)
}
