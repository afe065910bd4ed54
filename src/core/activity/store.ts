import { tableOf } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Author, AuthorKind, Changed, Entry, RecordType } from './rules.ts'

const ENTRY = tableOf<Entry>({
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  at: ['at', 'timestamptz'],
  author: {
    columns: [
      ['author_kind', 'text', ({ kind }: Author) => kind],
      ['author_id', 'uuid', ({ id }: Author) => id],
      ['author_name', 'text', ({ name }: Author) => name],
      ['address', 'text', ({ address }: Author) => address],
    ],
    read: (row) => ({
      kind: row.author_kind as AuthorKind,
      id: row.author_id as Uuid | null,
      name: row.author_name as string,
      address: row.address as string | null,
    }),
  },
  action: ['action', 'text'],
  record: {
    columns: [
      ['record_type', 'text', (record: Changed | null) => record?.type ?? null],
      ['record_id', 'text', (record: Changed | null) => record?.id ?? null],
    ],
    read: (row) =>
      row.record_type === null
        ? null
        : { type: row.record_type as RecordType, id: row.record_id as string },
  },
  details: ['details', 'json'],
})

const INSERT = `${ENTRY.insertInto('activity')} on conflict (company_id, id) do nothing`

/** Adds entries. Outside a transaction it may be repeated, and skips those that exist. */
export async function insertEntries(tx: Tx, entries: Entry[]): Promise<void> {
  await tx.query({ name: 'add_activity', text: INSERT, values: ENTRY.values(entries) })
}

/** Which entries are looked for. What is null counts for all. */
export type ActivityFilter = {
  author: { kind: AuthorKind; id: Uuid | null } | null
  action: string | null
  /** Ids from this one on. */
  from: Uuid | null
  /** Ids before this one: of a cursor, or of the end of a period. */
  before: Uuid | null
}

/** Newest first. Each filter has its index, so that a page costs the same in a long history. */
export async function listEntries(
  tx: Tx,
  companyId: Uuid,
  { author, action, from, before }: ActivityFilter,
  limit: number,
): Promise<Entry[]> {
  const values: unknown[] = [companyId]
  const add = (value: unknown) => `$${values.push(value)}`
  const conditions = ['a.company_id = $1']
  if (author) conditions.push(`a.author_kind = ${add(author.kind)}`)
  if (author) {
    conditions.push(author.id === null ? 'a.author_id is null' : `a.author_id = ${add(author.id)}`)
  }
  if (action !== null) conditions.push(`a.action = ${add(action)}`)
  if (from !== null) conditions.push(`a.id >= ${add(from)}`)
  if (before !== null) conditions.push(`a.id < ${add(before)}`)
  const rows = await tx.query({
    text: `select ${ENTRY.select('a')} from activity a where ${conditions.join(' and ')}
           order by a.id desc limit ${add(limit)}`,
    values,
  })
  return rows.map(ENTRY.read)
}
