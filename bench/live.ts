import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { isValidTaxId } from '../src/pix/tax-id.ts'
import type { Connection } from '../src/provider/bacen/connection.ts'
import { type Measured, measure, post } from './load.ts'
import { AT_ONCE, openPuts } from './puts.ts'
import {
  atMost,
  benchDatabase,
  end,
  measureAlternately,
  median,
  medianRatio,
  ratio,
  report,
  runVintem,
  SECONDS,
} from './setup.ts'

const MAX_MORE_ms = 5

/** Payers of a live company have tax ids with right check digits. */
const TAX_IDS = Array.from({ length: 1000 }, (_, n) => {
  const endings = Array.from({ length: 100 }, (_, i) => String(i).padStart(2, '0'))
  return endings.map((end) => `${100_000_000 + n}${end}`).find(isValidTaxId)!
})
const bodyOf = (taxId: string) =>
  JSON.stringify({
    amount: 1000,
    customer: { name: 'Maria da Silva', taxId, email: `${taxId}@example.com` },
  })

/**
 * Live charges, each issued by a bank over mutual TLS, against the same PUTs by bare undici. A bare
 * Fastify that passes the PUTs on, without a database, shows what is left for a service here.
 */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  const bank = fork(join(import.meta.dirname, 'bank.ts'))
  try {
    const [connection] = (await once(bank, 'message')) as [Connection]
    await compare(database.url, connection)
  } finally {
    await end(bank)
    await database.stop()
  }
}

async function compare(url: string, connection: Connection): Promise<void> {
  const vintem = await runVintem(url, connection)
  const relay = fork(join(import.meta.dirname, 'relay.ts'))
  relay.send(connection)
  const [relayPort] = (await once(relay, 'message')) as [number]
  const puts = await openPuts(connection)
  const headers = { 'X-API-KEY': vintem.apiKey }
  const requests = TAX_IDS.map((taxId) => post('/charge/pix', headers, bodyOf(taxId)))
  const request = (n: number) => requests[n % requests.length]!
  const create = async (connections: number, port = vintem.port): Promise<Measured> => {
    const created = await measure({ port, seconds: SECONDS, connections, request })
    if (created.failed > 0) throw new Error(`${created.failed} charges failed`)
    return created
  }
  let last: Measured | undefined
  try {
    const measured = await measureAlternately({
      ours: async () => {
        last = await create(AT_ONCE)
        return last.perSecond
      },
      bare: async () => (await measurePuts(puts.put, AT_ONCE)).perSecond,
      relayed: async () => (await create(AT_ONCE, relayPort)).perSecond,
      oursAlone_ms: async () => (await create(1)).p50_ms,
      bareAlone_ms: async () => (await measurePuts(puts.put, 1)).p50_ms,
    })
    print(measured as Sides, last!)
  } finally {
    await Promise.all([vintem.stop(), end(relay), puts.close()])
  }
}

type Sides = Record<'ours' | 'bare' | 'relayed' | 'oursAlone_ms' | 'bareAlone_ms', number[]>

function print({ ours, bare, relayed, oursAlone_ms, bareAlone_ms }: Sides, last: Measured): void {
  const times = `p50 ${last.p50_ms.toFixed(1)} ms, p99 ${last.p99_ms.toFixed(1)} ms`
  report(`live charges with QR, ${AT_ONCE} connections`, median(ours), times)
  report('the same PUTs by bare undici', median(bare))
  report('the same passed on by bare Fastify', median(relayed))
  ratio('live charges ÷ bare PUTs', medianRatio(ours, bare), 0.6)
  ratio('passed on without a database ÷ bare PUTs', medianRatio(relayed, bare))
  const more_ms = median(oursAlone_ms.map((value, i) => value - bareAlone_ms[i]!))
  atMost('one at a time, more than a bare PUT', more_ms, MAX_MORE_ms)
  console.log(
    `  (a charge ${median(oursAlone_ms).toFixed(1)} ms, a PUT ${median(bareAlone_ms).toFixed(1)} ms)`,
  )
}

async function measurePuts(put: () => Promise<unknown>, connections: number) {
  const times: number[] = []
  const until = performance.now() + SECONDS * 1000
  const work = async () => {
    for (let from = performance.now(); from < until; ) {
      await put()
      const now = performance.now()
      times.push(now - from)
      from = now
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
  return { perSecond: times.length / SECONDS, p50_ms: median(times) }
}
