import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordDisputes } from '../../../src/core/disputes/record.ts'
import { lock as lockPayment } from '../../../src/core/payments/store.ts'
import type { Tx } from '../../../src/db/database.ts'
import { lockBooks } from '../../../src/ledger/post.ts'
import type { BankDispute } from '../../../src/provider/port.ts'
import { carryOutRefunds, payOutWithdrawals } from '../../../src/worker/due.ts'
import { type Client, eventsOf, startApi } from '../../support/api.ts'
import {
  decide,
  disputeNow,
  makeReceived,
  openDispute,
  requireClean,
} from '../../support/disputes.ts'
import {
  balancesOf,
  makeCharge,
  makePaid,
  makeUnmatched,
  returnOf,
} from '../../support/payments.ts'
import {
  dataOf,
  makeRecipients,
  makeSettled,
  makeSplit,
  netOf,
  release,
  shownBalance,
} from '../../support/splits.ts'
import { until } from '../../support/until.ts'
import { confirmed } from '../../support/withdrawals.ts'

const api = await startApi()
const { app, clock } = api
const OPENING = 100_000
const REFUSED = 66_666

const balances = async (client: Client) => Object.values(await balancesOf(api, client))
const disputeEvents = async (client: Client) =>
  (await eventsOf(api, client.company.id))
    .map(({ type }) => type)
    .filter((type) => type.startsWith('dispute.'))

/** What a bank says that tells of its decision before it returns the money. */
function tell(client: Client, endToEndId: string, fields: Partial<BankDispute> = {}) {
  const claim: BankDispute = {
    id: 'claim-1',
    endToEndId,
    amount: 1990 as BankDispute['amount'],
    reason: 'FRAUD',
    status: 'OPEN',
    openedAt: clock.now(),
    deadline: null,
    decidedAt: null,
    ...fields,
  }
  return recordDisputes(app, client.company, 'simulated', [claim])
}
const amount = (cents: number) => ({ amount: cents as BankDispute['amount'] })
const disputesOf = async (client: Client) => dataOf(await client.get('/dispute'))

test('a dispute of a split charge that is won while the balance is below zero gives recipients their parts', async () => {
  const client = await api.client()
  const [id] = await makeRecipients(client, 1)
  const other = await makeReceived(api, client, 1000)
  const { endToEndId } = await makeSettled(api, client, 1000, [{ recipientId: id!, amount: 300 }])
  await confirmed(api, client, OPENING + 1700)
  await payOutWithdrawals.run(app)
  const dispute = await openDispute(client, endToEndId)
  assert.deepEqual(await netOf(client, [id!]), [0])
  dataOf(await client.post(returnOf(other.endToEndId)))
  assert.equal((await shownBalance(client)).available, -1700)
  assert.equal((await decide(client, dispute.id, 'won')).status, 'WON')
  assert.deepEqual(await netOf(client, [id!]), [300])
  assert.equal((await shownBalance(client)).available, -1000)
  await requireClean(api, client)
})

test('a lost dispute that is refunded holds its money again if the bank refuses the refund', async () => {
  const client = await api.client()
  const { id, endToEndId } = await makeReceived(api, client, REFUSED)
  await tell(client, endToEndId, { ...amount(REFUSED), status: 'LOST' })
  assert.deepEqual(await balances(client), [OPENING, 0, 0, 0, REFUSED])
  dataOf(await client.post(`/refund/${id}`))
  await carryOutRefunds.run(app)
  assert.deepEqual(
    await balances(client),
    [OPENING, 0, 0, 0, REFUSED],
    'the return is still to come',
  )
  await requireClean(api, client)
  dataOf(await client.post(returnOf(endToEndId)))
  assert.deepEqual(await balances(client), [OPENING, 0, 0, 0])
  assert.equal((await disputesOf(client)).length, 1)
  assert.deepEqual(await disputeEvents(client), ['dispute.opened', 'dispute.lost'])
  await requireClean(api, client)
})

test('the return of a lost dispute that comes while it is refunded is not another dispute', async () => {
  const client = await api.client()
  const { id, endToEndId } = await makeReceived(api, client, 1990)
  await tell(client, endToEndId, { status: 'LOST' })
  dataOf(await client.post(`/refund/${id}`))
  dataOf(await client.post(returnOf(endToEndId)))
  await carryOutRefunds.run(app)
  assert.deepEqual(await balances(client), [OPENING, 0, 0, 0])
  assert.equal((await disputesOf(client)).length, 1)
  assert.deepEqual(await disputeEvents(client), ['dispute.opened', 'dispute.lost'])
  await requireClean(api, client)
})

