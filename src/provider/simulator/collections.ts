import type { Database, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { maySchedule } from '../../pix/calendar.ts'
import { addDays, atHour, type LocalDate, localDateOf } from '../../pix/local-time.ts'
import type { Attempt, Collection, CollectionOrder, Outcome, Payee, Provider } from '../port.ts'
import { chargeTxid } from '../txid.ts'
import { type AgreementRecord, findAgreement } from './agreement-records.ts'
import { accept, answer, reject } from './answers.ts'
import type { CollectionRecord, DueCollection } from './collection-records.ts'
import * as records from './collection-records.ts'
import { lockCapacities, recordAll, type Transfer } from './records.ts'
import { schemeId } from './scheme.ts'

/** Payers' banks collect in the morning, in the time of Brasília. */
const COLLECTING_HOUR = 8
/** How often and how long the scheme allows retries. */
const MAX_RETRIES = 3
const RETRIED_FOR_DAYS = 7

/** An attempt that was made. The payment is null when the payer's account had no money. */
export type Collected = {
  accountId: Uuid
  id: Uuid
  txid: string
  status: 'PAID' | 'FAILED'
  payment: Transfer | null
}

export type CollectingDue = {
  /**
   * Makes the due attempts of an account, and returns them. Each is made once, however often and by
   * however many callers.
   */
  collectDue(accountId: Uuid, now: Date, max: number): Promise<Collected[]>
}

type Scheduling = Pick<
  Provider,
  'scheduleCollection' | 'findCollection' | 'retryCollection' | 'cancelCollection'
>

export function collecting(
  books: Database,
  nowOf: (payee: Payee) => Date,
): Scheduling & CollectingDue {
  const change = changing(books)
  return {
    scheduleCollection: (payee, order) =>
      schedule(books, payee.id, order, localDateOf(nowOf(payee))),
    async findCollection({ id: accountId }, id) {
      const found = await records.findCollection(books, accountId, id)
      return accept(found && collectionOf(found))
    },
    retryCollection: (payee, id, on) =>
      change(payee.id, id, async (tx, collection) => {
        if (collection.attempts.some((attempt) => attempt.on === on)) return collection
        const agreement = await findAgreement(tx, payee.id, collection.agreementId, 'for share')
        const fault = retryFault(collection, agreement!, on, localDateOf(nowOf(payee)))
        return fault ?? withAttempt(collection, on)
      }),
    cancelCollection: (payee, id) => change(payee.id, id, async (_tx, one) => canceled(one)),
    collectDue: (accountId, now, max) =>
      books.transaction(async (tx) =>
        collect(tx, await records.lockDue(tx, accountId, now, max), now),
      ),
  }
}

const collectionOf = ({ status, attempts }: CollectionRecord): Collection => ({ status, attempts })

async function schedule(
  books: Tx,
  accountId: Uuid,
  order: CollectionOrder,
  today: LocalDate,
): Promise<Outcome<Collection>> {
  const { id, amount, dueOn } = order
  const { id: agreementId } = order.agreement
  if (maySchedule(today, dueOn)) {
    const empty = { accountId, id, agreementId, amount, dueOn, attempts: [] }
    const collection = withAttempt({ ...empty, status: 'SCHEDULED', nextAt: null }, dueOn)
    const isNew = await records.insertCollection(books, collection)
    if (isNew) return answer(order, collectionOf(collection))
  }
  const existing = await records.findCollection(books, accountId, id)
  if (existing) return accept(collectionOf(existing))
  const agreement = await findAgreement(books, accountId, agreementId)
  const fault = scheduleFault(agreement, order, today)
  return fault ? reject(fault) : { kind: 'unknown', reason: 'the agreement was just decided on' }
}

const APPROVED_ONLY = 'the agreement is not APPROVED'

function scheduleFault(
  agreement: AgreementRecord | null,
  { amount, dueOn }: CollectionOrder,
  today: LocalDate,
): string | null {
  if (agreement?.status !== 'APPROVED') return APPROVED_ONLY
  if (amount !== agreement.value) return 'the amount is not the one that was agreed to'
  return maySchedule(today, dueOn) ? null : 'the due day is not 2 to 10 days away'
}

function withAttempt(collection: CollectionRecord, on: LocalDate): CollectionRecord {
  const attempt: Attempt = { on, status: 'SCHEDULED', endToEndId: null }
  const attempts = [...collection.attempts, attempt]
  return { ...collection, status: 'SCHEDULED', attempts, nextAt: atHour(on, COLLECTING_HOUR) }
}

/** Changes a locked collection. If the change returns a text, that is the reason of a rejection. */
function changing(books: Database) {
  type Change = (tx: Tx, collection: CollectionRecord) => Promise<CollectionRecord | string>
  return (accountId: Uuid, id: Uuid, act: Change): Promise<Outcome<Collection>> =>
    books.transaction(async (tx) => {
      const collection = await records.findCollection(tx, accountId, id, 'for update')
      if (!collection) return reject('the bank knows no such collection')
      const changed = await act(tx, collection)
      if (typeof changed === 'string') return reject(changed)
      if (changed !== collection) await records.updateCollection(tx, changed)
      return accept(collectionOf(changed))
    })
}

function retryFault(
  { status, attempts, dueOn }: CollectionRecord,
  agreement: AgreementRecord,
  on: LocalDate,
  today: LocalDate,
): string | null {
  if (status !== 'FAILED') return `the collection is ${status}`
  if (agreement.status !== 'APPROVED') return APPROVED_ONLY
  if (!agreement.retries) return 'the agreement has no retries'
  if (attempts.length > MAX_RETRIES) return `it was retried ${MAX_RETRIES} times`
  if (on < today || on <= attempts.at(-1)!.on) return 'the day is over, or was tried'
  if (on > addDays(dueOn, RETRIED_FOR_DAYS)) return `the day is not within ${RETRIED_FOR_DAYS} days`
  return null
}

/** Removes the attempt that is not made any more. */
function canceled(collection: CollectionRecord): CollectionRecord | string {
  if (collection.status === 'PAID') return 'the collection is PAID'
  if (collection.status === 'CANCELED') return collection
  const attempts = collection.attempts.filter(({ status }) => status !== 'SCHEDULED')
  return { ...collection, status: 'CANCELED', attempts, nextAt: null }
}

/**
 * Writes payments and attempts in one transaction. The order id of a payment names its attempt, so
 * that no attempt makes two payments. If an account would hold too much, the attempt fails.
 */
async function collect(tx: Tx, due: DueCollection[], now: Date): Promise<Collected[]> {
  if (due.length === 0) return []
  const paying = await withinCapacity(
    tx,
    due.filter(({ payable }) => payable),
  )
  const payments = await recordAll(
    tx,
    paying.map((collection) => paymentOf(collection, now)),
  )
  const attempted = due.map((one) => afterAttempt(one, payments.get(orderOf(one)) ?? null))
  await records.updateAttempted(
    tx,
    attempted.map(({ collection }) => collection),
  )
  return attempted.map(({ collected }) => collected)
}

async function withinCapacity(tx: Tx, paying: DueCollection[]): Promise<DueCollection[]> {
  const capacities = await lockCapacities(tx, [
    ...new Set(paying.map(({ accountId }) => accountId)),
  ])
  return paying.filter(({ accountId, amount }) => {
    const left = capacities.get(accountId)! - amount
    if (left >= 0) capacities.set(accountId, left)
    return left >= 0
  })
}

const orderOf = ({ id, attempts }: CollectionRecord): string =>
  `cobr_${chargeTxid(id)}_${attempts.at(-1)!.on}`

const paymentOf = (collection: CollectionRecord, at: Date): Transfer => ({
  accountId: collection.accountId,
  endToEndId: schemeId('E', at),
  direction: 'received',
  orderId: orderOf(collection),
  txid: chargeTxid(collection.id),
  returns: null,
  amount: collection.amount,
  at,
  payer: null,
  reason: null,
})

function afterAttempt(
  collection: DueCollection,
  payment: Transfer | null,
): { collection: CollectionRecord; collected: Collected } {
  const { accountId, id } = collection
  const status = payment ? 'PAID' : 'FAILED'
  const attempt: Attempt = {
    on: collection.attempts.at(-1)!.on,
    status,
    endToEndId: payment?.endToEndId ?? null,
  }
  const attempts = [...collection.attempts.slice(0, -1), attempt]
  return {
    collection: { ...collection, status, attempts, nextAt: null },
    collected: { accountId, id, txid: chargeTxid(id), status, payment },
  }
}
