import { measure, post } from './load.ts'
import {
  benchDatabase,
  CONNECTIONS,
  ratio,
  report,
  SECONDS,
  singleRowInserts,
  withScript,
  withVintem,
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
function cycle(make: (n: number) => string): (n: number) => string {
  const requests = Array.from({ length: PAYERS }, (_, n) => make(n))
  return (n) => requests[n % PAYERS]!
}

/**
 * Durable charges per second, QR image included, against what the database and the obvious stack
 * can do.
 */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  const load = { connections: CONNECTIONS, seconds: SECONDS }
  try {
    const ours = await withVintem(database.url, async (port, apiKey) => {
      const request = cycle((n) => post('/charge/pix', { 'X-API-KEY': apiKey }, body(n)))
      await measure({ ...load, port, request, seconds: SECONDS / 4 })
      return measure({ ...load, port, request })
    })
    const single = await singleRowInserts(database.url)
    const obvious = await withScript('bench/stack.ts', database.url, (port) =>
      measure({ ...load, port, request: cycle((n) => post('/charge/pix', {}, body(n))) }),
    )
    report(
      'POST /charge/pix with QR, 64 connections',
      ours.perSecond,
      `p50 ${ours.p50_ms.toFixed(1)} ms, p99 ${ours.p99_ms.toFixed(1)} ms, ${ours.failed} failed`,
    )
    report(`single-row inserts, 64 clients`, single.perSecond, single.by)
    report('the obvious stack', obvious.perSecond, `${obvious.failed} failed`)
    ratio('charges ÷ single-row inserts', ours.perSecond / single.perSecond, 0.5)
    ratio('charges ÷ the obvious stack', ours.perSecond / obvious.perSecond, 40)
  } finally {
    await database.stop()
  }
}
