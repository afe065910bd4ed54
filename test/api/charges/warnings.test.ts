import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectAgent } from '../../support/agents.ts'
import { type Client, payer, type Reply, startApi } from '../../support/api.ts'
import { makeRecurring } from '../../support/subscriptions.ts'

const api = await startApi()
const PATH = '/charge/payment-link'
const EN =
  'total: 1000 cents are not the sum of the items, which is 9980 cents. The payer is asked for the total.'
const PT =
  'total: 1000 centavos diferem da soma dos itens, que vale 9980 centavos. O pagador paga o total.'

/** Two of a product of R$ 49,90. */
async function itemsOf(client: Client) {
  const product = { name: 'Bolo', description: '', price: 4990 }
  const productId: string = (await client.post('/product', product)).body.data.id
  return [{ productId, quantity: 2 }]
}

async function linked(fields: object = {}) {
  const client = await api.client()
  const body = { customer: payer(), items: await itemsOf(client), total: 1000, ...fields }
  const create = (headers: Record<string, string> = {}): Promise<Reply> =>
    client.post(PATH, body, { headers })
  return { client, create }
}

const warningsOf = ({ headers }: Reply) => headers.get('x-warnings')

test('a link whose total differs from its items says so, in the answer and in a header', async () => {
  const { create } = await linked()
  const { status, body, ...reply } = await create()
  assert.deepEqual([status, body.data.total, body.data.warnings], [201, 1000, [EN]])
  assert.equal(reply.headers.get('x-warnings'), EN)
  const portuguese = await create({ 'Accept-Language': 'pt-BR,pt;q=0.9,en;q=0.8' })
  assert.deepEqual(portuguese.body.data.warnings, [PT])
  assert.equal(warningsOf(portuguese), PT)
  for (const language of ['*', 'fr', 'en, pt;q=0.5']) {
    assert.equal(warningsOf(await create({ 'Accept-Language': language })), EN, language)
  }
})

test('a link whose total is the sum, or that has only one of both, has no warning', async () => {
  for (const fields of [{ total: 9980 }, { total: undefined }, { items: undefined }]) {
    const { create } = await linked(fields)
    const reply = await create()
    assert.equal(reply.status, 201, reply.text)
    assert.ok(!('warnings' in reply.body.data), reply.text)
    assert.equal(warningsOf(reply), null)
  }
})

test('a total above the items and one of a subscription link are told too', async () => {
  const { create } = await linked({ total: 10_000 })
  assert.match(warningsOf(await create())!, /^total: 10000 cents .* 9980 cents/)
  const client = await api.client()
  const items = [{ productId: await makeRecurring(client), quantity: 1 }]
  const reply = await client.post(PATH, { customer: payer(), items, total: 1000 })
  assert.match(warningsOf(reply)!, /^total: 1000 cents .* 1990 cents/)
})

test('version 2025-01-01 has the header, and its answer as it was', async () => {
  const { create } = await linked()
  const headers = { 'X-Api-Version': '2025-01-01' }
  const reply = await create(headers)
  assert.deepEqual(Object.keys(reply.body), ['id', 'url', 'devMode', 'total', 'externalId'])
  assert.equal(warningsOf(reply), EN)
})

for (const version of ['2026-08-16', '2025-01-01']) {
  test(`${version}: a repeated request gets the same bytes and the same header`, async () => {
    const { client, create } = await linked()
    const headers = { 'X-Api-Version': version, 'Idempotency-Key': 'k', 'Accept-Language': 'pt' }
    const first = await create(headers)
    assert.equal(warningsOf(first), PT)
    const [{ productId }] = (await client.get(`/charge/${first.body.data?.id ?? first.body.id}`))
      .body.data.items
    await client.put(`/product/${productId}`, { price: 500 })
    for (const language of ['pt', 'en']) {
      const again = await create({ ...headers, 'Accept-Language': language })
      assert.equal(again.headers.get('idempotent-replayed'), 'true')
      assert.deepEqual([again.text, warningsOf(again)], [first.text, PT])
    }
    const { create: createOther } = await linked({ total: 9980 })
    await createOther(headers)
    assert.equal(warningsOf(await createOther(headers)), null)
  })
}

test('a link that is found again by its externalId has its warning again', async () => {
  const { create } = await linked({ externalId: 'pedido-7' })
  const [first, again] = [await create(), await create()]
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual([again.body.data, warningsOf(again)], [first.body.data, EN])
})

test('an agent is told in the sentence and in the data', async () => {
  const client = await api.client()
  const agent = await connectAgent(api, client)
  const args = { customer: payer(), items: await itemsOf(client), total: 1000 }
  const { text, data } = await agent.call('create_payment_link', { ...args, idempotencyKey: 'a' })
  assert.deepEqual(data.warnings, [EN])
  assert.ok(text.includes(`created. ${EN}`), text)
})
