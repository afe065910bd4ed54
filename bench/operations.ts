import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { get, measure, post } from './load.ts'
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
}

/** Companies are many, so that no key reaches its limit. */
export const COMPANIES = 100
/** Companies that read, each a full page of its charges. */
const READERS = 64
const PAGE = 50
/** Charges of each company that are paid in a round. */
const PAID_EACH = 2
const PAYMENTS = 1000
/** Companies with a webhook, and what they get in a round. */
const RECEIVERS = 10
const DELIVERIES = 5000
const PAYLOAD =
  '{"event":"Charge.Paid","charge":{"id":"charge_01m7f2eheke009h7vzh32jfxme","status":"PAID","total":1000}}'
/** Deliveries are due so much later than they are inserted, which is not measured. */
const DUE_MS = 300
const MAX_DELIVERING_MS = 60_000
const LEFT = 'select from deliveries limit 1'
const KNOWN_PAYERS = 1000
/** Requests of ours that prepare something, at once. */
const AT_ONCE = 32

const headersOf = (version: Version, n: number) => ({
  'X-API-KEY': version.companies[n % version.companies.length]!.apiKey,
})

/** A CPF with right check digits. */
function taxIdOf(n: number): string {
  const digits = [...String(100_000_000 + n)].map(Number)
  for (const length of [9, 10]) {
    const sum = digits.reduce((all, digit, i) => all + digit * (length + 1 - i), 0)
    digits.push(((sum * 10) % 11) % 10)
  }
  return digits.join('')
}

function chargeOf(payer: number): Record<string, unknown> {
  const taxId = taxIdOf(payer)
  const customer = { name: `Maria da Silva ${payer}`, taxId, email: `payer${payer}@example.com` }
  return { amount: 1000 + (payer % 9000), customer: { ...customer, phone: '11988887777' } }
}

/** How many charges each version has been asked for, so that new payers are new. */
const asked = new Map<Version, number>()

function createRequest(version: Version): string {
  const n = asked.get(version) ?? 0
  asked.set(version, n + 1)
  // Two follow each other at one company: a known payer and a new one.
  const payer = n % 2 === 0 ? n % KNOWN_PAYERS : KNOWN_PAYERS + n
  return post('/charge/pix', headersOf(version, n >> 1), JSON.stringify(chargeOf(payer)))
}

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
  size: { seconds: number; count?: number },
  request: (n: number) => string,
): Promise<Done> {
  const { port } = version
  return measure({ port, connections: CONNECTIONS, ...size, request })
}

const create: Operation = {
  label: 'POST /charge/pix with QR, half of the payers new',
  act: (version, seconds) => load(version, { seconds }, () => createRequest(version)),
}

/** Pages of charges, so that reads and lists find different ones. */
const chargesOf = new Map<Version, string[][]>()

async function makePages(version: Version): Promise<void> {
  if (chargesOf.has(version)) return
  const request = (n: number) =>
    post('/charge/pix', headersOf(version, n % READERS), JSON.stringify(chargeOf(n)))
  const { failed } = await load(version, { seconds: 0, count: READERS * PAGE }, request)
  if (failed > 0) throw new Error(`${version.name}: ${failed} charges were not made`)
  const pages = await forEach(READERS, (n) =>
    ask<{ id: string }[]>(version, n, `/charge?limit=${PAGE}`),
  )
  chargesOf.set(
    version,
    pages.map((page) => page.map(({ id }) => id)),
  )
}

const read: Operation = {
  label: `GET /charge/{id} of ${READERS * PAGE} charges`,
  prepare: makePages,
  async act(version, seconds) {
    const requests = chargesOf
      .get(version)!
      .flatMap((ids, n) => ids.map((id) => get(`/charge/${id}`, headersOf(version, n))))
    // Requests that follow one another are of different companies.
    return load(version, { seconds }, (n) => requests[(n * (PAGE + 1)) % requests.length]!)
  },
}

const list: Operation = {
  label: `GET /charge?limit=${PAGE} of ${READERS} companies`,
  prepare: makePages,
  async act(version, seconds) {
    const path = `/charge?limit=${PAGE}`
    return load(version, { seconds }, (n) => get(path, headersOf(version, n % READERS)))
  },
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
    const companies = version.companies.map(({ companyId }) => companyId)
    settler.send({ companies, count: PAYMENTS })
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
    const companies = version.companies.slice(0, RECEIVERS).map(({ companyId }) => companyId)
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

export const OPERATIONS: Record<string, Operation> = {
  create,
  read,
  list,
  settle,
  deliver,
  simulate,
}
