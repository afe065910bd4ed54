import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageToken } from '../../../src/core/charges/addresses.ts'
import { requireSameSecret } from '../../../src/core/installation.ts'
import { fromPublic, packPair } from '../../../src/lib/ids.ts'
import { createVault } from '../../../src/lib/vault.ts'
import { type Client, payer, startApi } from '../../support/api.ts'

const api = await startApi()
const client = await api.client()
await requireSameSecret(api.app.places.all[0]!.db, api.app.vault)

/** The pages of a record, and what each answers. */
const SUFFIXES = ['', '/status']
async function statusesOf(token: string): Promise<number[]> {
  const replies = SUFFIXES.map((suffix) => fetch(`${api.url}/pay/${token}${suffix}`))
  return (await Promise.all(replies)).map(({ status }) => status)
}
const SHOWN = [200, 200]
const MISSING = [404, 404]

async function charged(own: Client = client) {
  const reply = await own.post('/charge/pix', { amount: 1990, customer: payer(), devMode: true })
  const { id, url } = reply.body.data
  return { id, token: url.split('/pay/')[1], plain: plainOf(own, 'charge', id) }
}

const plainOf = (own: Client, prefix: 'charge' | 'rec', id: string) =>
  packPair(own.company.id, fromPublic(prefix, id)!)

/** As the migration leaves an installation that has charges already. */
const setPlainPagesEnd = (end: string | null) =>
  api.peopleRows('update installation set plain_pages_end = $1', [end])

test('who knows company and charge cannot make the address of its page', async () => {
  const { token, plain } = await charged()
  assert.ok(token.startsWith(plain) && token.length === 63)
  assert.deepEqual(await statusesOf(token), SHOWN)
  const other = await charged()
  const last = token.endsWith('A') ? 'B' : 'A'
  for (const wrong of [
    plain,
    `${plain}${token.slice(43, -1)}`,
    `${token.slice(0, -1)}${last}`,
    `${token}A`,
    `${plain}${other.token.slice(43)}`,
    pageToken(createVault(Buffer.alloc(32, 9)), {
      companyId: client.company.id,
      id: fromPublic('charge', other.id)!,
    }),
  ]) {
    assert.deepEqual(await statusesOf(wrong), MISSING, wrong)
  }
})

test('servers with the same secret make the same address', async () => {
  const named = { companyId: client.company.id, id: fromPublic('charge', (await charged()).id)! }
  const [one, other] = [1, 2].map(() => pageToken(createVault(Buffer.alloc(32, 7)), named))
  assert.equal(one, other)
})

test('an address of before tags works until its charge ends, and no later one does', async () => {
  const before = { paid: await charged(), open: await charged(), canceled: await charged() }
  await setPlainPagesEnd(new Date(Date.now() + 1).toISOString())
  for (const { plain } of Object.values(before)) assert.deepEqual(await statusesOf(plain), SHOWN)
  await client.post(`/charge/${before.canceled.id}/cancel`)
  assert.deepEqual(await statusesOf(before.canceled.plain), MISSING)
  await client.post(`/charge/${before.paid.id}/simulate-payment`)
  assert.deepEqual(await statusesOf(before.paid.plain), SHOWN, 'who has just paid sees it')
  api.clock.advance(3601)
  assert.deepEqual(await statusesOf(before.paid.plain), MISSING)
  api.clock.advance(1800)
  assert.deepEqual(await statusesOf(before.open.plain), MISSING, 'an hour after it has expired')
  assert.deepEqual(await statusesOf(before.open.token), SHOWN)
  await setPlainPagesEnd(new Date(Date.now() - 60_000).toISOString())
  assert.deepEqual(await statusesOf((await charged()).plain), MISSING)
  await setPlainPagesEnd(null)
})

test('the link of a subscription is tagged too, and one of before tags takes payers while it is open', async () => {
  const product = {
    name: 'Plano',
    description: 'x',
    price: 1990,
    type: 'RECURRING',
    frequency: 'MONTHLY',
  }
  const { id: productId } = (await client.post('/product', product)).body.data
  const made = await client.post('/pix-automatic/recurrences/template', { productId })
  const plain = plainOf(client, 'rec', made.body.data.id)
  const subscribe = async (token: string) =>
    (await api.call('POST', `/pay/${token}/subscription`, { json: { customer: payer() } })).status
  const { url } = (await client.get(`/charge/${made.body.data.id}`)).body.data
  assert.equal(await subscribe(url.split('/pay/')[1]), 201)
  assert.equal(await subscribe(plain), 404)
  assert.deepEqual(await statusesOf(plain), MISSING)
  await setPlainPagesEnd(new Date(Date.now() + 1).toISOString())
  assert.deepEqual(await statusesOf(plain), SHOWN)
  assert.equal(await subscribe(plain), 201)
  await client.post(`/pix-automatic/recurrences/${made.body.data.id}/cancel`)
  assert.deepEqual(await statusesOf(plain), MISSING)
  await setPlainPagesEnd(null)
})
