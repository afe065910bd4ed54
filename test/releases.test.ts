import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { auditCompany } from '../src/core/audits/commands.ts'
import { migrate } from '../src/db/migrate.ts'
import { systemClock } from '../src/lib/clock.ts'
import { createLog } from '../src/lib/log.ts'
import { caller, makeClient } from './support/api.ts'
import { vintemIn } from './support/cli.ts'
import { emptyDatabase } from './support/database.ts'
import { longTest } from './support/long.ts'
import {
  type Running,
  readSandbox,
  secretOf,
  startServer,
  temporaryFolder,
} from './support/process.ts'
import { type Receiver, startReceiver } from './support/receiver.ts'
import {
  databaseOf,
  lastMigrationIn,
  NO_HISTORY,
  readLastRelease,
  startRelease,
  unpack,
} from './support/releases.ts'
import { until } from './support/until.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Any = any
type Ask = (method: string, path: string, json?: unknown) => Promise<Any>

const RECURRENCES = '/pix-automatic/recurrences'
const WITHDRAW = '/account-balance/withdraw'
const PAYER = { name: 'Maria da Silva', taxId: '52998224725', email: 'maria@example.com' }

/** Asks a server as a company does, and gives what a good answer brings. */
function asking(url: string, apiKey: string): Ask {
  const call = caller(url)
  const headers = { 'X-API-KEY': apiKey, 'X-Api-Version': '2026-08-16' }
  return async (method, path, json) => {
    const reply = await call(method, path, { json, headers })
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`)
    return reply.body.data
  }
}

const newCharge = (amount: number) => ({
  amount,
  devMode: true,
  customer: { ...PAYER, phone: '11988888888' },
})

/** Waits until a charge was delivered as paid. */
const untilDelivered = ({ received }: Receiver, id: string) =>
  until('the event is delivered', () =>
    received.some(({ body }) => body.includes(id) && body.includes('Charge.Paid')),
  )

/** Creates, pays and refunds a charge, each by the server that is given for it. */
async function sell(make: Ask, pay: Ask, refund: Ask, receiver: Receiver | null): Promise<string> {
  const { id } = await make('POST', '/charge/pix', newCharge(1000))
  assert.equal((await pay('GET', `/charge/${id}`)).status, 'OPEN')
  await pay('POST', `/charge/${id}/simulate-payment`)
  assert.equal((await make('GET', `/charge/${id}`)).status, 'COMPLETED')
  if (receiver) await untilDelivered(receiver, id)
  await refund('POST', `/refund/${id}`, { value: 400 })
  const refunds = () => pay('GET', `/refund/charge/${id}`)
  await until('the refund is done', async () => (await refunds())[0].status === 'COMPLETED')
  assert.equal((await make('GET', '/charge'))[0].id, id)
  return id
}

/** What a company may have, made by any version. Only local mode delivers to this machine. */
async function makeRecords(ask: Ask, receiver: Receiver | null) {
  const webhook = { url: receiver?.url, name: 'Loja', events: ['charge.paid'] }
  if (receiver) await ask('POST', '/webhook', webhook)
  const { customer: payer } = newCharge(1)
  const { id: customerId } = await ask('POST', '/client', { ...payer, status: 'ACTIVE' })
  const product = { name: 'Pão todo dia', description: 'Francês', price: 1990 }
  const recurring = { ...product, type: 'RECURRING', frequency: 'WEEKLY' }
  const { id: productId } = await ask('POST', '/product', recurring)
  const sold = await sell(ask, ask, ask, receiver)
  const { id: open } = await ask('POST', '/charge/pix', newCharge(2000))
  const late = await ask('POST', '/charge/pix', newCharge(3000))
  await ask('POST', `/charge/${late.id}/cancel`)
  await ask('POST', '/bank/pix', { brCode: late.brCode })
  const { url: link } = await ask('POST', '/charge/payment-link', { total: 5000, customer: payer })
  const agreement = await ask('POST', RECURRENCES, { productId, customerId })
  await ask('POST', '/bank/authorizations', { emv: agreement.emv, decision: 'approve' })
  await until('the first cycle is charged', async () => {
    return (await ask('GET', `${RECURRENCES}/${agreement.id}`)).charges.length > 0
  })
  const { withdrawId } = await ask('POST', WITHDRAW, { value: 700 })
  return { sold, open, link, withdrawId, agreement: agreement.id as string }
}
type Records = Awaited<ReturnType<typeof makeRecords>>

/** All that a company can read of them. */
async function readRecords(ask: Ask, { sold, agreement }: Records): Promise<Record<string, Any>> {
  const paths = [
    '/charge',
    `/charge/${sold}`,
    `/refund/charge/${sold}`,
    '/payment/unmatched',
    '/client',
    '/product',
    '/webhook',
    RECURRENCES,
    `${RECURRENCES}/${agreement}`,
    '/account-balance',
    '/account-balance/statement',
    WITHDRAW,
    '/event',
    '/company',
  ]
  const read: Record<string, Any> = {}
  for (const path of paths) read[path] = await ask('GET', path)
  return read
}

/** Answers only gain fields. Addresses of pages may have got longer. */
function assertKept(now: Any, before: Any, path: string): void {
  if (/\/(url|paymentLinkUrl)$/.test(path)) assert.ok(now.startsWith(before), path)
  else if (before === null || typeof before !== 'object') assert.equal(now, before, path)
  else if (Array.isArray(before)) assert.equal(now.length, before.length, path)
  if (before === null || typeof before !== 'object') return
  for (const [key, value] of Object.entries(before)) assertKept(now?.[key], value, `${path}/${key}`)
}

/** The records of an older version go on: they are paid, refunded, canceled, delivered, audited. */
async function goOn(ask: Ask, { sold, open, link, withdrawId }: Records, receiver: Receiver) {
  await ask('POST', `/charge/${open}/simulate-payment`)
  await untilDelivered(receiver, open)
  await ask('POST', `/refund/${sold}`, { value: 600 })
  const charge = () => ask('GET', `/charge/${sold}`)
  await until('all is refunded', async () => (await charge()).paymentStatus === 'REFUNDED')
  await ask('POST', `${WITHDRAW}/${withdrawId}/cancel`)
  assert.equal((await fetch(link)).status, 200, 'the page of a link is still there')
  await sell(ask, ask, ask, receiver)
}

async function assertAudited(dataDir: string): Promise<void> {
  const vintem = vintemIn(temporaryFolder())
  const { code, stdout, stderr } = await vintem(['ledger', 'audit', '--json'], {
    DATA_DIR: dataDir,
  })
  assert.equal(code, 0, stdout + stderr)
}

const stop = async ({ child, ended }: Running): Promise<void> => {
  child.kill('SIGTERM')
  await ended
}

async function upgradeFrom(commit: string, t: TestContext): Promise<void> {
  const root = await unpack(commit)
  if (root === null) return t.skip(NO_HISTORY)
  const dataDir = join(temporaryFolder(), 'data')
  const receiver = await startReceiver()
  const old = await startRelease(root, dataDir)
  const { apiKey } = readSandbox(dataDir)
  const made = await makeRecords(asking(old.url, apiKey), receiver)
  const before = await readRecords(asking(old.url, apiKey), made)
  await stop(old)
  const { port } = new URL(old.url)
  const server = await startServer({ DATA_DIR: dataDir, PORT: port })
  const ask = asking(server.url, apiKey)
  assertKept(await readRecords(ask, made), before, '')
  await goOn(ask, made, receiver)
  await assertAudited(dataDir)
  await stop(server)
}

for (const commit of ['78041a9', '498ea9c']) {
  longTest(`what a server of ${commit} has written is kept and goes on`, (t) =>
    upgradeFrom(commit, t),
  )
}

test('the server of the last release works on our tables', async (t) => {
  const { commit, last } = readLastRelease()
  const root = await unpack(commit)
  if (root === null) return t.skip(NO_HISTORY)
  assert.equal(lastMigrationIn(root), last, 'migrations/last-release says so')
  const DATABASE_URL = await emptyDatabase()
  const SECRET_KEY = secretOf('releases')
  const config = { DATABASE_URL, SECRET_KEY, DATA_DIR: temporaryFolder() }
  const old = await startServer(config, [], undefined, { root })
  // As a server of ours does that starts while the other one serves.
  await migrate(DATABASE_URL)
  const log = createLog('silent')
  const parts = { databaseUrl: DATABASE_URL, clock: systemClock, log, publicUrl: old.url }
  const app = createApp({ config: readConfig(config), ...parts })
  const { company, key } = await makeClient(app, caller(old.url))
  try {
    const ask = asking(old.url, key)
    await readRecords(ask, await makeRecords(ask, null))
    assert.deepEqual((await auditCompany(app, company.id, { whole: true })).faults, [])
    assert.doesNotMatch(old.output(), /"level":[56]0/, 'no task fails')
  } finally {
    await app.db.end()
  }
})

test('a server goes on where a newer version adds a column to each table', async () => {
  const DATABASE_URL = await emptyDatabase()
  const config = { DATABASE_URL, SECRET_KEY: secretOf('releases'), DATA_DIR: temporaryFolder() }
  const server = await startServer(config)
  const log = createLog('silent')
  const parts = { databaseUrl: DATABASE_URL, clock: systemClock, log, publicUrl: server.url }
  const app = createApp({ config: readConfig(config), ...parts })
  try {
    const before = asking(server.url, (await makeClient(app, caller(server.url))).key)
    await readRecords(before, await makeRecords(before, null))
    await app.db.query({
      text: `do $$ declare name text; begin
               for name in select c.oid::regclass from pg_class c
                 where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
                   and not c.relispartition
               loop execute format('alter table %s add column later int', name); end loop;
             end $$`,
    })
    const { company, key } = await makeClient(app, caller(server.url))
    const after = asking(server.url, key)
    await readRecords(after, await makeRecords(after, null))
    assert.deepEqual((await auditCompany(app, company.id, { whole: true })).faults, [])
    assert.doesNotMatch(server.output(), /"level":[56]0/, 'no task fails')
  } finally {
    await app.db.end()
  }
})

longTest(
  'the server of the last release works beside ours, each on what the other wrote',
  async (t) => {
    const root = await unpack(readLastRelease().commit)
    if (root === null) return t.skip(NO_HISTORY)
    const dataDir = join(temporaryFolder(), 'data')
    const receiver = await startReceiver()
    const old = await startRelease(root, dataDir)
    const { apiKey } = readSandbox(dataDir)
    // It migrates while the other one serves, whose tasks do all the work.
    const config = { ...databaseOf(dataDir), PUBLIC_URL: old.url }
    const server = await startServer(config, ['--role', 'api'])
    const [before, now] = [asking(old.url, apiKey), asking(server.url, apiKey)]
    const made = await makeRecords(before, receiver)
    await sell(now, before, now, receiver)
    await sell(before, now, before, receiver)
    assertKept(await readRecords(now, made), await readRecords(before, made), '')
    await stop(server)
    await assertAudited(dataDir)
    await stop(old)
  },
)
