import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createCompany, createKey } from '../../src/core/companies/commands.ts'
import { migrate } from '../../src/db/migrate.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { LATEST } from '../../src/versions/history.ts'
import { payer } from '../support/api.ts'
import { type Running, secretOf, startServer, temporaryFolder } from '../support/process.ts'
import { at, startReplicas } from '../support/replicas.ts'
import { until } from '../support/until.ts'

/**
 * Two servers on one database. What one of them could not get confirmed by the standby would be
 * missing after a failover, so the other may not tell of it either.
 */
const servers: Running[] = []
// Registered before the end of the databases, and so over before it.
after(async () => {
  for (const { child, ended } of servers) {
    child.kill('SIGTERM')
    await ended
  }
})
const replicas = await startReplicas()
await migrate(replicas.url)
const environment = {
  DATABASE_URL: replicas.url,
  DATA_DIR: temporaryFolder(),
  SECRET_KEY: secretOf('unconfirmed'),
}
const apiKey = await makeKey()
const [first, second] = await Promise.all([
  startServer(environment, ['--role', 'api']),
  startServer(environment, ['--role', 'api']),
])
servers.push(first, second)

async function makeKey(): Promise<string> {
  const config = readConfig(environment)
  const log = createLog('silent')
  const { url } = replicas
  const app = createApp({
    config,
    databaseUrl: url,
    clock: systemClock,
    log,
    publicUrl: 'http://a',
  })
  const shop = {
    name: 'Padaria',
    taxId: '11222333000181',
    email: 'dona@example.com',
    mode: 'sandbox',
    apiVersion: LATEST.name,
  } as const
  const key = await app.db.transaction(async (tx) => {
    const company = await createCompany(tx, shop, systemClock.now())
    return createKey(tx, app.vault, company, { name: 'test' }, systemClock.now())
  })
  app.mailer.close()
  await app.sender.close()
  await app.db.end()
  return key.text
}

type Reply = { status: number; ids: string[] }
type Server = { url: string }

async function call({ url }: Server, path: string, init: RequestInit = {}): Promise<Reply> {
  const headers = { 'X-API-KEY': apiKey, ...(init.headers as Record<string, string>) }
  const reply = await fetch(url + path, { ...init, headers })
  const { data } = (await reply.json()) as { data?: { id: string } | { id: string }[] }
  return { status: reply.status, ids: data ? [data].flat().map(({ id }) => id) : [] }
}

const customer = payer()
const create = (server: Server, key: string): Promise<Reply> =>
  call(server, '/charge/pix', {
    method: 'POST',
    headers: { 'Idempotency-Key': key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ amount: 1000, customer }),
  })
const list = (server: Server): Promise<Reply> => call(server, '/charge?limit=100')

/** Asks a server so often, and gives all that it has told. */
async function tellings(server: Server, key: string, times: number): Promise<Set<string>> {
  const told = new Set<string>()
  for (let n = 0; n < times; n += 1) {
    const replies = await Promise.all([list(server), create(server, key)])
    for (const { status, ids } of replies) if (status < 300) for (const id of ids) told.add(id)
  }
  return told
}

const succeeds = (act: () => Promise<Reply>): Promise<Reply> =>
  until('it is done', async () => {
    const reply = await act()
    return reply.status < 300 && reply
  })

/** The standby, which lacks what was not confirmed, becomes the primary. Nothing told is gone. */
async function promoteAndCompare(told: Set<string>): Promise<Set<string>> {
  await replicas.promote()
  const { ids } = await succeeds(() => list(second))
  const left = new Set(ids)
  assert.deepEqual([...told.difference(left)], [], 'what was told is gone after the failover')
  return left
}

const waiting = () =>
  at(replicas.primary(), `select 1 from pg_stat_activity where wait_event = 'SyncRep'`)

test('what waits for the standby is not told by another process, and may be gone after a failover', async () => {
  const before = await succeeds(() => create(first, 'before'))
  const { drop } = await replicas.stopReceiving()
  const creating = create(first, 'late')
  await until('it waits for the standby', async () => (await waiting()).length > 0)
  assert.deepEqual((await list(second)).ids, before.ids)
  assert.equal((await creating).status, 503)
  const told = await tellings(second, 'late', 5)
  const isWaiting = (await waiting()).length > 0
  await replicas.kill()
  drop()
  const left = await promoteAndCompare(told)
  assert.deepEqual([...left], before.ids)
  assert.ok(isWaiting, 'its wait was not canceled')
  await succeeds(() => create(first, 'late'))
  assert.equal((await succeeds(() => list(second))).ids.length, 2)
})

test('what a server shows after a crash is not told until the standby has it', async () => {
  await replicas.rejoin()
  const { ids } = await succeeds(() => list(second))
  const { drop } = await replicas.stopReceiving()
  const creating = create(first, 'crash').catch(() => null)
  await until('it waits for the standby', async () => (await waiting()).length > 0)
  await replicas.kill()
  await replicas.restart()
  assert.equal((await at(replicas.primary(), 'select from charges')).length, ids.length + 1)
  const told = await tellings(second, 'crash', 3)
  await replicas.kill()
  drop()
  await creating
  const left = await promoteAndCompare(told)
  assert.deepEqual([...left].sort(), ids.sort(), 'it was never confirmed')
})
