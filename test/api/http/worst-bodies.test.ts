import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BODY_LIMIT_BYTES, readBody } from '../../../src/http/body.ts'
import { renderFailure } from '../../../src/http/failures.ts'
import { inputReader } from '../../../src/http/input.ts'
import { TAKEN } from '../../../src/http/payers.ts'
import { ROUTES } from '../../../src/http/routes/all.ts'
import type { Schema } from '../../../src/http/schema.ts'
import { Problem } from '../../../src/lib/problems.ts'
import { LATEST } from '../../../src/versions/history.ts'
import { startApi } from '../../support/api.ts'
import { variants } from '../../support/long.ts'
import { assertShort, assertYields } from '../../support/loop.ts'

const api = await startApi()
const client = await api.client()

type Operation = { name: string; body: Schema; read(raw: Buffer): number }

/** Reads a body as the server does, and returns how large the answer is if it is refused. */
function readerOf(taken: Parameters<typeof inputReader>[0]): (raw: Buffer) => number {
  const read = inputReader(taken)
  return (raw) => {
    try {
      read({ body: readBody(raw), query: {}, session: null }, () => {})
      return 0
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return renderFailure(error, LATEST, 'en').body.length
    }
  }
}

const around = { company: client.company, local: true }
const OPERATIONS: Operation[] = [
  ...ROUTES.filter(({ body }) => body).map(({ method, path, body, check }) => ({
    name: `${method} ${path}`,
    body: body as Schema,
    read: readerOf({
      body: body!,
      ...(check ? { check: (value: Record<string, unknown>) => check(value, around) } : {}),
    }),
  })),
  ...TAKEN.map(({ path, body }) => ({
    name: `POST ${path}`,
    body: body as Schema,
    read: readerOf({ body }),
  })),
]

/** Every schema in a schema, with the text of a body that has something at its place. */
type Place = { path: string; schema: Schema; around(inner: string): string }

function placesIn(schema: Schema, path = '', around: Place['around'] = (text) => text): Place[] {
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    placesIn(field, `${path}.${name}`, (text) => around(`{"${name}":${text}}`)),
  )
  const items = schema.items
    ? placesIn(schema.items, `${path}[]`, (text) => around(`[${text}]`))
    : []
  return [{ path, schema, around }, ...fields, ...items]
}

/** As much of a text, again and again, as a body may have. */
function filled(place: Place, piece: (n: number) => string): string {
  const most = BODY_LIMIT_BYTES - Buffer.byteLength(place.around('')) - 4
  const count = Math.floor(most / (Buffer.byteLength(piece(99_999)) + 1))
  return Array.from({ length: count }, (_, n) => piece(n)).join()
}

const list = (place: Place, piece: (n: number) => string) =>
  place.around(`[${filled(place, piece)}]`)
const text = (place: Place, piece: string) =>
  place.around(
    `"${piece.repeat(Math.floor((BODY_LIMIT_BYTES - 2048) / Buffer.byteLength(piece)))}"`,
  )

const itemsFor = ({ schema }: Place): string[] => [
  '0',
  '""',
  '{}',
  '[]',
  'null',
  '"\\u0000"',
  ...(schema.items?.enum ? [JSON.stringify(schema.items.enum[0])] : []),
  ...(schema.items?.properties ? [`{"${Object.keys(schema.items.properties)[0]}":0}`] : []),
]

const TEXTS = ['a', '1', ' ', '.', '-', '@', 'a@', 'a@a.', '1 ', ' 1', '+55', '\\\\', 'é', '😀']
const PREFIXES = ['', 'https://', 'a@a', '#', 'E', '2026-08-16T12:00:00.']
/** Names of hosts with many different letters, which are costly to encode. */
const letters = Array.from({ length: 20_000 }, (_, n) => String.fromCharCode(0x4e00 + n)).join('')

function* bodiesAt(place: Place): Generator<[string, string]> {
  for (const item of itemsFor(place)) yield [`a list of ${item}`, list(place, () => item)]
  yield ['many names', place.around(`{${filled(place, (n) => `"a${n}":0`)}}`)]
  yield ['many wrong names', place.around(`{${filled(place, (n) => `"${n}\\u0000":0`)}}`)]
  const types = [place.schema.type].flat()
  if (!types.includes('string')) return
  // Texts without a pattern are not searched, so that one is as good as another.
  const { pattern, format } = place.schema as { pattern?: string; format?: string }
  if (pattern === undefined && format === undefined) {
    yield ['a long text', text(place, '😀')]
    return
  }
  for (const piece of TEXTS) {
    yield [`a long text of ${piece}`, text(place, piece)]
    for (const prefix of PREFIXES) {
      // As long as a pattern is still tried on.
      const tried = `${prefix}${piece.repeat(8000 / piece.length)}`
      yield [`${prefix} and ${piece}`, place.around(`"${tried}!"`)]
    }
  }
  yield ['a long host', place.around(`"https://${letters}.com"`)]
  yield ['a host', place.around(`"https://${letters.slice(0, 2000)}.com"`)]
}

