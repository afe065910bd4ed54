import { bytes, texts } from '../../db/arrays.ts'
import { type Database, type Row, type Tx, violatedConstraint } from '../../db/database.ts'
import { isWrappedBy, keyIdOf, type Vault } from '../../lib/vault.ts'
import type { Change, SealedTable } from './columns.ts'

/** Rows that are read at once. Each transaction is short, because others may want its rows. */
const BATCH = 300

/** The key of a row, as texts. */
export type Key = string[]

/** What became of some rows. `unreadable` are those that no known secret opens. */
export type Resealed = { read: number; resealed: number; unreadable: number }

type ReadRow = Row & { row_key: Key; is_former: boolean }

/** SQL: the columns of a key as texts. */
const keySql = ({ key }: SealedTable): string =>
  `array[${key.map(([name]) => `p.${name}::text`).join(', ')}]`

/** SQL: rows of a table after the key `$1`, in its order. */
function partSql({ name, key, batch = BATCH }: SealedTable, after: Key | null): string {
  const names = key.map(([column]) => column).join(', ')
  const bound = key.map(([, type], i) => `($1::text[])[${i + 1}]::${type}`).join(', ')
  const later = after ? `(${names}) > (${bound})` : '$1::text[] is null'
  return `part as materialized (
    select * from ${name} where ${later} order by ${names} limit ${batch})`
}

/** SQL: whether something in a row is of another secret than the present one, whose id is `$2`. */
function formerSql({ sealed, hashed }: SealedTable, withHashes: boolean): string {
  const isElsewhere = (column: string) =>
    `length(p.${column}) > 0 and substring(p.${column} from 1 for 4) <> $2::bytea`
  const isPlain = (column: string) =>
    `length(p.${column}) <> 36 or substring(p.${column} from 1 for 4) <> $2::bytea`
  const conditions = [
    ...Object.keys(sealed).map(isElsewhere),
    ...(withHashes ? hashed.map(isPlain) : []),
  ]
  return conditions.map((one) => `coalesce(${one}, false)`).join(' or ') || 'false'
}

const columnsOf = ({ key, sealed, computed, hashed, reads = [] }: SealedTable): string[] => [
  ...new Set([
    ...key.map(([name]) => name),
    ...Object.keys(sealed),
    ...Object.keys(computed),
    ...hashed,
    ...reads,
  ]),
]

/** Rows after a key. Of those that are of the present secret alone it reads only the key. */
function readPart(
  tx: Tx,
  table: SealedTable,
  after: Key | null,
  { keyId }: Vault,
  withHashes: boolean,
): Promise<ReadRow[]> {
  const columns = columnsOf(table).map((name) => {
    // An array is only asked whether it is there.
    const value = table.computed[name] === 'int4[]' ? `p.${name}::text` : `p.${name}`
    return `case when f.is_former then ${value} end as ${name}`
  })
  const names = table.key.map(([name]) => `p.${name}`).join(', ')
  return tx.query<ReadRow>({
    text: `with ${partSql(table, after)}
           select ${keySql(table)} as row_key, f.is_former, ${columns.join(', ')}
           from part p cross join lateral (
             select ${formerSql(table, withHashes)} as is_former) f
           order by ${names}`,
    values: [after, Buffer.from(keyId, 'hex')],
  })
}

/** What a row gets under the present secret. Throws if something in it cannot be opened. */
export function resealRow(
  vault: Vault,
  { sealed, compute, hashed }: SealedTable,
  row: Row,
): Record<string, Change> {
  const opened = Object.fromEntries(
    Object.entries(sealed).flatMap(([column, contextOf]) => {
      const envelope = row[column] as Buffer | null
      return envelope?.length ? [[column, vault.open(envelope, contextOf(row))]] : []
    }),
  )
  const computed = compute && Object.keys(opened).length > 0 ? compute(vault, row, opened) : {}
  const after = { ...row, ...computed }
  const changes: Record<string, Change> = { ...computed }
  for (const [column, text] of Object.entries(opened)) {
    changes[column] = vault.seal(text, sealed[column]!(after))
  }
  for (const column of hashed) {
    const hash = row[column] as Buffer | null
    if (hash && !isWrappedBy(vault.keyId, hash)) changes[column] = vault.wrap(hash)
  }
  return changes
}

type Changed = { row: ReadRow; changes: Record<string, Change> }

/**
 * Writes rows, except those that others have changed in between. What a row does not change is
 * written as it was.
 */