test('of two refunds that settle a dispute the first is refused: the dispute is open again', async () => {
  const client = await api.client()
  const { id, endToEndId } = await makeReceived(api, client, REFUSED + 40)
  const { id: dispute } = await openDispute(client, endToEndId)
  dataOf(await client.post(`/refund/${id}`, { value: REFUSED }))
  dataOf(await client.post(`/refund/${id}`, { value: 40 }))
  assert.equal((await disputeNow(client, dispute)).status, 'ACCEPTED')
  await carryOutRefunds.run(app)
  const now = await disputeNow(client, dispute)
  assert.deepEqual([now.status, now.held], ['OPEN', REFUSED])
  await requireClean(api, client)
})

test('another claim waits until the return of a lost one has come, and holds what is left then', async () => {
  for (const make of [makePaid, makeReceived]) {
    const client = await api.client()
    const { endToEndId } = await make(api, client, 1990)
    await tell(client, endToEndId, { ...amount(1500), status: 'LOST' })
    assert.equal(await tell(client, endToEndId, { id: 'claim-2' }), 0)
    assert.equal((await balancesOf(api, client)).disputed, 1500)
    await requireClean(api, client)
    dataOf(await client.post(returnOf(endToEndId), { value: 1500 }))
    assert.equal(await tell(client, endToEndId, { id: 'claim-2' }), 1)
    assert.equal((await balancesOf(api, client)).disputed, 490, 'never more than the payment')
    assert.equal((await disputesOf(client)).length, 2)
    await requireClean(api, client)
  }
})

test('what was disputed of a charge is held of it again, and not of the rest of its payment', async () => {
  const client = await api.client()
  const [recipient] = await makeRecipients(client, 1)
  const split = [{ recipientId: recipient!, percent: 5000 }]
  const { id } = await makeSplit(client, REFUSED, split)
  const endToEndId = await makeUnmatched(api, client, 2 * REFUSED)
  const path = `/payment/unmatched/${endToEndId}`
  dataOf(await client.post(`${path}/accept`, { chargeId: id, difference: 'refund' }))
  const { id: dispute, chargeId } = await openDispute(client, endToEndId, { value: REFUSED })
  assert.equal(chargeId, id)
  dataOf(await client.post(`/refund/${id}`))
  await carryOutRefunds.run(app)
  const now = await disputeNow(client, dispute)
  assert.deepEqual([now.status, now.held], ['OPEN', REFUSED])
  await requireClean(api, client)
  await release(api)
  await requireClean(api, client)
  const { unmatched, disputed } = await shownBalance(client)
  assert.deepEqual([unmatched, disputed], [REFUSED, REFUSED])
  await decide(client, dispute, 'won')
  assert.deepEqual(await netOf(client, [recipient!]), [REFUSED / 2])
  await requireClean(api, client)
})

/** A charge that a payment has settled, whose rest of REFUSED waits: the bank did not return it. */
async function makeRest(client: Client, value: number) {
  const { id } = await makeCharge(client, value)
  const endToEndId = await makeUnmatched(api, client, value + REFUSED)
  const path = `/payment/unmatched/${endToEndId}`
  dataOf(await client.post(`${path}/accept`, { chargeId: id, difference: 'refund' }))
  await carryOutRefunds.run(app)
  assert.equal((await balancesOf(api, client)).unmatched, REFUSED)
  return { id, endToEndId, path }
}

/** A charge with a claim of more than the rest of its payment: it is of the charge. */
const OF_CHARGE = [
  { value: 100_000, claim: 90_000, held: 90_000 },
  { value: 1500, claim: REFUSED + 1, held: 1500 },
]

test('a refund of the rest of a payment takes nothing of what is held of its charge', async () => {
  for (const { value, claim, held } of OF_CHARGE) {
    const client = await api.client()
    const { id, endToEndId, path } = await makeRest(client, value)
    const { id: dispute, chargeId } = await openDispute(client, endToEndId, { value: claim })
    assert.equal(chargeId, id)
    dataOf(await client.post(`${path}/refund`))
    for (const unmatched of [0, REFUSED]) {
      const now = await disputeNow(client, dispute)
      assert.deepEqual([now.status, now.held], ['OPEN', held])
      assert.equal((await balancesOf(api, client)).unmatched, unmatched)
      await requireClean(api, client)
      await carryOutRefunds.run(app)
    }
  }
})

