import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from '../../../src/pix/brcode.ts'
import { payer, startApi } from '../../support/api.ts'
import { decide, makeSubscription, readSubscription } from '../../support/subscriptions.ts'

const api = await startApi()
const shop = await api.client()

/** The path of the place that a code points to. */
function pathOf(code: string): string {
  const read = parse(code)
  const location = read.kind === 'dynamic' ? read.location : ''
  const place = read.kind === 'recurrence' ? read.recurrenceLocation : location
  assert.ok(place.startsWith('vintem.test/'), code)
  return place.slice('vintem.test'.length)
}

async function charge(fields: object = {}) {
  const { body } = await shop.post('/charge/pix', { amount: 123456, customer: payer(), ...fields })
  const read = await shop.get(`/charge/${body.data.id}`)
  return { id: body.data.id as string, path: pathOf(read.body.data.brCode) }
}

test('where a code points to is what is to be paid, and nobody’s data', async () => {
  const { id, path } = await charge({ expiresIn: 600 })
  const reply = await api.call('GET', path)
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.body, {
    revisao: 0,
    calendario: {
      criacao: '2026-08-20T15:00:00.000Z',
      apresentacao: '2026-08-20T15:00:00.000Z',
      expiracao: 600,
    },
    txid: id.slice('charge_'.length),
    status: 'ATIVA',
    valor: { original: '1234.56' },
    chave: shop.company.pixKey,
  })
  assert.equal(reply.headers.get('cache-control'), 'no-store')
})

test('it follows the charge: paid, and taken back by the merchant', async () => {
  const paid = await charge({ devMode: true })
  await shop.post(`/charge/${paid.id}/simulate-payment`)
  assert.equal((await api.call('GET', paid.path)).body.status, 'CONCLUIDA')
  const canceled = await charge()
  await shop.post(`/charge/${canceled.id}/cancel`)
  const { status } = (await api.call('GET', canceled.path)).body
  assert.equal(status, 'REMOVIDA_PELO_USUARIO_RECEBEDOR')
})

test('where a code to agree to points to is what is agreed to, and nobody’s data', async () => {
  const { id, emv } = await makeSubscription(shop, { price: 4990 })
  const { externalRecurrenceId } = await readSubscription(shop, id)
  const reply = await api.call('GET', pathOf(emv))
  assert.equal(reply.status, 200)
  const created = { status: 'CRIADA', data: '2026-08-20T15:00:00.000Z' }
  assert.deepEqual(reply.body, {
    idRec: externalRecurrenceId,
    vinculo: { contrato: id.slice('rec_'.length) },
    valor: { valorRec: '49.90' },
    calendario: { dataInicial: '2026-08-20', periodicidade: 'MENSAL' },
    recebedor: { nome: shop.company.name, ispbParticipante: '99999999' },
    politicaRetentativa: 'PERMITE_3R_7D',
    atualizacao: [created],
  })
  await decide(api, emv, 'approve')
  const { atualizacao } = (await api.call('GET', pathOf(emv))).body
  assert.deepEqual(atualizacao, [created, { ...created, status: 'APROVADA' }])
})

test('what is no location of the simulated bank is not found', async () => {
  const { path } = await charge()
  const other = path.slice(0, -3) + (path.endsWith('AAA') ? 'BBB' : 'AAA')
  for (const wrong of [other, '/cob/x', '/rec/x', path.replace('/cob/', '/rec/')]) {
    assert.equal((await api.call('GET', wrong)).status, 404, wrong)
  }
})
