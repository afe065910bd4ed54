import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createRequests } from './create.ts'
import { get, measure } from './load.ts'
import {
  atMost,
  benchDatabase,
  CONNECTIONS,
  end,
  measureAlternately,
  median,
  medianRatio,
  progress,
  ratio,
  report,
  runVintem,
  SECONDS,
  type Target,
} from './setup.ts'

const LISTENERS = 1000
/** A company may have 100 requests that wait. */
const OF_COMPANY = 100
const EVENTS = Number(process.env.BENCH_EVENTS ?? 500)
const BETWEEN_MS = 20

/** How soon a listener forwards an event, and what many that wait cost. */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  const vintem = await runVintem(database.url)
  try {
    await measureCost(vintem)
    await measureDelay({ port: vintem.port, apiKey: vintem.keys[0]! })
  } finally {
    await vintem.stop()
    await database.stop()
  }
}

type Vintem = { port: number; apiKey: string }

/** From before the commit, when the request is sent, to the request that the listener forwards. */
async function measureDelay(vintem: Vintem): Promise<void> {
  const sent = new Map<string, number>()
  const delays: number[] = []
  const arrived = (body: string) => {
    const id = /"id":"(charge_\w+)"/.exec(body)?.[1] ?? ''
    const now_ms = performance.now()
    waiting.get(id)?.(now_ms)
    sent.set(id, now_ms)
  }
  const waiting = new Map<string, (at_ms: number) => void>()
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    arrived(Buffer.concat(chunks).toString())
    response.end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as { port: number }
  const listener = await startListener(vintem, port)
  progress(`${EVENTS} events`)
  for (let n = 0; n < EVENTS; n += 1) {
    const begun_ms = performance.now()
    const id = await create(vintem)
    const at_ms = sent.get(id) ?? (await new Promise<number>((done) => waiting.set(id, done)))
    delays.push(at_ms - begun_ms)
    await pause(BETWEEN_MS)
  }
  await listener.stop()
  receiver.close()
  delays.sort((a, b) => a - b)
  const p99_ms = delays[Math.floor(delays.length * 0.99)]!
  console.log(`${EVENTS} events, from the request that causes one to its forwarded request:`)
  console.log(`  p50 ${median(delays).toFixed(1)} ms`)
  atMost('p99', p99_ms, 100)
}

async function create({ port, apiKey }: Vintem): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/charge/pix`, {
    method: 'POST',
    headers: { 'X-API-KEY': apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ amount: 1000, customer: { name: 'Maria', taxId: '52998224725' } }),
  })
  const { data } = (await answer.json()) as { data: { id: string } }
  return data.id
}

/** `vintem listen` in a process of its own. */
async function startListener({ port, apiKey }: Vintem, to: number) {
  const folder = mkdtempSync(join(tmpdir(), 'vintem-bench-'))
  const main = join(import.meta.dirname, '../src/cli/main.ts')
  const options = ['--forward-to', `http://127.0.0.1:${to}`, '--events', 'charge.pending']
  const child = spawn(process.execPath, [main, 'listen', ...options], {
    env: {
      ...process.env,
      VINTEM_URL: `http://127.0.0.1:${port}`,
      VINTEM_KEY: apiKey,
      XDG_CONFIG_HOME: folder,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      said += chunk
      if (said.includes('Ready.')) resolve()
    })
    child.on('exit', () => reject(new Error(`vintem listen ended: ${said}`)))
  })
  return {
    async stop() {
      await end(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function measureCost({ port, keys }: Target): Promise<void> {
  // Charges of those who listen are created too, so that notifications are measured.
  const listening = keys.slice(0, LISTENERS / OF_COMPANY)
  const request = createRequests(keys)
  const load = { port, connections: CONNECTIONS, seconds: SECONDS, request }
  const rate = async () => {
    const { perSecond, failed } = await measure(load)
    if (failed > 0) throw new Error(`${failed} charges failed`)
    return perSecond
  }
  const measured = await measureAlternately({
    alone: rate,
    beside: async () => {
      const listeners = await openListeners(port, listening)
      const perSecond = await rate()
      listeners.close()
      return perSecond
    },
  })
  const { alone, beside } = measured as Record<'alone' | 'beside', number[]>
  report(`POST /charge/pix, ${CONNECTIONS} connections`, median(alone))
  report(`the same beside ${LISTENERS} that wait for events`, median(beside))
  ratio('beside those who wait ÷ alone', medianRatio(beside, alone), 0.95)
}

/** How long a server takes at most until all requests wait. */
const OPENING_MS = 1_500

async function openListeners(port: number, keys: string[]): Promise<{ close(): void }> {
  let answered = 0
  const paths = await Promise.all(keys.map((key) => pathOf(port, key)))
  const sockets = Array.from({ length: LISTENERS }, (_, n): Socket => {
    const place = n % keys.length
    // Each company has an address of its own, because one address may not have so many connections.
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${2 + place}` })
    socket.on('data', () => {
      answered += 1
    })
    socket.write(get(paths[place]!, { 'X-API-KEY': keys[place]! }))
    return socket
  })
  await pause(OPENING_MS)
  if (answered > 0) throw new Error(`${answered} requests do not wait`)
  return {
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Waits for a type that no charge causes, so that it goes on waiting whatever is created. */
async function pathOf(port: number, key: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/event?order=newest&limit=1`, {
    headers: { 'X-API-KEY': key },
  })
  const { data } = (await answer.json()) as { data: { id: string }[] }
  const after = data[0] ? `&after=${data[0].id}` : ''
  return `/event?wait=30&type=webhook.test${after}`
}
