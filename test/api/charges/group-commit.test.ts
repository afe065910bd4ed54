import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import type { Creation } from '../../../src/core/charges/group.ts'
import { type Charge, eventsOfCreation } from '../../../src/core/charges/rules.ts'
import { sealMail } from '../../../src/core/mails/sealing.ts'
import { newId } from '../../../src/lib/ids.ts'
import { toCents } from '../../../src/lib/money.ts'
import { payer, startApi } from '../../support/api.ts'

const api = await startApi()

function creation(companyId: string, fields: Partial<Charge> = {}): Creation {
  const createdAt = api.clock.now()
  const charge: Charge = {
    companyId,
    id: newId(),
    kind: 'PIX',
    amount: toCents(1000),
    status: 'OPEN',
    paymentStatus: 'PROCESSING',
    devMode: false,
    externalId: null,
    description: null,
    fingerprint: null,
    customerId: null,
    payer: null,
    link: null,
    brCode: '000201',
    due: null,
    noticeAt: null,
    split: null,
    endToEndId: null,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + 60_000),
    paymentDate: null,
    releaseAt: null,
    booked: false,
    refunded: toCents(0),
    shortfall: toCents(0),
    staticCodeId: null,
    recurrenceId: null,
    shipping: null,
    linkId: null,
    ...fields,
  }
  const events = eventsOfCreation(charge)
  return { charge, emailIndex: null, events, response: null, mails: [], at: createdAt }
}

const counts = async (companyId: string) => {
  const [row] = await api.rows<{ charges: number; events: number }>(
    `select (select count(*) from charges where company_id = $1) as charges,
            (select count(*) from events where company_id = $1) as events`,
    [companyId],
  )
  return row
}

test('a bad row in a group fails alone: its neighbours are committed, and it leaves nothing', async () => {
  const { company } = await api.client()
  const bad = new Set([3, 17, 18, 40])
  const settled = await Promise.allSettled(
    Array.from({ length: 50 }, (_, i) =>
      api.app.charges.create(creation(company.id, bad.has(i) ? { amount: toCents(0) } : {})),
    ),
  )
  settled.forEach(({ status }, i) => {
    assert.equal(status, bad.has(i) ? 'rejected' : 'fulfilled')
  })
  assert.deepEqual(await counts(company.id), { charges: 46, events: 92 })
})

test('a group that is sent again changes nothing, as when a connection was lost before the answer', async () => {
  const { company } = await api.client()
  const creations = Array.from({ length: 10 }, () => creation(company.id))
  for (let round = 0; round < 3; round++) await Promise.all(creations.map(api.app.charges.create))
  assert.deepEqual(await counts(company.id), { charges: 10, events: 20 })
})

test('a mail is committed with its charge or not at all, and once however often it is sent', async () => {
  const { company } = await api.client()
  const letter = { to: 'maria@example.com', subject: 'x', text: 'x', html: 'x' }
  const mailed = (fields: Partial<Charge> = {}): Creation => {
    const one = creation(company.id, fields)
    const times = { expiresAt: null, createdAt: one.charge.createdAt }
    const mail = { companyId: company.id, kind: 'payment-link', letter, ...times } as const
    return { ...one, mails: [sealMail(api.app.vault, mail)] }
  }
  const good = mailed()
  const group = [good, mailed({ amount: toCents(0) }), creation(company.id), good]
  const settled = await Promise.allSettled(group.map(api.app.charges.create))
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
  const mails = await api.rows('select id from mails where company_id = $1', [company.id])
  assert.deepEqual(mails, [{ id: good.mails[0]!.id }])
  assert.deepEqual(await counts(company.id), { charges: 2, events: 4 })
})

test('keys of a group are written in their order, so that two groups cannot wait for each other', async () => {
  const { company } = await api.client()
  const keys = Array.from({ length: 12 }, (_, i) => `key ${String(20 - i)}`)
  const answer = { status: 201, sealedBody: Buffer.from('x'), warnings: null }
  const response = { fingerprint: Buffer.alloc(32), ...answer }
  await Promise.all(
    keys.map((key) =>
      api.app.charges.create({ ...creation(company.id), response: { ...response, key } }),
    ),
  )
  const rows = await api.rows<{ key: string; tx: string }>(
    'select key, xmin::text as tx from idempotency_keys where company_id = $1 order by ctid',
    [company.id],
  )
  const groups = [...Map.groupBy(rows, ({ tx }) => tx).values()].map((group) =>
    group.map(({ key }) => key),
  )
  assert.ok(groups.some(({ length }) => length > 1))
  for (const group of groups) assert.deepEqual(group, group.toSorted())
})

test('connections that the database cuts cost no request and double no charge', async () => {
  const client = await api.client()
  const killer = new pg.Client({ connectionString: api.databaseUrl })
  await killer.connect()
  const replies: number[] = []

  async function create(worker: number): Promise<void> {
    for (let i = 0; i < 25; i++) {
      const { status } = await client.post(
        '/charge/pix',
        { amount: 500 + i, customer: payer() },
        { headers: { 'Idempotency-Key': `${worker}-${i}` } },
      )
      replies.push(status)
    }
  }
  async function cut(): Promise<void> {
    while (replies.length < 200) {
      await killer.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
      )
      const until = replies.length + 20
      while (replies.length < Math.min(until, 200)) await new Promise(setImmediate)
    }
  }
  await Promise.all([...Array.from({ length: 8 }, (_, worker) => create(worker)), cut()])
  await killer.end()
  assert.deepEqual([...new Set(replies)], [201])
  assert.deepEqual(await counts(client.company.id), { charges: 200, events: 400 })
})
