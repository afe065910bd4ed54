import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { VERSIONS } from '../../src/versions/history.ts'
import { release } from '../api/every-money-route.ts'
import { payer, startApi } from '../support/api.ts'

const api = await startApi()
const client = await api.client()
const OLD = { headers: { 'X-Api-Version': '2025-01-01' } }

const made = await client.post('/charge/pix', { amount: 1990, customer: payer(), devMode: true })
const { id } = made.body.data
await client.post(`/charge/${id}/simulate-payment`)
await release(api, client)

test('2025-01-01 spells RECEIVED as RECIEVED wherever a charge shows its payment status', async () => {
  const answers = [
    await client.get(`/charge/${id}`, OLD),
    await client.get(`/charge/${id}/status`, OLD),
    await client.get('/charge', OLD),
    await client.post(`/charge/${id}/simulate-payment`, undefined, OLD),
  ]
  for (const { status, body, text } of answers) {
    assert.equal(status, 200, text)
    assert.equal([body].flat()[0].paymentStatus, 'RECIEVED')
    assert.doesNotMatch(text, /RECEIVED/)
  }
})

test('the newest version shows RECEIVED and knows no other spelling', async () => {
  const { body, text } = await client.get(`/charge/${id}`)
  assert.equal(body.data.paymentStatus, 'RECEIVED')
  assert.doesNotMatch(text, /RECIEVED/)
  const refused = await client.get('/charge?paymentStatus=RECIEVED')
  assert.deepEqual([refused.status, refused.body.errors[0].code], [400, 'invalid_value'])
  assert.doesNotMatch(refused.body.errors[0].description, /RECIEVED/)
})

test('clients of 2025-01-01 filter by what they are shown, or by the right spelling', async () => {
  for (const spelling of ['RECIEVED', 'RECEIVED']) {
    const { status, body } = await client.get(`/charge?paymentStatus=${spelling}`, OLD)
    assert.equal(status, 200)
    assert.deepEqual(
      body.map((charge: { id: string }) => charge.id),
      [id],
    )
  }
})

test('the body of an event has no version: it says RECEIVED to everybody', async () => {
  const { body } = await client.get('/event?type=charge.received', OLD)
  assert.equal(body[0].data.charge.status, 'RECEIVED')
})

/** Anything a client may have sent, with what looks like our field in it. */
const text = fc.oneof(
  fc.string(),
  fc.constantFrom('RECEIVED', '"paymentStatus":"RECEIVED"', '\\"paymentStatus\\":\\"RECEIVED'),
)
const status = fc.constantFrom('PENDING', 'PAID', 'RECEIVED')
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.record({ paymentStatus: status, externalId: text, charges: tie('tree') }),
  ),
}))

/** By hand, field by field. */
function misspell(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(misspell)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, inside]) => [
    name,
    name === 'paymentStatus' && inside === 'RECEIVED' ? 'RECIEVED' : misspell(inside),
  ])
  return Object.fromEntries(fields)
}

test('only our own field is misspelled, at any depth, never what a client wrote', () => {
  const [{ success }] = VERSIONS as [(typeof VERSIONS)[number]]
  fc.assert(
    fc.property(tree, (data) => {
      const answer = success(200, 'Found.', (value) => JSON.stringify(value), data)
      assert.deepEqual(JSON.parse(answer), misspell(JSON.parse(JSON.stringify(data))))
    }),
  )
})
