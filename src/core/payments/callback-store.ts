import { uuids } from '../../db/arrays.ts'
import { tableOf } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** The callback of a bank, sealed as it was sent. */
export type StoredCallback = {
  companyId: Uuid
  id: Uuid
  provider: string
  sealed: Buffer
  receivedAt: Date
  nextAttemptAt: Date
}

const CALLBACK = tableOf<StoredCallback>({
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  provider: ['provider', 'text'],
  sealed: ['sealed', 'bytea'],
  receivedAt: ['received_at', 'timestamptz'],
  nextAttemptAt: ['next_attempt_at', 'timestamptz'],
})

/** Can be repeated: a callback that is stored already is skipped. */
export async function insertCallbacks(tx: Tx, callbacks: StoredCallback[]): Promise<void> {
  await tx.query({
    name: 'insert_callbacks',
    text: `${CALLBACK.insertInto('bank_callbacks')} on conflict (company_id, id) do nothing`,
    values: CALLBACK.values(callbacks),
  })
}

export async function markProcessed(
  tx: Tx,
  callbacks: Pick<StoredCallback, 'companyId' | 'id'>[],
  now: Date,
): Promise<void> {
  if (callbacks.length === 0) return
  await tx.query({
    name: 'mark_processed',
    text: `update bank_callbacks c set processed_at = $3
           from unnest($1::uuid[], $2::uuid[]) p (company_id, id)
           where c.company_id = p.company_id and c.id = p.id and c.processed_at is null`,
    values: [
      uuids(callbacks.map(({ companyId }) => companyId)),
      uuids(callbacks.map(({ id }) => id)),
      now,
    ],
  })
}

export type DueCallback = {
  companyId: Uuid
  id: Uuid
  provider: string
  sealed: Buffer
  attempts: number
}

const DUE = tableOf<DueCallback>({
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  provider: ['provider', 'text'],
  sealed: ['sealed', 'bytea'],
  attempts: ['attempts', 'int8'],
})

const NEXT_COMPANY = (where: string) =>
  `select company_id from bank_callbacks where processed_at is null and ${where}
   order by company_id limit 1`

/**
 * Leases callbacks that are stored and not processed: the process died in between, or the bank has
 * not confirmed them yet. Each attempt waits longer than the one before it, up to an hour. The
 * companies are found one by one along an index, and only some callbacks of each are taken, so that
 * no company makes the others wait.
 */
export async function claimDue(
  tx: Tx,
  now: Date,
  max: number,
  except: Uuid[],
  maxOfOne = max,
): Promise<DueCallback[]> {
  const rows = await tx.query({
    name: 'claim_due_callbacks',
    text: `with recursive company as (
             (${NEXT_COMPANY('true')})
             union all
             select next.company_id from company before
             cross join lateral (${NEXT_COMPANY('company_id > before.company_id')}) next
           ), due as materialized (
             select d.company_id, d.id,
               $1::timestamptz + interval '30 seconds' * (2 ^ least(d.attempts, 7)) as next_at
             from company cross join lateral (
               select company_id, id, attempts from bank_callbacks
               where company_id = company.company_id and processed_at is null
                 and next_attempt_at <= $1
               order by next_attempt_at limit $4 for update skip locked) d
             where company.company_id <> all ($3::uuid[]) limit $2
           )
           update bank_callbacks c set attempts = attempts + 1, next_attempt_at = due.next_at
           from due
           where c.company_id = due.company_id and c.id = due.id
           returning ${DUE.select('c')}`,
    values: [now, max, except, maxOfOne],
  })
  return rows.map(DUE.read)
}

export async function purgeProcessed(tx: Tx, before: Date): Promise<void> {
  await tx.query({
    text: 'delete from bank_callbacks where processed_at is not null and processed_at <= $1',
    values: [before],
  })
}
