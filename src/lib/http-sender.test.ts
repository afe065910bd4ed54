import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { after, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { freePort } from '../../test/support/process.ts'
import { certificateFor, flood, serve, serveRaw, serveTls } from '../../test/support/servers.ts'
import { createSender, type PostResult, type Sender, type SenderOptions } from './http-sender.ts'

const HEADERS = { 'content-type': 'application/json', 'webhook-id': 'msg_1' }
const BODY = '{"event":"Charge.Paid","note":"pão de açúcar"}'
/** Short enough not to wait for, and long enough for a busy machine to do the rest before it. */
const SHORT = { limits: { deadline_ms: 1_000 } }
const LATE = 'no answer within 1 s'

function senderOf(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({ guarded: false, ...options })
  after(() => sender.close())
  return sender
}

async function postTo(url: string, options: Partial<SenderOptions> = {}): Promise<PostResult> {
  const result = await senderOf(options).post(url, HEADERS, BODY)
  assert.doesNotMatch(result.error ?? '', /127|::|example|:\d/, 'addresses are not repeated')
  return result
}

/** What our side's sockets have read, including what the parser has thrown away. */
const ourSockets: Socket[] = []
subscribe('net.client.socket', (message) => {
  ourSockets.push((message as { socket: Socket }).socket)
})
const lastRead = () => ourSockets.at(-1)?.bytesRead ?? 0

test('a request arrives as it was given, and any 2xx within the deadline delivers it', async () => {
  const received: unknown[] = []
  const server = await serve((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const { method, url, headers } = request
      const { 'webhook-id': id, 'content-type': type, host, cookie } = headers
      received.push([method, url, id, type, host, cookie, Buffer.concat(chunks).toString()])
      response.setHeader('set-cookie', 'a=b')
      response.writeHead(received.length === 1 ? 200 : 202).end('olá')
    })
  })
  const sender = senderOf()
  for (const status of [200, 202]) {
    const { latency_ms, ...rest } = await sender.post(new URL(server.url), HEADERS, BODY)
    assert.deepEqual(rest, { outcome: 'delivered', status, error: null, body: 'olá' })
    assert.ok(Number.isInteger(latency_ms) && latency_ms >= 0)
  }
  const host = `127.0.0.1:${server.port}`
  const request = ['POST', '/hook?x=1', 'msg_1', 'application/json', host, undefined, BODY]
  assert.deepEqual(received, [request, request])
})

test('410 is gone, and every other answer a failure', async () => {
  const server = await serve((request, response) => {
    response.writeHead(Number(request.headers['webhook-id'])).end()
  })
  const sender = senderOf()
  const outcomes = new Map<number, string>()
  for (const status of [204, 299, 300, 304, 400, 401, 404, 410, 429, 500, 503, 599]) {
    const answer = await sender.post(server.url, { 'webhook-id': `${status}` }, BODY)
    assert.equal(answer.status, status)
    outcomes.set(status, answer.outcome)
  }
  const having = (outcome: string) => [...outcomes].filter(([, o]) => o === outcome)
  assert.deepEqual(Object.keys(Object.fromEntries(having('delivered'))), ['204', '299'])
  assert.deepEqual(Object.keys(Object.fromEntries(having('gone'))), ['410'])
  assert.equal(having('failed').length, 9)
})

test('a redirect is not followed', async () => {
  let requests = 0
  const server = await serve((_, response) => {
    requests += 1
    response.writeHead(302, { location: '/hook' }).end()
  })
  const { outcome, status, error } = await postTo(server.url)
  assert.deepEqual([outcome, status, error], ['failed', 302, 'redirects are not followed'])
  assert.equal(requests, 1)
})

test('a receiver that never answers fails at the deadline', async () => {
  const server = await serveRaw(() => {})
  const { outcome, status, error, latency_ms } = await postTo(server.url, SHORT)
  assert.deepEqual([outcome, status, error], ['failed', null, LATE])
  assert.ok(latency_ms >= 990, `${latency_ms} ms`)
  await server.isClosed()
  assert.equal(server.sockets.length, 1)
})

test('an answer that comes byte by byte does not move the deadline', async () => {
  for (const head of ['', 'HTTP/1.1 200 OK\r\nX-Slow: ', 'HTTP/1.1 200 OK\r\n\r\n']) {
    let dripped = 0
    const server = await serveRaw((socket) => {
      socket.write(head || 'H')
      const timer = setInterval(() => {
        socket.write('x')
        dripped += 1
      }, 20)
      socket.on('close', () => clearInterval(timer))
    })
    const { outcome, status, error } = await postTo(server.url, SHORT)
    if (head === '') assert.deepEqual([outcome, error], ['failed', 'answer not understood'])
    else assert.deepEqual([outcome, error], ['failed', LATE])
    assert.equal(status, head.endsWith('\r\n\r\n') ? 200 : null)
    assert.ok(dripped > 0)
    await server.isClosed()
  }
})

