import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { receiveCallback } from '../src/core/payments/callbacks.ts'
import { fromPublic } from '../src/lib/ids.ts'
import { toCents } from '../src/lib/money.ts'
import { callbackBody } from '../src/provider/callback.ts'
import { chargeTxid } from '../src/provider/txid.ts'
import { testCluster } from './citus/cluster.ts'
import { type Client, startApi } from './support/api.ts'
import { ON_PLAIN } from './support/on-plain.ts'
import { makeReceiver, openDeliveryWorker } from './support/webhooks.ts'

/**
 * What the operations that carry the load may cost: figures that do not depend on how fast or how
 * busy the machine is. If one falls, lower its limit here. If one must rise, the commit says why.
 */
type Cost = {
  /** How often each statement is sent for the whole group. */
  statements?: Record<string, number>
  /** Rows that are written for the whole group, by table. */
  rows: Record<string, number>
  /** Entries of indexes that are written for each one. */
  entries: number
  /** Bytes of the write-ahead log for each one at most, without the growth of indexes. */
  bytes: number
}

/** So many are done at once, and become one group. */
const GROUP = 64
const times = <T>(make: (n: number) => T): T[] => Array.from({ length: GROUP }, (_, n) => make(n))

const api = await startApi()
const { app } = api
const isPlain = testCluster() === null

// PostgreSQL would count its own work here, and choose other plans when it has seen more rows.
for (const { name } of await api.rows<{ name: string }>(
  `select oid::regclass::text as name from pg_class
   where relkind = 'r' and relnamespace = 'public'::regnamespace`,
)) {
  await api.rows(`alter table ${name} set (autovacuum_enabled = off)`)
}

/** The statements that this process sends. */
const sent: string[] = []
const { query } = pg.Client.prototype as { query: (...asked: unknown[]) => unknown }
Object.assign(pg.Client.prototype, {
  query(this: pg.Client, ...asked: unknown[]) {
    const [first] = asked as [string | { name?: string; text?: string }]
    const text = typeof first === 'string' ? first : (first.name ?? first.text ?? '')
    sent.push(text.trim().split(/\s+/).slice(0, 3).join(' '))
    return query.apply(this, asked)
  },
})
after(() => Object.assign(pg.Client.prototype, { query }))

/** What a new connection asks first. */
const isOfConnection = (text: string) => /^select (?:case when|set_config)/.test(text)

/** The end of the write-ahead log, all of which is then on the disk. */
const endOfLog = (): Promise<string> =>
  app.db.transaction(async (tx) => {
    await tx.query({ text: 'set local synchronous_commit = on' })
    const [row] = await tx.query<{ lsn: string }>({
      text: `select pg_logical_emit_message(true, 'budgets', '')::text as lsn`,
    })
    return row!.lsn
  })

type LogRecord = { name: string; isTable: boolean; type: string; count: number; bytes: number }

/** The records of our own tables between two places of the log: PostgreSQL keeps statistics too. */
const recordsOf = (from: string, to: string): Promise<LogRecord[]> =>
  api.rows(
    `select c.relname as name, c.relkind = 'r' as "isTable", b.record_type as type, count(*),
       sum(b.record_length)::int8 as bytes
     from pg_get_wal_block_info($1, $2) b join pg_class c on c.relfilenode = b.relfilenode
     where b.reldatabase = (select oid from pg_database where datname = current_database())
       and c.relnamespace = current_schema()::regnamespace and b.block_id = 0
     group by 1, 2, 3`,
    [from, to],
  )

const ROW = /^(?:INSERT|(?:HOT_)?UPDATE|DELETE)/
const ENTRY = /^(?:INSERT_LEAF|INSERT_POST|SPLIT_[LR]|UPDATE_META_PAGE)/
/** A page that is full is divided, and some are tidied up, sooner or later. */
const GROWTH = /^(?:SPLIT|NEWROOT|INSERT_UPPER|INSERT_LISTPAGE|DEDUP|PRUNE|VISIBLE|VACUUM|FPI)/

async function costOf(act: () => Promise<unknown>): Promise<Required<Cost>> {
  const idle = () => Promise.all([app.lateActivity.idle(), app.requestLog.idle()])
  await idle()
  const from = await endOfLog()
  sent.length = 0
  await act()
  await idle()
  const counted = Object.groupBy(
    sent.filter((text) => !isOfConnection(text)),
    (text) => text,
  )
  const records = await recordsOf(from, await endOfLog())
  const sum = (some: LogRecord[], of: 'count' | 'bytes') =>
    some.reduce((all, record) => all + record[of], 0)
  const tables = records.filter(({ isTable, type }) => isTable && ROW.test(type))
  const indexes = records.filter(({ isTable, type }) => !isTable && ENTRY.test(type))
  const countsOf = (some: LogRecord[]) =>
    Object.entries(Object.groupBy(some, ({ name }) => name)).map(
      ([name, own]) => [name, sum(own!, 'count')] as const,
    )
  return {
    statements: Object.fromEntries(
      Object.entries(counted).map(([name, all]) => [name, all!.length]),
    ),
    rows: Object.fromEntries(countsOf(tables)),
    entries: countsOf(indexes).reduce((all, [, count]) => all + Math.floor(count / GROUP), 0),
    bytes: Math.ceil(
      sum(
        records.filter(({ type }) => !GROWTH.test(type)),
        'bytes',
      ) / GROUP,
    ),
  }
}

