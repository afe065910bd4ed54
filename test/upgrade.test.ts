import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { readSchema } from '../scripts/schema.ts'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { auditCompany } from '../src/core/audits/commands.ts'
import { indexOldCharges } from '../src/core/charges/backfill.ts'
import { searchCharges } from '../src/core/charges/search.ts'
import { sealPerson } from '../src/core/customers/sealing.ts'
import { emit, testEvent } from '../src/core/events.ts'
import { readFeed, START } from '../src/core/feed/store.ts'
import { findUnchecked, migrate, readMigrations } from '../src/db/migrate.ts'
import { readBalance } from '../src/ledger/post.ts'
import { systemClock } from '../src/lib/clock.ts'
import { newId } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log.ts'
import { releaseDueCharges } from '../src/worker/due.ts'
import { emptyDatabase } from './support/database.ts'
import { temporaryFolder } from './support/process.ts'

/** All migrations, one after the other, as if there were no baseline. */
const HISTORY = readMigrations().map(({ baseline: _, ...one }) => one)

/** Migrates an empty database up to and with a file. */
async function databaseAt(last: string): Promise<string> {
  const url = await emptyDatabase()
  const index = HISTORY.findIndex(({ name }) => name === last)
  assert.ok(index >= 0)
  await migrate(url, HISTORY.slice(0, index + 1))
  return url
}

function appOn(url: string) {
  const SECRET_KEY = Buffer.alloc(32, 1).toString('base64')
  const config = readConfig({ DATABASE_URL: url, SECRET_KEY, DATA_DIR: temporaryFolder() })
  const parts = { clock: systemClock, log: createLog('silent'), publicUrl: 'http://vintem.test' }
  return createApp({ config, databaseUrl: url, ...parts })
}

test('a new database is what all migrations make one after the other, and is recorded as that', async () => {
  const [made, upgraded] = [await emptyDatabase(), await databaseAt(HISTORY.at(-1)!.name)]
  assert.equal((await migrate(made))[0], 'baseline.sql')
  assert.deepEqual(await readSchema(made), await readSchema(upgraded))
  for (const url of [made, upgraded]) {
    assert.deepEqual(await migrate(url, HISTORY), [], 'nothing is left to do')
  }
})

test('a database in the middle of the old migrations goes on with the next of them', async () => {
  const url = await databaseAt('0062_unlogged_requests.sql')
  const names = HISTORY.map(({ name }) => name)
  const left = names.slice(names.indexOf('0062_unlogged_requests.sql') + 1)
  assert.deepEqual(await migrate(url), left)
})

const insertCompany = (client: pg.Client, id: string, mode = 'sandbox') =>
  client.query(
    `insert into companies (id, name, tax_id, email, color, pix_key, city, mode, api_version,
       settlement_delay_s, created_at, updated_at)
     values ($1, 'Loja', '11222333000181', 'dona@example.com', '#0f766e', 'chave', 'Sao Paulo',
       $2, '2026-08-16', 60, now(), now())`,
    [id, mode],
  )

test('a database from before the ledger gets books that agree, and old charges go on', async () => {
  const url = await databaseAt('0001_foundation.sql')
  const [sandbox, live, charge] = [newId(), newId(), newId()]
  const client = new pg.Client(url)
  await client.connect()
  await insertCompany(client, sandbox)
  await insertCompany(client, live, 'live')
  await client.query(
    `insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode, br_code,
       end_to_end_id, created_at, expires_at, payment_date)
     values ($1, $2, 'PIX', 1990, 'COMPLETED', 'PAID', true, '000201', 'E1', now(),
       now() + interval '1 hour', now())`,
    [sandbox, charge],
  )
  assert.ok((await migrate(url)).length > 0)
  const app = appOn(url)
  try {
    await releaseDueCharges.run(app)
    const { rows } = await client.query('select payment_status from charges where id = $1', [
      charge,
    ])
    assert.equal(rows[0].payment_status, 'RECEIVED')
    assert.equal((await readBalance(app.db, sandbox)).available, 100_000)
    assert.equal((await readBalance(app.db, live)).available, 0)
    for (const id of [sandbox, live]) {
      assert.deepEqual((await auditCompany(app, id, { whole: true })).faults, [])
    }
  } finally {
    await client.end()
    await app.db.end()
  }
})

