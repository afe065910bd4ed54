import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receiveCallback } from '../../../src/core/payments/callbacks.ts'
import { fromPublic } from '../../../src/lib/ids.ts'
import { toCents } from '../../../src/lib/money.ts'
import { callbackBody } from '../../../src/provider/callback.ts'
import type { Transfer } from '../../../src/provider/simulator/records.ts'
import { chargeTxid } from '../../../src/provider/txid.ts'
import { processDueCallbacks, reconcileDue } from '../../../src/worker/due.ts'
import { type Client, eventsOf, startApi } from '../../support/api.ts'
import { balancesOf, makeCharge, movementsOf, stateOf } from '../../support/payments.ts'
import { until } from '../../support/until.ts'
import { stored } from '../storage.ts'

const api = await startApi()
const { app } = api

/** Money arrives at the bank, which has sent no callback yet. */
async function arrive({ company }: Client, chargeId: string, amount = 1990): Promise<Transfer> {
  const txid = chargeTxid(fromPublic('charge', chargeId)!)
  return app.providers.simulator.pay(company, { txid, amount: toCents(amount) })
}

async function sendCallback({ company }: Client, transfer: Transfer) {
  const body = callbackBody({ ...transfer, receivedAt: transfer.at })
  return (await receiveCallback(app, company.id, 'simulator', body)).processed
}

const waiting = async ({ company }: Client) =>
  (
    await api.rows('select id from bank_callbacks where company_id = $1 and processed_at is null', [
      company.id,
    ])
  ).length

test('a payment without a callback is found by asking, and counts once', async () => {
  const client = await api.client()
  const { id } = await makeCharge(client, 1990)
  await reconcileDue.run(app)
  const transfer = await arrive(client, id)
  api.clock.advance(59)
  await reconcileDue.run(app)
  assert.deepEqual(await stateOf(client, id), ['OPEN', 'PROCESSING'], 'it is not yet time to ask')
  api.clock.advance(1)
  await Promise.all([1, 2, 3].map(() => reconcileDue.run(app)))
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'PAID'])
  const { paymentDate } = (await client.get(`/charge/${id}`)).body.data
  assert.equal(paymentDate, transfer.at.toISOString(), 'when the money came, not when it was found')
  assert.equal(await sendCallback(client, transfer), 'processed')
  api.clock.advance(600)
  await reconcileDue.run(app)
  assert.deepEqual(await movementsOf(api, client), [
    ['CHARGE_PAID', transfer.endToEndId, 'bank>pending', 1990],
  ])
  assert.equal((await eventsOf(api, client.company.id)).length, 3)
})

test('a payment in time with a late callback pays its charge', async () => {
  const client = await api.client()
  const { id } = await makeCharge(client, 1990, { expiresIn: 60 })
  api.clock.advance(59)
  const transfer = await arrive(client, id)
  api.clock.advance(3600)
  assert.equal(await sendCallback(client, transfer), 'processed')
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'PAID'])
})

test('callbacks repeated, at once and in any order, credit each payment once', async () => {
  const client = await api.client()
  const charges = await Promise.all(Array.from({ length: 10 }, () => makeCharge(client, 1990)))
  const transfers = await Promise.all(charges.map(({ id }) => arrive(client, id)))
  const repeated = [...transfers, ...transfers.toReversed(), ...transfers]
  const results = await Promise.all(repeated.map((transfer) => sendCallback(client, transfer)))
  assert.deepEqual([...new Set(results)], ['processed'])
  assert.equal((await balancesOf(api, client)).pending, 19_900)
  assert.equal((await movementsOf(api, client)).length, 10)
  assert.equal((await eventsOf(api, client.company.id)).length, 30)
})

