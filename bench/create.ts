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
} from './setup.ts'

const PAYERS = 1000
const body = (n: number) =>
  JSON.stringify({
    amount: 1000 + (n % 9000),
    customer: {
      name: 'Maria da Silva',
      taxId: String(10_000_000_000 + (n % PAYERS)),
      email: `payer${n % PAYERS}@example.com`,
      phone: '11988887777',
    },
  })

/** Requests are written before the clock runs, so that it measures the server. */
export const createRequests = (headers: Record<string, string>): string[] =>
  Array.from({ length: PAYERS }, (_, n) => post('/charge/pix', headers, body(n)))

function createCharges(port: number, headers: Record<string, string>): () => Promise<Measured> {
  const requests = createRequests(headers)
  const request = (n: number) => requests[n % PAYERS]!
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
  const create = createCharges(vintem.port, { 'X-API-KEY': vintem.apiKey })
  const createPlainly = createCharges(stack.port, {})
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
