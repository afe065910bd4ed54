import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { chargeOf } from '../../bench/create.ts'

/** Requests that may wait for their answers. When there are so many, others are left out. */
const MOST = 400
/** How long a live page stays open. */
const OPEN_MS = 3_000
const TOO_LARGE = 2 * 1024 * 1024

type Made = { key: string; id: string; page: string }

export type Tally = Record<string, number>

/** A receiver of webhooks that takes everything. */
export async function startSink(): Promise<{ url: string; received(): number }> {
  let received = 0
  const server = createServer((asked, reply) => {
    received += 1
    asked.resume().on('end', () => reply.writeHead(200, { 'Content-Length': '0' }).end())
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hook`, received: () => received }
}

/** Everything that clients, payers and strangers send, at a rate, until it is ended. */
export function startLoad(url: string, keys: string[], perSecond: number) {
  const dispatcher = new Agent({ connections: 64, pipelining: 1 })
  const made: Made[] = []
  const tally: Tally = {}
  let [n, inFlight, isOver] = [0, 0, false]
  const keyOf = () => keys[n % keys.length]!
  const oneOf = () => made[Math.floor(Math.random() * made.length)]

  async function ask(
    path: string,
    { key, body, method }: { key?: string; body?: string; method?: 'GET' | 'POST' } = {},
  ): Promise<[status: number, text: string]> {
    const headers = {
      ...(key && { 'X-API-KEY': key }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    }
    const reply = await request(url + path, {
      dispatcher,
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers,
      body: body ?? null,
    })
    return [reply.statusCode, await reply.body.text()]
  }
  async function create(): Promise<number> {
    const key = keyOf()
    const body = JSON.stringify({ ...chargeOf(n), devMode: true })
    const [status, text] = await ask('/charge/pix', { key, body })
    if (status !== 201) return status
    const { id, url: page } = JSON.parse(text).data
    made.push({ key, id, page: new URL(page).pathname })
    if (made.length > 2000) made.shift()
    return status
  }
  const statusOf = async (asked: Promise<[number, string]>) => (await asked)[0]
  const about = (act: (one: Made) => Promise<number>) => async () => {
    const one = oneOf()
    return one ? act(one) : 0
  }
  async function openPage({ page }: Made): Promise<number> {
    const reply = await request(`${url}${page}/events`, { dispatcher })
    reply.body.on('error', () => {}).resume()
    await pause(OPEN_MS)
    reply.body.destroy()
    return reply.statusCode
  }
  /** How often each is done, out of a hundred. */
  const ACTS: [name: string, share: number, act: () => Promise<number>][] = [
    ['create', 34, create],
    [
      'pay',
      16,
      about(({ key, id }) => statusOf(ask(`/charge/${id}/simulate-payment`, { key, body: '{}' }))),
    ],
    ['read', 14, about(({ key, id }) => statusOf(ask(`/charge/${id}`, { key })))],
    ['page', 14, about(({ page }) => statusOf(ask(page)))],
    ['live page', 2, about(openPage)],
    ['list', 4, () => statusOf(ask('/charge?limit=50', { key: keyOf() }))],
    ['feed', 4, () => statusOf(ask('/event?type=charge.expired&wait=2', { key: keyOf() }))],
    ['wrong key', 3, () => statusOf(ask('/charge', { key: `wrong-${n}` }))],
    ['wrong body', 3, () => statusOf(ask('/charge/pix', { key: keyOf(), body: '{"amount":-1}' }))],
    ['no JSON', 2, () => statusOf(ask('/charge/pix', { key: keyOf(), body: '{"amount' }))],
    ['unknown path', 2, () => statusOf(ask(`/nothing-${n}`))],
    [
      'too large',
      1,
      () => statusOf(ask('/charge/pix', { key: keyOf(), body: 'x'.repeat(TOO_LARGE) })),
    ],
    ['no HTTP', 1, () => sendNoise(url)],
  ]
  const total = ACTS.reduce((sum, [, share]) => sum + share, 0)
  function next(): (typeof ACTS)[number] {
    let left = Math.random() * total
    for (const act of ACTS) {
      left -= act[1]
      if (left < 0) return act
    }
    return ACTS[0]!
  }
  async function one(): Promise<void> {
    const [name, , act] = next()
    n += 1
    inFlight += 1
    const outcome = await act().then(String, ({ code }) => String(code ?? 'broken'))
    inFlight -= 1
    const label = `${name} ${outcome}`
    tally[label] = (tally[label] ?? 0) + 1
  }
  async function run(): Promise<void> {
    const started = performance.now()
    for (let sent = 0; !isOver; ) {
      const due = ((performance.now() - started) / 1000) * perSecond
      for (; sent < due; sent++) if (inFlight < MOST) one()
      await pause(10)
    }
    while (inFlight > 0) await pause(50)
    await dispatcher.close()
  }
  const running = run()
  return {
    tally,
    async end() {
      isOver = true
      await running
    },
  }
}

/** What is not HTTP, and a request that never ends. */
function sendNoise(url: string): Promise<number> {
  const { port, hostname } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    const isHalf = Math.random() < 0.5
    socket.write(isHalf ? 'POST /charge/pix HTTP/1.1\r\nHost: x\r\nContent-Le' : 'noise\r\n\r\n')
    socket.on('error', () => {}).on('close', () => resolve(0))
    setTimeout(() => socket.destroy(), 1_000)
  })
}