test('an answer after the deadline is not taken for that of the next request', async () => {
  const waiting: (() => void)[] = []
  const server = await serve((_, response) => {
    if (waiting.length === 0) waiting.push(() => response.end('late'))
    else response.end('own')
  })
  const sender = senderOf({ limits: { deadline_ms: 2_000 } })
  const first = await sender.post(server.url, HEADERS, BODY)
  assert.deepEqual([first.outcome, first.error], ['failed', 'no answer within 2 s'])
  waiting[0]!()
  const second = await sender.post(server.url, HEADERS, BODY)
  assert.deepEqual([second.outcome, second.body], ['delivered', 'own'])
})

test('a broken connection is a failure, wherever in the answer it breaks', async () => {
  const heads = [
    '',
    'HTTP/1.1 200 OK\r\nContent-Le',
    'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab',
  ]
  for (const head of heads) {
    const reset = await serveRaw((socket) => {
      socket.write(head, () => socket.resetAndDestroy())
    })
    const afterReset = await postTo(reset.url)
    assert.deepEqual([afterReset.outcome, afterReset.error], ['failed', 'connection reset'])
    const ended = await serveRaw((socket) => socket.end(head))
    const afterEnd = await postTo(ended.url)
    assert.deepEqual([afterEnd.outcome, afterEnd.error], ['failed', 'connection closed'])
    assert.equal(afterEnd.status, head.endsWith('ab') ? 200 : null)
    assert.equal(afterEnd.body, head.endsWith('ab') ? 'ab' : '')
  }
})

test('of a huge answer only the beginning is read, and the connection is closed', async () => {
  const huge = Buffer.alloc(10_000_000, 'a')
  const server = await serve((_, response) => response.end(huge))
  const sender = senderOf()
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const held = () => {
    collect()
    return process.memoryUsage().arrayBuffers
  }
  const before = held()
  for (let i = 0; i < 40; i++) {
    const { outcome, status, body } = await sender.post(server.url, HEADERS, BODY)
    assert.deepEqual([outcome, status, body], ['delivered', 200, 'a'.repeat(1024)])
    assert.ok(lastRead() <= 128 * 1024, `${lastRead()} bytes`)
  }
  assert.equal(server.sockets.length, 40)
  await server.isClosed()
  const grown = held() - before
  assert.ok(grown < 5_000_000, `${grown} bytes more`)
})

test('bytes that never become an answer are bounded too', async () => {
  const floods: [begin: string, again: string, error: string][] = [
    ['', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', 'answer too long'],
    [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=',
      'x'.repeat(999),
      'answer too long',
    ],
    ['HTTP/1.1 200 OK\r\n', 'X-Many: more\r\n', 'answer not understood'],
    ['HTTP/1.1 200 OK\r\nX-Long: ', 'x'.repeat(999), 'answer not understood'],
    [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n',
      'X: y\r\n',
      'answer not understood',
    ],
  ]
  for (const [begin, again, expected] of floods) {
    const server = await serveRaw((socket) => {
      socket.write(begin)
      flood(socket, again)
    })
    const { outcome, error } = await postTo(server.url)
    assert.deepEqual([outcome, error], ['failed', expected], begin + again)
    assert.ok(lastRead() <= 512 * 1024, `${lastRead()} bytes`)
    await server.isClosed()
  }
})

test('connections are used again, and the size limit is for each answer', async () => {
  const server = await serve((_, response) => response.end('x'.repeat(8_000)))
  const sender = senderOf()
  for (let i = 0; i < 50; i++) {
    assert.equal((await sender.post(server.url, HEADERS, BODY)).outcome, 'delivered')
  }
  assert.equal(server.sockets.length, 1)
})

test('nothing is decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(10_000_000))
  assert.ok(bomb.length < 16 * 1024)
  const server = await serve((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
  })
  const { outcome, body } = await postTo(server.url)
  assert.equal(outcome, 'delivered')
  assert.ok(body.length <= 1024 && body.startsWith('\x1f\ufffd'))
})

test('the body that is kept is text that PostgreSQL accepts', async () => {
  const answers: [sent: Buffer, kept: string][] = [
    [Buffer.from([0x61, 0, 0x62, 0xff, 0x63]), 'ab\ufffdc'],
    [Buffer.from([0xed, 0xa0, 0x80]), '\ufffd\ufffd\ufffd'],
    [Buffer.from(`${'a'.repeat(1023)}ç and more`), 'a'.repeat(1023)],
    [Buffer.from('€'.repeat(400)), '€'.repeat(341)],
    [Buffer.alloc(0), ''],
  ]
  for (const [sent, kept] of answers) {
    const server = await serve((_, response) => response.end(sent))
    assert.equal((await postTo(server.url)).body, kept)
  }
})

