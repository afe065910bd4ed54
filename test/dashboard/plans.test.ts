import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'

const api = await startApi()
const client = await api.client()
const owner = await signIn(api, client.company)

const FORM = {
  planTotal: '1.000,00',
  count: '3',
  firstDueDate: '2026-08-31',
  earlyDiscount: '0,10',
  fine: '2,00',
  interest: '1,00',
  description: 'Geladeira',
  name: 'Maria da Silva',
  taxId: '123.456.789-09',
}
const idIn = (location: string | null) => /plan_\w+/.exec(location ?? '')![0]

test('a plan is made with a form, once however often it is sent, and shown with its charges', async () => {
  const once = '01k3e8r8v0e008000000000001'
  const made = await owner.post('/new/plan', { ...FORM, once })
  assert.equal(made.status, 303, made.text)
  assert.match(made.location!, /\/plans\/plan_\w+\?done=made$/)
  const again = await owner.post('/new/plan', { ...FORM, once })
  assert.equal(again.location, made.location)
  const { body } = await client.get(`/charge/plan/${idIn(made.location)}`)
  const [first] = body.data.charges
  assert.deepEqual([body.data.total, body.data.count, first.total], [100_000, 3, 33_334])
  const { data: charge } = (await client.get(`/charge/${first.id}`)).body
  assert.deepEqual(
    [charge.due.fine, charge.due.interest, charge.due.discountPerDay],
    [
      { type: 'PERCENT', value: 200 },
      { type: 'PERCENT_PER_MONTH', value: 100, days: 'CALENDAR' },
      { type: 'PERCENT', value: 10, days: 'CALENDAR' },
    ],
  )
  const page = await owner.get(`/plans/${body.data.id}`)
  assert.match(page.text, /Carnê de R\$\s1\.000,00 em 3 parcelas/)
  assert.match(page.text, /Parcela 3/)
  assert.ok(page.text.includes(body.data.url))
  assert.match((await owner.get('/plans')).text, /Geladeira/)
})

test('what is wrong with a plan is said at its field', async () => {
  const page = await owner.post('/new/plan', { ...FORM, planTotal: '12,00', firstDueDate: '' })
  assert.equal(page.status, 400)
  for (const field of ['planTotal', 'firstDueDate']) {
    assert.match(page.text, new RegExp(`id="${field}"[^>]*aria-invalid="true"`), field)
  }
  const before = await owner.post('/new/plan', { ...FORM, firstDueDate: '2026-08-19' })
  assert.match(before.text, /id="firstDueDate"[^>]*aria-invalid="true"/)
})

test('a plan is canceled after a question, and only while something is open', async () => {
  const made = await owner.post('/new/plan', FORM)
  const id = idIn(made.location)
  assert.match((await owner.get(`/plans/${id}/cancel`)).text, /Cancelar o que está em aberto\?/)
  const canceled = await owner.post(`/plans/${id}/cancel`, {})
  assert.match(canceled.location!, /done=canceled$/)
  const page = await owner.get(`/plans/${id}`)
  assert.match(page.text, /Cancelado/)
  assert.doesNotMatch(page.text, /\/cancel"/)
})