async function write(tx: Tx, table: SealedTable, changed: Changed[], also = ''): Promise<number> {
  const { name, key, sealed, computed, hashed } = table
  const compared = [...Object.keys(sealed), ...hashed]
  const written = [...compared, ...Object.keys(computed)]
  const typeOf = (column: string) => computed[column] ?? 'bytea'
  const parameters = [
    ...key.map(([column]) => ({ as: `k_${column}`, array: 'text[]' })),
    ...compared.map((column) => ({ as: `w_${column}`, array: 'bytea[]' })),
    ...written.map((column) => ({
      as: `n_${column}`,
      array: typeOf(column) === 'bytea' ? 'bytea[]' : 'text[]',
    })),
  ]
  const set = written.map((column) => `${column} = u.n_${column}::${typeOf(column)}`)
  const isSame = [
    ...key.map(([column, type]) => `t.${column} = u.k_${column}::${type}`),
    ...compared.map((column) => `t.${column} is not distinct from u.w_${column}`),
  ]
  const next = ({ row, changes }: Changed, column: string) =>
    (column in changes ? changes[column] : row[column]) as Change
  const arrays = [
    ...key.map((_, i) => texts(changed.map(({ row }) => row.row_key[i]!))),
    ...compared.map((column) => bytes(changed.map(({ row }) => row[column] as Buffer | null))),
    ...written.map((column) => {
      const values = changed.map((one) => next(one, column))
      return typeOf(column) === 'bytea'
        ? bytes(values as (Buffer | null)[])
        : texts(values as (string | null)[])
    }),
  ]
  const rows = await tx.query({
    text: `update ${name} t set ${set.join(', ')}${also}
           from unnest(${parameters.map(({ array }, i) => `$${i + 1}::${array}`).join(', ')})
             u (${parameters.map(({ as }) => as).join(', ')})
           where ${isSame.join(' and ')} returning 1`,
    values: arrays,
  })
  return rows.length
}

/** Rows are found by their keys, whatever the planner believes of the size of a table. */
const BY_KEY = `select set_config(name, 'off', true) from unnest(array['enable_seqscan',
  'enable_hashjoin', 'enable_mergejoin', 'enable_sort']) name`

/**
 * One payer may have become two customers that charges have made, by two processes of which only
 * one knew that the secret was replaced. The second one is then as if the merchant had made it.
 */
async function writeEach(db: Database, table: SealedTable, changed: Changed[]): Promise<number> {
  let written = 0
  for (const one of changed) {
    const writeOne = (also = '') => db.transaction((tx) => write(tx, table, [one], also))
    written += await writeOne().catch((error) => {
      if (violatedConstraint(error) !== ONE_PER_PAYER) throw error
      return writeOne(`, origin = 'client'`)
    })
  }
  return written
}

const ONE_PER_PAYER = 'customers_one_per_payer'

/** Where a table is walked from, and how it is written down how far that has come. */
export type Walk = {
  after: Key | null
  /** Hashes, which do not say of which secret they are, are hashed again only once. */
  withHashes: boolean
  note(tx: Tx, last: Key): Promise<unknown>
}

/** Seals the rows of one part of a table again. Returns the last key, or null at the end. */
export async function resealPart(
  db: Database,
  vault: Vault,
  table: SealedTable,
  { after, withHashes, note }: Walk,
): Promise<Resealed & { last: Key | null }> {
  const rows = await db.transaction(async (tx) => {
    await tx.query({ text: BY_KEY })
    return readPart(tx, table, after, vault, withHashes)
  })
  const former = rows.filter((row) => row.is_former)
  const changed = former.flatMap((row) => {
    const changes = tryToReseal(vault, table, row)
    return changes ? [{ row, changes }] : []
  })
  const last = rows.at(-1)?.row_key ?? null
  const writeAll = () =>
    db.transaction(async (tx) => {
      await tx.query({ text: BY_KEY })
      const written = changed.length > 0 ? await write(tx, table, changed) : 0
      if (last) await note(tx, last)
      return written
    })
  const resealed = await writeAll().catch(async (error) => {
    if (violatedConstraint(error) !== ONE_PER_PAYER) throw error
    const written = await writeEach(db, table, changed)
    if (last) await db.transaction((tx) => note(tx, last))
    return written
  })
  const unreadable = former.length - changed.length
  const isEnd = rows.length < (table.batch ?? BATCH)
  return { read: rows.length, resealed, unreadable, last: isEnd ? null : last }
}

/** Null: what is in the row cannot be opened, with any secret. It stays as it is. */
function tryToReseal(vault: Vault, table: SealedTable, row: Row): Record<string, Change> | null {
  try {
    return resealRow(vault, table, row)
  } catch {
    return null
  }
}

/** How many envelopes of a table are of which secret, by its id. */
export type Counts = Map<string, number>

/** Counts the envelopes of one part of a table. */
export async function countPart(
  db: Database,
  table: SealedTable,
  after: Key | null,
  counts: Counts,
): Promise<Key | null> {
  const envelopes = Object.keys(table.sealed)
  const heads = envelopes.map((column) => `substring(p.${column} from 1 for 4) as ${column}`)
  const names = table.key.map(([name]) => `p.${name}`).join(', ')
  const rows = await db.transaction(async (tx) => {
    await tx.query({ text: BY_KEY })
    return tx.query<Row & { row_key: Key }>({
      text: `with ${partSql(table, after)}
             select ${[`${keySql(table)} as row_key`, ...heads].join(', ')} from part p
             order by ${names}`,
      values: [after],
    })
  })
  for (const row of rows) {
    for (const column of envelopes) {
      const head = row[column] as Buffer | null
      if (!head?.length) continue
      counts.set(keyIdOf(head), (counts.get(keyIdOf(head)) ?? 0) + 1)
    }
  }
  return rows.length < (table.batch ?? BATCH) ? null : (rows.at(-1)?.row_key ?? null)
}
