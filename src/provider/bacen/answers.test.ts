import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GATEWAY_404 } from '../../../test/bank/style.ts'
import { notAnswered, notDone, replyOf } from './answers.ts'

const answer = (status: number, body: unknown) => replyOf(status, JSON.stringify(body))

test('any 2xx with fields, or with nothing, is done', () => {
  for (const status of [200, 201, 202, 206]) {
    assert.deepEqual(answer(status, { a: 1 }), { kind: 'done', body: { a: 1 } })
  }
  assert.deepEqual(replyOf(200, ''), { kind: 'done', body: {} })
  assert.deepEqual(replyOf(204, ''), { kind: 'done', body: {}, isEmpty: true })
})

test('what says nothing about the order leaves it unknown', () => {
  const page = '<html><body>Em manutenção</body></html>'
  for (const status of [200, 301, 302, 400, 401, 403, 404, 410, 500, 502, 503, 504]) {
    assert.equal(replyOf(status, page).kind, 'unknown', String(status))
  }
  for (const status of [401, 408, 425, 429, 500, 502, 503, 504]) {
    assert.equal(answer(status, { title: 'Indisponível' }).kind, 'unknown', String(status))
  }
  for (const text of ['"x"', '7', 'null', '{', 'true']) {
    assert.equal(replyOf(200, text).kind, 'unknown', text)
    assert.equal(replyOf(400, text).kind, 'unknown', text)
  }
})

test('a web server that wants another certificate is understood', () => {
  for (const words of ['No required SSL certificate was sent', 'The SSL certificate error']) {
    const page = `<html><body><center>${words}</center>nginx</body></html>`
    const reason = 'the bank does not accept the certificate'
    assert.deepEqual(replyOf(400, page), { kind: 'unknown', reason, isUnauthorized: false })
  }
})

test('what there is not is missing, by its status or by the name of the fault', () => {
  const type = 'https://pix.bcb.gov.br/api/v2/error/PixNaoEncontrado'
  assert.equal(answer(404, { type, title: 'Não Encontrado', status: 404 }).kind, 'missing')
  assert.equal(answer(410, { type, title: 'Removido' }).kind, 'missing')
  assert.equal(answer(400, { nome: 'pix_nao_encontrado', mensagem: 'x' }).kind, 'missing')
  assert.equal(answer(400, { type, title: 'x' }).kind, 'missing')
  assert.equal(answer(400, { nome: 'valor_invalido', mensagem: 'x' }).kind, 'refused')
})

test('a 404 is an answer only in the form of a bank', () => {
  const banks = [
    { type: 'https://pix.bcb.gov.br/api/v2/error/CobNaoEncontrado', title: 'Não Encontrado' },
    { title: 'Não encontrado', detail: 'Entidade não encontrada.', timestamp: 'x' },
    { nome: 'cobranca_nao_encontrada', mensagem: 'Cobrança não encontrada' },
    { erros: [{ codigo: '1', mensagem: 'Não foi localizado o Pix informado.' }] },
    { mensagem: 'Nenhum pagamento encontrado' },
    { mensagens: [{ mensagem: 'Registro inexistente', codigo: '5404' }] },
    { codigoErro: 404, mensagemErro: 'Erro', detalheErro: 'O recurso não foi encontrado' },
  ]
  for (const body of banks) assert.equal(answer(404, body).kind, 'missing', JSON.stringify(body))
  assert.equal(replyOf(404, '').kind, 'unknown')
  for (const body of [...GATEWAY_404, {}, [], { title: 'Removido' }]) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    for (const status of [404, 410]) assert.equal(replyOf(status, text).kind, 'unknown', text)
  }
})

test('each shape of refusal gives its words', () => {
  const shapes: [body: unknown, reason: string][] = [
    [
      { type: 'x', title: 'Inválida', status: 400, detail: 'A cobrança é inválida.' },
      'A cobrança é inválida',
    ],
    [
      {
        title: 'Cobrança inválida.',
        violacoes: [
          { propriedade: 'cob.valor.original', razao: 'deve ser > 0', valor: '52998224725' },
        ],
      },
      'Cobrança inválida; cob valor original: deve ser > 0',
    ],
    [{ nome: 'valor_invalido', mensagem: 'Valor inválido' }, 'Valor inválido'],
    [
      { erros: [{ codigo: '4769798', mensagem: 'Chave não pertence ao usuário.' }] },
      'Chave não pertence ao usuário',
    ],
    [{ statusCode: 400, error: 'Bad Request', message: 'Campo ausente' }, 'Campo ausente'],
    [{ mensagens: [{ mensagem: 'Dado inválido', codigo: '1' }] }, 'Dado inválido'],
    [{ error: 'invalid_scope' }, 'invalid_scope'],
    [[{ message: 'Não' }], 'Não'],
    [{}, 'the bank answers with status 422'],
    [{ detail: { a: 1 }, title: null }, 'the bank answers with status 422'],
  ]
  for (const [body, reason] of shapes) {
    assert.deepEqual(answer(422, body), { kind: 'refused', reason, status: 422 })
  }
})

test('a refusal ends an order, but it is no answer to a question', () => {
  const refusal = { kind: 'refused', reason: 'não', status: 400 } as const
  assert.deepEqual(notDone(refusal), { kind: 'rejected', reason: 'não' })
  assert.deepEqual(notAnswered(refusal), { kind: 'unknown', reason: 'não' })
  assert.equal(notDone({ kind: 'unknown', reason: 'silêncio' }).kind, 'unknown')
})

test('no answer that a bank could give makes the reading fail', () => {
  const text = fc.oneof(fc.string(), fc.json())
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 599 }), text, (status, body) => {
      const { kind } = replyOf(status, body)
      if (kind === 'done') assert.ok(status >= 200 && status < 300)
      if (kind === 'refused' || kind === 'missing') assert.ok(status >= 400 && status < 500)
    }),
  )
})
