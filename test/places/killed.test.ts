import assert from 'node:assert/strict'
import { test } from 'node:test'
import { moveCompany } from '../../src/core/moves/move.ts'
import { appsOf } from '../../src/core/places/front.ts'
import { runWorker } from '../../src/serving.ts'
import { type Client, payer, startApi } from '../support/api.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { register } from '../support/webhooks.ts'
import { killMoverAt } from './killed-mover.ts'

const api = await startApi({}, { places: 2 })
const apps = appsOf(api.app)
const QUICK = { workers_ms: 0, grace_ms: 0 }

async function pay(client: Client): Promise<void> {
  const made = await client.post('/charge/pix', { amount: 1000, customer: payer(), devMode: true })
  assert.equal(made.status, 201, made.text)
  const paid = await client.post(`/charge/${made.body.data.id}/simulate-payment`, {})
  assert.equal(paid.status, 200, paid.text)
}

const totalsIn = (place: number, id: string) =>
  apps[place - 1]!.db.query<{ received: string }>({
    text: `select sum(received)::text as received, sum(received_count)::text as count
           from hourly_totals where company_id = $1`,
    values: [id],
  })

test('hourly totals are not counted twice after a kill between ready and left', async () => {
  const client = await api.client()
  const { id } = client.company
  await pay(client)
  await apps[1]!.db.query({
    text: `insert into counted_hours values ($1, '2000-01-01', '2000-01-01', '2100-01-01')`,
    values: [id],
  })
  await killMoverAt(api, id, 'ready')
  await pay(client)
  const before = await totalsIn(2, id)
  await moveCompany({ companyId: id, urls: api.places, from: 2, to: 1, ...QUICK })
  assert.deepEqual(await totalsIn(1, id), before)
})

test('webhooks of a company are delivered while a killed move is not resumed', async () => {
  const receiver = await startReceiver()
  const client = await api.client()
  await register(client, receiver.url, ['charge.pending'])
  await killMoverAt(api, client.company.id, 'copied')
  const stopWorkers = runWorker(api.app)
  api.atEnd(() => stopWorkers())
  const made = await client.post('/charge/pix', { amount: 1000, customer: payer(), devMode: true })
  assert.equal(made.status, 201, made.text)
  await until('a delivery', async () => (receiver.received.length > 0 ? true : null), 60)
})
