import type { Database, Row, Tx } from '../../db/database.ts'
import { idOfSuffix, newId, suffixOf, type Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import type {
  BankDispute,
  BankDisputeStatus,
  Outcome,
  Payee,
  Provider,
  ReturnReason,
} from '../port.ts'
import { accept, reject } from './answers.ts'
import * as records from './records.ts'
import { schemeId } from './scheme.ts'

type Account = Pick<Payee, 'id' | 'clockAhead_ms'>

/** A claim for a payment. Without an amount it is for all that is left. */
type Claim = {
  endToEndId: string
  amount: Cents | null
  reason: ReturnReason
  /** How long the receiver has to answer. */
  hours: number
  /** The same order again is the same dispute. */
  orderId: string
}

export const DECISIONS = ['WON', 'LOST', 'CANCELED'] as const
export type Decision = (typeof DECISIONS)[number]

/** What payers and the bank do about disputes, beyond what a receiver can. */
export type Disputing = Pick<Provider, 'listDisputes' | 'sendDefense'> & {
  openDispute(account: Account, claim: Claim): Promise<Outcome<BankDispute>>
  /** LOST returns the money at once. The same decision again changes nothing. */
  decideDispute(account: Account, id: string, decision: Decision): Promise<Outcome<BankDispute>>
}

type DisputeRow = Row & {
  id: Uuid
  end_to_end_id: string
  amount: number
  reason: ReturnReason
  status: BankDisputeStatus
  opened_at: Date
  deadline: Date
  decided_at: Date | null
}

const toDispute = (row: DisputeRow): BankDispute => ({
  id: suffixOf(row.id),
  endToEndId: row.end_to_end_id,
  amount: toCents(row.amount),
  reason: row.reason,
  status: row.status,
  openedAt: row.opened_at,
  deadline: row.deadline,
  decidedAt: row.decided_at,
})

const HOUR_MS = 3_600_000
const NO_DISPUTE = 'the bank has no such dispute'

export const disputing = (books: Database, nowOf: (account: Account) => Date): Disputing => ({
  openDispute: (account, claim) =>
    books.transaction((tx) => open(tx, account.id, claim, nowOf(account))),
  async decideDispute(account, id, decision) {
    // The payment of a dispute never changes, so this is read without a lock.
    const [seen] = await find(books, account.id, 'id', idOfSuffix(id))
    if (!seen) return reject(NO_DISPUTE)
    return books.transaction((tx) => decide(tx, account.id, seen, decision, nowOf(account)))
  },
  async listDisputes({ id: accountId }, { from, to }) {
    const rows = await books.query<DisputeRow>({
      text: `select * from simulated_disputes
             where account_id = $1 and opened_at >= $2 and opened_at < $3 order by opened_at, id`,
      values: [accountId, from, to],
    })
    return accept(rows.map(toDispute))
  },
  sendDefense: (payee, { id }) =>
    books.transaction(async (tx) => {
      const dispute = await lock(tx, payee.id, idOfSuffix(id))
      if (!dispute) return reject(NO_DISPUTE)
      if (dispute.status === 'DEFENDED') return accept('sent')
      if (dispute.status !== 'OPEN') return reject('the dispute is decided already')
      if (nowOf(payee) > dispute.deadline) return reject('the deadline is over')
      await change(tx, payee.id, dispute.id, 'DEFENDED', null)
      return accept('sent')
    }),
})

async function open(
  tx: Tx,
  accountId: Uuid,
  { endToEndId, amount, reason, hours, orderId }: Claim,
  now: Date,
): Promise<Outcome<BankDispute>> {
  const payment = await records.lockReceived(tx, accountId, endToEndId)
  if (!payment) return reject('the bank has received no such payment')
  const [done] = await find(tx, accountId, 'order_id', orderId)
  if (done) return accept(toDispute(done))
  const all = await find(tx, accountId, 'end_to_end_id', endToEndId)
  if (all.some(({ status }) => status === 'OPEN' || status === 'DEFENDED')) {
    return reject('the payment is disputed already')
  }
  const left = payment.amount - (await records.returnedOf(tx, accountId, endToEndId))
  if (left === 0) return reject('all of the payment is returned already')
  if (amount !== null && amount > left) return reject(`only ${left} cents of the payment are left`)
  const [made] = await tx.query<DisputeRow>({
    text: `insert into simulated_disputes
             (account_id, id, order_id, end_to_end_id, amount, reason, status, opened_at, deadline)
           values ($1, $2, $3, $4, $5, $6, 'OPEN', $7, $8) returning *`,
    values: [
      accountId,
      newId(),
      orderId,
      endToEndId,
      amount ?? left,
      reason,
      now,
      new Date(now.getTime() + hours * HOUR_MS),
    ],
  })
  return accept(toDispute(made!))
}

function find(
  tx: Tx,
  accountId: Uuid,
  column: 'id' | 'order_id' | 'end_to_end_id',
  value: string | null,
): Promise<DisputeRow[]> {
  const text = `select * from simulated_disputes where account_id = $1 and ${column} = $2`
  return tx.query<DisputeRow>({ text, values: [accountId, value] })
}

async function lock(tx: Tx, accountId: Uuid, id: Uuid | null): Promise<DisputeRow | null> {
  const [row] = await tx.query<DisputeRow>({
    text: 'select * from simulated_disputes where account_id = $1 and id = $2 for update',
    values: [accountId, id],
  })
  return row ?? null
}

async function change(
  tx: Tx,
  accountId: Uuid,
  id: Uuid,
  status: BankDisputeStatus,
  decidedAt: Date | null,
): Promise<BankDispute> {
  const [row] = await tx.query<DisputeRow>({
    text: `update simulated_disputes set status = $3, decided_at = $4
           where account_id = $1 and id = $2 returning *`,
    values: [accountId, id, status, decidedAt],
  })
  return toDispute(row!)
}

/** The payment is locked before the dispute, as where it is opened or returned. */
async function decide(
  tx: Tx,
  accountId: Uuid,
  seen: DisputeRow,
  decision: Decision,
  now: Date,
): Promise<Outcome<BankDispute>> {
  const payment = await records.lockReceived(tx, accountId, seen.end_to_end_id)
  const dispute = await lock(tx, accountId, seen.id)
  if (dispute!.status === decision) return accept(toDispute(dispute!))
  if (dispute!.status !== 'OPEN' && dispute!.status !== 'DEFENDED') {
    return reject(`the bank has decided already: ${dispute!.status}`)
  }
  if (decision === 'LOST') await returnMoney(tx, payment!, dispute!, now)
  return accept(await change(tx, accountId, dispute!.id, decision, now))
}

/** Returns what is left of the disputed amount. The receiver may have returned it before. */
async function returnMoney(
  tx: Tx,
  { accountId, endToEndId, amount: paid }: records.Transfer,
  { id, amount, reason }: DisputeRow,
  at: Date,
): Promise<void> {
  const left = paid - (await records.returnedOf(tx, accountId, endToEndId))
  if (left === 0) return
  await records.record(tx, {
    accountId,
    endToEndId: schemeId('D', at),
    direction: 'returned',
    orderId: `dispute_${suffixOf(id)}`,
    txid: null,
    returns: endToEndId,
    amount: toCents(Math.min(amount, left)),
    at,
    payer: null,
    reason,
  })
}
