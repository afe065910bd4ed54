import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from '../../../src/pix/brcode.ts'
import { type Client, eventsOf, payer, startApi } from '../../support/api.ts'
import { makeCode, makePaid, pay } from '../../support/payments.ts'
import { decode } from '../../support/qr.ts'
import { stored } from '../storage.ts'

const api = await startApi()

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

/** A sale at the counter: a static code, paid. */
async function sell(client: Client, amount: number, devMode = false): Promise<void> {
  const { brCode } = await makeCode(client, amount, devMode)
  await pay(api, brCode)
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
  const early = await makeCode(client, 700)
  await sell(client, 400)
  await sell(client, 100, true)
  await makePaid(api, client, 500)
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
  await pay(api, early.brCode)
  assert.equal((await limitsOf(client)).remaining, 0, 'never below nothing')
  assert.equal((await codeOf(client, { amount: 1 })).status, 422)
})

test('the limit counts by the month of São Paulo', async () => {
  const client = await api.client({ taxId: '39053344705', staticSalesLimit: 1000 })
  const goTo = (moment: string) =>
    api.clock.advance((Date.parse(moment) - api.clock.now().getTime()) / 1000)
  const sellAt = async (moment: string, amount: number) => {
    goTo(moment)
    await sell(client, amount)
    const { period, used } = await limitsOf(client)
    return [period, used]
  }
  assert.deepEqual(await sellAt('2026-09-01T02:59:59.999Z', 100), ['2026-08', 100])
  assert.deepEqual(await sellAt('2026-09-01T03:00:00.000Z', 200), ['2026-09', 200])
  assert.deepEqual(await sellAt('2026-10-01T02:59:59.999Z', 400), ['2026-09', 600])
  goTo('2026-10-01T03:00:00.000Z')
  const { period, used } = await limitsOf(client)
  assert.deepEqual([period, used], ['2026-10', 0])
})