test('what the bank does not confirm never counts, and is given up in the end', async () => {
  const client = await api.client()
  const { id } = await makeCharge(client, 1990)
  const foreign = await arrive(await api.client(), id)
  const invented = { ...foreign, endToEndId: 'E99999999202608201500aaaaaaaaaaa' }
  const books = [await balancesOf(api, client), await eventsOf(api, client.company.id)]
  for (const transfer of [foreign, invented]) {
    assert.equal(await sendCallback(client, transfer), 'unconfirmed')
  }
  assert.equal(await waiting(client), 2)
  for (let tries = 0; tries < 7; tries++) {
    api.clock.advance(3600)
    await processDueCallbacks.run(app)
  }
  assert.equal(await waiting(client), 0)
  assert.deepEqual(await stateOf(client, id), ['EXPIRED', 'EXPIRED'])
  assert.deepEqual([await balancesOf(api, client), await eventsOf(api, client.company.id)], books)
})

test('a callback that was stored and not processed is processed when its lease is over', async () => {
  const client = await api.client()
  const { id } = await makeCharge(client, 1990)
  const early = await arrive(client, id, 700)
  // The callback arrives before the bank lists the payment, so that it stays stored and open.
  await api.rows('delete from simulated_transfers where end_to_end_id = $1', [early.endToEndId])
  assert.equal(await sendCallback(client, early), 'unconfirmed')
  const { endToEndId, txid, amount } = early
  await app.providers.simulator.pay(client.company, { endToEndId, txid, amount })
  api.clock.advance(29)
  await processDueCallbacks.run(app)
  assert.equal(await waiting(client), 1)
  api.clock.advance(1)
  await Promise.all([1, 2].map(() => processDueCallbacks.run(app)))
  assert.equal(await waiting(client), 0)
  assert.deepEqual(await movementsOf(api, client), [
    ['PAYMENT_UNMATCHED', endToEndId, 'bank>unmatched', 700],
  ])
})

test('a callback that names nothing is not even stored', async () => {
  const { company } = await api.client()
  const before = await stored(api)
  for (const body of [null, 'x', [], {}, { pix: 1 }, { pix: [null, {}, { endToEndId: '\0' }] }]) {
    const { processed } = await receiveCallback(app, company.id, 'simulator', body)
    assert.equal(await processed, 'unconfirmed')
  }
  assert.deepEqual(await stored(api), before)
})

test('a simulated payment that lost to a cancel is at the bank, and is not lost here', async () => {
  const client = await api.client()
  for (let round = 0; round < 5; round++) {
    const { id } = await makeCharge(client, 1990, { devMode: true })
    const acts = ['simulate-payment', 'cancel'].map((act) => client.post(`/charge/${id}/${act}`))
    await Promise.all(acts)
  }
  api.clock.advance(60)
  await reconcileDue.run(app)
  const [row] = await api.rows<{ bank: number; ours: number }>(
    `select (select coalesce(sum(amount), 0)::int from simulated_transfers
             where account_id = $1) as bank,
            (select coalesce(sum(amount), 0)::int from payments where company_id = $1) as ours`,
    [client.company.id],
  )
  assert.equal(row!.ours, row!.bank)
  const { pending, unmatched } = await balancesOf(api, client)
  assert.equal(pending + unmatched, row!.bank)
})

test('while a charge is locked, the callback about its payment stays to be processed', async () => {
  const client = await api.client()
  const { id } = await makeCharge(client, 1990)
  const transfer = await arrive(client, id)
  const processing: Promise<unknown>[] = []
  await app.db.transaction(async (tx) => {
    await tx.query({
      text: 'select from charges where company_id = $1 and id = $2 for update',
      values: [client.company.id, fromPublic('charge', id)],
    })
    processing.push(sendCallback(client, transfer))
    await until('it waits for the charge', async () => {
      const rows = await api.rows(
        `select 1 from pg_locks join pg_stat_activity using (pid)
         where not granted and datname = current_database()`,
      )
      return rows.length > 0
    })
    assert.equal(await waiting(client), 1)
  })
  assert.deepEqual(await Promise.all(processing), ['processed'])
  assert.equal(await waiting(client), 0)
  assert.equal((await movementsOf(api, client)).length, 1)
})
