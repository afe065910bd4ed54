import { get, measure, post } from './load.ts'
import { CONNECTIONS } from './setup.ts'
import type { Version } from './version.ts'

export type Done = { count: number; perSecond: number; failed: number }

/** What is compared: how it is prepared, once and before each round, and what is measured. */
export type Operation = {
  label: string
  prepare?(version: Version): Promise<void>
  beforeRound?(version: Version): Promise<void>
  act(version: Version, seconds: number): Promise<Done>
}

/** So many charges has each company, a full page. */
const CHARGES_EACH = 50
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

/** The ids of charges, each with the number of its company. */
const chargesOf = new Map<Version, Promise<string[]>>()

async function makeCharges(version: Version): Promise<void> {
  const count = version.companies.length * CHARGES_EACH
  const made =
    chargesOf.get(version) ??
    forEach(count, async (n) => {
      const { id } = await ask<{ id: string }>(version, n, '/charge/pix', chargeOf(n))
      return id
    })
  chargesOf.set(version, made)
  await made
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

const read: Operation = {
  label: 'GET /charge/{id}',
  prepare: makeCharges,
  async act(version, seconds) {
    const ids = await chargesOf.get(version)!
    const requests = ids.map((id, n) => get(`/charge/${id}`, headersOf(version, n)))
    return load(version, { seconds }, (n) => requests[n % requests.length]!)
  },
}

const list: Operation = {
  label: 'GET /charge?limit=50',
  prepare: makeCharges,
  async act(version, seconds) {
    const requests = version.companies.map((_, n) => get('/charge?limit=50', headersOf(version, n)))
    return load(version, { seconds }, (n) => requests[n % requests.length]!)
  },
}

export const OPERATIONS: Record<string, Operation> = { create, read, list }
