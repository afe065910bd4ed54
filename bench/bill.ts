import pg from 'pg'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { createCompany } from '../src/core/companies/commands.ts'
import type { FullApp } from '../src/core/full-app.ts'
import type { Query } from '../src/db/database.ts'
import type { Uuid } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log.ts'
import { atHour } from '../src/pix/local-time.ts'
import { LATEST } from '../src/versions/history.ts'
import { billDue, collectDue, generateDue } from '../src/worker/due.ts'
import { insertSubscribers } from '../test/support/subscribers.ts'
import { benchDatabase, progress, report } from './setup.ts'

const SUBSCRIPTIONS = Number(process.env.BENCH_SUBSCRIPTIONS ?? 5000)
/** Subscriptions that are due on other days, among which those of the day are found. */
const OTHERS = 5 * SUBSCRIPTIONS
/** Charges that each of them has paid before. */
const PAID_BEFORE = 2
const COMPANIES = 100
/** What is due on the day of the approval is collected three days later. */
const [APPROVED_ON, DUE_ON] = ['2026-08-17', '2026-08-20']

/** A statement that was sent, and whether over a connection that finds rows by key alone. */
type Sent = Query & { byKey: boolean }

/** Statements that were sent, and how long the answer of the slowest took. */
type Watch = {
  isOn: boolean
  statements: Map<string, Sent>
  longest_ms: number
  slowest: string
}

const watch: Watch = { isOn: false, statements: new Map(), longest_ms: 0, slowest: '' }

/** Looks at every statement on its way: what it is, and how long it is waited for. */
function watchStatements(): void {
  const client = pg.Client.prototype as unknown as { query: (...sent: unknown[]) => unknown }
  const send = client.query
  client.query = function (this: unknown, ...sent) {
    const started = performance.now()
    const { options = '' } = (this as { connectionParameters: { options?: string } })
      .connectionParameters
    const byKey = options.includes('enable_seqscan=off')
    const done = () => note(sent, byKey, performance.now() - started)
    const last = sent.at(-1)
    if (typeof last !== 'function') {
      const answer = send.apply(this, sent) as Promise<unknown>
      void answer?.then?.(done, done)
      return answer
    }
    const onResult = (...result: unknown[]) => {
      done()
      last(...result)
    }
    return send.apply(this, [...sent.slice(0, -1), onResult])
  }
}

function note([query, values]: unknown[], byKey: boolean, took_ms: number): void {
  if (!watch.isOn) return
  const text = typeof query === 'string' ? query : (query as Query).text
  if (took_ms > watch.longest_ms) [watch.longest_ms, watch.slowest] = [took_ms, text]
  if (watch.statements.has(text)) return
  const given = typeof query === 'string' ? values : (query as Query).values
  watch.statements.set(text, { text, byKey, ...(Array.isArray(given) ? { values: given } : {}) })
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, 70)

const LARGE =
  /Seq Scan on (recurrences|billings|charges|payments|events|collections|agreements|transfers)/