async function keepsTo(limit: Cost, act: () => Promise<unknown>): Promise<void> {
  const { bytes, ...found } = await costOf(act)
  const { bytes: most, ...expected } = limit
  assert.deepEqual(
    { ...found, statements: expected.statements && found.statements },
    { statements: undefined, ...expected },
  )
  assert.ok(bytes <= most, `${bytes} bytes of log for each one, instead of ${most}`)
}

async function ask(
  client: Client,
  method: 'GET' | 'POST',
  url: string,
  body?: object,
  more: Record<string, string> = {},
) {
  const headers = { 'x-api-key': client.key, 'content-type': 'application/json', ...more }
  const payload = body && { payload: JSON.stringify(body) }
  const reply = await api.service.server.inject({ method, url, headers, ...payload })
  assert.ok(reply.statusCode < 300, reply.payload)
  return reply.json().data
}

type Headers = (n: number) => Record<string, string>

/** Charges that are created at the same moment, for payers from `first` on. */
const create = (client: Client, first: number, headers?: Headers): Promise<{ id: string }[]> =>
  Promise.all(
    times((n) => {
      const payer = String(10_000_000_000 + first + n)
      const customer = { name: 'Maria da Silva', taxId: payer, email: `${payer}@example.com` }
      const body = { amount: 1000, customer: { ...customer, phone: '11988887777' } }
      return ask(client, 'POST', '/charge/pix', body, headers?.(n))
    }),
  )

describe('an operation costs no more than', { skip: !isPlain }, async () => {
  const client = await api.client()
  const [{ id }] = (await create(client, 0)) as [{ id: string }]
  await api.rows('create extension pg_walinspect')

  test('a charge of a known payer', () =>
    keepsTo(
      {
        statements: { create_charges: 1, add_activity: 1, log_requests: 1 },
        rows: { charges: GROUP, events: 2 * GROUP, feeds: 1, activity: GROUP },
        entries: 13,
        bytes: 2500,
      },
      () => create(client, 0),
    ))

  test('a charge of a new payer', () =>
    keepsTo(
      {
        statements: { create_charges: 1, add_activity: 1, log_requests: 1 },
        rows: { customers: GROUP, charges: GROUP, events: 2 * GROUP, feeds: 1, activity: GROUP },
        // One for the parts of who the payer is, by which people are found.
        entries: 19,
        bytes: 4400,
      },
      () => create(client, 1000),
    ))

  test('a charge with an Idempotency-Key', () =>
    keepsTo(
      {
        statements: { find_stored: 1, create_charges: 1, add_activity: 1, log_requests: 1 },
        rows: {
          idempotency_keys: GROUP,
          charges: GROUP,
          events: 2 * GROUP,
          feeds: 1,
          activity: GROUP,
        },
        entries: 15,
        bytes: 4650,
      },
      () => create(client, 0, (n) => ({ 'idempotency-key': `order-${1000 + n}` })),
    ))

  test('a read', async () => {
    const read = () => Promise.all(times(() => ask(client, 'GET', `/charge/${id}`)))
    await read()
    const nothing = { rows: {}, entries: 0, bytes: 0 }
    await keepsTo({ statements: { refresh_charges: 1, log_requests: 1 }, ...nothing }, read)
  })

  test('a payment that is matched', async () => {
    const charges = await create(client, 0)
    const arrived = await Promise.all(
      charges.map(({ id }) => {
        const txid = chargeTxid(fromPublic('charge', id)!)
        return app.providers.simulator.pay(client.company, { txid, amount: toCents(1000) })
      }),
    )
    const callBack = async (transfer: (typeof arrived)[number]) => {
      const body = callbackBody({ ...transfer, receivedAt: transfer.at })
      const { processed } = await receiveCallback(app, client.company.id, 'simulator', body)
      assert.equal(await processed, 'processed')
    }
    await keepsTo(
      {
        statements: {
          insert_callbacks: 1,
          find_companies: 1,
          find_transfers_of_many: 1,
          begin: 1,
          lock_charges_of_many_free: 1,
          find_recorded_payments: 1,
          lock_books_free: 1,
          insert_payments: 1,
          update_charges: 1,
          post: 1,
          'insert into mails': 1,
          mark_processed: 1,
          emit: 1,
          commit: 1,
        },
        rows: {
          bank_callbacks: 2 * GROUP,
          payments: GROUP,
          charges: GROUP,
          postings: GROUP,
          balances: 1,
          mails: GROUP,
          events: GROUP,
          feeds: 1,
        },
        entries: 23,
        bytes: 4600,
      },
      () => Promise.all(arrived.map(callBack)),
    )
  })

  test('a delivery', async () => {
    const shop = await api.client()
    const { receiver } = await makeReceiver(shop, ['charge.processing'])
    const worker = openDeliveryWorker(api)
    await worker.run()
    await create(shop, 0)
    const limit = {
      rows: { deliveries: GROUP, delivery_log: GROUP, webhook_leases: 2 },
      entries: 1,
      bytes: 420,
    }
    await keepsTo(limit, () => worker.run())
    assert.equal(receiver.received.length, GROUP)
  })
})

