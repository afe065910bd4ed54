import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, payer, startApi } from '../../support/api.ts'
import { makeCharge, pay, returnOf, SANDBOX_PAYMENT, stateOf } from '../../support/payments.ts'

const api = await startApi()

const MARIA = { name: 'Maria da Silva', taxId: '52998224725' }
const PAULO = { name: 'Paulo Reis', taxId: '11144477735' }

async function receive(client: Client, amount: number, from?: object): Promise<string> {
  const { status, body, text } = await client.post(SANDBOX_PAYMENT, { amount, payer: from })
  assert.equal(status, 201, text)
  return body.data.endToEndId
}

const suggestionsOf = async (client: Client, endToEndId: string, headers = {}) => {
  const path = `/payment/unmatched/${endToEndId}/suggestions`
  const { status, body, text } = await client.get(path, { headers })
  assert.equal(status, 200, text)
  return body.data
}

test('a payment to the key is suggested with its reason, and accepted in one step', async () => {
  const client = await api.client()
  const { id } = await makeCharge(client, 1990, { customer: payer(MARIA), externalId: 'pedido-1' })
  await makeCharge(client, 1990, { customer: payer(PAULO) })
  await makeCharge(client, 2990, { customer: payer(MARIA) })
  api.clock.advance(250)
  const endToEndId = await receive(client, 1990, MARIA)
  const [best, ...others] = await suggestionsOf(client, endToEndId)
  assert.deepEqual(best, {
    chargeId: id,
    amount: 1990,
    status: 'OPEN',
    externalId: 'pedido-1',
    probable: true,
    signs: ['amount', 'taxId', 'name', 'time'],
    reason: 'same amount and same CPF, 4 min later',
  })
  assert.deepEqual(
    others.map(({ amount, probable, reason }: (typeof others)[number]) => [
      amount,
      probable,
      reason,
    ]),
    [
      [2990, false, 'same CPF and another amount, 4 min later'],
      [1990, false, 'same amount, 4 min later'],
    ],
  )
  const portuguese = await suggestionsOf(client, endToEndId, { 'accept-language': 'pt-BR' })
  assert.equal(portuguese[0].reason, 'mesmo valor e mesmo CPF, 4 min depois')
  const path = `/payment/unmatched/${endToEndId}/accept`
  assert.equal((await client.post(path, { chargeId: best.chargeId })).status, 200)
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'PAID'])
  assert.deepEqual(await suggestionsOf(client, endToEndId), [])
})

test('the amount that a due date asks on that day counts, and the one it was made with does not', async () => {
  const client = await api.client()
  const fine = { type: 'FIXED', value: 300 }
  const due = { dueDate: '2026-08-21', fine, customer: payer(MARIA) }
  const { id } = await makeCharge(client, 5000, due)
  api.clock.advance(5 * 86_400)
  const [best] = await suggestionsOf(client, await receive(client, 5300, { name: 'MARIA SILVA' }))
  assert.deepEqual([best.chargeId, best.amount, best.probable], [id, 5300, true])
  assert.equal(best.reason, 'same amount as was asked on that day and similar name, 5 days later')
  const [other] = await suggestionsOf(client, await receive(client, 5000, MARIA))
  assert.deepEqual([other.chargeId, other.probable], [id, false])
})

test('what the payment names is first, and a charge that is paid is not suggested', async () => {
  const client = await api.client()
  const [one, other] = [
    await makeCharge(client, 1990, { customer: payer(MARIA) }),
    await makeCharge(client, 1990, { customer: payer(MARIA) }),
  ]
  const short = await pay(api, one.brCode, { amount: 1000 })
  const [named] = await suggestionsOf(client, short)
  assert.deepEqual([named.chargeId, named.signs[0], named.probable], [one.id, 'named', true])
  assert.match(named.reason, /^named by the payment and another amount, /)
  await pay(api, one.brCode)
  const twice = await pay(api, one.brCode)
  const ids = (await suggestionsOf(client, twice)).map(
    ({ chargeId }: { chargeId: string }) => chargeId,
  )
  assert.deepEqual(ids, [other.id])
})

test('at most three are suggested, and nothing of another company', async () => {
  const client = await api.client()
  for (let n = 0; n < 5; n++) await makeCharge(client, 1990, { customer: payer(MARIA) })
  const endToEndId = await receive(client, 1990, MARIA)
  assert.equal((await suggestionsOf(client, endToEndId)).length, 3)
  const stranger = await api.client()
  const path = `/payment/unmatched/${endToEndId}/suggestions`
  assert.equal((await stranger.get(path)).status, 404)
  assert.equal((await client.get('/payment/unmatched/%00/suggestions')).status, 404)
  const limited = await api.client({}, { scopes: ['payments:write'] })
  assert.equal((await limited.get(path)).status, 403)
})

test('what the bank has returned of a payment is not counted: the rest is compared', async () => {
  const client = await api.client()
  const [whole, rest] = [
    await makeCharge(client, 1990, { customer: payer(MARIA) }),
    await makeCharge(client, 990, { customer: payer(MARIA) }),
  ]
  const endToEndId = await receive(client, 1990, MARIA)
  const path = returnOf(endToEndId)
  assert.equal((await client.post(path, { value: 1000 })).status, 201)
  const found = await suggestionsOf(client, endToEndId)
  const seen = found.map(({ chargeId, probable }: (typeof found)[number]) => [chargeId, probable])
  assert.deepEqual(seen, [
    [rest.id, true],
    [whole.id, false],
  ])
})
