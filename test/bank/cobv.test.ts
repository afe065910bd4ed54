import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toCents as cents } from '../../src/lib/money.ts'
import { amountOn, type DueTerms, INTEREST_TYPES } from '../../src/pix/due-amount.ts'
import { addDays, startOfDay } from '../../src/pix/local-time.ts'
import { createRandom } from '../faults/random.ts'
import { KEY, open, PERIOD, TXID } from './scene.ts'

// The clock is on Thursday, 20 August 2026. A Friday:
const DUE = '2026-08-28'
const PATH = `/cobv/${TXID}`

const cobv = (valor = {}, fields = {}) => ({
  calendario: { dataDeVencimento: DUE, validadeAposVencimento: 5 },
  devedor: { cpf: '52998224725', nome: 'Maria da Silva' },
  valor: { original: '100.00', ...valor },
  chave: KEY,
  ...fields,
})

const LATE = {
  multa: { modalidade: 2, valorPerc: '3.00' },
  juros: { modalidade: 2, valorPerc: '1.00' },
}

test('a charge with a due date is created, changed, listed and removed, apart from others', async () => {
  const { bank, call } = await open()
  const made = await call('PUT', PATH, cobv(LATE))
  assert.deepEqual([made.status, made.body.status, made.body.loc.tipoCob], [201, 'ATIVA', 'cobv'])
  assert.match(made.body.location, /\/cobv\//)
  assert.deepEqual(made.body.valor, { original: '100.00', ...LATE })
  assert.equal((await call('GET', `/cob/${TXID}`)).status, 404)
  assert.equal((await call('GET', PATH)).body.calendario.validadeAposVencimento, 5)
  const multa = { modalidade: 1, valorPerc: '2.50' }
  const changed = await call('PATCH', PATH, { valor: { multa } })
  assert.deepEqual([changed.body.revisao, changed.body.valor.multa], [1, multa])
  assert.deepEqual(changed.body.valor.juros, LATE.juros)
  assert.equal((await call('GET', `/cobv${PERIOD}`)).body.cobs.length, 1)
  assert.equal((await call('GET', `/cob${PERIOD}`)).body.cobs.length, 0)
  const removal = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }
  assert.equal((await call('PATCH', PATH, removal)).body.status, removal.status)
  const again = await call('PATCH', PATH, removal)
  assert.deepEqual([again.status, again.body.type.split('/').at(-1)], [400, 'CobVOperacaoInvalida'])
  const missing = await call('GET', `/cobv/${TXID.toUpperCase()}`)
  assert.match(missing.body.type, /CobVNaoEncontrada$/)
  assert.deepEqual(bank.violations(), [])
})

test('the example of the document: two days late, 3 % and 1 % a day, are 105,00 with their parts', async () => {
  const { bank, call } = await open()
  const due = { dataDeVencimento: '2026-08-25', validadeAposVencimento: 5 }
  const { body } = await call('PUT', PATH, cobv(LATE, { calendario: due }))
  const pix = bank.payer.pay(body.pixCopiaECola, { at: startOfDay('2026-08-27') })
  assert.equal(pix.amount, 10_500)
  const read = await call('GET', `/pix/${pix.endToEndId}`)
  assert.deepEqual(read.body.componentesValor, {
    original: { valor: '100.00' },
    multa: { valor: '3.00' },
    juros: { valor: '2.00' },
  })
  bank.style({ namesParts: false })
  assert.equal('componentesValor' in (await call('GET', `/pix/${pix.endToEndId}`)).body, false)
  assert.deepEqual(bank.violations(), [])
})

const dated = (data: string, valorPerc = '1.00') => ({ data, valorPerc })
const WRONG: [rule: RegExp, body: object][] = [
  [/anterior à data de criação/, cobv({}, { calendario: { dataDeVencimento: '2026-08-19' } })],
  [
    /menor do que zero/,
    cobv({}, { calendario: { dataDeVencimento: DUE, validadeAposVencimento: -1 } }),
  ],
  [/original é zero/, cobv({ original: '0.00' })],
  [/não pertence/, cobv({}, { chave: 'outro@example.com' })],
  [/abatimento representa/, cobv({ abatimento: { modalidade: 1, valorPerc: '100.00' } })],
  [/abatimento representa/, cobv({ abatimento: { modalidade: 2, valorPerc: '100.00' } })],
  [
    /maior ou igual/,
    cobv({ desconto: { modalidade: 1, descontoDataFixa: [dated(DUE, '100.00')] } }),
  ],
  [/maior ou igual/, cobv({ desconto: { modalidade: 5, valorPerc: '100.00' } })],
  [/posterior/, cobv({ desconto: { modalidade: 2, descontoDataFixa: [dated('2026-08-29')] } })],
  [
    /porém valorPerc/,
    cobv({ desconto: { modalidade: 1, valorPerc: '1.00', descontoDataFixa: [dated(DUE)] } }),
  ],
  [/nenhuma data/, cobv({ desconto: { modalidade: 2 } })],
  [/nenhum valorPerc/, cobv({ desconto: { modalidade: 3 } })],
  [
    /porém datas/,
    cobv({ desconto: { modalidade: 4, valorPerc: '1.00', descontoDataFixa: [dated(DUE)] } }),
  ],
]