const UNIQUE = 'unique'
const ID = `'01900000-0000-7000-8000-000000000000'`
const OWN = `where company_id = ${ID}`
const NEWEST = 'order by id desc limit 20'

/** The indexes of tables that are written often: what each enforces, or what needs it. */
const INDEXES: Record<string, Record<string, string>> = {
  charges: {
    charges_pkey: UNIQUE,
    // No two open charges of one request, and no payment in two charges.
    charges_open_external_id: UNIQUE,
    charges_payment: UNIQUE,
    // The filters of the list.
    charges_amount: `select from charges ${OWN} and amount = 1 ${NEWEST}`,
    charges_created: `select from charges ${OWN} and created_at < now()
      order by created_at desc, id desc limit 20`,
    charges_paid: `select from charges ${OWN} and payment_date < now()
      order by payment_date desc, id desc limit 20`,
    charges_customer: `select from charges ${OWN} and customer_id = ${ID} ${NEWEST}`,
    charges_email: `select from charges ${OWN} and email_index = '' ${NEWEST}`,
    charges_reference: `select from charges ${OWN} and lower(external_id) = 'a'
      and external_id = 'a' ${NEWEST}`,
    charges_state: `select from charges ${OWN} and status = 'OPEN' and payment_status = 'PENDING'
      and kind = 'PIX' and dev_mode = false ${NEWEST}`,
    charges_static_code: `select from charges ${OWN} and static_code_id = ${ID} ${NEWEST}`,
    charges_of_link: `select from charges ${OWN} and link_id = ${ID} ${NEWEST}`,
    // The sales of a month, for their limit.
    charges_static_sales: `select sum(amount) from charges ${OWN} and kind = 'STATIC'
      and status = 'COMPLETED' and payment_date >= now()`,
    // What is due, of all companies and of one with a clock of its own.
    charges_due: `select from charges where status = 'OPEN' and expires_at <= now()
      order by expires_at limit 20`,
    charges_notices: `select from charges where notice_at is not null and notice_at <= now()
      order by notice_at limit 20`,
    // What a payment that names no charge may be for.
    charges_due_amount: `select from charges ${OWN} and due is not null and status = 'OPEN'
      and amount <= 1 order by amount desc, id desc limit 20`,
    // The open charges that follow changed rules of reminders.
    charges_open_due: `select from charges ${OWN} and status = 'OPEN' and due is not null
      order by id limit 20`,
    charges_unsettled: `select from charges where payment_status = 'PAID' and settles_at <= now()
      order by settles_at limit 20`,
    charges_settling: `select from charges ${OWN} and payment_date is not null
      and payment_status not in ('RECEIVED', 'REFUNDED') and settles_at <= now()`,
  },
  customers: {
    customers_pkey: UNIQUE,
    // Two processes make one customer of a payer.
    customers_one_per_payer: UNIQUE,
    // The payer of a charge, whoever has created the customer.
    customers_tax_id: `select from customers ${OWN} and tax_id_index = '' order by id limit 1`,
    // The search of people.
    customers_email: `select from customers ${OWN} and email_index = '' ${NEWEST}`,
    customers_phone: `select from customers ${OWN} and phone_index = '1' and phone_index > ''
      ${NEWEST}`,
    customers_name: `select from customers ${OWN} and lower(name) ~>=~ 'a' and lower(name) ~<~ 'b'
      order by lower(name) using ~<~, id limit 20`,
    customers_search_tokens: `select from customers where search_tokens @> '{1,2}'`,
    // What the task that indexes customers has not come to, in this version and the one before.
    customers_unindexed: `select from customers where search_tokens is null
      order by company_id, id limit 20`,
    customers_without_phone_index: `select from customers where phone_index is null
      order by company_id, id limit 20`,
  },
  events: {
    events_pkey: UNIQUE,
    events_feed: `select from events ${OWN} and (position, id) > (1, ${ID})
      order by position, id limit 20`,
    events_charge: `select from events ${OWN} and strpos(payload, '"charge_') > 0
      and type not in ('charge.pending', 'charge.processing')
      and substr(payload, strpos(payload, '"charge_') + 8, 26) = 'a'`,
  },
  payments: {
    payments_pkey: UNIQUE,
    payments_unmatched: `select from payments ${OWN} and status = 'UNMATCHED'
      and reason is not null ${NEWEST}`,
    payments_charge: `select from payments ${OWN} and charge_id = ${ID} and reason is not null`,
  },
  postings: {
    postings_pkey: UNIQUE,
    // Nothing is booked twice.
    postings_once: UNIQUE,
    postings_rare: `select from postings ${OWN} and kind = 'WITHDRAWAL_STARTED'
      and kind not in ('CHARGE_PAID', 'CHARGE_SETTLED') order by entry desc limit 20`,
  },
  deliveries: {
    deliveries_pkey: UNIQUE,
    deliveries_due: `select from deliveries ${OWN} and webhook_id = ${ID}
      order by next_attempt_at, event_id limit 20`,
  },
  delivery_log: {
    delivery_log_pkey: UNIQUE,
    delivery_log_failed: `select from delivery_log ${OWN} and webhook_id = ${ID}
      and status = 'FAILED' order by event_id limit 20`,
    delivery_log_age: `select from delivery_log where finished_at <= now()`,
  },
  idempotency_keys: {
    idempotency_keys_pkey: UNIQUE,
    idempotency_keys_age: `select from idempotency_keys where created_at <= now()`,
  },
  activity: {
    activity_pkey: UNIQUE,
    activity_use: `select from activity ${OWN} and author_id = ${ID} and action = 'a' ${NEWEST}`,
    activity_charge: `select from activity ${OWN} and record_id = 'a' and record_type = 'charge'
      and action not in ('createPixCharge', 'createPaymentLink') order by id limit 20`,
  },
  // One part of the request log. The others are the same.
  api_requests_0: {
    api_requests_0_pkey: UNIQUE,
    api_requests_0_operation: `select from api_requests_0 ${OWN} and operation = 'a' ${NEWEST}`,
    api_requests_0_class: `select from api_requests_0 ${OWN} and status >= 400 and status / 100 = 4
      ${NEWEST}`,
  },
}

