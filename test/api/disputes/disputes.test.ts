import assert from 'node:assert/strict'
import { test } from 'node:test'
import { carryOutRefunds, releaseDueCharges } from '../../../src/worker/due.ts'
import { type Client, eventsOf, startApi } from '../../support/api.ts'
import {
  decide,
  disputeNow,
  makeReceived,
  openDispute,
  requireClean,
} from '../../support/disputes.ts'
import { lettersOf } from '../../support/mail.ts'
import {
  balancesOf,
  decisionOf,
  disputeOf,
  makePaid,
  makeUnmatched,
  movementsOf,
  returnOf,
  stateOf,
} from '../../support/payments.ts'
import { confirmed, PATH } from '../../support/withdrawals.ts'

const api = await startApi()
const { app, clock } = api
const OPENING = 100_000
const [REFUSED, UNANSWERED] = [66_666, 55_555]

const typesOf = async (client: Client): Promise<string[]> =>
  (await eventsOf(api, client.company.id)).map(({ type }) => type)
const disputeEvents = async (client: Client) =>
  (await typesOf(client)).filter((type) => type.startsWith('dispute.'))
const kindsOf = async (client: Client) => (await movementsOf(api, client)).map(([kind]) => kind)
const balances = async (client: Client) => Object.values(await balancesOf(api, client))
const fault = ({ status, body }: { status: number; body: { errors: { code: string }[] } }) => [
  status,
  body.errors[0]?.code,
]

test('a dispute of pending money holds it, with its event and a mail, and gives it back when won', async () => {
  const client = await api.client()
  const { id: chargeId, endToEndId } = await makePaid(api, client, 1990)
  const opened = await openDispute(client, endToEndId, { hours: 72 })
  assert.deepEqual(opened, {
    id: opened.id,
    status: 'OPEN',
    amount: 1990,
    held: 1990,
    reason: 'FRAUD',
    endToEndId,
    chargeId,
    deadline: new Date(clock.now().getTime() + 72 * 3_600_000).toISOString(),
    openedAt: clock.now().toISOString(),
  })
  assert.deepEqual(await balancesOf(api, client), {
    available: OPENING,
    pending: 0,
    held: 0,
    unmatched: 0,
    disputed: 1990,
  })
  const events = await eventsOf(api, client.company.id)
  assert.deepEqual(events.at(-1), {
    type: 'dispute.opened',
    payload: {
      event: 'Dispute.Opened',
      dispute: {
        id: opened.id,
        status: 'OPEN',
        amount: 1990,
        reason: 'FRAUD',
        endToEndId,
        chargeId,
        deadline: opened.deadline,
      },
      externalId: null,
    },
  })
  const [letter] = (await lettersOf(api, client.company.id)).filter(
    ({ kind }) => kind === 'dispute',
  )
  assert.match(letter!.subject, /contestou R\$ 19,90/)
  assert.match(letter!.text, /MED/)
  const won = await decide(client, opened.id, 'won')
  assert.deepEqual([won.status, won.held, typeof won.closedAt], ['WON', undefined, 'string'])
  assert.deepEqual(await balances(client), [OPENING, 1990, 0, 0])
  assert.deepEqual((await movementsOf(api, client)).slice(1), [
    ['DISPUTE_HELD', opened.id, 'pending>disputed', 1990],
    ['DISPUTE_RELEASED', opened.id, 'disputed>pending', 1990],
  ])
  assert.deepEqual(await disputeEvents(client), ['dispute.opened', 'dispute.won'])
  await requireClean(api, client)
})

