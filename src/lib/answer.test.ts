import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Answer, feed, isWhole, newAnswer } from './answer.ts'

const OK = 'HTTP/1.1 200 OK\r\n'

function readIn(parts: string[]): Answer {
  const answer = newAnswer()
  for (const part of parts) feed(answer, part)
  return answer
}

const readAll = (text: string) => readIn([text])

/** The text, cut wherever the numbers say. */
function cut(text: string, sizes: number[]): string[] {
  const parts: string[] = []
  for (let at = 0; at < text.length; at += parts.at(-1)!.length) {
    parts.push(text.slice(at, at + 1 + (sizes[parts.length % sizes.length] ?? 0)))
  }
  return parts
}

const sizes = fc.array(fc.nat(40), { minLength: 1, maxLength: 8 })
const bytes = fc
  .uint8Array({ maxLength: 300 })
  .map((array) => Buffer.from(array).toString('latin1'))
const hints = fc
  .array(fc.constantFrom('100 Continue', '103 Early Hints\r\nLink: </a>'), { maxLength: 2 })
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

test('an answer is read the same however its bytes are cut, in each way to end it', () => {
  for (const [way, write] of Object.entries(framed)) {
    fc.assert(
      fc.property(hints, bytes, sizes, (before, body, where) => {
        const answer = readIn(cut(before + write(body), where))
        assert.deepEqual([answer.status, answer.body, answer.read], [200, body, body.length])
        assert.equal(answer.step, way === 'untilClose' ? 'untilClose' : 'done')
        assert.equal(answer.lasts_s > 0, way !== 'untilClose')
        assert.ok(isWhole(answer))
      }),
    )
  }
})

test('bytes after an answer are not a part of it, and nothing more is asked on its connection', () => {
  fc.assert(
    fc.property(fc.constantFrom(framed.length, framed.chunked), bytes, sizes, (write, body, at) => {
      const answer = readIn(cut(`${write(body)}${OK}\r\n`, at).concat('x'))
      assert.deepEqual([answer.step, answer.body, answer.lasts_s], ['done', body, 0])
    }),
  )
})

test('an answer that is cut short is never whole, unless its end is that of the connection', () => {
  for (const write of [framed.length, framed.chunked]) {
    const text = write('some body')
    for (let end = 0; end < text.length; end++) {
      assert.equal(isWhole(readAll(text.slice(0, end))), false, text.slice(0, end))
    }
  }
})

test('whatever comes is read or refused in words of ours, and what is kept of it is bounded', () => {
  const pieces = fc.constantFrom(
    ...[OK, 'HTTP/1.1 204 No\r\n', 'HTTP/1.0 ', '\r\n', '\n', '\r', '\0', ' ', ':', '0', 'f', ';'],
    ...['Content-Length: ', 'Transfer-Encoding: chunked', 'Connection: close', 'x'.repeat(5000)],
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, bytes), { maxLength: 30 }), (parts) => {
      const answer = newAnswer()
      try {
        for (const part of parts) feed(answer, part)
      } catch (error) {
        assert.match((error as Error).message, /^answer (not understood|too long)$/)
      }
      assert.ok(answer.begun.length <= 16 * 1024 && answer.body.length <= 1024)
    }),
    { numRuns: 500 },
  )
})

test('what can be read in two ways is refused', () => {
  const heads = [
    'Content-Length: 3\r\nTransfer-Encoding: chunked',
    'Content-Length: 3\r\nContent-Length: 3',
    'Content-Length: 3, 3',
    ...['Content-Length: +3', 'Content-Length: 3x', 'Content-Length: ', 'Content-Length: 0x3'],
    ...['Content-Length : 3', ' Content-Length: 3', 'Content-Length', ': 3', 'A: b\r\n c'],
    ...['A: b\nContent-Length: 3', 'A: b\rContent-Length: 3', 'A: \0', 'A\0: b', 'A b: c'],
  ]
  for (const head of heads) {
    assert.throws(() => readAll(`${OK}${head}\r\n\r\nabc`), /^Error: answer not understood$/, head)
  }
  const firsts = ['HTTP/2 200 OK', 'HTTP/1.2 200 OK', 'HTTP/1.1 20 OK', 'HTTP/1.1 2000', 'http/1.1']
  firsts.push('HTTP/1.1  200 OK', 'HTTP/1.1 200\tOK', 'ICY 200 OK', '', 'HTTP/1.1 101 Other', 'HTT')
  for (const first of firsts) {
    assert.throws(() => readAll(`${first}\r\n\r\n`), /^Error: answer not understood$/, first)
  }
  const sizes = ['', 'g', '-1', '0x1', '+1', '1 1', '123456789', '1\n', ' 1', '1;\0']
  for (const size of sizes) {
    const text = `${OK}Transfer-Encoding: chunked\r\n\r\n${size}\r\na\r\n`
    assert.throws(() => readAll(text), /^Error: answer not understood$/, JSON.stringify(size))
  }
  const overlong = `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n`
  assert.throws(() => readAll(overlong), /not understood/)
})

test('a connection is kept only where its server keeps it, and for as long', () => {
  const lasting = (head: string, version = '1.1') =>
    readAll(`HTTP/${version} 200 OK\r\nContent-Length: 0${head}\r\n\r\n`).lasts_s
  assert.ok(lasting('') >= 60)
  assert.equal(lasting('\r\nKeep-Alive: timeout=5, max=100'), 5)
  assert.equal(lasting('\r\nkeep-alive: max=100, timeout=72\r\nConnection: Keep-Alive'), 72)
  assert.equal(lasting('\r\nConnection: close'), 0)
  assert.equal(lasting('\r\nConnection: Foo, Close'), 0)
  assert.equal(lasting('\r\nConnection: foo\r\nConnection: close'), 0)
  assert.ok(lasting('\r\nConnection: closed') > 0)
  assert.equal(lasting('\r\nConnection: keep-alive', '1.0'), 0)
  assert.equal(lasting('\r\nKeep-Alive: timeout=0'), 0)
})

test('an answer that has no body ends with its head', () => {
  for (const status of ['204 No Content', '304 Not Modified']) {
    const answer = readAll(`HTTP/1.1 ${status}\r\nDate: today\r\n\r\n`)
    assert.deepEqual([answer.step, answer.lasts_s > 0], ['done', true])
  }
  assert.equal(readAll(`${OK}Content-Length: 0\r\n\r\n`).step, 'done')
  const other = readAll(`${OK}Transfer-Encoding: gzip\r\n\r\nabc`)
  assert.deepEqual([other.step, other.body, other.lasts_s], ['untilClose', 'abc', 0])
  assert.equal(readAll(`${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`).step, 'done')
})
