import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, isIP, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { createSender, type Sender, type SenderOptions } from '../src/lib/http-sender.ts'
import { asNameServers } from '../src/lib/lookup.ts'
import {
  ELSEWHERE,
  HERE,
  HERE_BY_NAME,
  HERE_BY_NAME_V6,
  HERE_V6,
  NAMES,
  SHAPES,
} from './support/ssrf-forms.ts'

const sentinel = await startSentinel()
const names = await startNameServer((name) => NAMES[name] ?? null)

const here = [...HERE, ...HERE_BY_NAME]
if (sentinel.hasV6) here.push(...HERE_V6, ...HERE_BY_NAME_V6)
const ofHost = (host: string) => `http://${host}:PORT/`
const reaching = [...here.map(ofHost), ...SHAPES]
const forms = [...new Set([...reaching, ...ELSEWHERE.map(ofHost)])]

function senderOf(options: SenderOptions): Sender {
  const sender = createSender({ lookup: asNameServers([names.address]), ...options })
  after(() => sender.close())
  return sender
}

const post = (sender: Sender, form: string, port: number) =>
  sender.post(form.replace(/PO(\n?)RT/, `${port}$1`), {}, '{}')

test('a guarded sender connects to no private address, in whatever form it is written', async (t) => {
  t.diagnostic(`${forms.length} forms`)
  assert.ok(forms.length >= 100)
  const sender = senderOf({ guarded: true, allowHttp: true })
  for (const port of sentinel.ports) {
    for (const form of forms.flatMap((form) => [form, form.replace(/h(t\t?t)p/i, 'h$1ps')])) {
      const { outcome, status, error } = await post(sender, form, port)
      assert.deepEqual([outcome, status], ['failed', null], form)
      assert.match(error ?? '', /^(address not (allowed|valid)|name not found)$/, form)
    }
  }
  assert.equal(await sentinel.reached(), 0)
})

test('without the guard the same forms reach the sentinel', async (t) => {
  t.diagnostic(`${reaching.length} forms lead here`)
  const sender = senderOf({ guarded: false })
  for (const form of reaching) {
    const { outcome, error } = await post(sender, form, sentinel.ports[0]!)
    assert.equal(outcome, 'delivered', `${JSON.stringify(form)}: ${error}`)
  }
  assert.equal(await sentinel.reached(), reaching.length)
})

test('a guarded sender uses only https', async () => {
  const sender = senderOf({ guarded: true })
  const { error } = await sender.post('http://public.example.com/', {}, '{}')
  assert.equal(error, 'address not allowed')
})

/** Global unicast that nobody has been given: it is called, and nobody answers. */
const NOBODY = '3000::1'

test('a name is checked by the DNS answer that is used, however often it changes', async () => {
  let answers: string[][] = []
  const asked: string[] = []
  const changing = await startNameServer((name, type) => {
    asked.push(`${name} ${type}`)
    return type === 'A' ? ['127.0.0.1'] : (answers.shift() ?? ['::1'])
  })
  const only6 = await startNameServer((_, type) =>
    type === 'A' ? [] : (answers.shift() ?? ['::1']),
  )
  const limits = { connect_ms: 100 }
  const options = { guarded: true, allowHttp: true, limits }
  const url = `http://rebind.example.com:${sentinel.ports[0]}/`

  const mixed = senderOf({ ...options, lookup: asNameServers([changing.address]) })
  answers = [[NOBODY], [NOBODY]]
  for (let i = 0; i < 4; i++) {
    assert.equal((await mixed.post(url, {}, '{}')).error, 'address not allowed')
  }
  assert.equal(asked.length, 8, 'one question of each kind for each connection')

  const sender = senderOf({ ...options, lookup: asNameServers([only6.address]) })
  answers = [[NOBODY], ['::1'], [NOBODY], ['::ffff:127.0.0.1']]
  const errors = []
  for (let i = 0; i < 4; i++) errors.push((await sender.post(url, {}, '{}')).error)
  assert.match(errors[0] ?? '', /^(host not reachable|no connection in time)$/)
  assert.equal(errors[1], 'address not allowed')
  assert.match(errors[2] ?? '', /^(host not reachable|no connection in time)$/)
  assert.equal(errors[3], 'address not allowed')
  assert.equal(await sentinel.reached(), 0)
})

test('a socket connects to the address that was checked, and to no other', async () => {
  const checked: string[] = []
  const sender = senderOf({
    guarded: false,
    lookup: async (name) => {
      checked.push(name)
      // From the second question on the name would lead away from here.
      return [{ address: checked.length === 1 ? '127.0.0.1' : NOBODY, family: 4 }]
    },
  })
  const url = `http://rebind.example.com:${sentinel.ports[0]}/`
  assert.equal((await sender.post(url, {}, '{}')).outcome, 'delivered')
  assert.equal(await sentinel.reached(), 1)
  assert.equal(checked.length, 1)
})

