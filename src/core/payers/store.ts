import { bytes } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Charge } from '../charges/rules.ts'
import { CHARGE } from '../charges/store.ts'
import { findIdsByTaxId, list as listCustomers } from '../customers/store.ts'
import type { Recurrence } from '../recurrences/rules.ts'
import { findMany as findRecurrences } from '../recurrences/store.ts'
import type { Traits } from './traits.ts'

/** By what the records of a payer are found in one company. */
export type Subject = {
  /** The tax id as a blind index, in all forms, the present one first. */
  indexes: Buffer[]
  /** Customers that have the tax id: all of their records are the payer's. */
  owned: Uuid[]
  /** Others that had it once, or are deleted: theirs are only those with the tax id. */
  shared: Uuid[]
}

/** One person may be a customer many times, because merchants may create them again. */
const MAX_CUSTOMERS = 10_000

const indexesOf = (vault: Vault, companyId: Uuid, taxId: string): Buffer[] =>
  vault.forms((by) => by.index(companyId, taxId))

/** If `until` is given, only customers that were made until then. */
export async function findSubject(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  { taxId, until }: { taxId: string; until: Date | null },
): Promise<Subject> {
  const indexes = indexesOf(vault, companyId, taxId)
  const found = { taxId, limit: MAX_CUSTOMERS, after: null }
  const owned = (await listCustomers(tx, vault, companyId, found))
    .filter(({ createdAt }) => until === null || createdAt <= until)
    .map(({ id }) => id)
  const known = await findIdsByTaxId(tx, companyId, indexes, until)
  return { indexes, owned, shared: known.filter((id) => !owned.includes(id)) }
}

const PAGE = 200
const LOWEST = '00000000-0000-0000-0000-000000000000'

const OF_SUBJECT = `company_id = $1 and customer_id = any ($2::uuid[])
  and (payer_index = any ($4::bytea[]) or customer_id = any ($3::uuid[]))`

const valuesOf = (companyId: Uuid, { indexes, owned, shared }: Subject): unknown[] => [
  companyId,
  [...owned, ...shared],
  owned,
  bytes(indexes),
]

/** The charges of a payer, the oldest first, in pages. */
export async function* chargesOf(
  tx: Tx,
  companyId: Uuid,
  subject: Subject,
): AsyncGenerator<Charge[]> {
  for (let after = LOWEST; ; ) {
    const rows = await tx.query({
      text: `select * from charges where ${OF_SUBJECT} and id > $5 order by id limit ${PAGE}`,
      values: [...valuesOf(companyId, subject), after],
    })
    if (rows.length > 0) yield rows.map(CHARGE.read)
    if (rows.length < PAGE) return
    after = rows.at(-1)!.id as Uuid
  }
}

export async function recurrencesOf(
  tx: Tx,
  companyId: Uuid,
  subject: Subject,
): Promise<Recurrence[]> {
  const rows = await tx.query<{ id: Uuid }>({
    text: `select id from recurrences where ${OF_SUBJECT} order by id`,
    values: valuesOf(companyId, subject),
  })
  const ids = rows.map(({ id }) => id)
  return [...(await findRecurrences(tx, companyId, ids)).values()]
}

/** What an erasure that goes on remembers, so that it can be taken up again. */
export type Memory = { traits: Traits; owned: Uuid[]; shared: Uuid[] }

/** How much was found or erased, by the name of a kind. */
export type Counts = Record<string, number>

export type Erasure = {
  companyId: Uuid
  id: Uuid
  counts: Counts
  beganAt: Date
  finishedAt: Date | null
}

/** What an erasure remembers is sealed for this. */
export const erasureContext = (companyId: Uuid, id: Uuid) => `${companyId}:erasure:${id}`

type ErasureRow = Row & {
  id: Uuid
  sealed: Buffer | null
  counts: Counts
  began_at: Date
  finished_at: Date | null
}

const toErasure = (companyId: Uuid, row: ErasureRow): Erasure => ({
  companyId,
  id: row.id,
  counts: row.counts,
  beganAt: row.began_at,
  finishedAt: row.finished_at,
})

/** The erasure of a payer that was interrupted or goes on, and what it remembers. */
export async function findUnderWay(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  taxId: string,
): Promise<(Erasure & Memory) | null> {
  const [row] = await tx.query<ErasureRow>({
    text: `select id, sealed, counts, began_at, finished_at from erasures
           where company_id = $1 and tax_id_index = any ($2::bytea[]) and finished_at is null`,
    values: [companyId, bytes(indexesOf(vault, companyId, taxId))],
  })
  if (!row) return null
  const memory = openMemory(vault, { companyId, id: row.id, sealed: row.sealed! })
  return { ...toErasure(companyId, row), ...memory }
}

/** Begins an erasure, or writes what one that goes on has to remember besides. */
export async function remember(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  { index, id, now, ...memory }: Memory & { index: Buffer; id: Uuid; now: Date },
): Promise<void> {
  await tx.query({
    text: `insert into erasures (company_id, id, tax_id_index, sealed, began_at)
           values ($1, $2, $3, $4, $5)
           on conflict (company_id, id) do update set sealed = excluded.sealed`,
    values: [
      companyId,
      id,
      index,
      vault.seal(JSON.stringify(memory), erasureContext(companyId, id)),
      now,
    ],
  })
}

/** Ends an erasure, and destroys what it has remembered. */
export async function finish(
  tx: Tx,
  companyId: Uuid,
  id: Uuid,
  counts: Counts,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `update erasures set tax_id_index = null, sealed = null, counts = $3::jsonb,
             finished_at = $4
           where company_id = $1 and id = $2`,
    values: [companyId, id, JSON.stringify(counts), now],
  })
}

export async function findErasure(tx: Tx, companyId: Uuid, id: Uuid): Promise<Erasure | null> {
  const [row] = await tx.query<ErasureRow>({
    text: `select id, sealed, counts, began_at, finished_at from erasures
           where company_id = $1 and id = $2`,
    values: [companyId, id],
  })
  return row ? toErasure(companyId, row) : null
}

/** An erasure that began before a moment and is not finished. */
export type Unfinished = { companyId: Uuid; id: Uuid; sealed: Buffer }

/** Those of all companies of a place, but not of some. */
export const listUnfinished = (tx: Tx, before: Date, except: Uuid[] = []): Promise<Unfinished[]> =>
  tx.query({
    text: `select company_id as "companyId", id, sealed from erasures
           where finished_at is null and began_at <= $1 and company_id <> all ($2::uuid[])
           order by company_id, id`,
    values: [before, except],
  })

export const openMemory = (vault: Vault, { companyId, id, sealed }: Unfinished): Memory =>
  JSON.parse(vault.open(sealed, erasureContext(companyId, id)))
