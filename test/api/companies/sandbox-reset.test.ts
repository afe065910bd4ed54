import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { addressOfServer, writeAddress } from '../../../src/running.ts'
import { openSandbox, resetSandbox, type Sandbox } from '../../../src/sandbox.ts'
import { expireDueCharges, generateDue } from '../../../src/worker/due.ts'
import { type Client, type Reply, startApi } from '../../support/api.ts'
import { CLOCK } from '../../support/clocks.ts'
import { makeCharge } from '../../support/payments.ts'
import { decide, makeSubscription } from '../../support/subscriptions.ts'

const api = await startApi()
const { app } = api

const readFile = (): Sandbox =>
  JSON.parse(readFileSync(join(app.config.dataDir, 'sandbox.json'), 'utf8'))

/** Asks with the key of a sandbox. */
function clientOf({ apiKey }: Sandbox): Pick<Client, 'get' | 'post'> {
  const headers = { 'X-API-KEY': apiKey }
  const call = (method: string, path: string, json?: unknown): Promise<Reply> =>
    api.call(method, path, { headers, ...(json === undefined ? {} : { json }) })
  return { get: (path) => call('GET', path), post: (path, json) => call('POST', path, json) }
}

test('a reset makes a fresh company with another key, in real time and with its opening balance', async () => {
  const former = await openSandbox(app)
  await clientOf(former).post(CLOCK, { advance: 400 * 86_400 })
  const made = await resetSandbox(app)
  assert.deepEqual(readFile(), made)
  assert.notEqual(made.companyId, former.companyId)
  assert.notEqual(made.apiKey, former.apiKey)
  const client = clientOf(made)
  assert.equal((await client.get(CLOCK)).body.data.now, api.clock.now().toISOString())
  assert.equal((await client.get('/account-balance')).body.data.available, 100_000)
  assert.equal((await client.get('/company')).body.data.name, 'Padaria do Vintém')
  assert.deepEqual(await openSandbox(app), made, 'the next start keeps it')
  const entries = await api.rows<{ company_id: string; action: string }>(
    `select company_id, action from activity
     where author_kind = 'service' and action !~ '^operator' order by id`,
  )
  assert.deepEqual(
    entries.map(({ company_id, action }) => [company_id, action]),
    [
      [former.companyId, 'company.create'],
      [former.companyId, 'sandbox.reset'],
      [made.companyId, 'company.create'],
    ],
  )
})

test('the former company has no key that works, gets no more deliveries, and keeps its records', async () => {
  const former = await openSandbox(app)
  const client = clientOf(former) as Client
  const hook = { url: 'http://127.0.0.1:1/', name: 'Loja', events: ['charge.expired'] }
  const webhook = (await client.post('/webhook', hook)).body.data.id
  const charge = await makeCharge(client, 700)
  const { id: subscription, emv } = await makeSubscription(client)
  await decide(api, emv, 'approve')
  await resetSandbox(app)
  const refused = await client.get('/company')
  assert.deepEqual([refused.status, refused.body.errors[0].code], [401, 'invalid_api_key'])
  const of = (table: string) =>
    api.rows<{ id: string; status: string }>(
      `select id, status from ${table} where company_id = $1`,
      [former.companyId],
    )
  assert.deepEqual(await of('webhooks'), [{ id: webhook, status: 'INACTIVE' }])
  assert.deepEqual(
    (await of('charges')).map(({ status }) => status),
    ['OPEN'],
    `${charge.id} runs out by itself`,
  )
  assert.deepEqual(
    (await of('recurrences')).map(({ status }) => status),
    ['CANCELED'],
    subscription,
  )
  api.clock.advance(40 * 86_400)
  await generateDue.run(app)
  await expireDueCharges.run(app)
  const charges = (await of('charges')).map(({ status }) => status)
  assert.deepEqual(charges, ['EXPIRED'], 'nothing is charged any more')
  const deliveries = await api.rows('select 1 from deliveries where company_id = $1', [
    former.companyId,
  ])
  assert.deepEqual(deliveries, [])
})

test('a clock that is on its way stops where it has come to', async () => {
  const former = await openSandbox(app)
  await clientOf(former).post(CLOCK, { advance: 60 })
  const target = new Date(api.clock.now().getTime() + 86_400_000)
  const set = 'update test_clocks set target = $2 where company_id = $1'
  await api.rows(set, [former.companyId, target])
  await resetSandbox(app)
  const [clock] = await api.rows('select ahead_ms, target from test_clocks where company_id = $1', [
    former.companyId,
  ])
  assert.deepEqual(clock, { ahead_ms: 60_000, target: null })
})

test('of resets at the same moment one remains, and its key is the one that is shown', async () => {
  await openSandbox(app)
  const made = await Promise.all([resetSandbox(app), resetSandbox(app), resetSandbox(app)])
  const statuses = await Promise.all(
    made.map(async (one) => (await clientOf(one).get('/company')).status),
  )
  assert.deepEqual(statuses.sort(), [200, 401, 401])
  assert.equal((await clientOf(readFile()).get('/company')).status, 200)
})

test('a reset works without the file, with a damaged one, and never touches another company', async () => {
  const other = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const path = join(app.config.dataDir, 'sandbox.json')
  for (const text of [
    null,
    '{',
    '{"companyId": 5}',
    JSON.stringify({ companyId: other.company.id }),
  ]) {
    if (text === null) rmSync(path)
    else writeFileSync(path, text)
    const made = await resetSandbox(app)
    assert.equal((await clientOf(made).get('/company')).status, 200, String(text))
  }
  assert.equal((await other.get('/company')).status, 200)
})

test('the address of a server is believed while its process lives, and only in local mode', async () => {
  const { config } = app
  assert.equal(addressOfServer(config), null)
  const forget = writeAddress({ ...config, publicUrl: 'http://127.0.0.1:4000' })
  assert.equal(addressOfServer(config), 'http://127.0.0.1:4000')
  assert.equal(addressOfServer({ ...config, local: false }), null)
  const path = join(config.dataDir, 'server.json')
  const written = JSON.parse(readFileSync(path, 'utf8'))
  const isLinux = process.platform === 'linux'
  // After a kill its number may be that of a stranger, who began at another time.
  writeFileSync(path, JSON.stringify({ ...written, begunAt: '1' }))
  assert.equal(addressOfServer(config), isLinux ? null : 'http://127.0.0.1:4000')
  writeFileSync(path, JSON.stringify(written))
  await forget()
  assert.equal(addressOfServer(config), null)
  const dead = ['{"pid": 4194305, "url": "http://x.test"}', '{"pid": -1, "url": "http://x.test"}']
  for (const text of [...dead, '{', '{"pid": 1, "url": 5}']) {
    writeFileSync(path, text)
    assert.equal(addressOfServer(config), null, text)
  }
})
