import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Connection } from '../src/provider/bacen/connection.ts'
import { chargeOf, createRequests } from './create.ts'
import { measure, post } from './load.ts'
import { cpuBelow_us } from './processor.ts'
import { makePages, PAGE } from './read.ts'
import { CONNECTIONS, type Running, runScript } from './setup.ts'
import type { Arrived } from './sink.ts'
import type { Version } from './version.ts'

export type Done = { count: number; perSecond: number; failed: number }

/** What is compared: how it is prepared, once and before each round, and what is measured. */
export type Operation = {
  label: string
  prepare?(version: Version): Promise<void>
  beforeRound?(version: Version): Promise<void>
  act(version: Version, seconds: number): Promise<Done>
  /** The processor time of what is no part of a version but works for it. */
  beside_us?(): number
}

/** Companies are many, so that no key reaches its limit. */
export const COMPANIES = 100
/** Companies that read. The charges of so many are remembered, those of all are not. */
const READERS = 64
/** Charges of each company that are paid in a round. */
const PAID_EACH = 2
const PAYMENTS = 500
/** Companies with subscriptions, each so many, and a month in which they are charged. */
const BILLERS = 10
const SUBSCRIPTIONS_EACH = 20
const MONTH_S = 31 * 24 * 3600
const LIVE_COMPANIES = 10
/** Companies with a webhook, and what they get in a round. */
const RECEIVERS = 10
const DELIVERIES = 3000
const PAYLOAD =
  '{"event":"Charge.Paid","charge":{"id":"charge_01m7f2eheke009h7vzh32jfxme","status":"PAID","total":1000}}'
/** Deliveries are due so much later than they are inserted, which is not measured. */
const DUE_MS = 300
const MAX_DELIVERING_MS = 60_000
const LEFT = 'select from deliveries limit 1'
/** Requests of ours that prepare something, at once. */
const AT_ONCE = 32

const headersOf = ({ keys }: Version, n: number) => ({ 'X-API-KEY': keys[n % keys.length]! })

/** Asks the API of one company, and gives the data of the answer. */
async function ask<T>(version: Version, company: number, path: string, body?: object): Promise<T> {
  const reply = await fetch(`http://127.0.0.1:${version.port}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { ...headersOf(version, company), 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${version.name}: ${path} is answered ${reply.status}: ${text}`)
  return (JSON.parse(text) as { data: T }).data
}

