import { texts, uuids } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import type { LocalDate } from '../../pix/local-time.ts'
import type { Attempt, Collection } from '../port.ts'
import type { AgreementRecord } from './agreement-records.ts'

/** A charge that the simulated bank collects. Its attempts are in the order of their days. */
export type CollectionRecord = {
  accountId: Uuid
  id: Uuid
  agreementId: Uuid
  amount: Cents
  dueOn: LocalDate
  status: Collection['status']
  attempts: Attempt[]
  /** When the scheduled attempt is made. */
  nextAt: Date | null
}

type CollectionRow = Row & {
  account_id: Uuid
  id: Uuid
  agreement_id: Uuid
  amount: number
  due_on: LocalDate
  status: Collection['status']
  attempts: Attempt[]
  next_at: Date | null
}

const COLUMNS = `c.account_id, c.id, c.agreement_id, c.amount,
  to_char(c.due_on, 'YYYY-MM-DD') as due_on, c.status, c.attempts, c.next_at`

const toRecord = (row: CollectionRow): CollectionRecord => ({
  accountId: row.account_id,
  id: row.id,
  agreementId: row.agreement_id,
  amount: toCents(row.amount),
  dueOn: row.due_on,
  status: row.status,
  attempts: row.attempts,
  nextAt: row.next_at,
})

/**
 * Inserts a collection, if its agreement is approved and has the same value. The agreement is
 * locked, so that it does not end in the meantime. Can be repeated: a collection that exists stays
 * as it is. Returns whether it was inserted.
 */
export async function insertCollection(tx: Tx, collection: CollectionRecord): Promise<boolean> {
  const { accountId, id, agreementId, amount, dueOn, status, attempts, nextAt } = collection
  const rows = await tx.query({
    name: 'insert_collection',
    text: `insert into simulated_collections
             (account_id, id, agreement_id, amount, due_on, status, attempts, next_at)
           select a.account_id, $2::uuid, a.id, a.value, $5::date, $6, $7::jsonb, $8::timestamptz
           from simulated_agreements a
           where a.account_id = $1 and a.id = $3 and a.status = 'APPROVED' and a.value = $4
           for share of a
           on conflict (account_id, id) do nothing returning id`,
    values: [accountId, id, agreementId, amount, dueOn, status, JSON.stringify(attempts), nextAt],
  })
  return rows.length === 1
}

export async function findCollection(
  tx: Tx,
  accountId: Uuid,
  id: Uuid,
  lock: '' | 'for update' = '',
): Promise<CollectionRecord | null> {
  const rows = await tx.query<CollectionRow>({
    text: `select ${COLUMNS} from simulated_collections c
           where account_id = $1 and id = $2 ${lock}`,
    values: [accountId, id],
  })
  return rows[0] ? toRecord(rows[0]) : null
}

export async function updateCollection(
  tx: Tx,
  { accountId, id, status, attempts, nextAt }: CollectionRecord,
): Promise<void> {
  await tx.query({
    text: `update simulated_collections set status = $3, attempts = $4, next_at = $5
           where account_id = $1 and id = $2`,
    values: [accountId, id, status, JSON.stringify(attempts), nextAt],
  })
}

/** Cancels the scheduled collections of an agreement, and removes the attempt to come. */
export async function cancelScheduled(tx: Tx, { accountId, id }: AgreementRecord): Promise<Uuid[]> {
  const rows = await tx.query<{ id: Uuid }>({
    text: `update simulated_collections
           set status = 'CANCELED', next_at = null, attempts = attempts - (-1)
           where account_id = $1 and agreement_id = $2 and status = 'SCHEDULED' returning id`,
    values: [accountId, id],
  })
  return rows.map((row) => row.id)
}

export type DueCollection = CollectionRecord & { payable: boolean }

/** Locks due collections of an account. `payable` is by the agreement as it is now. */
export async function lockDue(
  tx: Tx,
  accountId: Uuid,
  now: Date,
  max: number,
): Promise<DueCollection[]> {
  const rows = await tx.query<CollectionRow & { payable: boolean }>({
    text: `select ${COLUMNS}, a.status = 'APPROVED' and a.funds as payable
           from simulated_collections c
           join simulated_agreements a
             on a.account_id = c.account_id and a.id = c.agreement_id
           where c.account_id = $3 and c.next_at <= $1
           order by c.next_at limit $2 for update of c skip locked`,
    values: [now, max, accountId],
  })
  return rows.map((row) => ({ ...toRecord(row), payable: row.payable }))
}

export async function updateAttempted(tx: Tx, collections: CollectionRecord[]): Promise<void> {
  await tx.query({
    text: `update simulated_collections c
           set status = u.status, attempts = u.attempts::jsonb, next_at = null
           from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[])
             u (account_id, id, status, attempts)
           where c.account_id = u.account_id and c.id = u.id`,
    values: [
      uuids(collections.map(({ accountId }) => accountId)),
      uuids(collections.map(({ id }) => id)),
      texts(collections.map(({ status }) => status)),
      texts(collections.map(({ attempts }) => JSON.stringify(attempts))),
    ],
  })
}
