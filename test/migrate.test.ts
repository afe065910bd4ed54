import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { migrate, readMigrations, statementsOf } from '../src/db/migrate.ts'
import { emptyDatabase } from './support/database.ts'
import { inherited, temporaryFolder } from './support/process.ts'
import { until } from './support/until.ts'

const FIRST = 'create table sales (id int, shop int);\ninsert into sales values (1, 1), (2, 2);\n'
const SECOND = `-- no transaction
-- Built while sales go on; a comment; with semicolons;
create unique index concurrently sales_id on sales (id)
  where shop > 0;
create index concurrently if not exists sales_shop on sales (shop);
drop index concurrently if exists sales_old;
`

function migrations(first = FIRST) {
  const folder = temporaryFolder()
  writeFileSync(join(folder, '0001_sales.sql'), first)
  writeFileSync(join(folder, '0002_indexes.sql'), SECOND)
  return { folder, known: readMigrations(folder) }
}

async function connected<T>(url: string, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  return act(client).finally(() => client.end())
}

/** Indexes by name and whether they can be used, and what is recorded. */
const stateOf = (url: string) =>
  connected(url, async (client) => {
    const indexes = await client.query<{ name: string; valid: boolean }>(
      `select indexrelid::regclass::text as name, indisvalid as valid from pg_index
       where indrelid = 'sales'::regclass order by 1`,
    )
    const applied = await client.query('select name from schema_migrations order by version')
    return {
      indexes: Object.fromEntries(indexes.rows.map(({ name, valid }) => [name, valid])),
      applied: applied.rows.map(({ name }) => name),
    }
  })

const DONE = {
  indexes: { sales_id: true, sales_shop: true },
  applied: ['0001_sales.sql', '0002_indexes.sql'],
}

test('a file is cut at the semicolons that end a line, and its comments are dropped', () => {
  assert.deepEqual(statementsOf(SECOND), [
    'create unique index concurrently sales_id on sales (id)\n  where shop > 0',
    'create index concurrently if not exists sales_shop on sales (shop)',
    'drop index concurrently if exists sales_old',
  ])
  assert.deepEqual(statementsOf("-- no transaction\nselect ';';\n"), ["select ';'"])
})

test('a migration without a transaction builds its indexes and is recorded once', async () => {
  const url = await emptyDatabase()
  const { known } = migrations()
  assert.deepEqual(await migrate(url, known), DONE.applied)
  assert.deepEqual(await stateOf(url), DONE)
  assert.deepEqual(await migrate(url, known), [])
})

test('an index that was left half-built is built again, and what is built is kept', async () => {
  const url = await emptyDatabase()
  const twice = `${FIRST}insert into sales values (2, 3);\n`
  const { known } = migrations(twice)
  await assert.rejects(migrate(url, known), /0002_indexes\.sql failed: .*unique index "sales_id"/)
  assert.deepEqual(await stateOf(url), {
    indexes: { sales_id: false },
    applied: ['0001_sales.sql'],
  })
  await connected(url, (client) => client.query('delete from sales where shop = 3'))
  assert.deepEqual(await migrate(url, known), ['0002_indexes.sql'])
  assert.deepEqual(await stateOf(url), DONE)
})

test('a migration and a request that wait for each other: it is applied again', async () => {
  const url = await emptyDatabase()
  const change = 'alter table sales add column late int;\nalter table shops add column late int;\n'
  const folder = temporaryFolder()
  const tables = 'create table sales (id int);\ncreate table shops (id int);\n'
  writeFileSync(join(folder, '0001_tables.sql'), tables)
  await migrate(url, readMigrations(folder))
  writeFileSync(join(folder, '0002_change.sql'), change)
  const reports: string[] = []
  await connected(url, async (client) => {
    // PostgreSQL ends the one whose patience ends first, which is the migration.
    await client.query(`set deadlock_timeout = '10min'`)
    await client.query('begin; lock table shops in row exclusive mode')
    const done = migrate(url, readMigrations(folder), { report: (line) => reports.push(line) })
    await until('it waits for the request', async () => {
      const { rowCount } = await client.query('select from pg_locks where not granted')
      return rowCount === 1
    })
    await client.query('lock table sales in row exclusive mode')
    await client.query('commit')
    assert.deepEqual(await done, ['0002_change.sql'])
  })
  assert.match(reports.join(), /0002_change.* is applied again/)
})

test('processes that migrate at the same time wait for one another', async () => {
  const url = await emptyDatabase()
  const { known } = migrations()
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(url, known)))
  assert.deepEqual(applied.flat(), DONE.applied)
  assert.deepEqual(await stateOf(url), DONE)
})

test('a migration says how far it is, and whoever waits for another says so', async () => {
  const url = await emptyDatabase()
  const { known } = migrations()
  const said: string[][] = [[], [], []]
  const by = (i: number) => ({ report: (line: string) => said[i]!.push(line) })
  await migrate(url, known.slice(0, 1), by(0))
  await connected(url, async (holder) => {
    await holder.query('begin')
    await holder.query('insert into sales values (3, 3)')
    const first = migrate(url, known, by(1))
    await connected(url, untilBuilding)
    const second = migrate(url, known, by(2))
    while (said[2]!.length === 0) await pause(5)
    await holder.query('commit')
    await Promise.all([first, second])
  })
  await migrate(url, known, by(2))
  assert.deepEqual(said, [
    ['creating the tables', 'the database is migrated'],
    [
      'applying migration 1 of 1: 0002_indexes',
      'building the index sales_id, which may take long',
      'building the index sales_shop, which may take long',
      'the database is migrated',
    ],
    ['waiting for another process that migrates the database'],
  ])
})