test('charges from before the search are found by e-mail and tax id, a few at a time', async () => {
  const url = await databaseAt('0008_banks.sql')
  const app = appOn(url)
  const client = new pg.Client(url)
  await client.connect()
  const companies = [newId(), newId()].sort()
  const made: Record<string, string[]> = {}
  for (const companyId of companies) {
    await insertCompany(client, companyId)
    made[companyId] = []
    for (let i = 0; i < 7; i++) {
      const id = newId()
      const email = i % 2 ? 'Maria@Example.com' : `payer${i}@example.com`
      const person = { name: 'Maria', taxId: `5299822472${i}`, ...(i === 6 ? {} : { email }) }
      const { index, sealed } = sealPerson(app.vault, companyId, person)
      // One envelope is damaged, and the customers of all these charges are deleted.
      await client.query(
        `insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode,
           customer_id, payer_name, payer_index, payer_sealed, br_code, created_at, expires_at)
         values ($1, $2, 'PIX', 1990, 'CANCELED', 'PROCESSING', false, $2, 'Maria', $3, $4,
           '000201', now(), now() + interval '1 hour')`,
        [companyId, id, index, i === 2 ? Buffer.alloc(40) : sealed],
      )
      made[companyId].unshift(id)
    }
  }
  try {
    await migrate(url)
    const find = async (companyId: string, query: { email?: string; taxId?: string }) => {
      const { db, vault } = app
      const where = { db, vault, companyId, now: new Date(), isMasked: false }
      const found = await searchCharges(where, query, { limit: 10, after: null })
      return found.map(({ id }) => id)
    }
    const email = 'maria@example.com'
    assert.deepEqual(await find(companies[0]!, { email }), [], 'not before the task has run')
    let runs = 1
    while (await indexOldCharges(app, 3)) runs += 1
    assert.equal(runs, 5, 'fourteen charges, three at a time')
    assert.equal(await indexOldCharges(app, 3), false)
    for (const companyId of companies) {
      const ids = made[companyId]!
      const odd = ids.filter((_, i) => i % 2 === 1)
      assert.deepEqual(await find(companyId, { email }), odd)
      assert.deepEqual(await find(companyId, { email: 'payer0@example.com' }), [ids[6]])
      assert.deepEqual(await find(companyId, { taxId: '52998224726' }), [ids[0]])
    }
    assert.equal((await client.query('select from backfills')).rowCount, 0)
  } finally {
    await client.end()
    await app.db.end()
  }
})

test('a new installation has no old charges to look at', async () => {
  const url = await emptyDatabase()
  await migrate(url)
  const client = new pg.Client(url)
  await client.connect()
  assert.equal((await client.query('select from backfills')).rowCount, 0)
  const invalid = await client.query('select from pg_index where not indisvalid')
  assert.equal(invalid.rowCount, 0)
  await client.end()
})

test('payments and refunds from before get their source, of the mode of their company', async () => {
  for (const modes of [['sandbox'], ['sandbox', 'live']]) {
    const url = await databaseAt('0012_charge_indexes.sql')
    const client = new pg.Client(url)
    await client.connect()
    try {
      for (const mode of modes) await insertOld(client, mode)
      await migrate(url)
      const read = (table: string, source: string) =>
        client.query(
          `select distinct mode, booked, ${source} as source from ${table}
           join companies c on c.id = company_id order by mode, booked`,
        )
      const simulated = { mode: 'sandbox', booked: true, source: 'simulated' }
      const ofLive = [
        { mode: 'live', booked: false, source: 'simulated' },
        { mode: 'live', booked: true, source: 'bank' },
      ]
      const expected = modes.includes('live') ? [...ofLive, simulated] : [simulated]
      assert.deepEqual((await read('payments', 'source')).rows, expected)
      assert.deepEqual((await read('refunds', 'payment_source')).rows, expected)
    } finally {
      await client.end()
    }
  }
})

test('accounts of the simulated bank are counted with what they had before, whoever comes first', async () => {
  let table = 'simulated_bank.transfers'
  const insert = (client: pg.Client, account: string, transfers: [string, number][]) =>
    client.query(
      `insert into ${table} (account_id, end_to_end_id, direction, amount, at)
       select $1, 'E99999999' || gen_random_uuid(), direction, amount, now()
       from unnest($2::text[], $3::int8[]) t (direction, amount)`,
      [account, transfers.map(([way]) => way), transfers.map(([, amount]) => amount)],
    )
  const [first, second, fresh] = [newId(), newId(), newId()]
  const counting = HISTORY.findIndex(({ name }) => name.endsWith('_bank_accounts.sql'))
  const url = await databaseAt(HISTORY[counting - 1]!.name)
  const client = new pg.Client(url)
  await client.connect()
  try {
    const before: [string, number][] = [
      ['received', 900],
      ['sent', 200],
      ['returned', 100],
    ]
    for (const account of [first, second]) await insert(client, account, before)
    await migrate(url, HISTORY.slice(0, counting + 1))
    await insert(client, second, [['received', 50]])
    const fileOf = async () =>
      (await client.query('select pg_relation_filepath($1) as path', [table])).rows[0].path
    const written = await fileOf()
    await migrate(url)
    table = 'simulated_transfers'
    assert.equal(await fileOf(), written, 'nothing is rewritten')
    await insert(client, first, [['sent', 7]])
    await insert(client, fresh, [['received', 5]])
    const { rows } = await client.query('select * from simulated_accounts')
    const balances = new Map(rows.map(({ account_id, balance }) => [account_id, Number(balance)]))
    assert.deepEqual(
      [first, second, fresh].map((id) => balances.get(id)),
      [593, 650, 5],
    )
  } finally {
    await client.end()
  }
})

