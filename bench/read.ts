import { get, type Measured, measure } from './load.ts'
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
} from './setup.ts'

const CHARGES = 500

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
  const headers = { 'X-API-KEY': vintem.apiKey }
  const ids = await createCharges(vintem.port, headers)
  const requests = readRequests(ids, headers)
  const load = { connections: CONNECTIONS, seconds: SECONDS }
  const request = (n: number) => requests[n % requests.length]!
  const listing = get('/charge?limit=50', headers)

  const reply = await fetch(`http://127.0.0.1:${vintem.port}/charge/${ids[0]}`, { headers })
  const bytes = await reply.text()
  await fetch(`http://127.0.0.1:${bare.port}/bytes`, { method: 'POST', body: bytes })

  let last: Measured | undefined
  const measured = await measureAlternately({
    ours: async () => {
      last = await measure({ ...load, port: vintem.port, request })
      return last.perSecond
    },
    bare: async () => (await measure({ ...load, port: bare.port, request })).perSecond,
    lists: async () =>
      (await measure({ ...load, port: vintem.port, request: () => listing })).perSecond,
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

const readRequests = (ids: string[], headers: Record<string, string>): string[] =>
  ids.map((id) => get(`/charge/${id}`, headers))

/** Requests that read charges, which are made for it. */
export const createSome = async (
  port: number,
  headers: Record<string, string>,
): Promise<string[]> => readRequests(await createCharges(port, headers), headers)

async function createCharges(port: number, headers: Record<string, string>): Promise<string[]> {
  const ids: string[] = []
  const body = JSON.stringify({
    amount: 1990,
    customer: { name: 'Maria da Silva', taxId: '12345678909', email: 'maria@example.com' },
  })
  for (let i = 0; i < CHARGES; i++) {
    const reply = await fetch(`http://127.0.0.1:${port}/charge/pix`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body,
    })
    ids.push(((await reply.json()) as { data: { id: string } }).data.id)
  }
  return ids
}