/** Statements that search one of the large tables from its beginning to its end. */
async function findScans({ db }: FullApp): Promise<string[]> {
  const scans: string[] = []
  for (const { text, values, byKey } of watch.statements.values()) {
    if (!/^\s*(\(?select|insert|update|with)/i.test(text)) continue
    const explained = { text: `explain ${text}`, ...(values ? { values } : {}) }
    const rows = await (byKey ? db.light : db).query(explained)
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    const table = LARGE.exec(plan)
    if (table) scans.push(`${table[0]}: ${oneLine(text)}`)
  }
  return scans
}

async function makeCompanies(app: FullApp, count: number): Promise<Uuid[]> {
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

async function subscribe(app: FullApp, companies: Uuid[], count: number, at: Date): Promise<void> {
  for (const companyId of companies) {
    const crowd = { companyId, count: count / companies.length, value: 1990 }
    await insertSubscribers(app.db, app.vault, { ...crowd, frequency: 'MONTHLY' }, at)
  }
}

/** Charges of earlier months, so that tables are as large as those of a service in use. */
async function payBefore({ db }: FullApp): Promise<void> {
  const [before, values] = ['2026-07-25', [PAID_BEFORE]]
  await db.query({
    text: `insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode,
             recurrence_id, end_to_end_id, created_at, expires_at, payment_date, settles_at)
           select company_id, gen_random_uuid(), 'RECURRING', value, 'COMPLETED', 'RECEIVED', false,
             id, 'E99999999' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 23),
             '${before}', '2026-08-10', '${before}', '${before}'
           from recurrences, generate_series(1, $1)`,
    values,
  })
  await db.query({
    text: `insert into billings (company_id, charge_id, recurrence_id, cycle, due_on, status, ordered)
           select company_id, id, recurrence_id,
             1000 + row_number() over (partition by company_id, recurrence_id), '${before}', 'PAID',
             true from charges`,
  })
  await db.query({
    text: `insert into simulated_collections (account_id, id, agreement_id, amount, due_on,
             status, attempts)
           select company_id, id, recurrence_id, amount, '${before}', 'PAID', '[]' from charges`,
  })
  await db.query({
    text: `insert into simulated_transfers (account_id, end_to_end_id, direction, amount, at)
           select company_id, end_to_end_id, 'received', amount, '${before}' from charges`,
  })
}

async function phase(label: string, act: () => Promise<void>): Promise<void> {
  Object.assign(watch, { isOn: true, longest_ms: 0, slowest: '' })
  progress(label)
  const started = performance.now()
  await act()
  watch.isOn = false
  const seconds = (performance.now() - started) / 1000
  report(label, SUBSCRIPTIONS / seconds, `${seconds.toFixed(1)} s in all`)
  console.log(`    longest statement ${watch.longest_ms.toFixed(0)} ms: ${oneLine(watch.slowest)}`)
}

async function assertPaid({ db }: FullApp, expected: number): Promise<void> {
  const [row] = await db.query<{ paid: number; charges: number }>({
    text: `select count(*) filter (where status = 'PAID')::int as paid,
             count(distinct (company_id, recurrence_id))::int as charges
           from billings where cycle = 0`,
  })
  if (row!.paid !== expected || row!.charges !== expected) {
    throw new Error(`${row!.paid} of ${row!.charges} charges are paid, ${expected} are due`)
  }
}

/** A day on which many subscriptions are due: of one company, and of a hundred. */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  const secret = Buffer.alloc(32, 7).toString('base64')
  const config = readConfig({ DATABASE_URL: database.url, SECRET_KEY: secret })
  const time = { now: atHour(APPROVED_ON, 0) }
  const clock = { now: () => time.now }
  const publicUrl = 'http://127.0.0.1:3000'
  const app = createApp({
    config,
    databaseUrl: database.url,
    clock,
    log: createLog('error'),
    publicUrl,
  })
  try {
    const companies = await makeCompanies(app, COMPANIES)
    const [hot] = await makeCompanies(app, 1)
    progress(`making ${OTHERS} subscriptions of other days`)
    await subscribe(app, companies, OTHERS, atHour('2026-08-25', 0))
    await payBefore(app)
    await app.db.query({ text: 'vacuum analyze' })
    watchStatements()
    const sides: [string, Uuid[]][] = [
      ['one company', [hot!]],
      [`${COMPANIES} companies`, companies],
    ]
    for (const [n, [side, owners]] of sides.entries()) {
      time.now = atHour(APPROVED_ON, 9)
      await subscribe(app, owners, SUBSCRIPTIONS, time.now)
      await phase(`charges generated, ${side}`, () => generateDue.run(app))
      await phase(`charges scheduled at the bank, ${side}`, () => billDue.run(app))
      time.now = atHour(DUE_ON, 8)
      await phase(`charges collected and matched, ${side}`, () => collectDue.run(app))
      await assertPaid(app, (n + 1) * SUBSCRIPTIONS)
    }
    const scans = await findScans(app)
    console.log(`statements that search a whole table: ${scans.length === 0 ? 'none' : ''}`)
    for (const scan of scans) console.log(`    ${scan}`)
  } finally {
    await app.db.end()
    await database.stop()
  }
}