for (const [table, expected] of Object.entries(INDEXES)) {
  test(`each index of ${table} enforces something, or a query needs it`, ON_PLAIN, async () => {
    const found = await api.rows<{ name: string; isUnique: boolean }>(
      `select indexrelid::regclass::text as name, indisunique as "isUnique" from pg_index
       where indrelid = $1::regclass`,
      [table],
    )
    assert.deepEqual(found.map(({ name }) => name).sort(), Object.keys(expected).sort())
    for (const { name, isUnique } of found) {
      if (expected[name] === UNIQUE) assert.ok(isUnique, name)
      else assert.match(await planOf(expected[name]!), new RegExp(`\\b${name}\\b`))
    }
  })
}

/** How a query is carried out if no table may be read as a whole, and nothing be sorted. */
const planOf = (text: string): Promise<string> =>
  app.db.transaction(async (tx) => {
    for (const name of ['seqscan', 'sort']) {
      await tx.query({ text: `set local enable_${name} = off` })
    }
    const rows = await tx.query<{ 'QUERY PLAN': string }>({ text: `explain ${text}` })
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  })

// The last, because the plans above depend on how many rows there are.
describe('who pays a static code costs', { skip: !isPlain }, async () => {
  const client = await api.client()

  for (const [who, payer, expected] of [
    ['nobody knows who', undefined, undefined],
    ['known payers', { name: 'Maria da Silva', taxId: '10000000001' }, 1],
  ] as const) {
    test(`a sale of a static code to ${who}: ${expected ?? 'no'} statement for customers`, async () => {
      const { brCode } = await ask(client, 'POST', '/charge/pix/static', { amount: 250 })
      await Promise.all(times(() => ask(client, 'POST', '/bank/pix', { brCode, payer })))
      const pay = () =>
        Promise.all(times(() => ask(client, 'POST', '/bank/pix', { brCode, payer })))
      const { statements, rows } = await costOf(pay)
      const transactions = statements.insert_payments!
      assert.equal(statements.find_or_create_customers, expected && transactions)
      assert.equal(statements.find_payable_of_payers, undefined)
      assert.deepEqual([rows.customers, rows.charges], [undefined, GROUP])
    })
  }
})
