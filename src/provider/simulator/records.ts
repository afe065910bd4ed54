import { integers, texts, timestamps, uuids } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import type { Period, ReturnReason } from '../port.ts'

/** A transfer in the records of the simulated bank. */
export type Transfer = {
  accountId: Uuid
  endToEndId: string
  direction: 'received' | 'sent' | 'returned'
  orderId: string | null
  txid: string | null
  /** The payment that a return sends back. */
  returns: string | null
  amount: Cents
  at: Date
  /** The payer, sealed; null when unknown. */
  payer: Buffer | null
  /** Why the bank has returned it by itself; null for all else. */
  reason: ReturnReason | null
}

type TransferRow = Row & {
  account_id: Uuid
  end_to_end_id: string
  direction: Transfer['direction']
  order_id: string | null
  txid: string | null
  returns: string | null
  amount: number
  at: Date
  payer_sealed: Buffer | null
  reason: ReturnReason | null
}

const toTransfer = (row: TransferRow): Transfer => ({
  accountId: row.account_id,
  endToEndId: row.end_to_end_id,
  direction: row.direction,
  orderId: row.order_id,
  txid: row.txid,
  returns: row.returns,
  amount: toCents(row.amount),
  at: row.at,
  payer: row.payer_sealed,
  reason: row.reason,
})

/** What the payer of a transfer is sealed for. */
export const transferContext = ({
  accountId,
  endToEndId,
}: Pick<Transfer, 'accountId' | 'endToEndId'>): string => `${accountId}:transfer:${endToEndId}`

/** R$ 100 billion: ten times the largest charge, and far below the limit of our books. */
export const MAX_IN_ACCOUNT = 10_000_000_000_000

/** Whether the bank has refused a payment because its account would hold too much. */
export const isFull = (error: unknown): boolean =>
  (error as { constraint?: string }).constraint === 'account_is_full'

/** Locks accounts and returns how much each can still receive. */
export async function lockCapacities(tx: Tx, accountIds: Uuid[]): Promise<Map<Uuid, number>> {
  const rows = await tx.query<{ account_id: Uuid; balance: number }>({
    text: `select account_id, balance from simulated_accounts
           where account_id = any ($1::uuid[]) order by account_id for update`,
    values: [accountIds],
  })
  const balances = new Map(rows.map(({ account_id, balance }) => [account_id, balance]))
  return new Map(accountIds.map((id) => [id, MAX_IN_ACCOUNT - (balances.get(id) ?? 0)]))
}

/**
 * Records a transfer, once for its id and once for its order, and returns the one that is stored.
 * Can be repeated, so it may be sent again when a connection is lost.
 */
export async function record(tx: Tx, transfer: Transfer): Promise<Transfer> {
  const [made] = await tx.query<TransferRow>({
    name: 'record_transfer',
    text: `insert into simulated_transfers
             (account_id, end_to_end_id, direction, order_id, txid, returns, amount, at,
              payer_sealed, reason)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing
           returning *`,
    values: [
      transfer.accountId,
      transfer.endToEndId,
      transfer.direction,
      transfer.orderId,
      transfer.txid,
      transfer.returns,
      transfer.amount,
      transfer.at,
      transfer.payer,
      transfer.reason,
    ],
  })
  return made ? toTransfer(made) : findEqual(tx, transfer)
}

/** The transfer that has the id or the order of this one. */
async function findEqual(tx: Tx, transfer: Transfer): Promise<Transfer> {
  const { accountId, endToEndId, orderId } = transfer
  const rows = await tx.query<TransferRow>({
    text: `select * from simulated_transfers
           where account_id = $1 and (end_to_end_id = $2 or order_id = $3) limit 1`,
    values: [accountId, endToEndId, orderId],
  })
  return toTransfer(rows[0]!)
}

/**
 * Records many received payments, each once for its order, and returns the stored ones by their
 * order.
 */
export async function recordAll(tx: Tx, payments: Transfer[]): Promise<Map<string, Transfer>> {
  if (payments.length === 0) return new Map()
  const accounts = uuids(payments.map(({ accountId }) => accountId))
  const orders = texts(payments.map(({ orderId }) => orderId))
  await tx.query({
    text: `insert into simulated_transfers
             (account_id, end_to_end_id, direction, order_id, txid, amount, at)
           select account_id, end_to_end_id, 'received', order_id, txid, amount, at
           from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bigint[],
             $6::timestamptz[]) p (account_id, end_to_end_id, order_id, txid, amount, at)
           on conflict (account_id, order_id) where order_id is not null do nothing`,
    values: [
      accounts,
      texts(payments.map(({ endToEndId }) => endToEndId)),
      orders,
      texts(payments.map(({ txid }) => txid)),
      integers(payments.map(({ amount }) => amount)),
      timestamps(payments.map(({ at }) => at)),
    ],
  })
  const rows = await tx.query<TransferRow>({
    text: `select t.* from simulated_transfers t
           join unnest($1::uuid[], $2::text[]) o (account_id, order_id)
             on o.account_id = t.account_id and o.order_id = t.order_id`,
    values: [accounts, orders],
  })
  return new Map(rows.map((row) => [row.order_id!, toTransfer(row)]))
}

