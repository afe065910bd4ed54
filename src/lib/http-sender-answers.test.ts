import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { serveRaw } from '../../test/support/servers.ts'
import { createSender, type PostResult, type Sender } from './http-sender.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const sender: Sender = createSender({ guarded: false, limits: { deadline_ms: 10_000 } })
after(() => sender.close())

/** Answers the next request on a connection. */
let answer: (socket: Socket) => void = () => {}
const server = await serveRaw((socket) => {
  answer(socket)
  socket.on('data', () => answer(socket))
})

function post(next: (socket: Socket) => void): Promise<PostResult> {
  answer = next
  return sender.post(server.url, {}, '{}')
}

const postFor = (text: string) => post((socket) => socket.write(text, 'latin1'))
const postForAll = (text: string) => post((socket) => socket.end(text, 'latin1'))

/** The text, cut wherever the numbers say. */
function cut(text: string, sizes: number[]): string[] {
  const parts: string[] = []
  for (let at = 0; at < text.length; at += parts.at(-1)!.length) {
    parts.push(text.slice(at, at + 1 + (sizes[parts.length % sizes.length] ?? 0)))
  }
  return parts
}

/** Writes each part by itself, so that most of them arrive by themselves. */
const inParts = (parts: string[], isLast: boolean) => async (socket: Socket) => {
  socket.setNoDelay(true)
  for (const part of parts) {
    socket.write(part, 'latin1')
    await new Promise(setImmediate)
  }
  if (isLast) socket.end()
}

const sizes = fc.array(fc.nat(40), { minLength: 1, maxLength: 8 })
const bytes = fc.string({ unit: 'grapheme-ascii', maxLength: 300 })
const hints = fc
  .array(fc.constantFrom('102 Processing', '103 Early Hints\r\nLink: </a>'), { maxLength: 2 })
  .map((lines) => lines.map((line) => `HTTP/1.1 ${line}\r\n\r\n`).join(''))

function chunked(parts: string[]): string {
  const chunks = parts.filter((part) => part !== '')
  const written = chunks.map((part) => `${part.length.toString(16)};a="b"\r\n${part}\r\n`)
  return `${OK}Transfer-Encoding: chunked\r\n\r\n${written.join('')}0\r\nX-Sum: 1\r\n\r\n`
}

const framed = {
  length: (body: string) => `${OK}Content-Length: ${body.length}\r\n\r\n${body}`,
  untilClose: (body: string) => `${OK}Date: today\r\n\r\n${body}`,
  chunked: (body: string) => chunked([body.slice(0, 7), body.slice(7, 90), body.slice(90)]),
}

for (const [way, write] of Object.entries(framed)) {
  test(`an answer is read the same however its bytes are cut (${way})`, async () => {
    await fc.assert(
      fc.asyncProperty(hints, bytes, sizes, async (before, body, where) => {
        const parts = cut(before + write(body), where)
        const result = await post(inParts(parts, way === 'untilClose'))
        assert.deepEqual([result.outcome, result.status, result.body], ['delivered', 200, body])
      }),
      { numRuns: 40 },
    )
  })
}

test('bytes after an answer are no part of it, and the next request gets its own', async () => {
  for (const write of [framed.length, framed.chunked]) {
    for (const rest of ['x', `${OK}Content-Length: 5\r\n\r\nstray`]) {
      const first = await postFor(write('first') + rest)
      assert.deepEqual([first.outcome, first.body], ['delivered', 'first'])
      const connections = server.sockets.length
      const second = await postFor(framed.length('second'))
      assert.deepEqual([second.outcome, second.body], ['delivered', 'second'])
      assert.equal(server.sockets.length, connections + 1)
    }
  }
})

test('an answer that is cut short fails, unless the end of the connection is its end', async () => {
  for (const write of [framed.length, framed.chunked]) {
    const text = write('some body')
    for (let end = 0; end < text.length; end++) {
      const { outcome, error } = await postForAll(text.slice(0, end))
      assert.equal(outcome, 'failed', text.slice(0, end))
      assert.match(error ?? '', /^(connection closed|answer not understood)$/)
    }
  }
  const begun = ['\r\n\r\n', `${OK}Transfer-Encoding: chunked\r\n\r\n123456789\r\na\r\n`]
  for (const text of begun) assert.equal((await postForAll(text)).error, 'connection closed')
  assert.equal((await postForAll(framed.untilClose('some body'))).outcome, 'delivered')
})