test('a return of the rest of a payment that nobody claimed takes nothing of what is held of its charge', async () => {
  for (const { value, claim, held } of OF_CHARGE) {
    const client = await api.client()
    const { endToEndId } = await makeRest(client, value)
    const { id: dispute } = await openDispute(client, endToEndId, { value: claim })
    dataOf(await client.post(returnOf(endToEndId), { value: REFUSED, reason: 'OTHER' }))
    const now = await disputeNow(client, dispute)
    assert.deepEqual([now.status, now.held], ['OPEN', held])
    assert.equal((await balancesOf(api, client)).unmatched, 0)
    await requireClean(api, client)
  }
})

test('what goes back of a charge takes nothing of what is held of the rest of its payment', async () => {
  for (const isByBank of [false, true]) {
    const client = await api.client()
    const { id, endToEndId, path } = await makeRest(client, 100_000)
    const { id: dispute, chargeId } = await openDispute(client, endToEndId, { value: 200 })
    assert.equal(chargeId, undefined)
    if (isByBank) {
      dataOf(await client.post(returnOf(endToEndId), { value: 100_000, reason: 'OTHER' }))
    } else dataOf(await client.post(`/refund/${id}`))
    await carryOutRefunds.run(app)
    const now = await disputeNow(client, dispute)
    assert.deepEqual([now.status, now.held], ['OPEN', 200])
    const { pending, unmatched, disputed } = await balancesOf(api, client)
    assert.deepEqual([pending, unmatched, disputed], [500, REFUSED - 200, 200])
    await requireClean(api, client)
    assert.equal((await client.post(`${path}/accept`)).status, 409, 'it waits for the dispute')
    await decide(client, dispute, 'won')
    dataOf(await client.post(`${path}/accept`))
    await requireClean(api, client)
  }
})

test('a dispute of a payment without a charge that is on its way back ends with that refund', async () => {
  const client = await api.client()
  const endToEndId = await makeUnmatched(api, client, 1990)
  const refund = dataOf(await client.post(`/payment/unmatched/${endToEndId}/refund`))
  const { id: dispute, held } = await openDispute(client, endToEndId)
  assert.equal(held, undefined)
  await carryOutRefunds.run(app)
  const now = await disputeNow(client, dispute)
  assert.deepEqual([now.status, now.refundId], ['ACCEPTED', refund.id])
  assert.deepEqual(await disputeEvents(client), ['dispute.opened', 'dispute.accepted'])
  await requireClean(api, client)
})

const requireFreeBooks = (tx: Tx, { company }: Client) =>
  tx.query({
    text: 'select from balances where company_id = $1 for update nowait',
    values: [company.id],
  })
const countWaiting = async () =>
  (
    await api.rows(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  ).length

test('a refund that fails waits for its payment before it holds the books, so that no two wait for each other', async () => {
  const client = await api.client()
  const endToEndId = await makeUnmatched(api, client, REFUSED)
  dataOf(await client.post(`/payment/unmatched/${endToEndId}/accept`))
  const { id: dispute } = await openDispute(client, endToEndId)
  dataOf(await client.post(`/dispute/${dispute}/accept`))
  let running: Promise<unknown> | undefined
  await app.db.transaction(async (tx) => {
    await lockPayment(tx, client.company.id, 'simulated', endToEndId)
    running = carryOutRefunds.run(app)
    await until('the refund waits', async () => (await countWaiting()) > 0)
    await requireFreeBooks(tx, client)
  })
  await running
  assert.equal((await disputeNow(client, dispute)).held, REFUSED)
  await requireClean(api, client)
})

test('a company is told of deadlines while its books are held', async () => {
  const client = await api.client()
  const { endToEndId } = await makeReceived(api, client, 1990)
  await openDispute(client, endToEndId, { hours: 24 })
  clock.advance(19 * 3600)
  const told = await app.db.transaction(async (tx) => {
    await lockBooks(tx, client.company.id)
    await app.due.find(({ name }) => name === 'deadlines of disputes')!.run(app)
    return disputeEvents(client)
  })
  assert.deepEqual(told, ['dispute.opened', 'dispute.deadline'])
})
