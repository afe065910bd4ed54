import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader'
import { parse } from '../../src/pix/brcode.ts'
import { type Client, eventsOf, payer, startApi } from '../support/api.ts'
import { stored } from './storage.ts'

// From the file system, because the package would fetch it from the network.
const wasm = fileURLToPath(import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm'))
prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(readFileSync(wasm)).buffer } })

const api = await startApi()

/** What an independent decoder reads from a PNG in a data URL. */
async function decode(dataUrl: string): Promise<string> {
  const [head, body] = dataUrl.split(',')
  assert.equal(head, 'data:image/png;base64')
  const found = await readBarcodes(Buffer.from(body!, 'base64'), { formats: ['QRCode'] })
  assert.equal(found.length, 1, 'one QR code in the image')
  return found[0]!.text
}

test('the code of a charge is a valid dynamic BR Code, and its image says the same', async () => {
  const client = await api.client({ name: 'Pão & Açúcar do Zé', city: 'São Luís' })
  const locations = new Set<string>()
  for (const amount of [500, 1990, 999_999_999_999]) {
    const { body } = await client.post('/charge/pix', { amount, customer: payer() })
    const { brCode, brCodeBase64, id } = body.data
    assert.equal(await decode(brCodeBase64), brCode)
    const code = parse(brCode)
    assert.equal(code.kind, 'dynamic')
    if (code.kind !== 'dynamic') return
    assert.deepEqual([code.name, code.city], ['Pao & Acucar do Ze', 'Sao Luis'])
    assert.match(code.location, /^vintem\.test\/cob\/[\w-]{43}$/)
    locations.add(code.location)
    const shown = (await client.get(`/charge/${id}`)).body.data
    assert.deepEqual([shown.brCode, shown.brCodeBase64], [brCode, brCodeBase64])
  }
  assert.equal(locations.size, 3)
})

test('a static code names the company’s Pix key and the amount, and its image says the same', async () => {
  const client = await api.client({ pixKey: 'dona@example.com' })
  const { status, body } = await client.post('/charge/pix/static', { amount: 1234 })
  assert.equal(status, 201)
  const keys = ['correlationID', 'brCode', 'qrCodeImage', 'devMode']
  assert.deepEqual(Object.keys(body.data), keys)
  const { correlationID, brCode, qrCodeImage, devMode } = body.data
  assert.match(correlationID, /^qrs_[0-9a-z]{26}$/)
  assert.equal(devMode, false)
  assert.equal(await decode(qrCodeImage), brCode)
  const code = parse(brCode)
  assert.equal(code.kind, 'static')
  if (code.kind !== 'static') return
  assert.deepEqual([code.key, code.amount], ['dona@example.com', 1234])
  assert.deepEqual([code.name, code.city], ['Padaria Sao Joao', 'Sao Paulo'])
  assert.match(code.txid!, /^[0-9a-zA-Z]{1,25}$/)
  const rows = await api.rows(
    'select amount, dev_mode, br_code from static_codes where company_id = $1',
    [client.company.id],
  )
  assert.deepEqual(rows, [{ amount: 1234, dev_mode: false, br_code: brCode }])
  assert.deepEqual(await eventsOf(api, client.company.id), [], 'a code is no charge yet')
})

const limitsOf = async (client: Client) => (await client.get('/charge/sales-limits')).body.data
const codeOf = (client: Client, json: unknown) => client.post('/charge/pix/static', json)

/** A payment of a static code, as the bank’s events will write it. */
async function sell(client: Client, amount: number, fields: Record<string, unknown> = {}) {
  const sale = {
    ...{ status: 'COMPLETED', payment_status: 'PAID', dev_mode: false, kind: 'STATIC' },
    payment_date: api.clock.now(),
    ...fields,
  }
  await api.rows(
    `insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode,
       br_code, end_to_end_id, created_at, expires_at, payment_date)
     values ($1, gen_random_uuid(), $2, $3, $4, $5, $6, 'x', $7, $8, $9, $10)`,
    [
      ...[client.company.id, sale.kind, amount, sale.status, sale.payment_status, sale.dev_mode],
      sale.payment_date ? `E${Math.random()}` : null,
      ...[new Date(0), api.clock.now(), sale.payment_date],
    ],
  )
}

test('a company with a CNPJ has no sales limit', async () => {
  const client = await api.client({ staticSalesLimit: 1 })
  const period = '2026-08'
  const none = { limited: false, limit: null, used: null, remaining: null, period }
  assert.deepEqual(await limitsOf(client), none)
  assert.equal((await codeOf(client, { amount: 999_999_999_999 })).status, 201)
})

test('a company with a CPF has the installation’s limit unless it has its own', async () => {
  const client = await api.client({ taxId: '39053344705' })
  const limits = { limited: true, limit: 500_000, used: 0, remaining: 500_000, period: '2026-08' }
  assert.deepEqual(await limitsOf(client), limits)
  const own = await api.client({ taxId: '39053344705', staticSalesLimit: 1000 })
  assert.deepEqual(await limitsOf(own), { ...limits, limit: 1000, remaining: 1000 })
})

test('sales through static codes use the limit up; dev mode and other charges do not', async () => {
  const client = await api.client({ taxId: '39053344705', staticSalesLimit: 1000 })
  const other = await api.client({ taxId: '39053344705', staticSalesLimit: 1000 })
  await sell(client, 400)
  await sell(client, 100, { dev_mode: true })
  await sell(client, 100, { kind: 'PIX' })
  await sell(other, 300)
  const { used, remaining } = await limitsOf(client)
  assert.deepEqual([used, remaining], [400, 600])
  assert.equal((await codeOf(client, { amount: 600 })).status, 201)
  const before = await stored(api)
  const over = await codeOf(client, { amount: 601 })
  assert.deepEqual([over.status, over.body.errors[0].code], [422, 'sales_limit_exceeded'])
  assert.deepEqual(await stored(api), before)
  const free = await codeOf(client, { amount: 601, devMode: true })
  assert.deepEqual([free.status, free.body.data.devMode], [201, true])
  await sell(client, 700)
  assert.equal((await limitsOf(client)).remaining, 0, 'never below nothing')
  assert.equal((await codeOf(client, { amount: 1 })).status, 422)
})

test('the limit counts by the month of São Paulo', async () => {
  const client = await api.client({ taxId: '39053344705', staticSalesLimit: 1000 })
  await sell(client, 100, { payment_date: new Date('2026-08-01T02:59:59.999Z') })
  await sell(client, 200, { payment_date: new Date('2026-08-01T03:00:00.000Z') })
  await sell(client, 400, { payment_date: new Date('2026-09-01T02:59:59.999Z') })
  const august = await limitsOf(client)
  assert.deepEqual([august.period, august.used], ['2026-08', 600])
  const lastSecond_ms = Date.parse('2026-09-01T02:59:59.000Z')
  api.clock.advance((lastSecond_ms - api.clock.now().getTime()) / 1000)
  assert.equal((await limitsOf(client)).period, '2026-08')
  api.clock.advance(1)
  const september = await limitsOf(client)
  assert.deepEqual([september.period, september.used], ['2026-09', 0])
})
