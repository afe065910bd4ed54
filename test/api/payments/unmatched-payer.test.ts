import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reconcileDue } from '../../../src/worker/due.ts'
import { type Client, startApi } from '../../support/api.ts'
import { openBanked } from '../../support/bank.ts'
import { makePaid, order } from '../../support/payments.ts'

const api = await startApi()

const payersOf = async (client: Client) => {
  const { body } = await client.get('/payment/unmatched')
  return body.data.map(({ payer }: { payer?: object }) => payer)
}

/** All that is stored of payments, as text. */
const stored = async () =>
  JSON.stringify([
    await api.rows(`select p::text from payments p`),
    await api.rows(`select t::text from simulated_transfers t`),
    await api.rows('select payload from events'),
  ])

test('unmatched money shows who has sent it, with the tax id masked, and keeps it sealed', async () => {
  const client = await api.client()
  const { brCode } = await makePaid(api, client, 1990)
  const payer = { name: 'João Pagador', taxId: '52998224725' }
  assert.equal((await order(api, { brCode, payer })).status, 201)
  assert.equal((await order(api, { brCode, payer: { taxId: '11222333000181' } })).status, 201)
  assert.equal((await order(api, { brCode })).status, 201)
  const shown = { name: 'João Pagador', taxId: '***.***.247-25' }
  assert.deepEqual(await payersOf(client), [undefined, { taxId: '**.***.***/0001-81' }, shown])
  const [, , { endToEndId }] = (await client.get('/payment/unmatched')).body.data
  const kept = await client.post(`/payment/unmatched/${endToEndId}/accept`)
  assert.deepEqual(kept.body.data.payer, shown)
  const text = await stored()
  for (const secret of ['João', '52998224725', '11222333000181']) assert.ok(!text.includes(secret))
})

test('of money that pays a charge the bank’s name of the payer is not kept', async () => {
  const client = await api.client()
  const { brCode } = (
    await client.post('/charge/pix', {
      amount: 1990,
      customer: { name: 'Maria', taxId: '52998224725' },
    })
  ).body.data
  await order(api, { brCode, payer: { name: 'João Pagador' } })
  const rows = await api.rows('select status, payer_sealed from payments where company_id = $1', [
    client.company.id,
  ])
  assert.deepEqual(rows, [{ status: 'MATCHED', payer_sealed: null }])
})

test('payers are read as banks write them: beside the document, in extras, or masked', async () => {
  const client = await openBanked(api)
  const key = client.company.pixKey
  const cases: [extras: Record<string, unknown>, shown: object | undefined][] = [
    [
      { pagador: { nome: 'Ana Lima', cpf: '529.982.247-25' } },
      { name: 'Ana Lima', taxId: '***.***.247-25' },
    ],
    [
      { gnExtras: { pagador: { nome: 'Loja', cnpj: '11222333000181' } } },
      { name: 'Loja', taxId: '**.***.***/0001-81' },
    ],
    [{ pagador: { cpf: '***.982.247-**' } }, { taxId: '***.982.247-**' }],
    [{ pagador: { nome: 'Rui', cpf: 'nenhum' } }, { name: 'Rui', taxId: '***' }],
    [{ pagador: 'Ana', gnExtras: [1] }, undefined],
    [{ pagador: { nome: 7, cpf: null } }, undefined],
    [{}, undefined],
  ]
  for (const [i, [extras]] of cases.entries()) {
    client.bank.payer.payKey(key, 1000 + i, { extras })
    api.clock.advance(1)
  }
  api.clock.advance(120)
  await reconcileDue.run(api.app)
  assert.deepEqual(await payersOf(client), cases.map(([, shown]) => shown).toReversed())
})
