import type { Database, Tx } from '../../db/database.ts'
import { assert } from '../../lib/assert.ts'
import { createBatcher, LOOKUPS } from '../../lib/batch.ts'
import type { Clock } from '../../lib/clock.ts'
import { fromPublic, packPair, toPublic, type Uuid } from '../../lib/ids.ts'
import type { Cents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { Vault } from '../../lib/vault.ts'
import { dynamicCode, staticCode } from '../../pix/brcode.ts'
import type {
  BankTransfer,
  Payee,
  Payouts,
  Period,
  PixPayer,
  Provider,
  ReceivedPix,
  RefundOrder,
} from '../port.ts'
import { chargeTxid, staticTxid } from '../txid.ts'
import { agreeing, type Deciding } from './agreements.ts'
import { accept, answer, refused, reject } from './answers.ts'
import { type CollectingDue, collecting } from './collections.ts'
import { type Disputing, disputing } from './disputes.ts'
import type { Transfer } from './records.ts'
import * as records from './records.ts'
import { addReturns, type Returning, refundOf, returning, withReturns } from './returns.ts'
import { isOwnId, schemeId } from './scheme.ts'

/** Charges with a due date have locations apart, as the scheme wants it. */
const LOCATION_PATHS = { cob: '/cob/', cobv: '/cobv/' }
const LOCATION_MAX = 77
const TOKEN_LENGTH = 43

export { REFUSED_AMOUNT, UNANSWERED_AMOUNT } from './answers.ts'

/** A payment of a payer's bank. The same order again is the same payment. */
type Payment = {
  txid: string | null
  amount: Cents
  endToEndId?: string
  orderId?: string
  payer?: PixPayer
}

/** The provider, and beyond it the side of payers and their banks. */
export type Simulator = Provider &
  Payouts &
  Deciding &
  CollectingDue &
  Returning &
  Disputing & {
    /** Throws a problem if the account would hold too much. */
    pay(account: Pick<Payee, 'id' | 'clockAhead_ms'>, payment: Payment): Promise<Transfer>
  }

/**
 * The host of locations. A location has at most 77 characters, so a longer host is replaced by a
 * short name.
 */
function locationHost(publicUrl: string): string {
  const { host } = new URL(publicUrl)
  return host.length + LOCATION_PATHS.cobv.length + TOKEN_LENGTH <= LOCATION_MAX
    ? host
    : 'pix.localhost'
}

/**
 * The simulated bank: the provider of every sandbox company and of every dev-mode charge. It keeps
 * no record of the codes that it issues, because a code names its company and charge. It records
 * the money that it moves and the agreements of payers.
 */
export function createSimulator(
  publicUrl: string,
  books: Database,
  clock: Clock,
  vault: Vault,
): Simulator {
  const host = locationHost(publicUrl)
  const nowOf = ({ clockAhead_ms = 0 }: Pick<Payee, 'clockAhead_ms'>) =>
    new Date(clock.now().getTime() + clockAhead_ms)
  return {
    name: 'simulator',
    source: 'simulated',
    issueCharge: async (payee, { id, due }) => {
      const path = LOCATION_PATHS[due ? 'cobv' : 'cob']
      const location = `${host}${path}${packPair(payee.id, id)}`
      return accept({ brCode: dynamicCode({ location, name: payee.name, city: payee.city }) })
    },
    removeCharge: async () => accept('removed'),
    issueStaticCode: async ({ name, city, pixKey: key }, { id, amount }) =>
      accept({ brCode: staticCode({ key, amount, name, city, txid: staticTxid(id) }) }),
    pay: (account, payment) => {
      const transfer = received(account.id, payment, nowOf(account))
      const { payer } = payment
      const sealed = payer
        ? vault.seal(JSON.stringify(payer), records.transferContext(transfer))
        : null
      return records.record(books, { ...transfer, payer: sealed }).catch((error) => {
        throw records.isFull(error) ? problem('sandbox_limit_exceeded') : error
      })
    },
    ...reading(books, vault),
    ...sending(books, nowOf),
    ...agreeing(books, host, nowOf),
    ...collecting(books, nowOf),
    ...returning(books, nowOf),
    ...disputing(books, nowOf),
  }
}

type Reading = Pick<
  Simulator,
  'findReceived' | 'findPaid' | 'listReceived' | 'listReturned' | 'listTransfers'
>

function reading(books: Tx, vault: Vault): Reading {
  const toReceived = (transfer: Transfer): ReceivedPix => {
    const { endToEndId, txid, amount, at: receivedAt, payer } = transfer
    const opened = payer
      ? { payer: JSON.parse(vault.open(payer, records.transferContext(transfer))) }
      : {}
    return { endToEndId, txid, amount, receivedAt, ...opened }
  }
  const isReceived = ({ direction }: Transfer) => direction === 'received'
  const show = async (accountId: Uuid, found: Transfer[]) =>
    withReturns(books, accountId, found.filter(isReceived).map(toReceived))
  const list = async (accountId: Uuid, period: Period) =>
    show(accountId, await records.listTransfers(books, accountId, period))
  // Callbacks of many accounts arrive together, and each asks for its payments.
  const find = createBatcher(
    async (wanted: { accountId: Uuid; endToEndId: string }[]) => {
      const found = await records.findWithReturns(books, wanted)
      const keyOf = (accountId: Uuid, payment: string) => `${accountId} ${payment}`
      const own = Map.groupBy(found, ({ accountId, endToEndId, returns }) =>
        keyOf(accountId, returns ?? endToEndId),
      )
      return wanted.map(({ accountId, endToEndId }) => own.get(keyOf(accountId, endToEndId)) ?? [])
    },
    { ...LOOKUPS, ownerOf: ({ accountId }) => accountId },
  )
  return {
    async findReceived({ id: accountId }, endToEndIds) {
      const asked = [...new Set(endToEndIds)].map((endToEndId) => find({ accountId, endToEndId }))
      const found = (await Promise.all(asked)).flat()
      return accept(addReturns(found.filter(isReceived).map(toReceived), found))
    },
    findPaid: async ({ id }, charge) =>
      accept(await show(id, await records.findByTxid(books, id, chargeTxid(charge.id)))),
    listReceived: async ({ id }, period) => accept(await list(id, period)),
    listReturned: async ({ id }, period) =>
      accept((await list(id, period)).filter(({ returns }) => returns !== undefined)),
    listTransfers: async ({ id }, period) =>
      accept((await records.listTransfers(books, id, period)).map(toBankTransfer)),
  }
}

type Sending = Pick<Provider & Payouts, 'refund' | 'findRefund' | 'send' | 'findSent'>

function sending(books: Database, nowOf: (payee: Payee) => Date): Sending {
  const find = (accountId: Uuid, orderId: string) => records.findByOrder(books, accountId, orderId)
  return {
    refund: (payee, order) =>
      books.transaction(async (tx) => {
        const { id: accountId } = payee
        const orderId = refundId(order)
        const done = await records.findByOrder(tx, accountId, orderId)
        if (done) return accept({ returnId: done.endToEndId })
        const refusal = (await refusalOf(tx, accountId, order)) ?? refused(order)
        if (refusal) return reject(refusal)
        const transfer = outgoing('returned', accountId, { ...order, orderId }, nowOf(payee))
        const { endToEndId: returnId } = await records.record(tx, transfer)
        return answer(order, { returnId })
      }),
    async findRefund({ id: accountId }, order) {
      const done = await find(accountId, refundId(order))
      return accept(done && { returnId: done.endToEndId })
    },
    async send(payee, order) {
      const { id: accountId } = payee
      const orderId = sendId(order)
      const done = await find(accountId, orderId)
      if (done) return accept({ endToEndId: done.endToEndId })
      const refusal = refused(order)
      if (refusal) return reject(refusal)
      const transfer = outgoing('sent', accountId, { ...order, orderId }, nowOf(payee))
      const { endToEndId } = await records.record(books, transfer)
      return answer(order, { endToEndId })
    },
    async findSent({ id: accountId }, order) {
      const done = await find(accountId, sendId(order))
      return accept(done && { endToEndId: done.endToEndId })
    },
  }
}

const refundId = ({ id }: { id: Uuid }) => toPublic('rfnd', id)
const sendId = ({ id }: { id: Uuid }) => toPublic('wd', id)

/** Why a refund is not possible; null when it is. No more is returned than was received. */
async function refusalOf(tx: Tx, accountId: Uuid, order: RefundOrder): Promise<string | null> {
  const payment = await records.lockReceived(tx, accountId, order.endToEndId)
  if (!payment) return 'the bank knows no such payment'
  const returned = await records.returnedOf(tx, accountId, order.endToEndId)
  return returned + order.amount > payment.amount ? 'more than was received' : null
}

function received(accountId: Uuid, payment: Payment, at: Date): Transfer {
  const { txid, amount, endToEndId = schemeId('E', at), orderId = null } = payment
  assert(isOwnId(endToEndId), 'a simulated payment has an id of the simulated bank')
  const sides = { accountId, endToEndId, direction: 'received', orderId, txid } as const
  return { ...sides, returns: null, amount, at, payer: null, reason: null }
}

function outgoing(
  direction: 'sent' | 'returned',
  accountId: Uuid,
  { orderId, amount, endToEndId }: { orderId: string; amount: Cents; endToEndId?: string },
  at: Date,
): Transfer {
  const id = schemeId(direction === 'sent' ? 'E' : 'D', at)
  const returns = endToEndId ?? null
  const sides = { accountId, endToEndId: id, direction, orderId, txid: null }
  return { ...sides, returns, amount, at, payer: null, reason: null }
}

const toBankTransfer = ({
  direction,
  endToEndId,
  orderId,
  txid,
  returns,
  amount,
  at,
}: Transfer): BankTransfer => ({
  direction,
  endToEndId,
  txid,
  paymentId: returns,
  amount,
  at,
  orderId: direction === 'received' ? null : orderOf(orderId ?? ''),
})

const orderOf = (text: string): Uuid | null => fromPublic('wd', text) ?? refundOf(text)
