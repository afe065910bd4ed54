import pg from 'pg'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { createCompany, createKey } from '../src/core/companies/commands.ts'
import type { Company } from '../src/core/companies/rules.ts'
import type { FullApp } from '../src/core/full-app.ts'
import { migrate } from '../src/db/migrate.ts'
import { systemClock } from '../src/lib/clock.ts'
import { createLog } from '../src/lib/log.ts'
import { createService, type Service } from '../src/service.ts'
import { LATEST } from '../src/versions/history.ts'
import { releaseDueCharges } from '../src/worker/due.ts'
import { lowerQuartile, progress, verdictOf } from './setup.ts'

/** A company whose past has so many charges, and the service that it uses. */
export type Size = {
  charges: number
  app: FullApp
  service: Service
  company: Company
  apiKey: string
  stop(): Promise<void>
}

const SECRET_KEY = Buffer.alloc(32, 7).toString('base64')
/** A company has so many charges a day, however long its past is. */
const PER_DAY = 1600

/** Opens a database of its own on the server, and fills it. */
export async function openSize(serverUrl: string, charges: number): Promise<Size> {
  const name = `size_${charges}`
  await query(serverUrl, `create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  await migrate(url.href)
  // One company sends all requests, one after the other, and limits are not what is measured.
  const limits = { RATE_LIMIT: 'off' }
  const config = readConfig({ DATABASE_URL: url.href, SECRET_KEY, ...limits })
  const parts = { databaseUrl: url.href, clock: systemClock, log: createLog('error') }
  const publicUrl = 'http://127.0.0.1:3000'
  const app = createApp({ ...parts, config: { ...config, local: true }, publicUrl })
  const service = await createService(app, url.href)
  const made = await makeCompany(app)
  await makeTemplate(app, service, made.apiKey)
  progress(`making ${charges} charges`)
  await query(url.href, fillSql(made.company.id, charges))
  await query(url.href, 'vacuum analyze')
  return {
    charges,
    app,
    service,
    ...made,
    async stop() {
      await service.close()
      await app.sender.close()
      await app.db.end()
    },
  }
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(text)
  await client.end()
}

const makeCompany = ({ db, vault }: FullApp) =>
  db.transaction(async (tx) => {
    const fields = { name: 'Bench', taxId: '11222333000181', email: 'bench@example.com' } as const
    const more = { mode: 'sandbox', apiVersion: LATEST.name, releaseDelay_s: 0 } as const
    const now = systemClock.now()
    const company = await createCompany(tx, { ...fields, ...more }, now)
    const { text } = await createKey(tx, vault, company, { name: 'bench' }, now)
    return { company, apiKey: text }
  })

/** A charge that was made, paid and received as usual. All others are copies of it. */
async function makeTemplate(app: FullApp, { server }: Service, apiKey: string): Promise<void> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const customer = { name: 'Maria da Silva', taxId: '52998224725', email: 'maria@example.com' }
  const payload = JSON.stringify({ amount: 1990, customer })
  const made = await server.inject({ method: 'POST', url: '/charge/pix', headers, payload })
  const paid = await server.inject({
    method: 'POST',
    url: '/bank/pix',
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify({ brCode: made.json().data.brCode }),
  })
  if (paid.statusCode >= 300) throw new Error(paid.payload)
  await releaseDueCharges.run({ ...app, db: app.db.tasks })
}

/**
 * Copies the charge with its payment, postings and events, as many a day as ever, up to yesterday.
 * Every third copy expired without a payment. Ids are in the order of time, as ours are. The record
 * is made in the list of tables, because with (f(x)).* it would be made once for each column.
 */
function fillSql(companyId: string, charges: number): string {
  const at = `(now() - interval '1 day' - (${charges} - n) * interval '1 day' / ${PER_DAY})`
  const idAt = (moment: string, mark: number) =>
    `(overlay(overlay(lpad(to_hex((extract(epoch from ${moment}) * 1000)::bigint), 12, '0')
       placing '-' from 9 for 0) || '-7' || lpad(to_hex(n % 4096), 3, '0') || '-8${mark}00-' ||
       lpad(to_hex(n), 12, '0') placing '' from 1 for 0))::uuid`
  const isPaid = 'n % 3 <> 0'
  const copies = `generate_series(1, ${charges}) n`
  return `
  create temp table template as select * from charges where company_id = '${companyId}';
  create temp table copies as
    select n, ${at} as at, ${idAt(at, 0)} as id, ${isPaid} as is_paid,
      'E1' || lpad(n::text, 30, '0') as end_to_end_id, md5('customer' || n % 1000)::uuid as customer
    from ${copies};
  insert into charges select r.* from copies c, template t,
    jsonb_populate_record(t, jsonb_build_object(
      'id', c.id, 'external_id', 'order-' || n, 'created_at', at,
      'expires_at', at + interval '30 minutes', 'customer_id', customer,
      'status', case when is_paid then 'COMPLETED' else 'EXPIRED' end,
      'payment_status', case when is_paid then 'RECEIVED' else 'EXPIRED' end,
      'end_to_end_id', case when is_paid then c.end_to_end_id end, 'booked', is_paid,
      'payment_date', case when is_paid then at + interval '2 minutes' end)) r
    order by n;
  insert into payments select r.*
    from copies c, (select p from payments p where company_id = '${companyId}') p,
    jsonb_populate_record(p.p, jsonb_build_object(
      'id', c.id, 'end_to_end_id', c.end_to_end_id, 'charge_id', c.id,
      'received_at', at, 'created_at', at)) r
    where is_paid;
  with last as (select entries, available from balances where company_id = '${companyId}'),
    paid as (select *, row_number() over (order by n) as k from copies where is_paid),
    two as (select p, row_number() over (order by entry) as i from postings p
      where company_id = '${companyId}' and charge_id is not null)
  insert into postings select r.* from paid c, two, last,
    jsonb_populate_record(two.p, jsonb_build_object(
      'entry', last.entries + (k - 1) * 2 + i, 'ref', c.end_to_end_id, 'charge_id', c.id,
      'created_at', at, 'available', last.available + ((k - 1) + (i - 1)) * (two.p).amount,
      'pending', case when i = 1 then (two.p).amount else 0 end)) r
    order by k, i;
  update balances set (entries, available) = (select entry, available from postings
    where company_id = '${companyId}' order by entry desc limit 1)
    where company_id = '${companyId}';
  insert into events select r.*
    from copies c, (select e from events e where company_id = '${companyId}'
      order by id desc limit 1) e,
    jsonb_populate_record(e.e, jsonb_build_object(
      'id', ${idAt('c.at', 1)}, 'created_at', at)) r
    order by n;`
}

export type Measurement = { name: string; act(size: Size): Promise<unknown> }

const TRIES = Number(process.env.BENCH_TRIES ?? 40)

/** Measures each at both sizes, alternately, and prints how much more the larger one takes. */
export async function compareSizes(
  [small, large]: [Size, Size],
  measurements: Measurement[],
  bar: number,
): Promise<void> {
  for (const { name, act } of measurements) {
    const times = new Map<Size, number[]>([
      [small, []],
      [large, []],
    ])
    // The first tries only warm up.
    for (let n = -3; n < TRIES; n++) {
      for (const [size, list] of times) {
        const from_ms = performance.now()
        await act(size)
        if (n >= 0) list.push(performance.now() - from_ms)
      }
    }
    const [few, many] = [times.get(small)!, times.get(large)!]
    // Other work of the machine only adds time, so the quick tries are what it takes.
    const [least, most] = [lowerQuartile(few), lowerQuartile(many)]
    const value = most / least
    const verdict = verdictOf(value <= bar)
    const figures = `${least.toFixed(2)} → ${most.toFixed(2)} ms`
    console.log(
      `${name.padEnd(44)}${value.toFixed(2).padStart(6)}   ${figures.padEnd(22)} bar ≤ ${bar}: ${verdict}`,
    )
  }
}
