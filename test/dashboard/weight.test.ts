import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { suffixOf } from '../../src/lib/ids.ts'
import { ROUTES } from '../../src/web/dashboard/routes.ts'
import { OPERATOR_ROUTES } from '../../src/web/operator/routes.ts'
import { payer, startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { makeRecords, pathOf } from '../support/dashboard-records.ts'
import { makeCharge, makePaid } from '../support/payments.ts'

const api = await startApi()
const client = await api.client()

const MAX_BYTES = 80 * 1024
/** As many rows as a page shows, each with words of its own. */
const ROWS = 50

/** What a page loads: its styles, scripts and pictures, each once. */
const assetsOf = (text: string): string[] => {
  const named = [...text.matchAll(/<(?:link|script|img)\b[^>]*?\s(?:href|src)="(\/[^"]+)"/g)]
  return [...new Set(named.map(([, path]) => path!))]
}

const weights = new Map<string, Promise<number>>()

/** The bytes of a file that pages load, gzipped. It is asked for once. */
function weightOfAsset(path: string): Promise<number> {
  const asked = weights.get(path) ?? askForAsset(path)
  weights.set(path, asked)
  return asked
}

async function askForAsset(path: string): Promise<number> {
  const reply = await fetch(api.url + path)
  assert.equal(reply.status, 200, path)
  return gzipSync(Buffer.from(await reply.arrayBuffer())).length
}

/** Null if it is no page: a file, a part of a page, or the way to another one. */
async function weightOf(member: Member, path: string): Promise<number | null> {
  const { status, text } = await member.get(path)
  assert.ok(status === 200 || status === 303, `${path}: ${status}`)
  if (!text.startsWith('<!doctype html>')) return null
  const loaded = await Promise.all(assetsOf(text).map(weightOfAsset))
  return loaded.reduce((sum, bytes) => sum + bytes, gzipSync(text).length)
}

async function weighAll(member: Member, paths: string[]): Promise<number> {
  let pages = 0
  for (const path of paths) {
    const bytes = await weightOf(member, path)
    assert.ok(bytes === null || bytes <= MAX_BYTES, `${path}: ${bytes}`)
    if (bytes !== null) pages++
  }
  return pages
}

test('no page weighs more than 80 KB with all that it loads, gzipped', async () => {
  const records = await makeRecords(api, client)
  const owner = await signIn(api, client.company)
  for (let i = 0; i < ROWS; i++) {
    const customer = payer({ name: `Maria ${i} ${'da Silva '.repeat(6)}`.trim() })
    await makeCharge(client, 1000 + i, { customer, description: `Pedido ${i * 7919}` })
  }
  await makePaid(api, client, 2500)
  const all = ROUTES.filter(({ method }) => method === 'GET').map((route) => pathOf(route, records))
  const pages = await weighAll(owner, [...all, '?days=90', '/counter', '/search?q=maria'])
  assert.ok(pages > 80, `${pages} pages`)
  assert.ok(
    [...weights.keys()].some((path) => path.includes('dashboard')),
    'styles are weighed',
  )
})

test('no page of the operators does either', async () => {
  const operator = await signIn(api, client.company, { role: null, isOperator: true })
  const reading = OPERATOR_ROUTES.filter(({ method, confirmed }) => method === 'GET' && !confirmed)
  const company = suffixOf(client.company.id)
  const paths = reading.map(({ path }) => `//operator${path.replace(':company', company)}`)
  assert.ok((await weighAll(operator, paths)) > 5)
})
