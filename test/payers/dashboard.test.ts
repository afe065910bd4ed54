import assert from 'node:assert/strict'
import { test } from 'node:test'
import { finishErasures } from '../../src/worker/erasures.ts'
import { payer, startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { makeCharge, makePaid } from '../support/payments.ts'
import { makeSubscription, RECURRENCES } from '../support/subscriptions.ts'
import { readAll } from './opened.ts'

const api = await startApi()

test('an owner erases a payer on the page of the customer, and a worker does it', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const finance = await signIn(api, client.company, { role: 'finance' })
  const paid = await makePaid(api, client, 1990)
  const open = await makeCharge(client, 500)
  const { id: subscription } = await makeSubscription(client)
  await client.post(`${RECURRENCES}/${subscription}/cancel`)
  const [customer] = (await client.get('/client')).body.data
  const path = `/customers/${customer.id}`
  assert.match((await owner.get(path)).text, /Excluir dados do pagador \(LGPD\)/)
  assert.doesNotMatch((await finance.get(path)).text, /LGPD/)
  assert.equal((await finance.get(`${path}/erase`)).status, 403)
  assert.match((await owner.get(`${path}/erase`)).text, /Não dá para desfazer/)

  const refused = await owner.post(`${path}/erase`)
  assert.equal(refused.status, 409)
  assert.match(refused.text, new RegExp(`/charges/${open.id}"`))
  assert.equal((await client.post(`/charge/${open.id}/cancel`)).status, 200)
  const done = await owner.post(`${path}/erase`)
  assert.equal(done.location, `${owner.home}/customers?done=erased`)
  assert.match((await owner.get('/customers?done=erased')).text, /estão sendo apagados/)
  assert.equal((await owner.get(path)).status, 404)

  api.clock.advance(120)
  await finishErasures(api.app)
  const text = await readAll(api, client.company.id)
  for (const value of Object.values(payer()))
    assert.ok(!text.includes(String(value)), String(value))
  const ended = await owner.get(`/subscriptions/${subscription}`)
  assert.equal(ended.status, 200, ended.text)
  assert.doesNotMatch(ended.text, /\/customers\/clnt_/)
  const charge = await owner.get(`/charges/${paid.id}`)
  assert.equal(charge.status, 200)
  assert.match(charge.text, /apagados a pedido dele/)
  assert.match(
    (await owner.get('/settings/activity')).text,
    /Dados de um pagador apagados \(LGPD\)/,
  )
})