export async function findByOrder(
  tx: Tx,
  accountId: Uuid,
  orderId: string,
): Promise<Transfer | null> {
  const rows = await tx.query<TransferRow>({
    text: 'select * from simulated_transfers where account_id = $1 and order_id = $2',
    values: [accountId, orderId],
  })
  return rows[0] ? toTransfer(rows[0]) : null
}

export async function findByIds(
  tx: Tx,
  accountId: Uuid,
  endToEndIds: string[],
): Promise<Transfer[]> {
  const rows = await tx.query<TransferRow>({
    name: 'find_transfers',
    text: `select * from simulated_transfers
           where account_id = $1 and end_to_end_id = any ($2::text[])`,
    values: [accountId, endToEndIds],
  })
  return rows.map(toTransfer)
}

/** Locks a received payment, so that no two returns exceed it together. */
export async function lockReceived(
  tx: Tx,
  accountId: Uuid,
  endToEndId: string,
): Promise<Transfer | null> {
  const rows = await tx.query<TransferRow>({
    text: `select * from simulated_transfers
           where account_id = $1 and end_to_end_id = $2 and direction = 'received' for update`,
    values: [accountId, endToEndId],
  })
  return rows[0] ? toTransfer(rows[0]) : null
}

/** The returns of payments, the oldest first. */
export async function listReturns(
  tx: Tx,
  accountId: Uuid,
  endToEndIds: string[],
): Promise<Transfer[]> {
  const rows = await tx.query<TransferRow>({
    text: `select * from simulated_transfers
           where account_id = $1 and returns = any ($2::text[]) and direction = 'returned'
           order by at, end_to_end_id`,
    values: [accountId, endToEndIds],
  })
  return rows.map(toTransfer)
}

/** Transfers of several accounts, each with what was returned of it. */
export async function findWithReturns(
  tx: Tx,
  wanted: { accountId: Uuid; endToEndId: string }[],
): Promise<Transfer[]> {
  const rows = await tx.query<TransferRow>({
    name: 'find_transfers_of_many',
    text: `select t.* from (
             select distinct * from unnest($1::uuid[], $2::text[]) u (account_id, end_to_end_id)) k
           cross join lateral (
             (select * from simulated_transfers
              where account_id = k.account_id and end_to_end_id = k.end_to_end_id
                and direction = 'received' offset 0)
             union all
             (select * from simulated_transfers
              where account_id = k.account_id and returns = k.end_to_end_id
                and direction = 'returned' order by at, end_to_end_id offset 0)) t`,
    values: [
      uuids(wanted.map(({ accountId }) => accountId)),
      texts(wanted.map(({ endToEndId }) => endToEndId)),
    ],
  })
  return rows.map(toTransfer)
}

/** The received payments of a charge. */
export async function findByTxid(tx: Tx, accountId: Uuid, txid: string): Promise<Transfer[]> {
  const rows = await tx.query<TransferRow>({
    text: `select * from simulated_transfers
           where account_id = $1 and txid = $2 and direction = 'received' order by at`,
    values: [accountId, txid],
  })
  return rows.map(toTransfer)
}

export async function listTransfers(
  tx: Tx,
  accountId: Uuid,
  { from, to }: Period,
): Promise<Transfer[]> {
  const rows = await tx.query<TransferRow>({
    text: `select * from simulated_transfers
           where account_id = $1 and at >= $2 and at < $3 order by at, end_to_end_id`,
    values: [accountId, from, to],
  })
  return rows.map(toTransfer)
}

/** Received payments and returns, newest first. */
export async function latestOfPayers(tx: Tx, accountId: Uuid, limit: number): Promise<Transfer[]> {
  const rows = await tx.query<TransferRow>({
    text: `select * from simulated_transfers
           where account_id = $1 and direction <> 'sent' order by at desc, end_to_end_id limit $2`,
    values: [accountId, limit],
  })
  return rows.map(toTransfer)
}

/** How much of a payment was returned. */
export async function returnedOf(tx: Tx, accountId: Uuid, endToEndId: string): Promise<number> {
  const rows = await tx.query<{ sum: number }>({
    text: `select coalesce(sum(amount), 0)::bigint as sum from simulated_transfers
           where account_id = $1 and returns = $2 and direction = 'returned'`,
    values: [accountId, endToEndId],
  })
  return rows[0]!.sum
}
