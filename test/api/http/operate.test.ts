import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCOPES_OF } from '../../../src/core/people/rules.ts'
import { createOperate } from '../../../src/http/operate.ts'
import { Problem } from '../../../src/lib/problems.ts'
import { startApi } from '../../support/api.ts'
import { makeCharge } from '../../support/payments.ts'

const api = await startApi()
const { company, ...client } = await api.client()
const operate = createOperate(api.app, 'pages')
const author = { kind: 'person', id: company.id, name: 'ana@example.com', address: null } as const
const owner = { app: api.app, company, scopes: SCOPES_OF.owner, author }
const codeOf = (error: unknown) => (error instanceof Problem ? error.code : error)

test('a form that is sent twice acts once, and shows the same both times', async () => {
  const body = { name: 'Café', description: 'Um café', price: 700 }
  const make = () =>
    operate<{ id: string }>('createProduct', owner, { body, once: 'the same form' })
  const [first, second] = await Promise.all([make(), make()])
  assert.deepEqual(second.data, first.data)
  assert.deepEqual([first.isRepeated, second.isRepeated].sort(), [false, true])
  const { data } = await operate<object[]>('listProducts', owner)
  assert.equal(data.length, 1)
  const other = { ...body, price: 800 }
  await assert.rejects(
    operate('createProduct', owner, { body: other, once: 'the same form' }),
    (error) => codeOf(error) === 'idempotency_key_reused',
  )
})

test('what a form was refused with is shown again when it is sent again', async () => {
  const { id } = await makeCharge({ company, ...client }, 700)
  const given = { params: { chargeId: id }, body: { amount: 100 }, once: 'too early' }
  for (const _try of [1, 2]) {
    await assert.rejects(
      operate('refundCharge', owner, given),
      (error) => codeOf(error) === 'refund_not_possible',
    )
  }
})

test('a person does only what the scopes of their role allow', async () => {
  const viewer = { app: api.app, company, scopes: SCOPES_OF.viewer, author }
  const body = { name: 'Pão', description: '', price: 100 }
  await assert.rejects(
    operate('createProduct', viewer, { body }),
    (error) => codeOf(error) === 'insufficient_scope',
  )
  await operate('listProducts', viewer)
})

test('a field that breaks its rule is named, and a list says where it goes on', async () => {
  await assert.rejects(
    operate('createPixCharge', owner, { body: { amount: 0 } }),
    (error) =>
      error instanceof Problem && error.items.some((item) => /^amount:/.test(item.description)),
  )
  await Promise.all([1, 2, 3].map(() => makeCharge({ company, ...client }, 500)))
  const page = await operate<{ id: string }[]>('listCharges', owner, { query: { limit: '2' } })
  assert.equal(page.data.length, 2)
  assert.equal(page.next, page.data[1]!.id)
})
