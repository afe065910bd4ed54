import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from '../../src/pix/brcode.ts'
import { addDays } from '../../src/pix/local-time.ts'
import { openCaller } from './caller.ts'
import { trust } from './certificates.ts'
import { charge, KEY, open, PERIOD, TXID } from './scene.ts'

const rec = (loc: number, today: string, fields = {}) => ({
  vinculo: { objeto: 'Pão', contrato: 'c1', devedor: { cpf: '52998224725', nome: 'Maria' } },
  calendario: { dataInicial: today, periodicidade: 'MENSAL' },
  valor: { valorRec: '19.90' },
  politicaRetentativa: 'PERMITE_3R_7D',
  loc,
  ...fields,
})

const cobr = (idRec: string, due: string) => ({
  idRec,
  calendario: { dataDeVencimento: due },
  valor: { original: '19.90' },
  ajusteDiaUtil: false,
  recebedor: { agencia: '0001', conta: '123456', tipoConta: 'CORRENTE' },
})

test('nobody connects without a valid certificate of the bank', async () => {
  const { bank } = await open()
  const identities = [null, (await trust()).foreign(), bank.credentials.expired]
  for (const identity of identities) {
    const stranger = openCaller(bank, identity)
    await assert.rejects(stranger.token())
    await stranger.close()
  }
  assert.deepEqual(bank.state().requests, [])
})

test('a token is given to the client alone, ends, and opens what its scopes name', async () => {
  const { bank, clock, send, token } = await open()
  const wrong = { authorization: `Basic ${btoa('id:wrong')}` }
  const form = { ...wrong, 'content-type': 'application/x-www-form-urlencoded' }
  const denied = await send('POST', '/oauth/token', {
    headers: form,
    text: 'grant_type=client_credentials&scope=cob.read',
  })
  assert.deepEqual([denied.status, denied.body.error], [401, 'invalid_client'])
  bank.grant(['cob.read'])
  const { body } = await token('cob.read cob.write')
  assert.deepEqual([body.scope, body.expires_in], ['cob.read', 3600])
  const headers = { authorization: `Bearer ${body.access_token}` }
  const json = { ...headers, 'content-type': 'application/json' }
  const path = `/api/v2/cob/${TXID}`
  assert.equal((await send('GET', path, { headers })).status, 404)
  const written = { headers: json, text: JSON.stringify(charge()) }
  assert.equal((await send('PUT', path, written)).status, 403)
  assert.equal((await send('GET', path)).status, 401)
  clock.advance(3600)
  assert.equal((await send('GET', path, { headers })).status, 401)
  assert.deepEqual(bank.violations(), [])
})

test('a charge is created, read, paid and no longer removed, as the document says', async () => {
  const { bank, call } = await open()
  const made = await call('PUT', `/cob/${TXID}`, charge())
  assert.deepEqual([made.status, made.body.status, made.body.revisao], [201, 'ATIVA', 0])
  const code = parse(made.body.pixCopiaECola)
  assert.equal(code.kind === 'dynamic' && code.location, made.body.location)
  const again = await call('PUT', `/cob/${TXID}`, charge())
  assert.deepEqual([again.status, again.body.revisao], [201, 1])
  const pix = bank.payer.pay(made.body.pixCopiaECola)
  const read = await call('GET', `/cob/${TXID}`)
  assert.deepEqual([read.body.status, read.body.pix.length], ['CONCLUIDA', 1])
  assert.equal(read.body.pix[0].endToEndId, pix.endToEndId)
  const removal = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }
  const removed = await call('PATCH', `/cob/${TXID}`, removal)
  assert.deepEqual([removed.status, removed.type], [400, 'application/problem+json'])
  assert.match(removed.body.type, /\/CobOperacaoInvalida$/)
  assert.equal(bank.payer.pay(TXID).amount, 1234, 'a second payment is taken too')
  assert.deepEqual(bank.violations(), [])
})

test('what the document does not allow is refused and noted', async () => {
  const { bank, call } = await open()
  const wrong = [
    await call('PUT', '/cob/short', charge()),
    await call('PUT', `/cob/${TXID}`, charge({ valor: { original: '12.3' } })),
    await call('PUT', `/cob/${TXID}`, charge({ chaves: 'typo' })),
    await call('GET', '/pix?inicio=yesterday&fim=today'),
    await call('GET', `/pix${PERIOD}&page=1`),
    await call('POST', '/rec', {}),
  ]
  assert.deepEqual(new Set(wrong.map(({ status }) => status)), new Set([400]))
  assert.equal((await call('GET', '/nothing')).status, 404)
  const noted = bank.violations().join('\n')
  for (const words of [/txid/, /valor\/original/, /chaves/, /inicio/, /page/, /vinculo/, /nothing/])
    assert.match(noted, words)
  const before = bank.violations().length
  const zero = await call('PUT', `/cob/${TXID}`, charge({ valor: { original: '0.00' } }))
  assert.deepEqual([zero.status, bank.violations().length], [400, before])
})

test('a charge that exists is refused with 409 or 400 where a bank does so', async () => {
  for (const repeated of [409, 400] as const) {
    const { bank, call } = await open({ repeated })
    await call('PUT', `/cob/${TXID}`, charge())
    assert.equal((await call('PUT', `/cob/${TXID}`, charge())).status, repeated)
    assert.deepEqual(bank.violations(), [])
  }
})