test('a name server that fails has another error than a name that does not exist', async () => {
  const failing = await startNameServer(() => {
    throw new Error('broken')
  })
  const errorOf = async (address: string) => {
    const sender = senderOf({ guarded: true, lookup: asNameServers([address]) })
    return (await sender.post('https://hooks.example.com/', {}, '{}')).error
  }
  assert.equal(await errorOf(names.address), 'name not found')
  assert.equal(await errorOf(failing.address), 'name server did not answer')
})

type Sentinel = {
  ports: number[]
  hasV6: boolean
  /** How many connections have come since the last time. */
  reached(): Promise<number>
}

/** Answers anything on both loopback addresses, and counts who comes. */
async function startSentinel(): Promise<Sentinel> {
  const listeners: { address: string; port: number; arrivals: Socket[] }[] = []
  const listen = async (address: string, wanted: number) => {
    const arrivals: Socket[] = []
    const server = createServer((socket) => {
      arrivals.push(socket.on('error', () => {}))
      const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
      socket.once('data', () => socket.end(answer))
    })
    await once(server.listen(wanted, address), 'listening')
    after(() => server.close())
    const { port } = server.address() as AddressInfo
    listeners.push({ address, port, arrivals })
    return port
  }
  const ports = [await listen('127.0.0.1', 0), await listen('127.0.0.1', 0)]
  const v6 = await Promise.allSettled(ports.map((port) => listen('::1', port)))
  const hasV6 = v6.every(({ status }) => status === 'fulfilled')

  async function reached(): Promise<number> {
    let count = 0
    for (const { address, port, arrivals } of listeners) {
      // Connections are accepted in the order in which they came, so ours is the last.
      const own = connect(port, address)
      await once(own, 'connect')
      const isOwn = (socket: Socket | undefined) => socket?.remotePort === own.localPort
      while (!isOwn(arrivals.at(-1))) await new Promise(setImmediate)
      own.destroy()
      count += arrivals.splice(0).length - 1
    }
    return count
  }
  return { ports, hasV6, reached }
}

const TYPES: Record<number, 'A' | 'AAAA'> = { 1: 'A', 28: 'AAAA' }

/**
 * A name server. For a name it is given addresses of both kinds, or another name of which it is an
 * alias, or null when there is no such name.
 */
async function startNameServer(
  known: (name: string, type: 'A' | 'AAAA') => string[] | null,
): Promise<{ address: string }> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) =>
    socket.send(reply(query, known), port, address),
  )
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  after(() => socket.close())
  return { address: `127.0.0.1:${socket.address().port}` }
}

function reply(query: Buffer, known: Parameters<typeof startNameServer>[0]): Buffer {
  const end = query.indexOf(0, 12) + 1
  const labels: string[] = []
  for (let at = 12; query[at]; at += query[at]! + 1) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
  }
  const type = query.readUInt16BE(end)
  const { records, code } = recordsOf(labels.join('.').toLowerCase(), type, known)
  const header = Buffer.alloc(12)
  header.writeUInt16BE(query.readUInt16BE(0), 0)
  header.writeUInt16BE(0x8180 | code, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(records.length, 6)
  return Buffer.concat([header, query.subarray(12, end + 4), ...records])
}

function recordsOf(
  name: string,
  type: number,
  known: Parameters<typeof startNameServer>[0],
): { records: Buffer[]; code: number } {
  try {
    const found = known(name, TYPES[type] ?? 'A')
    if (!found) return { records: [], code: 3 }
    const alias = found.find((entry) => !isIP(entry))
    if (alias) {
      const target = recordsOf(alias, type, known)
      return { ...target, records: [record(name, 5, encoded(alias)), ...target.records] }
    }
    const fitting = found.filter((entry) => isIP(entry) === (type === 1 ? 4 : 6))
    return { records: fitting.map((entry) => record(name, type, bytesOf(entry))), code: 0 }
  } catch {
    return { records: [], code: 2 }
  }
}

function record(name: string, type: number, data: Buffer): Buffer {
  const middle = Buffer.alloc(10)
  middle.writeUInt16BE(type, 0)
  middle.writeUInt16BE(1, 2)
  middle.writeUInt16BE(data.length, 8)
  return Buffer.concat([encoded(name), middle, data])
}

const encoded = (name: string): Buffer =>
  Buffer.from(
    `${name
      .split('.')
      .map((l) => String.fromCharCode(l.length) + l)
      .join('')}\0`,
  )

function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  // A parsed URL writes every IPv6 address in groups, those with an IPv4 part too.
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = [], tail = []] = text.split('::').map((part) => part.split(':').filter(Boolean))
  const groups = [...head, ...Array(8 - head.length - tail.length).fill('0'), ...tail]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
