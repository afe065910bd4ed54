import assert from 'node:assert/strict'
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { readConfig } from '../src/config.ts'
import { auditCompany } from '../src/core/audits/commands.ts'
import { migrate, readMigrations } from '../src/db/migrate.ts'
import { readBalance } from '../src/ledger/post.ts'
import { systemClock } from '../src/lib/clock.ts'
import { newId } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log.ts'
import { createApp } from '../src/service.ts'
import { receiveDueCharges } from '../src/worker/charges.ts'
import { emptyDatabase } from './support/database.ts'
import { temporaryFolder } from './support/process.ts'

const FIRST = join(import.meta.dirname, '..', 'migrations')

test('a database from before the ledger gets books that agree, and old charges go on', async () => {
  const url = await emptyDatabase()
  const folder = temporaryFolder()
  const [first] = readdirSync(FIRST).sort()
  copyFileSync(join(FIRST, first!), join(folder, first!))
  await migrate(url, readMigrations(folder))
  const [sandbox, live, charge] = [newId(), newId(), newId()]
  const client = new pg.Client(url)
  await client.connect()
  for (const [id, mode] of [
    [sandbox, 'sandbox'],
    [live, 'live'],
  ]) {
    await client.query(
      `insert into companies (id, name, tax_id, email, color, pix_key, city, mode, api_version,
         settlement_delay_s, created_at, updated_at)
       values ($1, 'Loja', '11222333000181', 'dona@example.com', '#0f766e', 'chave', 'Sao Paulo',
         $2, '2026-08-16', 60, now(), now())`,
      [id, mode],
    )
  }
  await client.query(
    `insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode, br_code,
       end_to_end_id, created_at, expires_at, payment_date)
     values ($1, $2, 'PIX', 1990, 'COMPLETED', 'PAID', true, '000201', 'E1', now(),
       now() + interval '1 hour', now())`,
    [sandbox, charge],
  )
  assert.ok((await migrate(url)).length > 0)
  const SECRET_KEY = Buffer.alloc(32, 1).toString('base64')
  const config = readConfig({ DATABASE_URL: url, SECRET_KEY, DATA_DIR: temporaryFolder() })
  const parts = { clock: systemClock, log: createLog('silent'), publicUrl: 'http://vintem.test' }
  const app = createApp({ config, databaseUrl: url, ...parts })
  try {
    await receiveDueCharges(app)
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