test('Pix are read and listed page by page, with a txid or without', async () => {
  const { bank, call, clock } = await open({ mostPerPage: 2 })
  for (let i = 0; i < 5; i++) {
    bank.payer.payKey(KEY, 100 + i)
    clock.advance(60)
  }
  const first = await call('GET', `/pix${PERIOD}`)
  assert.deepEqual(first.body.parametros.paginacao, {
    paginaAtual: 0,
    itensPorPagina: 2,
    quantidadeDePaginas: 3,
    quantidadeTotalDeItens: 5,
  })
  const last = await call('GET', `/pix${PERIOD}&paginacao.paginaAtual=2`)
  assert.deepEqual(
    last.body.pix.map(({ valor }: { valor: string }) => valor),
    ['1.04'],
  )
  const [{ endToEndId }] = last.body.pix
  assert.equal((await call('GET', `/pix/${endToEndId}`)).body.txid, undefined)
  const missing = await call('GET', `/pix/${'E'.repeat(32)}`)
  assert.match(missing.body.type, /PixNaoEncontrado$/)
  assert.deepEqual(bank.violations(), [])
})

test('a refund is done once, never beyond what was paid, at once, later or not at all', async () => {
  const { bank, call, clock } = await open()
  const { endToEndId } = bank.payer.payKey(KEY, 1000)
  const put = (id: string, valor: string) =>
    call('PUT', `/pix/${endToEndId}/devolucao/${id}`, { valor })
  const done = await put('r1', '4.00')
  assert.deepEqual([done.status, done.body.status], [201, 'DEVOLVIDO'])
  assert.match(done.body.rtrId, /^D\d{8}\d{12}\w{11}$/)
  assert.equal((await put('r1', '4.00')).status, 400)
  assert.equal((await put('r2', '6.01')).status, 400)
  bank.course({ refunds: 'later' })
  assert.equal((await put('r3', '6.00')).body.status, 'EM_PROCESSAMENTO')
  bank.finishRefunds(false)
  const failed = await call('GET', `/pix/${endToEndId}/devolucao/r3`)
  assert.equal(failed.body.status, 'NAO_REALIZADO')
  assert.equal((await put('r4', '6.00')).status, 201)
  assert.equal((await call('GET', `/pix/${endToEndId}/devolucao/none`)).status, 404)
  clock.advance(91 * 86_400)
  bank.payer.payKey(KEY, 1)
  assert.deepEqual(bank.violations(), [])
})

test('a recurrence is offered, approved, collected with retries, and ended', async () => {
  const { bank, call, clock, today } = await open()
  const loc = (await call('POST', '/locrec')).body
  const made = await call('POST', '/rec', rec(loc.id, today))
  assert.deepEqual([made.status, made.body.status], [201, 'CRIADA'])
  assert.equal((await call('POST', '/rec', rec(loc.id, today))).status, 400, 'the place is taken')
  const { idRec } = made.body
  const read = await call('GET', `/rec/${idRec}`)
  assert.equal(parse(read.body.dadosQR.pixCopiaECola).kind, 'recurrence')
  const due = addDays(today, 3)
  const early = await call('PUT', `/cobr/${TXID}`, cobr(idRec, due))
  assert.equal(early.status, 400, 'nobody has approved it')
  bank.payer.approve(read.body.dadosQR.pixCopiaECola)
  assert.equal((await call('PUT', `/cobr/${TXID}`, cobr(idRec, addDays(today, 1)))).status, 400)
  assert.equal((await call('PUT', `/cobr/${TXID}`, cobr(idRec, due))).status, 201)
  const other = TXID.replace('a1', 'b1')
  assert.equal((await call('PUT', `/cobr/${other}`, cobr(idRec, due))).status, 400, 'same cycle')
  clock.advance(3 * 86_400)
  const retry = () => call('POST', `/cobr/${TXID}/retentativa/${addDays(due, 1)}`)
  assert.equal((await retry()).status, 400, 'an attempt waits')
  bank.collect(due, () => 'REJEITADA')
  assert.equal((await retry()).status, 201)
  clock.advance(86_400)
  bank.collect(addDays(due, 1))
  const paid = (await call('GET', `/cobr/${TXID}`)).body
  assert.deepEqual([paid.status, paid.tentativas.length], ['CONCLUIDA', 2])
  const found = await call('GET', `/pix/${paid.tentativas[1].endToEndId}`)
  assert.equal(found.body.txid, TXID)
  const ended = await call('PATCH', `/rec/${idRec}`, { status: 'CANCELADA' })
  assert.deepEqual([ended.status, ended.body.status], [200, 'CANCELADA'])
  assert.equal((await call('PATCH', `/rec/${idRec}`, { status: 'CANCELADA' })).status, 400)
  const list = (await call('GET', `/rec${PERIOD}`)).body
  assert.deepEqual([list.recs.length, list.recs[0].vinculo.contrato], [1, 'c1'])
  assert.deepEqual(bank.violations(), [])
})

test('a collection can be canceled before its day, and ends with its recurrence', async () => {
  const { bank, call, clock, today } = await open()
  const txids = [TXID, TXID.replace('a1', 'b1')]
  for (const txid of txids) {
    const loc = (await call('POST', '/locrec')).body
    const { idRec } = (await call('POST', '/rec', rec(loc.id, today))).body
    bank.payer.approve(idRec)
    await call('PUT', `/cobr/${txid}`, cobr(idRec, addDays(today, 2)))
  }
  const cancel = () => call('PATCH', `/cobr/${txids[0]}`, { status: 'CANCELADA' })
  assert.equal((await cancel()).body.status, 'CANCELADA')
  assert.equal((await cancel()).status, 400)
  clock.advance(2 * 86_400)
  const late = await call('PATCH', `/cobr/${txids[1]}`, { status: 'CANCELADA' })
  assert.equal(late.status, 400)
  bank.payer.cancel([...bank.state().recs.keys()][1]!)
  const ended = (await call('GET', `/cobr/${txids[1]}`)).body
  assert.deepEqual([ended.status, ended.tentativas[0].status], ['CANCELADA', 'CANCELADA'])
  assert.deepEqual(bank.violations(), [])
})
