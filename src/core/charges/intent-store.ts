import { booleans, bytes, texts, timestamps, uuids } from '../../db/arrays.ts'
import { arrayParameters } from '../../db/columns.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { claimDue, type DueKind, type DueRequest } from '../due.ts'
import type { IdempotencyRef } from '../idempotency.ts'
import { TASK } from '../tasks.ts'

/** A charge that a bank may know before we have inserted it. */
export type Intent = {
  companyId: Uuid
  id: Uuid
  createdAt: Date
  expiresAt: Date
  /** A bank keeps charges with a due date apart. */
  hasDueDate: boolean
}

type IntentRow = Row & {
  company_id: Uuid
  id: Uuid
  created_at: Date
  expires_at: Date
  has_due_date: boolean
  leased_until: Date
  fingerprint: Buffer | null
  attempts: number
}

const toIntent = (row: IntentRow): Intent => ({
  companyId: row.company_id,
  id: row.id,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  hasDueDate: row.has_due_date,
})

export type NewIntent = Intent & { guard: IdempotencyRef | null; leasedUntil: Date }

const keyOf = ({ companyId, guard }: NewIntent) => `${companyId} ${guard?.key ?? ''}`
const byKey = (a: NewIntent, b: NewIntent) => (keyOf(a) < keyOf(b) ? -1 : 1)

const TYPES = [
  'uuid',
  'uuid',
  'timestamptz',
  'timestamptz',
  'bool',
  'text',
  'bytea',
  'timestamptz',
] as const

/**
 * Inserts intents, and returns which of them. Left out are those whose key has an intent already,
 * and those of a statement that was sent again. Keys are inserted in a fixed order, so that two
 * groups cannot deadlock.
 */
export async function insert(tx: Tx, intents: NewIntent[]): Promise<boolean[]> {
  const sorted = intents.toSorted(byKey)
  const rows = await tx.query<Pick<IntentRow, 'id'>>({
    name: 'insert_intents',
    text: `insert into charge_intents (company_id, id, created_at, expires_at, has_due_date,
             idempotency_key, fingerprint, leased_until, next_attempt_at)
           select *, leased_until from unnest(${arrayParameters(1, TYPES)})
             i (company_id, id, created_at, expires_at, has_due_date, idempotency_key, fingerprint,
               leased_until)
           on conflict do nothing
           returning id`,
    values: [
      uuids(sorted.map(({ companyId }) => companyId)),
      uuids(sorted.map(({ id }) => id)),
      timestamps(sorted.map(({ createdAt }) => createdAt)),
      timestamps(sorted.map(({ expiresAt }) => expiresAt)),
      booleans(sorted.map(({ hasDueDate }) => hasDueDate)),
      texts(sorted.map(({ guard }) => guard?.key ?? null)),
      bytes(sorted.map(({ guard }) => guard?.fingerprint ?? null)),
      timestamps(sorted.map(({ leasedUntil }) => leasedUntil)),
    ],
  })
  const inserted = new Set(rows.map(({ id }) => id))
  return intents.map(({ id }) => inserted.has(id))
}

type EarlierIntent = Intent & {
  fingerprint: Buffer
  leasedUntil: Date
  /** How often the task has tried to remove the charge at the bank. */
  attempts: number
}

/** The intent of an earlier request with the same key, which may still be running. */
export async function lockByKey(
  tx: Tx,
  companyId: Uuid,
  key: string,
): Promise<EarlierIntent | null> {
  const [row] = await tx.query<IntentRow>({
    text: `select * from charge_intents where company_id = $1 and idempotency_key = $2
           for update`,
    values: [companyId, key],
  })
  if (!row) return null
  const { fingerprint, leased_until: leasedUntil, attempts } = row
  return { ...toIntent(row), fingerprint: fingerprint!, leasedUntil, attempts }
}

/** Returns false if the task has begun to remove the charge at the bank. */
export async function lease(tx: Tx, { companyId, id }: Intent, until: Date): Promise<boolean> {
  const rows = await tx.query({
    text: `update charge_intents set leased_until = $3, next_attempt_at = $3
           where company_id = $1 and id = $2 and attempts = 0 returning id`,
    values: [companyId, id, until],
  })
  return rows.length === 1
}

/** Ends the lease: the same request can continue now, and the task from `next` on. */
export async function release(tx: Tx, { companyId, id }: Intent, now: Date, next: Date) {
  await tx.query({
    text: `update charge_intents set leased_until = $3, next_attempt_at = $4
           where company_id = $1 and id = $2`,
    values: [companyId, id, now, next],
  })
}

/** Frees the key, so that another charge can be created with it. */
export async function forgetKey(tx: Tx, { companyId, id }: Intent): Promise<void> {
  await tx.query({
    text: `update charge_intents set idempotency_key = null
           where company_id = $1 and id = $2`,
    values: [companyId, id],
  })
}

export async function remove(tx: Tx, intents: Pick<Intent, 'companyId' | 'id'>[]): Promise<void> {
  await tx.query({
    name: 'delete_intents',
    text: `delete from charge_intents i using unnest(${arrayParameters(1, ['uuid', 'uuid'])})
             done (company_id, id)
           where i.company_id = done.company_id and i.id = done.id`,
    values: [uuids(intents.map(({ companyId }) => companyId)), uuids(intents.map(({ id }) => id))],
  })
}

/**
 * Removes intents of charges that are inserted together in this transaction. Returns how many: the
 * others are being removed at the bank.
 */
export async function take(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<number> {
  const rows = await tx.query({
    text: `delete from charge_intents
           where company_id = $1 and id = any ($2::uuid[]) and attempts = 0 returning id`,
    values: [companyId, ids],
  })
  return rows.length
}

export type Orphan = Intent & { attempts: number; isWritten: boolean }

/** Intents whose requests have ended. */
export const ORPHANS: DueKind = {
  name: TASK.orphans,
  table: 'charge_intents',
  key: 'id',
  dueAt: 'next_attempt_at',
  where: 'true',
  isRealTime: true,
  set: ['attempts = attempts + 1', 'leased_until = f.until'],
}

/** Claims intents whose requests have ended, and says whether their charges exist. */
export async function claimOrphans(tx: Tx, request: DueRequest): Promise<Orphan[]> {
  const rows = await claimDue<IntentRow & { is_written: boolean }>(
    tx,
    ORPHANS,
    request,
    `d.*, exists (select from charges c where c.company_id = d.company_id and c.id = d.id)
       as is_written`,
  )
  return rows.map((row) => ({
    ...toIntent(row),
    attempts: row.attempts,
    isWritten: row.is_written,
  }))
}