test('any bytes give a result with an error text of ours, and what is kept is bounded', async () => {
  const pieces = fc.constantFrom(
    OK,
    'HTTP/1.1 204 No\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.0 ',
    '\r\n',
    '\n',
    '\r',
    '\0',
    ' ',
    ':',
    '0',
    'f',
    ';',
    'Content-Length: ',
    'Transfer-Encoding: chunked',
    'Connection: close',
    'x'.repeat(5000),
  )
  const binary = fc
    .uint8Array({ maxLength: 300 })
    .map((array) => Buffer.from(array).toString('latin1'))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(pieces, binary), { maxLength: 30 }), async (parts) => {
      const { outcome, error, body } = await postForAll(parts.join(''))
      const texts = /^(answer (not understood|too long)|connection (closed|reset)|redirects .*)$/
      if (outcome === 'failed' && error !== null) assert.match(error, texts)
      assert.ok(body.length <= 1024)
    }),
    { numRuns: 200 },
  )
})

test('an answer that can be read in two ways is refused', async () => {
  const heads = [
    'Content-Length: 3\r\nTransfer-Encoding: chunked',
    'Content-Length: 3\r\nContent-Length: 3',
    'Content-Length: 3, 3',
    'Content-Length: +3',
    'Content-Length: 3x',
    'Content-Length: ',
    'Content-Length: 0x3',
    'Content-Length : 3',
    ' Content-Length: 3',
    'Content-Length',
    ': 3',
    'A: b\r\n c',
    'A: b\nContent-Length: 3',
    'A: b\rContent-Length: 3',
    'A: \0',
    'A\0: b',
    'A b: c',
  ]
  for (const head of heads) {
    const { outcome, error } = await postForAll(`${OK}${head}\r\n\r\nabc`)
    assert.deepEqual([outcome, error], ['failed', 'answer not understood'], head)
  }
  const sizes = ['', 'g', '-1', '0x1', '+1', '1 1', '1'.repeat(17), '1\n', ' 1', '1;\0']
  for (const size of sizes) {
    const text = `${OK}Transfer-Encoding: chunked\r\n\r\n${size}\r\na\r\n`
    const { outcome, error } = await postForAll(text)
    assert.deepEqual([outcome, error], ['failed', 'answer not understood'], JSON.stringify(size))
  }
  const overlong = `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n`
  assert.equal((await postForAll(overlong)).error, 'answer not understood')
})

test('what is no answer of HTTP/1 is refused', async () => {
  const firsts = [
    'HTTP/2 200 OK',
    'HTTP/1.2 200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000',
    'http/1.1',
    'HTTP/1.1  200 OK',
    'HTTP/1.1 200\tOK',
    'ICY 200 OK',
    'HTTP/1.1 101 Other',
    'HTTP/1.1 101 Other\r\nConnection: upgrade\r\nUpgrade: other',
    'HTT',
  ]
  for (const first of firsts) {
    const { outcome, error } = await postForAll(`${first}\r\n\r\n`)
    assert.deepEqual([outcome, error], ['failed', 'answer not understood'], first)
  }
})

test('a 100 Continue that we did not ask for is a failure', async () => {
  const { outcome, error } = await postFor(`HTTP/1.1 100 Continue\r\n\r\n${framed.length('a')}`)
  assert.deepEqual([outcome, error], ['failed', 'answer not understood'])
})

test('an answer that has no body ends with its head', async () => {
  const withoutBody = [
    'HTTP/1.1 204 No Content\r\nDate: today\r\n\r\n',
    'HTTP/1.1 304 Not Modified\r\nDate: today\r\n\r\n',
    `${OK}Content-Length: 0\r\n\r\n`,
    `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  ]
  for (const text of withoutBody) {
    const { status, body } = await postFor(text)
    assert.deepEqual([status, body], [Number(text.slice(9, 12)), ''])
  }
  const coded = await postForAll(`${OK}Transfer-Encoding: gzip\r\n\r\nabc`)
  assert.deepEqual([coded.outcome, coded.body], ['delivered', 'abc'])
})

test('a connection is used again only if its server keeps it', async () => {
  const isKept = async (head: string, version = '1.1') => {
    const text = `HTTP/${version} 200 OK\r\nContent-Length: 0${head}\r\n\r\n`
    assert.equal((await postFor(text)).outcome, 'delivered')
    const connections = server.sockets.length
    await postFor(`${OK}Content-Length: 0\r\n\r\n`)
    return server.sockets.length === connections
  }
  assert.ok(await isKept(''))
  assert.ok(await isKept('\r\nKeep-Alive: timeout=5, max=100'))
  assert.ok(await isKept('\r\nkeep-alive: max=100, timeout=72\r\nConnection: Keep-Alive'))
  assert.ok(await isKept('\r\nConnection: closed'))
  for (const [head, version] of [
    ['\r\nConnection: close'],
    ['\r\nConnection: Foo, Close'],
    ['\r\nConnection: foo\r\nConnection: close'],
    ['', '1.0'],
    ['\r\nKeep-Alive: timeout=0'],
    ['\r\nKeep-Alive: timeout=1'],
  ] as const) {
    assert.ok(!(await isKept(head, version)), `${version} ${head}`)
  }
})