/** Does something for each number below `count`, some at once, and gives the results. */
async function forEach<T>(count: number, act: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  const numbers = Array.from({ length: count }, (_, n) => n).values()
  const work = async () => {
    for (const n of numbers) results[n] = await act(n)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return results
}

async function load(
  version: Version,
  size: { seconds: number; count?: number; connections?: number },
  request: (n: number) => string,
): Promise<Done> {
  const { port } = version
  return measure({ port, connections: CONNECTIONS, ...size, request })
}

/** What a version is asked, which differs by its keys and ids. */
const creates = new Map<Version, () => string>()
const pages = new Map<Version, Awaited<ReturnType<typeof makePages>>>()

const create: Operation = {
  label: 'POST /charge/pix with QR, half of the payers new',
  async prepare(version) {
    creates.set(version, createRequests(version.keys))
  },
  act: (version, seconds) => load(version, { seconds }, creates.get(version)!),
}

async function preparePages(version: Version): Promise<void> {
  if (pages.has(version)) return
  pages.set(version, await makePages({ ...version, keys: version.keys.slice(0, READERS) }))
}

const read: Operation = {
  label: `GET /charge/{id} of ${READERS * PAGE} charges`,
  prepare: preparePages,
  act: (version, seconds) => load(version, { seconds }, pages.get(version)!.reads),
}

const list: Operation = {
  label: `GET /charge?limit=${PAGE} of ${READERS} companies`,
  prepare: preparePages,
  act: (version, seconds) => load(version, { seconds }, pages.get(version)!.lists),
}

const settlers = new Map<Version, ChildProcess>()

/** Callbacks need a bank that sends them, so a process beside the server has the bank's part. */
const settle: Operation = {
  label: `payments matched over ${COMPANIES} companies, 64 callbacks of the bank at once`,
  async prepare(version) {
    const settler = version.script('settle-side.ts')
    settlers.set(version, settler)
    await once(settler, 'message')
  },
  async beforeRound(version) {
    const settler = settlers.get(version)!
    settler.send({ companies: version.companies, count: PAYMENTS })
    await once(settler, 'message')
  },
  async act(version) {
    const settler = settlers.get(version)!
    const started = performance.now()
    settler.send('go')
    const [{ failed }] = (await once(settler, 'message')) as [{ failed: number }]
    const seconds = (performance.now() - started) / 1000
    return { count: PAYMENTS, failed, perSecond: PAYMENTS / seconds }
  },
}

const unpaid = new Map<Version, string[]>()

const simulate: Operation = {
  label: `POST /charge/{id}/simulate-payment over ${COMPANIES} companies`,
  async beforeRound(version) {
    const requests = await forEach(COMPANIES * PAID_EACH, async (n) => {
      const body = { ...chargeOf(n), devMode: true }
      const { id } = await ask<{ id: string }>(version, n, '/charge/pix', body)
      return post(`/charge/${id}/simulate-payment`, headersOf(version, n), '{}')
    })
    unpaid.set(version, requests)
  },
  async act(version) {
    const requests = unpaid.get(version)!
    return load(version, { seconds: 0, count: requests.length }, (n) => requests[n]!)
  },
}

/** Where webhooks are sent to, and what has arrived there. */
let sink: Running | null = null
const webhooksOf = new Map<Version, string[]>()

async function countArrived(reset = false): Promise<Arrived> {
  const reply = await fetch(`http://127.0.0.1:${sink!.port}/arrived${reset ? '?reset' : ''}`)
  return (await reply.json()) as Arrived
}

const deliver: Operation = {
  label: `deliveries to ${RECEIVERS} webhooks, from the first that arrives to the last`,
  async prepare(version) {
    sink ??= await runScript('sink', '')
    const url = `http://127.0.0.1:${sink.port}/hook`
    const webhook = { name: 'bench', url, events: ['charge.expired'] }
    const made = await forEach(RECEIVERS, (n) =>
      ask<{ id: string }>(version, n, '/webhook', webhook),
    )
    webhooksOf.set(
      version,
      made.map(({ id }) => id),
    )
  },
  async beforeRound(version) {
    await countArrived(true)
    const companies = version.companies.slice(0, RECEIVERS)
    await version.db.query(
      `with made as (
         insert into events (company_id, id, type, payload, created_at, position)
         select company, gen_random_uuid(), 'charge.paid', $3, now(), 0
         from unnest($1::uuid[]) company, generate_series(1, $4)
         returning company_id, id)
       insert into deliveries (company_id, webhook_id, event_id, next_attempt_at, created_at)
       select company_id, webhook, id, now() + $5 * interval '1 millisecond', now()
       from made join unnest($1::uuid[], $2::uuid[]) w (company, webhook) on company = company_id`,
      [companies, webhooksOf.get(version), PAYLOAD, DELIVERIES / RECEIVERS, DUE_MS],
    )
    // Nobody wakes the worker, and a version that rests longer has not used more for a delivery.
    const until = performance.now() + MAX_DELIVERING_MS
    while ((await countArrived()).count === 0 && performance.now() < until) await pause(2)
  },
  async act({ name, db }) {
    const until = performance.now() + MAX_DELIVERING_MS
    for (;;) {
      const { count, first_ms, last_ms } = await countArrived()
      const { rows } = count < DELIVERIES ? { rows: [{}] } : await db.query(LEFT)
      if (rows.length === 0) {
        return { count, failed: 0, perSecond: (count - 1) / ((last_ms - first_ms) / 1000) }
      }
      if (performance.now() > until) throw new Error(`${name}: only ${count} have arrived`)
      await pause(20)
    }
  },
}

/** Asks without a key, as a payer does. */
async function order(version: Version, path: string, body: object): Promise<void> {
  const headers = { 'Content-Type': 'application/json' }
  const url = `http://127.0.0.1:${version.port}${path}`
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!reply.ok) throw new Error(`${path} is answered ${reply.status}: ${await reply.text()}`)
}

/** A subscription that its payer has agreed to. All others of the company are copies of it. */
async function subscribe(version: Version, company: number): Promise<void> {
  type Made = { id: string; brCode: string }
  const product = { name: 'Pão todo dia', description: 'Francês', price: 1990 }
  const recurring = { ...product, type: 'RECURRING', frequency: 'MONTHLY' }
  const { id: productId } = await ask<Made>(version, company, '/product', recurring)
  const { customer } = chargeOf(company)
  const client = { ...(customer as object), status: 'ACTIVE' }
  const { id: customerId } = await ask<Made>(version, company, '/client', client)
  const agreement = { productId, customerId }
  const made = await ask<object>(version, company, '/pix-automatic/recurrences', agreement)
  const [emv] = Object.values(made).filter((value) => /^000201/.test(String(value)))
  await order(version, '/bank/authorizations', { emv, decision: 'approve' })
}

