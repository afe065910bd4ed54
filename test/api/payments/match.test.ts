import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receiveCallback } from '../../../src/core/payments/callbacks.ts'
import { matchPayments } from '../../../src/core/payments/match.ts'
import { claimCallbacks } from '../../../src/core/payments/store.ts'
import { fromPublic } from '../../../src/lib/ids.ts'
import { toCents } from '../../../src/lib/money.ts'
import { callbackBody } from '../../../src/provider/callback.ts'
import type { Source } from '../../../src/provider/port.ts'
import { chargeTxid } from '../../../src/provider/txid.ts'
import { billDue, collectDue, generateDue, reconcileDue } from '../../../src/worker/due.ts'
import { type Client, eventsOf, payer, startApi } from '../../support/api.ts'
import { charged, openBanked } from '../../support/bank.ts'
import { approvedSubscription } from '../../support/billing.ts'
import { balancesOf, makeCharge, movementsOf, stateOf } from '../../support/payments.ts'
import { dueAt } from '../../support/requests.ts'
import { until } from '../../support/until.ts'

const api = await startApi()
const { app } = api
const DAY_S = 24 * 3600

const txidOf = (chargeId: string) => chargeTxid(fromPublic('charge', chargeId)!)

/** Money arrives at the bank, which has sent no callback yet. */
const arrive = ({ company }: Client, chargeId: string, amount: number) =>
  app.providers.simulator.pay(company, { txid: txidOf(chargeId), amount: toCents(amount) })

test('a payment that is named twice in one report counts once', async () => {
  const client = await api.client()
  const { id } = await makeCharge(client, 1990)
  const { at, endToEndId, amount } = await arrive(client, id, 1990)
  const pix = { endToEndId, amount, txid: txidOf(id), receivedAt: at }
  const arrival = { source: 'simulated' as const, now: api.clock.now() }
  const results = await app.db.transaction((tx) =>
    matchPayments(tx, app, client.company, [pix, { ...pix }, pix], arrival),
  )
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ['paid', 'paid', 'paid'],
  )
  assert.deepEqual(await movementsOf(api, client), [
    ['CHARGE_PAID', pix.endToEndId, 'bank>pending', 1990],
  ])
  const again = await app.db.transaction((tx) =>
    matchPayments(tx, app, client.company, [pix], arrival),
  )
  assert.deepEqual(again, [{ kind: 'known' }])
})

test('charges of one company that are paid at the same moment change its balance once', async () => {
  const client = await api.client()
  const paths = ['/charge/pix', '/charge/payment-link']
  const bodies = { '/charge/pix': { amount: 1990 }, '/charge/payment-link': { total: 1990 } }
  const charges = []
  for (const path of [...paths, ...paths]) {
    const body = { ...bodies[path as keyof typeof bodies], customer: payer(), devMode: true }
    charges.push((await client.post(path, body)).body.data.id as string)
  }
  const pay = (id: string) => client.post(`/charge/${id}/simulate-payment`)
  const answers = await Promise.all([...charges, ...charges].map(pay))
  for (const { status, body } of answers) {
    assert.deepEqual([status, body.data.status], [200, 'COMPLETED'])
  }
  const { pending } = await balancesOf(api, client)
  assert.equal(pending, charges.length * 1990)
  await app.lateActivity.idle()
  const entries = await api.rows(
    `select 1 from activity where company_id = $1 and action = 'simulatePayment'`,
    [client.company.id],
  )
  assert.equal(entries.length, charges.length)
})

test('of payments that are found together the one that came first pays the charge', async () => {
  const client = await api.client()
  const charges = [await makeCharge(client, 1990), await makeCharge(client, 1990)]
  await reconcileDue.run(app)
  for (const { id } of charges) {
    const first = await arrive(client, id, 1990)
    api.clock.advance(1)
    const second = await arrive(client, id, 1990)
    api.clock.advance(60)
    await reconcileDue.run(app)
    const rows = await api.rows(
      `select end_to_end_id as id, reason from payments
       where company_id = $1 and txid = $2 order by received_at`,
      [client.company.id, txidOf(id)],
    )
    assert.deepEqual(rows, [
      { id: first.endToEndId, reason: null },
      { id: second.endToEndId, reason: 'DUPLICATE' },
    ])
  }
  const { pending, unmatched } = await balancesOf(api, client)
  assert.deepEqual([pending, unmatched], [2 * 1990, 2 * 1990])
})

test('the collection of a charge ends in the moment in which the charge is paid', async () => {
  const client = await api.client()
  await approvedSubscription(api, client)
  await generateDue.run(app)
  await billDue.run(app)
  const billings = () =>
    api.rows<{ status: string; next_at: Date | null }>(
      'select status, next_at from billings where company_id = $1',
      [client.company.id],
    )
  assert.deepEqual(
    (await billings()).map(({ status }) => status),
    ['SCHEDULED'],
  )
  api.clock.advance(4 * DAY_S)
  await collectDue.run(app)
  assert.deepEqual(await billings(), [{ status: 'PAID', next_at: null }])
  const types = (await eventsOf(api, client.company.id)).map(({ type }) => type)
  assert.deepEqual(types.slice(-2), ['charge.paid', 'subscription.charge.paid'])
})