test('a dispute after a withdrawal leaves the balance below zero and stops withdrawals; lost, the books are right', async () => {
  const client = await api.client()
  const { id, endToEndId } = await makeReceived(api, client, 1990)
  await confirmed(api, client, OPENING + 1990)
  const opened = await openDispute(client, endToEndId)
  assert.deepEqual(await balances(client), [-1990, 0, OPENING + 1990, 0, 1990])
  const { endToEndId: next } = await makeReceived(api, client, 700)
  const refused = await client.post(PATH, { value: 1 })
  // The withdrawal before is under way, and would be the reason otherwise.
  assert.equal(refused.status, 409)
  await requireClean(api, client)
  const lost = await decide(client, opened.id, 'lost')
  assert.equal(lost.status, 'LOST')
  assert.match(lost.refundId, /^rfnd_/)
  assert.deepEqual(await balances(client), [-1290, 0, OPENING + 1990, 0])
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'REFUNDED'])
  const [returned] = (await client.get(`/refund/charge/${id}`)).body.data
  assert.deepEqual([returned.id, returned.bankReason], [lost.refundId, 'FRAUD'])
  assert.ok(!(await kindsOf(client)).includes('BANK_RETURN'))
  assert.ok((await typesOf(client)).includes('payment.returned'))
  assert.equal(next.length, 32)
  await requireClean(api, client)
})

test('while the balance is below zero, the refusal of a withdrawal says why', async () => {
  const client = await api.client()
  const { endToEndId } = await makeReceived(api, client, 1990)
  await confirmed(api, client, OPENING + 1990)
  await api.app.due.find(({ name }) => name === 'pay out withdrawals')!.run(app)
  await openDispute(client, endToEndId)
  const { status, body } = await client.post(PATH, { value: 1 })
  assert.equal(status, 422)
  assert.equal(
    body.errors[0].description,
    'value: the available balance is 1990 cents below zero, because money that was withdrawn is disputed or was returned by the bank. Nothing can be withdrawn until the next money that you receive has made up for it.',
  )
})

test('a charge that is disputed while pending releases only the rest, and what is won later is available', async () => {
  const client = await api.client()
  const { id, endToEndId } = await makePaid(api, client, 1990)
  const { id: dispute } = await openDispute(client, endToEndId, { value: 1500 })
  clock.advance(60)
  await releaseDueCharges.run(app)
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'RECEIVED'])
  assert.deepEqual(await balances(client), [OPENING + 490, 0, 0, 0, 1500])
  await requireClean(api, client)
  await decide(client, dispute, 'canceled')
  assert.deepEqual(await balances(client), [OPENING + 1990, 0, 0, 0])
  assert.deepEqual(await disputeEvents(client), ['dispute.opened', 'dispute.canceled'])
  await requireClean(api, client)
})

test('to accept a dispute refunds what is held, once, also if the money was withdrawn', async () => {
  const client = await api.client()
  const { id, endToEndId } = await makeReceived(api, client, 1990)
  await confirmed(api, client, OPENING + 1990)
  const { id: dispute } = await openDispute(client, endToEndId)
  const replies = await Promise.all([1, 2, 3].map(() => client.post(`/dispute/${dispute}/accept`)))
  assert.deepEqual(
    replies.map(({ status, body }) => [status, body.data.status]),
    [
      [200, 'ACCEPTED'],
      [200, 'ACCEPTED'],
      [200, 'ACCEPTED'],
    ],
  )
  assert.deepEqual(await balances(client), [-1990, 0, OPENING + 3980, 0])
  await carryOutRefunds.run(app)
  assert.deepEqual(await balances(client), [-1990, 0, OPENING + 1990, 0])
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'REFUNDED'])
  const kinds = await kindsOf(client)
  assert.deepEqual(kinds.slice(-3), ['DISPUTE_HELD', 'DISPUTE_ACCEPTED', 'REFUND_PAID'])
  assert.deepEqual(await disputeEvents(client), ['dispute.opened', 'dispute.accepted'])
  await requireClean(api, client)
})

