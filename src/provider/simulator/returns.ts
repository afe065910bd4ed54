import type { Database, Tx } from '../../db/database.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import type { Cents } from '../../lib/money.ts'
import type { Outcome, Payee, PixReturn, ReceivedPix, ReturnReason } from '../port.ts'
import { accept, reject } from './answers.ts'
import * as records from './records.ts'
import { schemeId } from './scheme.ts'

type Account = Pick<Payee, 'id' | 'clockAhead_ms'>

/** Money that the bank returns by itself. Without an amount it is all that is left. */
type OwnReturn = {
  endToEndId: string
  amount: Cents | null
  reason: ReturnReason
  /** The same order again is the same return. */
  orderId: string
}

export type Returning = {
  /** Returns a payment without an order of the receiver, as banks do after a claim of fraud. */
  returnByItself(account: Account, order: OwnReturn): Promise<Outcome<PixReturn>>
}

export const returning = (books: Database, nowOf: (account: Account) => Date): Returning => ({
  returnByItself: (account, order) =>
    books.transaction(async (tx) => {
      const { id: accountId } = account
      const { endToEndId, reason, orderId } = order
      const payment = await records.lockReceived(tx, accountId, endToEndId)
      if (!payment) return reject('the bank has received no such payment')
      const done = await records.findByOrder(tx, accountId, orderId)
      if (done) return accept(toReturn(done))
      const left = payment.amount - (await records.returnedOf(tx, accountId, endToEndId))
      const amount = order.amount ?? (left as Cents)
      if (left === 0) return reject('all of the payment is returned already')
      if (amount > left) return reject(`only ${left} cents of the payment are left`)
      const at = nowOf(account)
      const transfer = {
        accountId,
        endToEndId: schemeId('D', at),
        direction: 'returned' as const,
        orderId,
        txid: null,
        returns: endToEndId,
        amount,
        at,
        payer: null,
        reason,
      }
      return accept(toReturn(await records.record(tx, transfer)))
    }),
})

/** The refund of ours that a return was ordered by; null if it has another order. */
export const refundOf = (orderId: string): Uuid | null => fromPublic('rfnd', orderId)

const toReturn = ({ endToEndId, orderId, amount, at, reason }: records.Transfer): PixReturn => ({
  returnId: endToEndId,
  orderId: refundOf(orderId ?? ''),
  amount,
  at,
  reason: reason ?? 'OTHER',
})

/** Adds to payments what was returned of them. */
export async function withReturns(
  books: Tx,
  accountId: Uuid,
  payments: ReceivedPix[],
): Promise<ReceivedPix[]> {
  if (payments.length === 0) return []
  const ids = payments.map(({ endToEndId }) => endToEndId)
  return addReturns(payments, await records.listReturns(books, accountId, ids))
}

/** The same, if the returns are among some transfers. */
export function addReturns(payments: ReceivedPix[], found: records.Transfer[]): ReceivedPix[] {
  const byPayment = Map.groupBy(found, ({ returns }) => returns)
  return payments.map((pix) => {
    const own = byPayment.get(pix.endToEndId)
    return own ? { ...pix, returns: own.map(toReturn) } : pix
  })
}