test('each violation that the document lists is refused with its reason', async () => {
  const { bank, call } = await open()
  bank.state().foreignKeys.add('outro@example.com')
  for (const [rule, body] of WRONG) {
    const reply = await call('PUT', PATH, body)
    const said = JSON.stringify(reply.body)
    assert.ok(reply.status === 400 && rule.test(said) && /CobVOperacaoInvalida/.test(said), said)
  }
  assert.deepEqual(bank.violations(), [])
})

test('a bank without /cobv says so in either way', async () => {
  const { bank, call } = await open()
  for (const status of [403, 404] as const) {
    bank.style({ cobv: status })
    assert.equal((await call('PUT', PATH, cobv())).status, status)
    assert.equal((await call('GET', PATH)).status, status)
  }
  assert.deepEqual(bank.violations(), [])
})

test('the bank and the service come to the same amounts on every day, each by its own code', async () => {
  const { bank, call } = await open()
  const random = createRandom(34)
  const number = (least: number, most: number) => least + Math.floor(random.part() * (most - least))
  const rate = (modalidade: number, most: number) => ({
    modalidade,
    valorPerc: (number(1, most) / 100).toFixed(2),
  })
  const hundredths = ({ valorPerc }: { valorPerc: string }) => Math.round(Number(valorPerc) * 100)
  const typeOf = (modalidade: number) => (modalidade === 1 ? 'FIXED' : 'PERCENT')
  for (let i = 0; i < 60; i++) {
    const dueDate = addDays(DUE, number(0, 120))
    const original = cents(number(5000, 900_000))
    const [multa, abatimento] = [rate(number(1, 3), 1500), rate(number(1, 3), 1500)]
    const juros = rate(number(1, 9), 300)
    const early = rate(number(3, 7), 30)
    const dates = [0, 4, 9].map((days) => dated(addDays(dueDate, -days), `${10 + days}.37`))
    const isDated = random.part() < 0.5
    const desconto = isDated ? { modalidade: 1 + (i % 2), descontoDataFixa: dates } : early
    const calendario = { dataDeVencimento: dueDate, validadeAposVencimento: 30 }
    const valor = { original: (original / 100).toFixed(2), multa, juros, abatimento, desconto }
    const txid = `${TXID.slice(0, -3)}${i + 100}`
    const { body, status } = await call('PUT', `/cobv/${txid}`, cobv(valor, { calendario }))
    assert.equal(status, 201, JSON.stringify(body))
    const terms: DueTerms = {
      dueDate,
      daysAfterDue: 30,
      fine: { type: typeOf(multa.modalidade), value: hundredths(multa) },
      rebate: { type: typeOf(abatimento.modalidade), value: hundredths(abatimento) },
      interest: {
        type: INTEREST_TYPES[(juros.modalidade - 1) % 4]!,
        value: hundredths(juros),
        days: juros.modalidade > 4 ? 'BUSINESS' : 'CALENDAR',
      },
      ...(isDated
        ? {
            discounts: dates.map((one) => ({
              type: typeOf(1 + (i % 2)),
              value: hundredths(one),
              until: one.data,
            })),
          }
        : {
            discountPerDay: {
              type: typeOf(early.modalidade <= 4 ? 1 : 2),
              value: hundredths(early),
              days: early.modalidade % 2 === 0 ? ('BUSINESS' as const) : ('CALENDAR' as const),
            },
          }),
    }
    for (let n = -12; n <= 40; n += 1 + (n & 3)) {
      const on = addDays(dueDate, n)
      const { parts } = bank.payer.pay(txid, { at: startOfDay(on) })
      const { fine, interest, discount, rebate } = amountOn(original, terms, on)
      const own = { original, multa: fine, juros: interest, abatimento: rebate, desconto: discount }
      assert.deepEqual(parts, own, `${on} ${JSON.stringify(terms)}`)
    }
  }
  assert.deepEqual(bank.violations(), [])
})
