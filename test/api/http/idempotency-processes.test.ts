import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { createApp } from '../../../src/app.ts'
import { appsOf } from '../../../src/core/places/front.ts'
import { createLog } from '../../../src/lib/log.ts'
import { createService } from '../../../src/service.ts'
import { type Client, payer, type Reply, startApi } from '../../support/api.ts'
import { WRITES, type Write } from '../writes.ts'

const api = await startApi()

/** To the database this is a second process: its own pool, groups and waiting lists. */
const other = await startSecond()

async function startSecond(): Promise<string> {
  const { config, clock, publicUrl } = api.app
  const databaseUrl = api.places[0]!
  const app = createApp({ config, databaseUrl, clock, log: createLog('silent'), publicUrl })
  const service = await createService(app, databaseUrl)
  api.atEnd(async () => {
    service.server.server.closeAllConnections()
    await service.close()
    app.mailer.close()
    await app.sender.close()
    for (const { db } of appsOf(app)) await db.end()
  })
  return service.server.listen({ host: '127.0.0.1', port: 0 })
}

type Request = Omit<Write, 'other'>

async function sendTo(url: string, { key }: Client, request: Request): Promise<Reply> {
  const reply = await fetch(url + request.path, {
    method: request.method,
    body: JSON.stringify(request.body),
    headers: { 'X-API-KEY': key, 'Idempotency-Key': 'k', 'content-type': 'application/json' },
  })
  const text = await reply.text()
  return { status: reply.status, headers: reply.headers, text, body: JSON.parse(text) }
}

const effects = async ({ company: { id } }: Client) =>
  api.rows(
    `select (select count(*)::int from charges where company_id = $1) as charges,
       (select count(*)::int from customers where company_id = $1) as customers,
       (select count(*)::int from products where company_id = $1) as products,
       (select count(*)::int from webhooks where company_id = $1) as webhooks,
       (select count(*)::int from static_codes where company_id = $1) as codes,
       (select count(*)::int from postings where company_id = $1) as postings,
       (select count(*)::int from payments where company_id = $1) as payments,
       (select count(*)::int from refunds where company_id = $1) as refunds,
       (select count(*)::int from withdrawals where company_id = $1) as withdrawals,
       (select count(*)::int from recurrences where company_id = $1) as recurrences,
       (select count(*)::int from mails where company_id = $1) as mails,
       (select count(*)::int from events where company_id = $1) as events`,
    [id],
  )

for (const [operationId, prepare] of Object.entries(WRITES)) {
  test(`${operationId}: duplicates on two servers have one effect and one answer`, async () => {
    const client = await api.client()
    const write = await prepare(client, api)
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, i) => sendTo(i % 2 ? api.url : other, client, write)),
    )
    assert.deepEqual([...new Set(replies.map(({ text }) => text))].length, 1, replies[0]!.text)
    const fresh = replies.filter(({ headers }) => headers.get('idempotent-replayed') === null)
    assert.equal(fresh.length, 1, 'one request had the effect')
    const had = await effects(client)
    const control = await api.client()
    const alone = await prepare(control, api)
    await sendTo(api.url, control, alone)
    assert.deepEqual(had, await effects(control))
  })
}

const TAKE = `insert into idempotency_keys values ($1, 'k', '\\x00', 0, '\\x00', $2)`

test('while the first still runs elsewhere a duplicate is refused, and goes through later', async () => {
  const clients = [await api.client(), await api.client()] as const
  const requests: Request[] = [
    { method: 'POST', path: '/charge/pix', body: { amount: 1990, customer: payer() } },
    { method: 'POST', path: '/client', body: { ...payer(), status: 'ACTIVE' } },
  ]
  const elsewhere = new pg.Client({ connectionString: api.databaseUrl })
  await elsewhere.connect()
  await elsewhere.query('begin')
  for (const { company } of clients) await elsewhere.query(TAKE, [company.id, api.clock.now()])
  const ask = () => Promise.all(requests.map((request, i) => sendTo(api.url, clients[i]!, request)))
  for (const reply of await ask()) {
    assert.equal(reply.status, 409, reply.text)
    assert.equal(reply.body.errors[0].code, 'idempotency_in_progress')
    assert.match(reply.headers.get('retry-after')!, /^[1-9]\d*$/)
  }
  await elsewhere.query('rollback')
  await elsewhere.end()
  assert.deepEqual(
    (await ask()).map(({ status }) => status),
    [201, 201],
    'a key whose first request came to nothing is free',
  )
})
