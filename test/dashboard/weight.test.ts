import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { payer, startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
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

async function weightOf(owner: Member, path: string): Promise<number> {
  const { status, text } = await owner.get(path)
  assert.equal(status, 200, text)
  const assets = assetsOf(text)
  assert.ok(
    assets.some((asset) => asset.includes('dashboard')),
    'it has styles',
  )
  const loaded = await Promise.all(
    assets.map(async (asset) => {
      const reply = await fetch(api.url + asset)
      assert.equal(reply.status, 200, asset)
      return Buffer.from(await reply.arrayBuffer())
    }),
  )
  return [Buffer.from(text), ...loaded].reduce((sum, file) => sum + gzipSync(file).length, 0)
}

test('no page weighs more than 80 KB with all that it loads, gzipped', async () => {
  const owner = await signIn(api, client.company)
  for (let i = 0; i < ROWS; i++) {
    const customer = payer({ name: `Maria ${i} ${'da Silva '.repeat(6)}`.trim() })
    await makeCharge(client, 1000 + i, { customer, description: `Pedido ${i * 7919}` })
  }
  await makePaid(api, client, 2500)
  const pages = ['', '/charges', '/balance', '/balance/entries', '/reports', '/customers', '/new']
  for (const path of [...pages, '/new/link', '/settings', '/developers/requests']) {
    const bytes = await weightOf(owner, path)
    assert.ok(bytes <= MAX_BYTES, `${path}: ${bytes}`)
  }
})