test('a refund of the disputed charge closes the dispute; a smaller one takes the rest first', async () => {
  const client = await api.client()
  const { id, endToEndId } = await makeReceived(api, client, 1990)
  const { id: dispute } = await openDispute(client, endToEndId, { value: 1500 })
  assert.equal((await client.post(`/refund/${id}`, { value: 490 })).status, 201)
  assert.equal((await disputeNow(client, dispute)).held, 1500, 'taken from the rest')
  assert.equal((await client.post(`/refund/${id}`, { value: 300 })).status, 201)
  const now = await disputeNow(client, dispute)
  assert.deepEqual([now.status, now.held], ['OPEN', 1200], 'there is no rest any more')
  assert.deepEqual(await balances(client), [OPENING, 0, 790, 0, 1200])
  const refund = await client.post(`/refund/${id}`)
  assert.deepEqual([refund.status, refund.body.data.value], [201, 1200])
  const closed = await disputeNow(client, dispute)
  assert.deepEqual([closed.status, closed.refundId], ['ACCEPTED', refund.body.data.id])
  assert.deepEqual(fault(await client.post(`/refund/${id}`)), [409, 'refund_not_possible'])
  await carryOutRefunds.run(app)
  assert.deepEqual(await balances(client), [OPENING, 0, 0, 0])
  await requireClean(api, client)
})

test('if the bank rejects the refund of a disputed charge, the money is held and the dispute open again', async () => {
  for (const isReleased of [false, true]) {
    const client = await api.client()
    const { endToEndId } = await makePaid(api, client, REFUSED)
    const { id: dispute } = await openDispute(client, endToEndId)
    assert.equal((await client.post(`/dispute/${dispute}/accept`)).status, 200)
    if (isReleased) {
      clock.advance(60)
      await releaseDueCharges.run(app)
    }
    await carryOutRefunds.run(app)
    const now = await disputeNow(client, dispute)
    assert.deepEqual([now.status, now.held, now.closedAt], ['OPEN', REFUSED, undefined])
    assert.deepEqual(await balances(client), [OPENING, 0, 0, 0, REFUSED])
    const types = await disputeEvents(client)
    assert.deepEqual(types, ['dispute.opened', 'dispute.accepted', 'dispute.opened'])
    await requireClean(api, client)
    await decide(client, dispute, 'won')
    await requireClean(api, client)
  }
})

test('a dispute that is opened while a refund is under way holds the rest, and all of it if that fails', async () => {
  const client = await api.client()
  const { id, endToEndId } = await makeReceived(api, client, 70_000)
  assert.equal((await client.post(`/refund/${id}`, { value: REFUSED })).status, 201)
  const { id: dispute, held } = await openDispute(client, endToEndId)
  assert.equal(held, 70_000 - REFUSED)
  await requireClean(api, client)
  await carryOutRefunds.run(app)
  assert.equal((await disputeNow(client, dispute)).held, 70_000)
  await requireClean(api, client)
  await decide(client, dispute, 'lost')
  assert.deepEqual(await balances(client), [OPENING, 0, 0, 0])
  await requireClean(api, client)
})

test('a dispute whose payment is on its way back already ends with that refund', async () => {
  const client = await api.client()
  const { id, endToEndId } = await makeReceived(api, client, 1990)
  const { body } = await client.post(`/refund/${id}`)
  const { id: dispute, held } = await openDispute(client, endToEndId)
  assert.equal(held, undefined)
  await carryOutRefunds.run(app)
  const now = await disputeNow(client, dispute)
  assert.deepEqual([now.status, now.refundId], ['ACCEPTED', body.data.id])
  await requireClean(api, client)
})

test('the bank returns the money while our refund is under way: it goes back once', async () => {
  const client = await api.client()
  const { id, endToEndId } = await makeReceived(api, client, UNANSWERED)
  const { id: dispute } = await openDispute(client, endToEndId)
  assert.equal((await client.post(`/dispute/${dispute}/accept`)).status, 200)
  const lost = await decide(client, dispute, 'lost')
  assert.equal(lost.status, 'LOST')
  await carryOutRefunds.run(app)
  assert.deepEqual(await balances(client), [OPENING, 0, 0, 0])
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'REFUNDED'])
  assert.equal((await disputeNow(client, dispute)).status, 'LOST')
  await requireClean(api, client)
})

