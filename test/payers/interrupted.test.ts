import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { SERVICE } from '../../src/core/activity/rules.ts'
import { beginErasure, erasePayer, lookAtPayer, totalOf } from '../../src/core/payers/commands.ts'
import type { Query } from '../../src/db/database.ts'
import { fromPublic, newId } from '../../src/lib/ids.ts'
import { finishErasures } from '../../src/worker/erasures.ts'
import { type Client, payer, startApi } from '../support/api.ts'
import { CLI, vintemIn } from '../support/cli.ts'
import { requireClean } from '../support/disputes.ts'
import { isLong, longTest } from '../support/long.ts'
import { makePaid, pay } from '../support/payments.ts'
import { inherited } from '../support/process.ts'
import { readAll } from './opened.ts'

const api = await startApi()
const { app } = api
const env = { ...api.databases, SECRET_KEY: app.config.secretKey.toString('base64') }
const { taxId } = payer()
const TRACES = ['Maria da Silva', taxId, 'maria@example.com', '11988888888']
const tracesIn = (text: string) => TRACES.filter((trace) => text.includes(trace))
const noWait = async () => {}

const wantedOf = ({ company }: Client) => ({ companyId: company.id, taxId, isEverywhere: false })
const textOf = ({ company }: Client) => readAll(api, company.id)

/** A payer with some of each, all of it ended. */
async function shopWithPayer(): Promise<Client> {
  const client = await api.client()
  const { brCode } = await makePaid(api, client, 1990)
  await pay(api, brCode)
  await client.post('/client', { ...payer(), status: 'ACTIVE' })
  const headers = { 'Idempotency-Key': 'k', 'X-Request-Id': 'maria@example.com' }
  const body = { amount: 500, customer: payer(), externalId: 'de maria' }
  const { id } = (await client.post('/charge/pix', body, { headers })).body.data
  await client.post(`/charge/${id}/cancel`)
  // The log of requests is written a moment after the answers; an erasure waits longer than that.
  await app.requestLog.idle()
  assert.deepEqual(tracesIn(await textOf(client)), TRACES)
  return client
}

const KILLED = new Error('killed')

/** The app whose statement of this number is not sent any more, nor any after it. */
function dyingAt(number: number): typeof app {
  let left = number
  const counted = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(of, name, self) {
        // biome-ignore lint/suspicious/noExplicitAny: any member of a database
        const value: any = Reflect.get(of, name, self)
        if (name === 'query') {
          return async (query: Query) => {
            left -= 1
            if (left <= 0) throw KILLED
            return value.call(of, query)
          }
        }
        if (name === 'transaction') {
          return (act: (tx: object, control: object) => unknown) =>
            value.call(of, (tx: object, control: object) => act(counted(tx), control))
        }
        return value
      },
    })
  return { ...app, db: counted(app.db) }
}

test('an erasure that ends before any of its statements goes on when it is run again', async () => {
  const client = await shopWithPayer()
  let [tries, end] = [0, 'killed' as string]
  for (let number = 1; end === 'killed'; number += isLong ? 1 : 23) {
    tries += 1
    end = await erasePayer(dyingAt(number), wantedOf(client), SERVICE, noWait).then(
      ({ kind }) => kind,
      (error) => {
        if (error !== KILLED) throw error
        return 'killed'
      },
    )
  }
  assert.equal(end, 'erased')
  assert.ok(tries > 3, `${tries}`)
  assert.deepEqual(tracesIn(await textOf(client)), [])
  assert.equal(totalOf((await lookAtPayer(app, wantedOf(client))).counts), 0)
  const erasures = await api.rows(
    'select sealed, tax_id_index from erasures where company_id = $1',
    [client.company.id],
  )
  assert.deepEqual(erasures, [{ sealed: null, tax_id_index: null }], 'one, and it says nothing')
  await requireClean(api, client)
})

longTest('kill -9 of the command loses nothing, and the next run ends it', async () => {
  const client = await shopWithPayer()
  const args = ['payer', 'erase', '--tax-id', taxId, '--company', client.company.id, '--yes']
  for (let kill = 0; kill < 12; kill += 1) {
    const options = { env: { ...inherited, ...env }, stdio: 'ignore' } as const
    const child = spawn(process.execPath, [CLI, ...args, '--wait', '2'], options)
    const ended = once(child, 'exit')
    await pause(500 + 120 * kill)
    child.kill('SIGKILL')
    await ended
  }
  const { code, stderr } = await vintemIn(process.cwd())([...args, '--wait', '0'], env)
  assert.deepEqual([code, stderr], [0, ''])
  assert.deepEqual(tracesIn(await textOf(client)), [])
  await requireClean(api, client)
})

