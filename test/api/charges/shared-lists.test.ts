import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findVersions, listMany, refreshMany } from '../../../src/core/charges/store.ts'
import type { Tx } from '../../../src/db/database.ts'
import { fromPublic, newId } from '../../../src/lib/ids.ts'
import { type Client, payer, startApi } from '../../support/api.ts'
import { makePaid } from '../../support/payments.ts'

const api = await startApi()

/** A company with charges of several kinds and states. */
async function makeShop(count: number): Promise<Client> {
  const client = await api.client()
  for (let n = 0; n < count; n += 1) {
    const fields = { customer: payer(), externalId: `order-${n}` }
    if (n % 5 === 0) await makePaid(api, client, 1000 + n)
    else if (n % 5 === 1) await client.post('/link', { total: 700 + n, ...fields })
    else await client.post('/charge/pix', { amount: 500 + n, description: `${n}`, ...fields })
  }
  return client
}

/** All pages from an address on. */
async function readAll(client: Client, path: string): Promise<unknown[]> {
  const { status, body, text, headers } = await client.get(path)
  assert.equal(status, 200, text)
  const next = /^<http:\/\/vintem\.test([^>]+)>/.exec(headers.get('link') ?? '')
  return next ? [body.data, ...(await readAll(client, next[1]!))] : [body.data]
}

test('lists that are read together show what each would show alone', async () => {
  const clients = await Promise.all([makeShop(23), makeShop(11), makeShop(1), api.client()])
  for (const limit of [1, 4, 10, 11, 22, 23, 50]) {
    // A filter that all charges match, by which a list is read alone.
    const alone = await Promise.all(
      clients.map((client) => readAll(client, `/charge?limit=${limit}&devMode=false`)),
    )
    for (let time = 0; time < 2; time += 1) {
      const together = await Promise.all(
        clients.map((client) => readAll(client, `/charge?limit=${limit}`)),
      )
      assert.deepEqual(together, alone, `limit ${limit}`)
    }
  }
})

test('a charge that is remembered is listed as it is now', async () => {
  const client = await api.client()
  const { body } = await client.post('/charge/pix', { amount: 900, customer: payer() })
  const statusInList = async () => (await client.get('/charge')).body.data[0].status
  assert.equal(await statusInList(), 'OPEN')
  await client.get(`/charge/${body.data.id}`)
  assert.equal(await statusInList(), 'OPEN')
  await client.post(`/charge/${body.data.id}/cancel`, {})
  assert.equal(await statusInList(), 'CANCELED')
})

test('a charge that was read before is read again only if it has changed', async () => {
  const client = await api.client()
  const { body } = await client.post('/charge/pix', { amount: 900, customer: payer() })
  const wanted = { companyId: client.company.id, id: fromPublic('charge', body.data.id)! }
  let rows = 0
  const counting: Tx = {
    ...api.app.db.hot,
    async query(query) {
      const found = await api.app.db.hot.query(query)
      rows += found.length
      return found as never
    },
  }
  const [first] = await findVersions(counting, [wanted])
  assert.equal(rows, 1)
  const [same] = await refreshMany(counting, [first!])
  assert.equal(rows, 1)
  assert.equal(same, first)
  await client.post(`/charge/${body.data.id}/cancel`, {})
  const [changed] = await refreshMany(counting, [first!])
  assert.equal(rows, 2)
  assert.deepEqual([changed], await findVersions(counting, [wanted]))
})

test('a list reads only its page, even if the database knows nothing of the table', async () => {
  const { company } = await api.client()
  await api.rows('alter table charges set (autovacuum_enabled = off)')
  await api.rows(
    `insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode,
       br_code, created_at, expires_at)
     select $1, gen_random_uuid(), 'PIX', 100, 'OPEN', 'PROCESSING', false, '000201', now(),
       now() + interval '1 hour'
     from generate_series(1, 3000)`,
    [company.id],
  )
  const plans: string[] = []
  const explaining: Tx = {
    ...api.app.db.hot,
    async query({ text, values = [] }) {
      const rows = await api.app.db.hot.query({ text: `explain (analyze) ${text}`, values })
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return []
    },
  }
  const part = { companyId: company.id, after: null, limit: 51 }
  await listMany(explaining, [part, { ...part, companyId: newId() }])
  assert.match(plans[0]!, /Index Scan Backward using charges_pkey/)
  assert.doesNotMatch(plans[0]!, /rows=3000/)
})
