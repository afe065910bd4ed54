import { uuids } from '../../db/arrays.ts'
import { tableOf } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { claimDue, type DueKind, type DueRequest } from '../due.ts'
import { TASK } from '../tasks.ts'

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

/**
 * Callbacks that are stored and not processed: the process died in between, or the bank has not
 * confirmed them yet. Each attempt waits longer than the one before it, up to an hour.
 */
export const DUE_CALLBACKS: DueKind = {
  name: TASK.callbacks,
  table: 'bank_callbacks',
  key: 'id',
  dueAt: 'next_attempt_at',
  where: 'd.processed_at is null',
  isRealTime: true,
  isByCompany: true,
  lease: `interval '30 seconds' * (2 ^ least(d.attempts, 7))`,
  set: ['attempts = attempts + 1'],
}

export const claimCallbacks = async (tx: Tx, request: DueRequest): Promise<DueCallback[]> =>
  (await claimDue(tx, DUE_CALLBACKS, request, DUE.select('d'))).map(DUE.read)

export async function purgeProcessed(tx: Tx, before: Date): Promise<void> {
  await tx.query({
    text: 'delete from bank_callbacks where processed_at is not null and processed_at <= $1',
    values: [before],
  })
}
