import { type Measured, measure, post } from './load.ts'
import {
  benchDatabase,
  CONNECTIONS,
  measureAlternately,
  median,
  medianRatio,
  ratio,
  report,
  runScript,
  runVintem,
  SECONDS,
  singleRowInserts,
  type Target,
} from './setup.ts'

const KNOWN_PAYERS = 1000

/** A CPF with right check digits. */
export function taxIdOf(n: number): string {
  const digits = [...String(100_000_000 + n)].map(Number)
  for (const length of [9, 10]) {
    const sum = digits.reduce((all, digit, i) => all + digit * (length + 1 - i), 0)
    digits.push(((sum * 10) % 11) % 10)
  }
  return digits.join('')
}

export function chargeOf(payer: number): Record<string, unknown> {
  const taxId = taxIdOf(payer)
  const customer = { name: `Maria da Silva ${payer}`, taxId, email: `payer${payer}@example.com` }
  return { amount: 1000 + (payer % 9000), customer: { ...customer, phone: '11988887777' } }
}

/** Gives requests that create charges of all companies, each second one of a new payer. */
export function createRequests(keys: string[]): () => string {
  let asked = 0
  return () => {
    const n = asked++
    const payer = n % 2 === 0 ? n % KNOWN_PAYERS : KNOWN_PAYERS + n
    const key = keys[(n >> 1) % keys.length]!
    return post('/charge/pix', { 'X-API-KEY': key }, JSON.stringify(chargeOf(payer)))
  }
}

function createCharges({ port, keys }: Target): () => Promise<Measured> {
  const request = createRequests(keys)
  return () => measure({ port, connections: CONNECTIONS, seconds: SECONDS, request })
}

/**
 * Durable charges per second, QR image included, against what the database and the obvious stack
 * can do.
 */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  try {
    await compare(database.url)
  } finally {
    await database.stop()
  }
}

async function compare(url: string): Promise<void> {
  const vintem = await runVintem(url)
  const stack = await runScript('stack', url)
  const { by, sides } = await singleRowInserts(url)
  const create = createCharges(vintem)
  const createPlainly = createCharges({ port: stack.port, keys: vintem.keys })
  let last: Measured | undefined
  const measured = await measureAlternately({
    ours: async () => {
      last = await create()
      return last.perSecond
    },
    ...sides,
    obvious: async () => (await createPlainly()).perSecond,
  })
  await Promise.all([vintem.stop(), stack.stop()])

  const { ours, narrow, wide, obvious } = measured as Record<string, number[]> & {
    [side in 'ours' | 'narrow' | 'wide' | 'obvious']: number[]
  }
  const times = `p50 ${last!.p50_ms.toFixed(1)} ms, p99 ${last!.p99_ms.toFixed(1)} ms`
  report(
    'POST /charge/pix with QR, 64 connections',
    median(ours),
    `${times}, ${last!.failed} failed`,
  )
  report('single-row inserts of a charge, 64 clients', median(wide), by)
  report('single-row inserts of a narrow row', median(narrow), by)
  report('the obvious stack', median(obvious))
  ratio('charges ÷ single-row inserts of a charge', medianRatio(ours, wide), 1.5)
  ratio('charges ÷ single-row inserts, narrow row', medianRatio(ours, narrow))
  ratio('charges ÷ the obvious stack', medianRatio(ours, obvious), 40)
}