test('what a request writes that has read the customer before is erased too', async () => {
  const client = await shopWithPayer()
  const companyId = client.company.id
  const [row] = await api.rows<{ charge: object }>(
    `select to_jsonb(c) as charge from charges c where company_id = $1 and status = 'CANCELED'`,
    [companyId],
  )
  const late = { ...row!.charge, id: newId() }
  const ended = await erasePayer(app, wantedOf(client), SERVICE, async () => {
    await api.rows(
      'insert into charges select * from jsonb_populate_record(null::charges, $1::jsonb)',
      [JSON.stringify(late)],
    )
  })
  assert.equal(ended.kind, 'erased')
  assert.deepEqual(tracesIn(await textOf(client)), [])
})

test('an open charge that comes in meanwhile is left, named, and erased by the next run', async () => {
  const client = await shopWithPayer()
  const companyId = client.company.id
  const [row] = await api.rows<{ charge: object }>(
    `select to_jsonb(c) as charge from charges c where company_id = $1 and status = 'CANCELED'`,
    [companyId],
  )
  const late = { ...row!.charge, id: newId(), status: 'OPEN', external_id: null }
  const ended = await erasePayer(app, wantedOf(client), SERVICE, async () => {
    await api.rows(
      'insert into charges select * from jsonb_populate_record(null::charges, $1::jsonb)',
      [JSON.stringify(late)],
    )
  })
  assert.deepEqual(
    [ended.kind, 'blockers' in ended && ended.blockers.charges],
    ['unfinished', [late.id]],
  )
  const again = await erasePayer(app, wantedOf(client), SERVICE, noWait)
  assert.equal(again.kind, 'blocked', 'it is found although its customer is gone')
  const { text } = await client.get('/charge?status=OPEN')
  const open = /charge_\w{26}/.exec(text)![0]
  assert.equal(fromPublic('charge', open), late.id)
  assert.equal((await client.post(`/charge/${open}/cancel`)).status, 200)
  assert.equal((await erasePayer(app, wantedOf(client), SERVICE, noWait)).kind, 'erased')
  assert.deepEqual(tracesIn(await textOf(client)), [])
})

test('a worker goes on with an erasure that was interrupted', async () => {
  const client = await shopWithPayer()
  await assert.rejects(erasePayer(dyingAt(60), wantedOf(client), SERVICE, noWait), KILLED)
  const left = () =>
    api.rows('select id from erasures where company_id = $1 and finished_at is null', [
      client.company.id,
    ])
  assert.equal((await left()).length, 1)
  await finishErasures(app)
  assert.equal((await left()).length, 1, 'whoever began it may be at work')
  api.clock.advance(120)
  await finishErasures(app)
  assert.deepEqual(await left(), [])
  assert.deepEqual(tracesIn(await textOf(client)), [])
  const entries = await api.rows(
    `select 1 from activity where company_id = $1 and action = 'payer.erase'`,
    [client.company.id],
  )
  assert.equal(entries.length, 1)
})

test('a payer who pays again meanwhile is a new customer, who is found and stays', async () => {
  const client = await shopWithPayer()
  const ended = await erasePayer(app, wantedOf(client), SERVICE, async () => {
    await makePaid(api, client, 700)
  })
  assert.equal(ended.kind, 'erased')
  const found = (await client.get(`/charge?taxId=${taxId}`)).body.data
  assert.deepEqual(
    found.map(({ total, customer }: { total: number; customer: object }) => [total, !!customer]),
    [[700, true]],
  )
  assert.equal((await erasePayer(app, wantedOf(client), SERVICE, noWait)).kind, 'erased')
  assert.deepEqual(tracesIn(await textOf(client)), [])
})

test('who buys again after an erasure began is a new customer, who neither is erased nor holds it up', async () => {
  const client = await shopWithPayer()
  assert.equal(await beginErasure(app, wantedOf(client), SERVICE), null)
  api.clock.advance(2 * 60 + 1)
  const { id } = await makePaid(api, client, 5000)
  const open = await client.post('/charge/pix', { amount: 700, customer: payer() })
  await finishErasures(app)
  const [erasure] = await api.rows(
    'select finished_at is not null as "isFinished" from erasures where company_id = $1',
    [client.company.id],
  )
  assert.deepEqual(erasure, { isFinished: true })
  for (const one of [id, open.body.data.id]) {
    const { body } = await client.get(`/charge/${one}`)
    assert.equal(body.data.customer.name, 'Maria da Silva')
  }
  const { body } = await client.get(`/client?taxId=${taxId}`)
  assert.equal(body.data.length, 1)
  const { body: all } = await client.get('/charge?limit=100')
  const names = all.data.map(
    (charge: { customer: { name: string } | null }) => charge.customer?.name,
  )
  assert.deepEqual(names, ['Maria da Silva', 'Maria da Silva', undefined, undefined])
})
