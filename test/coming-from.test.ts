import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SCOPES } from '../src/core/companies/rules.ts'
import { ROUTES } from '../src/http/routes/all.ts'
import { VERSION_NAMES } from '../src/versions/history.ts'
import { documentOf } from './openapi/document.ts'

const page = readFileSync(join(import.meta.dirname, '../docs/guides/coming-from.md'), 'utf8')

/** Headers of deliveries, which the guide to webhooks explains, and the form of one of them. */
const DELIVERED = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'sha256=']
const delivered = readFileSync(join(import.meta.dirname, '../docs/guides/webhooks.md'), 'utf8')

/** Everything that the API has a name for. */
const known = new Set<string>([
  ...ROUTES.map(({ method, path }) => `${method} ${path}`),
  ...VERSION_NAMES,
  ...SCOPES,
  'X-API-KEY',
  'X-Webhook-Signature',
])
const { json, operations, resolve } = documentOf(VERSION_NAMES.at(-1)!)
const collect = (schema: unknown): void => {
  if (typeof schema !== 'object' || schema === null) return
  const { enum: values = [], properties = {} } = schema as Record<string, never>
  for (const value of values as string[]) known.add(value)
  for (const name of Object.keys(properties)) known.add(name)
  for (const inside of Object.values(schema)) collect(inside)
}
collect(json.components.schemas)
for (const { operation } of operations) {
  for (const parameter of operation.parameters) known.add(resolve(parameter).name)
}
for (const name of Object.keys(json.components.headers)) known.add(name)
for (const name of DELIVERED) known.add(name)

/** The tables whose last column has our names. Those of RivooPay have values of forms too. */
const rows = page
  .slice(0, page.indexOf('\n## RivooPay'))
  .split('\n')
  .filter((line) => /^\|(?!-)/.test(line))
  .map((line) => line.split('|').slice(1, -1))
const tables = rows.filter((cells) => cells.at(-1)!.trim() === 'here').length

test('every name in the column "here" is a name of this API', () => {
  assert.ok(tables >= 13)
  const named = rows.flatMap((cells) =>
    [...cells.at(-1)!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  )
  assert.ok(named.length > 150, String(named.length))
  assert.deepEqual(
    named.filter((name) => !known.has(name)),
    [],
  )
})

test('every operation that people look for is in a table of each service', () => {
  const sections = page.split(/^## /m).filter((text) => /^(AbacatePay|Woovi|Stripe)/.test(text))
  assert.equal(sections.length, 3)
  for (const section of sections) {
    const needed = ['POST /charge/pix', 'POST /refund/{chargeId}', 'POST /client', 'POST /webhook']
    for (const name of [...needed, 'charge.paid', 'PAID', 'Idempotency-Key', 'limit']) {
      const isShared = name === 'Idempotency-Key' && page.indexOf(name) < page.indexOf('## Abac')
      assert.ok(isShared || section.includes(`\`${name}\``), `${section.slice(0, 10)}: ${name}`)
    }
  }
})

test('the headers of deliveries are those of the guide to webhooks', () => {
  for (const name of DELIVERED) assert.ok(delivered.includes(name), name)
})
