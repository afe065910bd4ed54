import { get, type Measured, measure } from './load.ts'
import {
  benchDatabase,
  CONNECTIONS,
  ratio,
  report,
  SECONDS,
  withScript,
  withVintem,
} from './setup.ts'

const CHARGES = 500

/** Reads of different charges per second, against Fastify sending the same bytes from memory. */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  const load = { connections: CONNECTIONS, seconds: SECONDS }
  try {
    const { ours, bytes } = await withVintem(database.url, async (port, apiKey) => {
      const headers = { 'X-API-KEY': apiKey }
      const ids = await createCharges(port, headers)
      const request = (n: number) => get(`/charge/${ids[n % ids.length]}`, headers)
      await measure({ ...load, port, request, seconds: SECONDS / 4 })
      const reply = await fetch(`http://127.0.0.1:${port}/charge/${ids[0]}`, { headers })
      return { ours: await measure({ ...load, port, request }), bytes: await reply.text() }
    })
    const bare = await withBare(database.url, bytes)
    const times = `p50 ${ours.p50_ms.toFixed(1)} ms, p99 ${ours.p99_ms.toFixed(1)} ms`
    report('GET /charge/{id}, 64 connections', ours.perSecond, `${times}, ${ours.failed} failed`)
    report('bare Fastify, the same bytes', bare.perSecond, `${bytes.length} bytes`)
    ratio('reads ÷ bare Fastify', ours.perSecond / bare.perSecond, 0.4)
  } finally {
    await database.stop()
  }
}

async function createCharges(port: number, headers: Record<string, string>): Promise<string[]> {
  const ids: string[] = []
  const body = JSON.stringify({
    amount: 1990,
    customer: { name: 'Maria da Silva', taxId: '12345678901', email: 'maria@example.com' },
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

async function withBare(url: string, bytes: string): Promise<Measured> {
  return withScript('bench/bare.ts', url, async (port) => {
    await fetch(`http://127.0.0.1:${port}/bytes`, { method: 'POST', body: bytes })
    const request = () => get('/charge/one', { 'X-API-KEY': 'none' })
    const load = { port, connections: CONNECTIONS, request }
    await measure({ ...load, seconds: SECONDS / 4 })
    return measure({ ...load, seconds: SECONDS })
  })
}
