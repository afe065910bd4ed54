import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type Load = {
  port: number
  connections: number
  seconds: number
  /** If there is a count, as many requests are sent, however long it takes. */
  count?: number
  request(n: number): string
}
export type Measured = {
  perSecond: number
  p50_ms: number
  p99_ms: number
  failed: number
  /** All that were answered, also those after the time was over. */
  count: number
}

/**
 * Keeps `connections` requests in flight over plain sockets for a while. A lean client of our own,
 * because on two cores every microsecond of the client is taken from the server that it measures.
 */
export async function measure(load: Load): Promise<Measured> {
  let count = 0
  let failed = 0
  let open = true
  const most = load.count ?? Number.POSITIVE_INFINITY
  const times: number[] = []
  const started = performance.now()

  async function work(): Promise<void> {
    const socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true })
    const exchange = exchanger(socket)
    while (open && count < most) {
      const from = performance.now()
      const { status } = await exchange(load.request(count++))
      times.push(performance.now() - from)
      if (status >= 300) failed += 1
    }
    socket.destroy()
  }

  const workers = Array.from({ length: load.connections }, work)
  if (load.count) await Promise.all(workers)
  else await new Promise((resolve) => setTimeout(resolve, load.seconds * 1000))
  const seconds = (performance.now() - started) / 1000
  const done = times.length
  open = false
  await Promise.all(workers)
  if (done === 0) throw new Error(`nothing was answered in ${load.seconds} s: raise BENCH_SECONDS`)
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0
  const [p50_ms, p99_ms] = [at(0.5), at(0.99)]
  return { perSecond: done / seconds, p50_ms, p99_ms, failed, count: times.length }
}

const LENGTH = Buffer.from('content-length: ')
const END = Buffer.from('\r\n\r\n')

/** The status of an answer, and the bytes that have its headers. */
type Reply = { status: number; head: Buffer }

const BROKEN: Reply = { status: 599, head: Buffer.alloc(0) }

/** Sends one request at a time and resolves with the answer when its whole body is there. */
function exchanger(socket: Socket): (request: string) => Promise<Reply> {
  let waiting: ((reply: Reply) => void) | null = null
  let missing = 0
  let reply = BROKEN
  socket.on('error', () => waiting?.(BROKEN))
  socket.on('data', (chunk: Buffer) => {
    if (missing === 0) {
      reply = { status: Number(chunk.toString('latin1', 9, 12)), head: chunk }
      const at = chunk.indexOf(LENGTH) + LENGTH.length
      const length = Number.parseInt(chunk.toString('latin1', at, at + 8), 10)
      missing = chunk.indexOf(END) + END.length + length
    }
    missing -= chunk.length
    if (missing <= 0) {
      missing = 0
      waiting?.(reply)
    }
  })
  return (request) =>
    new Promise((resolve) => {
      waiting = resolve
      socket.write(request, 'latin1')
    })
}

export type OpenLoad = Pick<Load, 'port' | 'seconds' | 'request'> & { perSecond: number }

/** One request: from the moment it should have been sent to its whole answer. */
export type Answered = { status: number; took_ms: number; mayRetry: boolean }

/**
 * Connections that are there before the load, as those of proxies and of clients that keep theirs:
 * more than a server takes requests at once. Node.js accepts one connection in each turn of its
 * loop, so new ones wait for long while it is busy.
 */
const OPENED_FIRST = 2048
/** How often is looked whether requests should be sent. */
const LOOK_MS = 2
const RETRY_AFTER = /^retry-after: \d/im

/**
 * Sends requests at a constant rate, whether those before are answered or not, as many clients do
 * that know nothing of each other. A connection is used again when it is free.
 */
export async function measureOpen(load: OpenLoad): Promise<Answered[]> {
  const free: ReturnType<typeof exchanger>[] = []
  const sockets: Socket[] = []
  const answered: Promise<Answered>[] = []

  function connectOne(): ReturnType<typeof exchanger> {
    const socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true })
    sockets.push(socket)
    return exchanger(socket)
  }
  async function send(n: number, due_ms: number): Promise<Answered> {
    const exchange = free.pop() ?? connectOne()
    const { status, head } = await exchange(load.request(n))
    const took_ms = performance.now() - due_ms
    if (status !== BROKEN.status) free.push(exchange)
    return { status, took_ms, mayRetry: RETRY_AFTER.test(head.toString('latin1')) }
  }
  for (let n = 0; n < OPENED_FIRST; n++) {
    free.push(connectOne())
    await once(sockets.at(-1)!, 'connect')
  }
  const started = performance.now()
  const count = Math.round(load.perSecond * load.seconds)
  while (answered.length < count) {
    const due = Math.min(count, ((performance.now() - started) / 1000) * load.perSecond)
    for (let n = answered.length; n < due; n++) {
      answered.push(send(n, started + (n * 1000) / load.perSecond))
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  const all = await Promise.all(answered)
  for (const socket of sockets) socket.destroy()
  return all
}

export function post(path: string, headers: Record<string, string>, body: string): string {
  return http('POST', path, { ...headers, 'Content-Type': 'application/json' }, body)
}

export function get(path: string, headers: Record<string, string>): string {
  return http('GET', path, headers, '')
}

function http(method: string, path: string, headers: Record<string, string>, body: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = body ? `Content-Length: ${Buffer.byteLength(body)}\r\n` : ''
  return `${method} ${path} HTTP/1.1\r\nHost: bench\r\n${lines.join('')}${length}\r\n${body}`
}