test('each reason why a receiver cannot be reached has its text', async () => {
  const away = await postTo(`http://127.0.0.1:${await freePort()}/`)
  assert.deepEqual([away.outcome, away.status, away.error], ['failed', null, 'connection refused'])
  const plain = await serve((_, response) => response.end())
  const tls = await postTo(plain.url.replace('http:', 'https:'))
  assert.equal(tls.error, 'TLS not possible')
  const failing = (code: string) => ({
    lookup: () => Promise.reject(Object.assign(new Error('no'), { code })),
  })
  const url = 'http://hooks.example.com/'
  assert.equal((await postTo(url, failing('ENOTFOUND'))).error, 'name not found')
  assert.equal((await postTo(url, failing('ENODATA'))).error, 'name not found')
  assert.equal((await postTo(url, failing('ETIMEOUT'))).error, 'name server did not answer')
  assert.equal((await postTo(url, { lookup: async () => [] })).error, 'name not found')
  assert.equal((await postTo('http://', {})).error, 'address not valid')
  assert.equal((await postTo('ftp://hooks.example.com/')).error, 'address not allowed')
})

test('connecting ends after its own limit, and at the deadline at the latest', async () => {
  const lookup = () => new Promise<never>(() => {})
  const url = 'http://hooks.example.com/'
  const limits = { connect_ms: 100 }
  assert.equal((await postTo(url, { lookup, limits })).error, 'no connection in time')
  const both = { connect_ms: 4_000, ...SHORT.limits }
  assert.equal((await postTo(url, { lookup, limits: both })).error, LATE)
  const silent = await serveRaw(() => {})
  const secure = silent.url.replace('http:', 'https:')
  assert.equal((await postTo(secure, { limits })).error, 'no connection in time')
  await silent.isClosed()
})

test('a name is resolved once per connection, and each of its addresses tried', async () => {
  const hosts: unknown[] = []
  const server = await serve(({ headers }, response) => {
    hosts.push(headers.host)
    response.end()
  })
  const asked: string[] = []
  const lookup = async (name: string) => {
    asked.push(name)
    return [
      { address: '::1', family: 6 },
      { address: '127.0.0.1', family: 4 },
    ]
  }
  const sender = senderOf({ lookup })
  const url = `http://hooks.example.com:${server.port}/`
  for (let i = 0; i < 3; i++) {
    assert.equal((await sender.post(url, HEADERS, BODY)).outcome, 'delivered')
  }
  assert.deepEqual(asked, ['hooks.example.com'])
  assert.deepEqual(hosts, Array(3).fill(`hooks.example.com:${server.port}`))
})

test('a certificate must be trusted and valid for the name, which is sent to the server', async () => {
  const pair = certificateFor('hooks.example.com')
  const names: unknown[] = []
  const server = await serveTls(pair, ({ socket }, response) => {
    names.push((socket as TLSSocket).servername)
    response.end()
  })
  const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
  const post = (name: string) => postTo(`https://${name}:${server.port}/`, { lookup })
  assert.equal((await post('hooks.example.com')).error, 'certificate not valid')
  setDefaultCACertificates([...getCACertificates('default'), pair.cert])
  assert.equal((await post('hooks.example.com')).outcome, 'delivered')
  assert.equal((await post('other.example.com')).error, 'certificate not valid')
  assert.equal((await postTo(server.url)).error, 'certificate not valid')
  assert.deepEqual(names, ['hooks.example.com'])
})

test('connections to many origins close soon after their use, whatever the server offers', async () => {
  const server = await serve((_, response) => {
    response.writeHead(200, { 'keep-alive': 'timeout=600' }).end()
  })
  const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
  const sender = senderOf({ lookup, limits: { idle_ms: 100 } })
  for (let round = 0; round < 10; round++) {
    const posts = Array.from({ length: 100 }, (_, i) =>
      sender.post(`http://h${round}-${i}.example.com:${server.port}/`, HEADERS, BODY),
    )
    for (const { outcome } of await Promise.all(posts)) assert.equal(outcome, 'delivered')
  }
  assert.equal(server.sockets.length, 1000)
  await server.isClosed()
})

test('an aborted post rejects, and its connection is closed', async () => {
  const server = await serve(() => {})
  const sender = senderOf()
  const aborting = new AbortController()
  const posts = Array.from({ length: 20 }, () =>
    sender.post(server.url, HEADERS, BODY, aborting.signal),
  )
  const ends = Promise.allSettled(posts)
  while (server.sockets.length < 20) await new Promise(setImmediate)
  aborting.abort(new Error('shutting down'))
  for (const end of await ends) {
    assert.equal(end.status === 'rejected' && end.reason.message, 'shutting down')
  }
  await server.isClosed()
  await assert.rejects(sender.post(server.url, HEADERS, BODY, aborting.signal), /shutting down/)
  assert.equal(server.sockets.length, 20)
})

test('closing waits for requests in progress, and nothing is sent afterwards', async () => {
  const { promise, resolve } = Promise.withResolvers<() => void>()
  const server = await serve((_, response) => resolve(() => response.end('done')))
  const sender = createSender({ guarded: false })
  const post = sender.post(server.url, HEADERS, BODY)
  const answer = await promise
  const closing = sender.close()
  answer()
  assert.equal((await post).body, 'done')
  await closing
  await server.isClosed()
  await assert.rejects(sender.post(server.url, HEADERS, BODY), /sender is closed/)
})
