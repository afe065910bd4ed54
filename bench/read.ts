import { chargeOf } from './create.ts'
import { get, type Measured, measure, post } from './load.ts'
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
  type Target,
} from './setup.ts'

/** So many charges has each company, a full page. */
export const PAGE = 50

/**
 * Reads of different charges per second, against Fastify sending the same bytes from memory, and
 * lists of 50 against such reads.
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
  const bare = await runScript('bare', url)
  const { reads, lists } = await makePages(vintem)
  const load = { connections: CONNECTIONS, seconds: SECONDS }

  const bytes = await firstCharge(vintem)
  await fetch(`http://127.0.0.1:${bare.port}/bytes`, { method: 'POST', body: bytes })

  let last: Measured | undefined
  const measured = await measureAlternately({
    ours: async () => {
      last = await measure({ ...load, port: vintem.port, request: reads })
      return last.perSecond
    },
    bare: async () => (await measure({ ...load, port: bare.port, request: reads })).perSecond,
    lists: async () => (await measure({ ...load, port: vintem.port, request: lists })).perSecond,
  })
  await Promise.all([vintem.stop(), bare.stop()])

  const times = `p50 ${last!.p50_ms.toFixed(1)} ms, p99 ${last!.p99_ms.toFixed(1)} ms`
  report(
    'GET /charge/{id}, 64 connections',
    median(measured.ours!),
    `${times}, ${last!.failed} failed`,
  )
  report('bare Fastify, the same bytes', median(measured.bare!), `${bytes.length} bytes`)
  report('GET /charge?limit=50', median(measured.lists!), '')
  ratio('reads ÷ bare Fastify', medianRatio(measured.ours!, measured.bare!), 0.45)
  ratio('lists of 50 ÷ reads', medianRatio(measured.lists!, measured.ours!), 0.3)
}

const headersOf = (key: string) => ({ 'X-API-KEY': key })

/** Makes a page of charges of each company. Gives requests that read each, and all of a company. */
export async function makePages({ port, keys }: Target) {
  const headers = keys.map(headersOf)
  const of = <T>(some: T[], n: number) => some[n % some.length]!
  const request = (n: number) => post('/charge/pix', of(headers, n), JSON.stringify(chargeOf(n)))
  const size = { seconds: 0, count: keys.length * PAGE }
  const { failed } = await measure({ port, connections: CONNECTIONS, ...size, request })
  if (failed > 0) throw new Error(`${failed} charges were not made`)
  const pages: string[][] = []
  for (const key of keys) pages.push(await listIds(port, key))
  // Requests that follow one another are of different companies.
  const reads = Array.from({ length: PAGE }, (_, i) =>
    pages.map((ids, n) => get(`/charge/${ids[i]}`, of(headers, n))),
  ).flat()
  const lists = headers.map((own) => get(`/charge?limit=${PAGE}`, own))
  return { reads: (n: number) => of(reads, n), lists: (n: number) => of(lists, n) }
}

async function listIds(port: number, key: string): Promise<string[]> {
  const url = `http://127.0.0.1:${port}/charge?limit=${PAGE}`
  const reply = await fetch(url, { headers: headersOf(key) })
  const { data } = (await reply.json()) as { data: { id: string }[] }
  return data.map(({ id }) => id)
}

/** The bytes of the answer to a read. */
async function firstCharge({ port, keys }: Target): Promise<string> {
  const [id] = await listIds(port, keys[0]!)
  const url = `http://127.0.0.1:${port}/charge/${id}`
  return (await fetch(url, { headers: headersOf(keys[0]!) })).text()
}