test('a callback that the bank does not confirm is tried after 30 s, each time twice as long', async () => {
  const client = await api.client()
  const { id } = await makeCharge(client, 1990)
  const pix = { endToEndId: 'E99999999202608201500aaaaaaaaaaa', txid: txidOf(id) }
  const body = callbackBody({ ...pix, amount: toCents(1990), receivedAt: api.clock.now() })
  const { processed } = await receiveCallback(app, client.company.id, 'simulator', body)
  assert.equal(await processed, 'unconfirmed')
  const nextOf = async () => {
    const [row] = await api.rows<{ at: Date }>(
      'select next_attempt_at as at from bank_callbacks where company_id = $1',
      [client.company.id],
    )
    return row!.at
  }
  const waits: number[] = []
  for (let attempt = 0; attempt < 6; attempt++) {
    const due = await nextOf()
    const left_s = (due.getTime() - api.clock.now().getTime()) / 1000
    waits.push(left_s)
    api.clock.advance(left_s)
    const early = new Date(due.getTime() - 1)
    assert.deepEqual(await claimCallbacks(app.db, dueAt(early, 10)), [], 'not a millisecond before')
    assert.equal((await claimCallbacks(app.db, dueAt(due, 10))).length, 1)
    assert.deepEqual(await claimCallbacks(app.db, dueAt(due, 10)), [], 'one worker has it')
  }
  assert.deepEqual(waits, [30, 30, 60, 120, 240, 480])
  assert.deepEqual(await stateOf(client, id), ['OPEN', 'PROCESSING'])
})

const at = (seconds: number) => new Date(api.clock.now().getTime() + seconds * 1000)
const pixOf = (n: number, txid: string | null, receivedAt = at(0)) => ({
  endToEndId: `E99999999${String(n).padStart(23, '0')}`,
  amount: toCents(1990),
  txid,
  receivedAt,
})
type Arriving = ReturnType<typeof pixOf>
const matchAll = ({ company }: Client, payments: Arriving[], source: Source = 'simulated') =>
  app.db.transaction((tx) =>
    matchPayments(tx, app, company, payments, { source, now: api.clock.now() }),
  )

test('of payments of the same moment the same one pays, in whatever order their callbacks arrive', async () => {
  for (const order of [(all: Arriving[]) => all, (all: Arriving[]) => all.toReversed()]) {
    const client = await api.client()
    const { id } = await makeCharge(client, 1990)
    await matchAll(client, order([1, 2, 3].map((n) => pixOf(n, txidOf(id)))))
    const rows = await api.rows<{ id: string }>(
      `select end_to_end_id as id from payments where company_id = $1 and status = 'MATCHED'`,
      [client.company.id],
    )
    assert.deepEqual(rows, [{ id: pixOf(1, null).endToEndId }])
  }
})

test('play money pays no charge of a live company that asks for real money', async () => {
  const shop = await openBanked(api)
  const { id } = await charged(shop)
  const [result] = await matchAll(shop, [pixOf(4, txidOf(id))])
  assert.deepEqual(result, { kind: 'unmatched', reason: 'UNKNOWN' })
  assert.deepEqual(await stateOf(shop, id), ['OPEN', 'PROCESSING'])
  assert.deepEqual(await movementsOf(api, shop), [])
})

test('a payment that two reports name at the same moment is matched by one, and known to the other', async () => {
  const client = await api.client()
  const pix = pixOf(5, null)
  const arrival = { source: 'simulated' as const, now: api.clock.now() }
  let other: Promise<unknown> = Promise.resolve()
  await app.db.transaction(async (tx) => {
    await matchPayments(tx, app, client.company, [pix], arrival)
    other = matchAll(client, [pix])
    await until('the other waits', async () => {
      const rows = await api.rows(
        `select from pg_stat_activity where datname = current_database()
         and wait_event_type = 'Lock'`,
      )
      return rows.length > 0
    })
  })
  assert.deepEqual(await other, [{ kind: 'known' }])
})

test('a callback is done when all payments that it names are confirmed, and not before', async () => {
  const client = await api.client()
  const { id } = await makeCharge(client, 1990)
  const first = await arrive(client, id, 1990)
  const bodies = [{ ...first, receivedAt: first.at }, pixOf(6, null)].map(callbackBody)
  const body = { pix: bodies.flatMap((one) => (one as { pix: unknown[] }).pix) }
  const { processed } = await receiveCallback(app, client.company.id, 'simulator', body)
  assert.equal(await processed, 'unconfirmed')
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'PAID'])
  const rows = await api.rows('select processed_at from bank_callbacks where company_id = $1', [
    client.company.id,
  ])
  assert.deepEqual(rows, [{ processed_at: null }])
})