const WHOLE: Place = { path: '', schema: {}, around: (inner) => inner }

function* deepBodies(): Generator<[string, string]> {
  const nested = (inner: string) => `${'{"a":'.repeat(30)}${inner}${'}'.repeat(30)}`
  const deep = { ...WHOLE, around: nested }
  yield ['a deep list', list(deep, () => '0')]
  yield ['a deep list of wrong texts', list(deep, () => '"\\u0000"')]
  const long = { ...WHOLE, around: (inner: string) => `{"${'a'.repeat(32_000)}":${inner}}` }
  yield ['wrong texts below a long name', list(long, () => '"\\u0000"')]
  yield ['backslashes', `"${'\\\\'.repeat(32_000)}"`]
  yield ['quotes', `"${'\\"'.repeat(32_000)}"`]
  yield ['brackets', '['.repeat(BODY_LIMIT_BYTES)]
  yield ['wrong names of __proto__', list(WHOLE, () => '{"__proto__":0}')]
}

for (const { name, body, read } of variants(OPERATIONS)) {
  test(`no body of 64 KiB keeps the event loop for 50 ms: ${name}`, () => {
    const tryAll = (path: string, bodies: Iterable<[string, string]>) => {
      for (const [kind, json] of bodies) {
        const raw = Buffer.from(json)
        assert.ok(raw.length <= BODY_LIMIT_BYTES, `${kind}: ${raw.length}`)
        let size = 0
        assertShort(`${name}${path}: ${kind}`, () => {
          size = read(raw)
        })
        assert.ok(size < BODY_LIMIT_BYTES, `${name}${path}: ${kind} is answered with ${size} bytes`)
      }
    }
    for (const place of placesIn(body)) tryAll(` ${place.path}`, bodiesAt(place))
    tryAll('', deepBodies())
  })
}

test('every list of a body has a maximum of items, every text one of its length', () => {
  const inputs = [...OPERATIONS.map(({ name, body }) => ({ name, schema: body }))]
  for (const { method, path, query } of ROUTES) {
    if (query) inputs.push({ name: `${method} ${path}`, schema: query as Schema })
  }
  for (const { name, schema } of inputs) {
    for (const place of placesIn(schema)) {
      const { type, items, enum: words, maxItems } = place.schema
      const limits = place.schema as { maxLength?: number; pattern?: string; format?: string }
      if (items) assert.ok(maxItems !== undefined, `${name}${place.path} has no maxItems`)
      if (![type].flat().includes('string') || words) continue
      const { maxLength, pattern, format } = limits
      const isBounded =
        maxLength !== undefined || format !== undefined || /^\^.*\$$/.test(pattern ?? '')
      assert.ok(isBounded, `${name}${place.path} has no maxLength`)
      // A text without a pattern is only counted.
      if (pattern === undefined && format === undefined) continue
      assert.ok((maxLength ?? 0) <= 4096, `${name}${place.path}: longer than patterns are tried on`)
    }
  }
})

test('a list with too many items is reported as one violation, and its items are not looked at', async () => {
  const events = Array.from({ length: 3900 }, () => 'nothing')
  const url = 'https://example.com'
  const reply = await client.post('/webhook', { url, name: 'a', events })
  assert.equal(reply.status, 400)
  const descriptions = reply.body.errors.map(
    ({ description }: { description: string }) => description,
  )
  assert.equal(descriptions.length, 1, reply.text)
  assert.match(descriptions[0], /^events: must have at most \d+ items$/)
})

test('items that repeat are refused, whatever they are', async () => {
  const hook = { url: 'https://example.com', name: 'a' }
  const twice = await client.post('/webhook', { ...hook, events: ['charge.paid', 'charge.paid'] })
  assert.equal(twice.body.errors[0].description, 'events: must not repeat an item')
  const wrong = await client.post('/webhook', { ...hook, events: ['nothing', 'charge.paid'] })
  assert.match(wrong.body.errors[0].description, /^events\[0\]: must be one of /)
})

test('the server goes on while the worst body of a webhook is refused', async () => {
  const events = Array.from({ length: 4600 }, () => 'charge.paid')
  await assertYields('POST /webhook', async () => {
    const reply = await client.post('/webhook', { url: 'https://example.com', name: 'a', events })
    assert.equal(reply.status, 400)
  })
})

/** Forms that need nobody to be signed in. */
const FORMS = ['/sign-in', '/password']

test('no form of 64 KiB keeps the event loop for 50 ms, and one of very many fields is refused', async () => {
  const names = Array.from({ length: 11_000 }, (_, n) => (n + 20_000).toString(36))
  const bodies = ['a&'.repeat(32_000), names.join('&'), '%41%'.repeat(16_000), '&'.repeat(65_000)]
  for (const path of FORMS) {
    for (const body of bodies) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      await assertYields(`${path}: ${body.slice(0, 20)}`, async () => {
        const reply = await fetch(api.url + path, { method: 'POST', body, headers })
        await reply.text()
        if (body.split('&').length > 1000) assert.equal(reply.status, 400)
      })
    }
  }
})
