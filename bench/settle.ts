import { execFile } from 'node:child_process'
import { setImmediate as endOfTick } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { createCompany } from '../src/core/companies/commands.ts'
import type { FullApp } from '../src/core/full-app.ts'
import { receiveCallback } from '../src/core/payments/callbacks.ts'
import { systemClock } from '../src/lib/clock.ts'
import { newId, type Uuid } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log.ts'
import { callbackBody } from '../src/provider/callback.ts'
import type { ReceivedPix } from '../src/provider/port.ts'
import { chargeTxid } from '../src/provider/txid.ts'
import { LATEST } from '../src/versions/history.ts'
import { benchDatabase, measureAlternately, median, medianRatio, ratio, report } from './setup.ts'

export const PAYMENTS = Number(process.env.BENCH_PAYMENTS ?? 2000)
const COMPANIES = 100
/** Callbacks that a bank has open at once. */
const AT_ONCE = 64
const AMOUNT = 1000

type Arrived = { companyId: Uuid; pix: ReceivedPix }

/** Open charges, and money for each of them at the bank: all that is there before a callback. */
export async function prepare(
  app: FullApp,
  companies: Uuid[],
  count = PAYMENTS,
): Promise<Arrived[]> {
  const receivedAt = app.clock.now()
  const arrived = Array.from({ length: count }, (_, n): Arrived & { chargeId: Uuid } => {
    const [chargeId, companyId] = [newId(), companies[n % companies.length]!]
    const endToEndId = `E99999999${chargeId.replaceAll('-', '').slice(0, 23)}`
    const pix = { endToEndId, txid: chargeTxid(chargeId), amount: AMOUNT as never, receivedAt }
    return { companyId, chargeId, pix }
  })
  await app.db.query({
    text: `insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode,
             br_code, created_at, expires_at)
           select *, 'PIX', $3, 'OPEN', 'PROCESSING', false, '000201', $4::timestamptz,
             $4::timestamptz + interval '1 hour' from unnest($1::uuid[], $2::uuid[])`,
    values: [
      arrived.map(({ companyId }) => companyId),
      arrived.map(({ chargeId }) => chargeId),
      AMOUNT,
      receivedAt,
    ],
  })
  await app.db.query({
    text: `insert into simulated_transfers
             (account_id, end_to_end_id, txid, direction, amount, at)
           select *, 'received', $4, $5 from unnest($1::uuid[], $2::text[], $3::text[])`,
    values: [
      arrived.map(({ companyId }) => companyId),
      arrived.map(({ pix }) => pix.endToEndId),
      arrived.map(({ pix }) => pix.txid),
      AMOUNT,
      receivedAt,
    ],
  })
  return arrived
}

/** Payments matched a second: callback stored, confirmed with the bank, booked, event written. */
async function matchAll(app: FullApp, companies: Uuid[]): Promise<number> {
  const arrived = await prepare(app, companies)
  const started = performance.now()
  await match(app, arrived)
  return PAYMENTS / ((performance.now() - started) / 1000)
}

export async function match(app: FullApp, arrived: Arrived[]): Promise<void> {
  const bank = async () => {
    for (let next = arrived.pop(); next; next = arrived.pop()) {
      const { companyId, pix } = next
      const { processed } = await receiveCallback(app, companyId, 'simulator', callbackBody(pix))
      if ((await processed) !== 'processed') throw new Error('a payment was not matched')
      await endOfTick()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, bank))
}

export async function makeCompanies(app: FullApp, count: number): Promise<Uuid[]> {
  const fields = { name: 'Bench', taxId: '11222333000181', email: 'bench@example.com' } as const
  return app.db.transaction(async (tx) => {
    const ids: Uuid[] = []
    for (let n = 0; n < count; n++) {
      const company = { ...fields, mode: 'sandbox', apiVersion: LATEST.name } as const
      ids.push((await createCompany(tx, company, app.clock.now())).id)
    }
    return ids
  })
}

/**
 * The transactions of pgbench's own script, TPC-B: three updates, a read and an insert. Its scale
 * is the number of companies, so that as many balances are changed. Null without pgbench.
 */
async function openTpcB(url: string): Promise<(() => Promise<number>) | null> {
  const run = promisify(execFile)
  const found = await run('pgbench', ['--version']).catch(() => null)
  if (!found) return null
  await run('pgbench', ['-i', '-q', '-s', String(COMPANIES), url])
  const options = ['-n', '-M', 'prepared', '-c', String(AT_ONCE), '-j', '2', '-T', '3']
  return async () => {
    const { stdout } = await run('pgbench', [...options, url])
    return Number(/tps = ([\d.]+)/.exec(stdout)![1])
  }
}

/** A company with all the payments against a hundred that share them. */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  const secret = Buffer.alloc(32, 7).toString('base64')
  const config = readConfig({ DATABASE_URL: database.url, SECRET_KEY: secret })
  const publicUrl = 'http://127.0.0.1:3000'
  const log = createLog('error')
  const app = createApp({
    config,
    databaseUrl: database.url,
    clock: systemClock,
    log,
    publicUrl,
  })
  try {
    const [hot] = await makeCompanies(app, 1)
    const many = await makeCompanies(app, COMPANIES)
    const tpcB = await openTpcB(database.url)
    const measured = await measureAlternately({
      one: () => matchAll(app, [hot!]),
      spread: () => matchAll(app, many),
      ...(tpcB ? { tpcB } : {}),
    })
    const { one, spread } = measured as { one: number[]; spread: number[] }
    report(`payments settled, one company, ${AT_ONCE} callbacks at once`, median(one))
    report(`payments settled, ${COMPANIES} companies`, median(spread))
    ratio('spread over 100 companies ÷ one hot company', medianRatio(spread, one), 0.8)
    if (!tpcB) return report('pgbench is missing, so there is no TPC-B to compare with', 0)
    report(`TPC-B transactions of pgbench, ${AT_ONCE} clients`, median(measured.tpcB!))
    ratio('spread over 100 companies ÷ TPC-B', medianRatio(spread, measured.tpcB!), 1)
  } finally {
    await app.db.end()
    await database.stop()
  }
}