/** Waits until a build in this database waits for what `test` holds open; returns the pid of its backend. */
async function untilBuilding(client: pg.Client): Promise<number> {
  for (;;) {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database()
         and application_name = 'vintem migrate' and query like 'create%index concurrently%'
         and wait_event_type = 'Lock'`,
    )
    if (rows[0]) return rows[0].pid
    await pause(20)
  }
}

const SCRIPT = `
  const [, code, url, folder] = process.argv
  const { migrate, readMigrations } = await import(code)
  await migrate(url, readMigrations(folder))
`

test('after kill -9 in the middle of an index the next process completes the migration', async () => {
  const url = await emptyDatabase()
  const { folder, known } = migrations()
  await migrate(url, known.slice(0, 1))
  await connected(url, async (holder) => {
    await holder.query('begin')
    await holder.query('insert into sales values (3, 3)')
    const code = pathToFileURL(join(import.meta.dirname, '../src/db/migrate.ts')).href
    const child = spawn(
      process.execPath,
      ['--input-type=module', '-e', SCRIPT, code, url, folder],
      { env: inherited, stdio: 'ignore' },
    )
    const ended = once(child, 'exit')
    await connected(url, async (watcher) => {
      const pid = await untilBuilding(watcher)
      child.kill('SIGKILL')
      await ended
      await watcher.query('select pg_terminate_backend($1)', [pid])
      for (;;) {
        const { rows } = await watcher.query('select from pg_stat_activity where pid = $1', [pid])
        if (rows.length === 0) break
        await pause(20)
      }
    })
    assert.deepEqual(await stateOf(url), {
      indexes: { sales_id: false },
      applied: ['0001_sales.sql'],
    })
    await holder.query('commit')
  })
  assert.deepEqual(await migrate(url, known), ['0002_indexes.sql'])
  assert.deepEqual(await stateOf(url), DONE)
})

test('a process that comes while an index is being built waits for it', async () => {
  const url = await emptyDatabase()
  const { known } = migrations()
  await migrate(url, known.slice(0, 1))
  const results = await connected(url, async (holder) => {
    await holder.query('begin')
    await holder.query('insert into sales values (3, 3)')
    const both = Promise.all([migrate(url, known), migrate(url, known)])
    await connected(url, untilBuilding)
    await holder.query('commit')
    return both
  })
  assert.deepEqual(results.flat(), ['0002_indexes.sql'])
  assert.deepEqual(await stateOf(url), DONE)
})

test('a database whose history is another one is refused, and nothing is done to it', async () => {
  const url = await emptyDatabase()
  const { known } = migrations()
  await migrate(url, known.slice(0, 1))
  const other = migrations(`${FIRST}-- changed since\n`).known
  await assert.rejects(migrate(url, other), /0001_sales\.sql was applied with other contents/)
  assert.deepEqual((await stateOf(url)).applied, ['0001_sales.sql'])
})

test('a newer database is refused if it has lost what the code uses, and only then', async () => {
  const url = await emptyDatabase()
  const { folder } = migrations()
  const contract = '-- contract since 0002: the shop of a sale is not read any more\n'
  const third = `${contract}alter table sales drop column shop;\n`
  writeFileSync(join(folder, '0003_no_shops.sql'), third)
  const known = readMigrations(folder)
  await migrate(url, known.slice(0, 2))
  assert.deepEqual(await migrate(url, known.slice(0, 1)), [], 'an index more')
  await migrate(url, known)
  assert.deepEqual(await migrate(url, known.slice(0, 2)), [], 'the version before')
  await assert.rejects(migrate(url, known.slice(0, 1)), /newer than this version .*0003_no_shops/)
})

test('a migration outside a transaction is recorded at once with what it needs', async () => {
  const url = await emptyDatabase()
  const { folder } = migrations()
  const contract = '  -- contract since 0002: every sale has a number of its own since then\n'
  const index = 'create unique index concurrently sales_number on sales (id);\n'
  writeFileSync(join(folder, '0003_numbers.sql'), `-- no transaction\n${contract}${index}`)
  const known = readMigrations(folder)
  await migrate(url, known.slice(0, 2))
  await connected(url, async (client) => {
    await client.query(`create function fail() returns trigger language plpgsql as $$ begin
      raise exception 'the process ends here'; end $$`)
    await client.query(`create trigger ends before update on schema_migrations
      for each statement execute function fail()`)
  })
  await migrate(url, known).catch(() => {})
  await migrate(url, known)
  await assert.rejects(migrate(url, known.slice(0, 1)), /newer than this version .*0003_numbers/)
})

test('what an older version has left of its first start is no obstacle', async () => {
  const url = await emptyDatabase()
  await connected(url, (client) =>
    client.query(`create table schema_migrations (
      version integer primary key, name text not null, checksum text not null,
      applied_at timestamptz not null default now())`),
  )
  assert.equal((await migrate(url))[0], 'baseline.sql')
  assert.deepEqual(await migrate(url), [])
})