test('refund, acceptance and a lost dispute at the same moment return the money once', async () => {
  for (let run = 0; run < 4; run++) {
    const client = await api.client()
    const { id, endToEndId } = await makeReceived(api, client, 1990)
    const { id: dispute } = await openDispute(client, endToEndId)
    await Promise.all([
      client.post(`/refund/${id}`),
      client.post(decisionOf(dispute), { decision: 'lost' }),
      client.post(`/dispute/${dispute}/accept`),
      client.post(decisionOf(dispute), { decision: 'lost' }),
      carryOutRefunds.run(app),
    ])
    await carryOutRefunds.run(app)
    assert.deepEqual(await balances(client), [OPENING, 0, 0, 0])
    const ended = (await disputeEvents(client)).slice(1)
    assert.ok(ended.includes('dispute.lost') || ended.includes('dispute.accepted'), String(ended))
    await requireClean(api, client)
  }
})

test('a decision counts once, and the first one stays', async () => {
  const client = await api.client()
  const { endToEndId } = await makeReceived(api, client, 1990)
  const { id: dispute } = await openDispute(client, endToEndId)
  const decisions = ['won', 'won', 'canceled'].map((decision) =>
    client.post(decisionOf(dispute), { decision }),
  )
  const statuses = (await Promise.all(decisions)).map(({ status }) => status).sort()
  assert.ok(statuses.includes(200) && statuses.includes(409), String(statuses))
  const { status } = await disputeNow(client, dispute)
  for (const decision of ['won', 'lost', 'canceled']) {
    const same = decision.toUpperCase() === status
    assert.equal((await client.post(decisionOf(dispute), { decision })).status, same ? 200 : 409)
  }
  assert.equal((await disputeEvents(client)).length, 2)
  assert.deepEqual(await balances(client), [OPENING + 1990, 0, 0, 0])
  await requireClean(api, client)
})

test('a return that the bank makes after a claim ends the open dispute, and only once', async () => {
  const client = await api.client()
  const { endToEndId } = await makeReceived(api, client, 1990)
  const { id: dispute } = await openDispute(client, endToEndId)
  const { body } = await client.post(returnOf(endToEndId), { value: 1000 })
  const now = await disputeNow(client, dispute)
  assert.deepEqual([now.status, now.refundId], ['LOST', body.data.id])
  assert.deepEqual(await balances(client), [OPENING + 990, 0, 0, 0])
  const kinds = await kindsOf(client)
  assert.deepEqual(kinds.slice(-3), ['DISPUTE_HELD', 'DISPUTE_RELEASED', 'DISPUTE_LOST'])
  assert.deepEqual(await disputeEvents(client), ['dispute.opened', 'dispute.lost'])
  await requireClean(api, client)
})

test('a return after a claim that nobody told of is a dispute that is lost at once', async () => {
  const client = await api.client()
  const { id, endToEndId } = await makeReceived(api, client, 1990)
  const { body } = await client.post(returnOf(endToEndId), { reason: 'OPERATIONAL_FAILURE' })
  const [dispute, ...others] = (await client.get('/dispute')).body.data
  assert.deepEqual(others, [])
  assert.deepEqual(dispute, {
    id: dispute.id,
    status: 'LOST',
    amount: 1990,
    reason: 'OPERATIONAL_FAILURE',
    endToEndId,
    chargeId: id,
    openedAt: body.data.finishedAt,
    closedAt: dispute.closedAt,
    refundId: body.data.id,
  })
  assert.deepEqual((await kindsOf(client)).at(-1), 'BANK_RETURN')
  assert.deepEqual(await disputeEvents(client), ['dispute.lost'])
  await requireClean(api, client)
  const own = await makeReceived(api, client, 700)
  await client.post(returnOf(own.endToEndId), { reason: 'OTHER' })
  assert.equal((await client.get('/dispute')).body.data.length, 1, 'without a claim there is none')
  await requireClean(api, client)
})