test('leases on webhooks keep their rows and key when their table is renamed', async () => {
  const url = await databaseAt('0018_shared_queues.sql')
  const client = new pg.Client(url)
  await client.connect()
  try {
    const [companyId, webhookId] = [newId(), newId()]
    const lease = [companyId, webhookId, 7]
    await client.query(`insert into delivery_lines values ($1, $2, $3, now())`, lease)
    const fileOf = async (table: string) =>
      (await client.query('select pg_relation_filepath($1) as path', [table])).rows[0].path
    const before = await fileOf('delivery_lines')
    await migrate(url)
    assert.equal(await fileOf('webhook_leases'), before, 'nothing is rewritten')
    const { rows } = await client.query('select company_id, webhook_id, worker from webhook_leases')
    const row = { company_id: companyId, webhook_id: webhookId, worker: 7 }
    assert.deepEqual(rows, [row])
    const again = client.query(`insert into webhook_leases values ($1, $2, $3, now())`, lease)
    await assert.rejects(again, { constraint: 'webhook_leases_pkey' })
    const old = await client.query(`select to_regclass('delivery_lines') as old`)
    assert.equal(old.rows[0].old, null)
  } finally {
    await client.end()
  }
})

test('new events come after those from before feeds were counted', async () => {
  const url = await databaseAt('0049_places.sql')
  const client = new pg.Client(url)
  await client.connect()
  const app = appOn(url)
  try {
    const [companyId, old] = [newId(), newId()]
    await insertCompany(client, companyId, 'sandbox')
    await client.query('begin')
    await client.query(
      `insert into events (company_id, id, type, payload, created_at, position)
       values ($1, $2, 'webhook.test', '{}', now(), event_position())`,
      [companyId, old],
    )
    await client.query('commit')
    await migrate(url)
    const event = testEvent(companyId, newId(), new Date())
    await app.db.transaction((tx) => emit(tx, [event]))
    const all = { after: START, type: null, limit: 10, redeliveries: true }
    const { entries } = await readFeed(app.db, companyId, all)
    assert.deepEqual(
      entries.map(({ event: { id } }) => id),
      [old, event.id],
    )
  } finally {
    await app.db.end()
    await client.end()
  }
})

test('what names a company that is not here is refused, whatever was here before', async () => {
  const url = await databaseAt('0064_no_index_of_posting_times.sql')
  const client = new pg.Client(url)
  await client.connect()
  const insertProduct = (companyId: string) =>
    client.query(
      `insert into products (company_id, id, name, description, price, need_shipping, status,
         marketplace_status, type, created_at, updated_at)
       values ($1, $2, 'Broa', '', 500, false, 'ACTIVE', 'APPROVED', 'ONE_TIME', now(), now())`,
      [companyId, newId()],
    )
  const ask = async (text: string) => (await client.query(text)).rows
  try {
    const companyId = newId()
    await insertCompany(client, companyId)
    await insertProduct(companyId)
    // As a place has it while a company arrives.
    const arriving = newId()
    await insertProduct(arriving)
    await insertProduct(arriving)
    const warnings: string[] = []
    await migrate(url, undefined, { warn: (line) => warnings.push(line) })
    assert.equal(warnings.length, 1)
    assert.match(warnings[0]!, /^products has 2 rows of companies that are not in this database/)
    assert.ok(warnings[0]!.includes(`vintem place move ${arriving} `), warnings[0])
    const repair = /Then run: (alter table .*)$/.exec(warnings[0]!)![1]!
    const { rows } = await client.query<{ name: string; valid: boolean }>(
      `select conname as name, convalidated as valid from pg_constraint
       where conname ~ '_company$' and confrelid = 'companies'::regclass order by conname`,
    )
    const isValid = Object.fromEntries(rows.map(({ name, valid }) => [name, valid]))
    assert.deepEqual(isValid, {
      charge_plans_company: true,
      customers_company: true,
      feeds_company: true,
      products_company: false,
      recurrences_company: true,
      static_codes_company: true,
    })
    await insertProduct(companyId)
    await assert.rejects(insertProduct(newId()), { constraint: 'products_company' })
    await assert.rejects(client.query(repair), { constraint: 'products_company' })
    await insertCompany(client, arriving)
    assert.deepEqual(await findUnchecked(ask), [
      `Rows of products were not checked for their company. Now run: ${repair}`,
    ])
    await client.query(repair)
    assert.deepEqual(await findUnchecked(ask), [])
  } finally {
    await client.end()
  }
})

/** A company with a payment and a refund that count, and in a live one with a trial of both. */
async function insertOld(client: pg.Client, mode: string): Promise<void> {
  const id = newId()
  await insertCompany(client, id, mode)
  for (const booked of mode === 'live' ? [true, false] : [true]) {
    const values = [id, newId(), `E${booked}`, booked]
    await client.query(
      `insert into payments (company_id, id, end_to_end_id, booked, amount, status, reason,
         received_at, created_at)
       values ($1, $2, $3, $4, 1990, 'REFUNDED', 'UNKNOWN', now(), now())`,
      values,
    )
    await client.query(
      `insert into refunds (company_id, id, end_to_end_id, booked, amount, source, status,
         return_id, next_attempt_at, created_at, finished_at)
       values ($1, $2, $3, $4, 1990, 'unmatched', 'COMPLETED', 'D1', now(), now(), now())`,
      values,
    )
  }
}