async function copySubscriptions({ db, companies }: Version): Promise<void> {
  const { rows } = await db.query(`select to_regclass('simulated_agreements') as found`)
  const agreements = rows[0].found ? 'simulated_agreements' : 'simulated_bank.agreements'
  await db.query(
    `create temp table copies as
       select company_id, r.id as original, gen_random_uuid() as id,
         left(external_id, 18) || substr(md5(random()::text), 1, 11) as external_id
       from recurrences r, generate_series(1, ${SUBSCRIPTIONS_EACH - 1})
       where company_id = any ($1::uuid[])`,
    [companies],
  )
  const copy = (table: string, company: string) => `
    insert into ${table} select made.* from copies c
      join ${table} t on t.${company} = c.company_id and t.id = c.original,
      jsonb_populate_record(t, jsonb_build_object('id', c.id, 'external_id', c.external_id,
        'br_code', '000201' || c.external_id)) made`
  await db.query(copy(agreements, 'account_id'))
  await db.query(copy('recurrences', 'company_id'))
  await db.query('drop table copies')
}

type Clock = { status: string }

/** Moves a company's clock by a month, and waits until all that is due by then is done. */
async function moveClock(version: Version, company: number): Promise<void> {
  const path = '/sandbox/clock'
  let clock = await ask<Clock>(version, company, path, { advance: MONTH_S })
  while (clock.status === 'ADVANCING') {
    await pause(100)
    clock = await ask<Clock>(version, company, path)
  }
}

const PAID = `select count(*)::int as count from billings where status = 'PAID'`

const bill: Operation = {
  label: `subscriptions of ${BILLERS} companies charged and collected, by their clocks`,
  async prepare(version) {
    await forEach(BILLERS, (n) => subscribe(version, n))
    await copySubscriptions(version)
  },
  async act(version) {
    const before = await version.db.query(PAID)
    const started = performance.now()
    await forEach(BILLERS, (n) => moveClock(version, n))
    const seconds = (performance.now() - started) / 1000
    const after = await version.db.query(PAID)
    const count = after.rows[0].count - before.rows[0].count
    const failed = count === 0 ? BILLERS * SUBSCRIPTIONS_EACH : 0
    return { count, failed, perSecond: count / seconds }
  },
}

/** The stand-in bank, which all live companies have an account at. */
let bank: { pid: number; options: string[] } | null = null

async function openBank(): Promise<{ pid: number; options: string[] }> {
  const child = fork(join(import.meta.dirname, 'bank.ts'))
  const [connection] = (await once(child, 'message')) as [Connection]
  const { profile, certificate, ca, clientId, clientSecret } = connection
  if (certificate.kind !== 'pem') throw new Error('the stand-in bank gives PEM')
  const folder = mkdtempSync(join(tmpdir(), 'vintem-bench-bank-'))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const options = {
    profile: 'custom',
    'client-id': clientId,
    'base-url': `${profile.baseUrl}${profile.paths.cob}`,
    'token-url': profile.token.url,
    ca: file('ca.pem', String(ca)),
    'client-secret-file': file('secret', `${clientSecret}\n`),
    certificate: file('own.pem', certificate.certificate),
    key: file('own.key', certificate.key),
    account: '12345-6',
    branch: '0001',
  }
  const list = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  return { pid: child.pid!, options: list }
}

const live: Operation = {
  label: `live charges of ${LIVE_COMPANIES} companies, each issued by a stand-in bank`,
  async prepare(version) {
    bank ??= await openBank()
    const { options } = bank
    const made = await version.makeCompanies(LIVE_COMPANIES, '--live --pix-key bench@example.com')
    await version.commands(
      made.map(({ companyId }) => ['bank', 'connect', '--company', companyId, ...options]),
    )
    creates.set(version, createRequests(made.map(({ apiKey }) => apiKey)))
  },
  act: (version, seconds) =>
    load(version, { seconds, connections: AT_ONCE }, creates.get(version)!),
  beside_us: () => cpuBelow_us(bank!.pid),
}

export const OPERATIONS: Record<string, Operation> = {
  create,
  read,
  list,
  settle,
  deliver,
  bill,
  live,
  simulate,
}