test('a disputed payment without a charge waits for the end: it is not kept, and can go back', async () => {
  const client = await api.client()
  const endToEndId = await makeUnmatched(api, client, 700)
  const before = await balances(client)
  const { id: dispute, chargeId } = await openDispute(client, endToEndId, { value: 300 })
  assert.equal(chargeId, undefined)
  const path = `/payment/unmatched/${endToEndId}`
  assert.deepEqual(fault(await client.post(`${path}/accept`)), [409, 'payment_not_unmatched'])
  assert.deepEqual((await client.get('/payment/unmatched')).body.data, [])
  await requireClean(api, client)
  await decide(client, dispute, 'won')
  assert.deepEqual(await balances(client), before)
  const { id: second } = await openDispute(client, endToEndId, { value: 300 })
  assert.equal((await client.post(`${path}/refund`)).status, 201)
  assert.equal((await disputeNow(client, second)).status, 'ACCEPTED')
  await carryOutRefunds.run(app)
  await requireClean(api, client)
})

test('a payment that was kept without a charge goes back if its dispute is accepted', async () => {
  for (const amount of [700, REFUSED]) {
    const client = await api.client()
    const endToEndId = await makeUnmatched(api, client, amount)
    await client.post(`/payment/unmatched/${endToEndId}/accept`)
    const { id: dispute } = await openDispute(client, endToEndId)
    await requireClean(api, client)
    assert.equal((await client.post(`/dispute/${dispute}/accept`)).status, 200)
    await carryOutRefunds.run(app)
    const { status } = await disputeNow(client, dispute)
    assert.equal(status, amount === REFUSED ? 'OPEN' : 'ACCEPTED')
    await requireClean(api, client)
  }
})

test('disputes are listed by status and charge, page by page', async () => {
  const client = await api.client()
  const paid = [await makePaid(api, client, 700), await makePaid(api, client, 800)]
  const ids: string[] = []
  for (const { endToEndId } of paid) ids.push((await openDispute(client, endToEndId)).id)
  await decide(client, ids[0]!, 'won')
  const idsOf = async (query: string) =>
    (await client.get(`/dispute${query}`)).body.data.map(({ id }: { id: string }) => id)
  assert.deepEqual(await idsOf(''), ids.toReversed())
  assert.deepEqual(await idsOf('?status=WON'), [ids[0]])
  assert.deepEqual(await idsOf(`?chargeId=${paid[1]!.id}`), [ids[1]])
  const first = await client.get('/dispute?limit=1')
  assert.match(first.headers.get('link')!, /rel="next"/)
  assert.deepEqual(await idsOf(`?limit=1&after=${ids[1]}`), [ids[0]])
  assert.deepEqual(fault(await client.get('/dispute?chargeId=x')), [400, 'invalid_value'])
  const other = await api.client()
  assert.deepEqual(fault(await other.get(`/dispute/${ids[0]}`)), [404, 'dispute_not_found'])
  assert.deepEqual((await other.get('/dispute')).body.data, [])
})

test('the simulated bank refuses what no bank could do', async () => {
  const client = await api.client()
  const { endToEndId } = await makePaid(api, client, 700)
  const open = (json: unknown) => client.post(disputeOf(endToEndId), json)
  assert.deepEqual(fault(await open({ value: 701 })), [409, 'dispute_not_open'])
  assert.deepEqual(fault(await open({ hours: 0 })), [400, 'invalid_value'])
  await openDispute(client, endToEndId)
  assert.deepEqual(fault(await open({})), [409, 'dispute_not_open'], 'one at a time')
  const live = await api.client({ mode: 'live', pixKey: 'loja@example.com' })
  assert.deepEqual(fault(await live.post(disputeOf(endToEndId))), [404, 'sandbox_only'])
})
