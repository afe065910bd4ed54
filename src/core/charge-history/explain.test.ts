import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId, toPublic, type Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { type Charge, newCharge, UNMATCHED_REASONS } from '../charges/rules.ts'
import type { Dispute } from '../disputes/rules.ts'
import { DISPUTE_STATES } from '../disputes/rules.ts'
import { PAYMENT_STATES, type Payment } from '../payments/rules.ts'
import { REFUND_STATES, type Refund } from '../refunds/rules.ts'
import { type Explained, explain } from './explain.ts'

const company = { name: 'Padaria Sol' }
const link = 'https://pix.example/pay/token'
const now = new Date('2026-11-19T15:00:00Z')
const none = toCents(0)
const companyId = newId()
const E2E = 'E00000000202611191200aaaaaaaaaaa'
const OTHER = 'E00000000202611191300bbbbbbbbbbb'
const RETURN = 'D00000000202611191400ccccccccccc'
const payer = { name: 'Maria da Silva', index: Buffer.from('i'), sealed: Buffer.from('s') }

const chargeOf = (given: Partial<Charge> = {}): Charge => ({
  ...newCharge({
    companyId,
    id: newId(),
    kind: 'PIX',
    amount: toCents(4990),
    createdAt: new Date('2026-11-19T12:00:00Z'),
    expiresAt: new Date('2026-11-19T18:00:00Z'),
    payer: payer as unknown as Charge['payer'],
  }),
  ...given,
})

const paid: Partial<Charge> = {
  status: 'COMPLETED',
  paymentStatus: 'PAID',
  paymentDate: new Date('2026-11-19T12:00:00Z'),
  endToEndId: E2E,
}

const paymentOf = (given: Partial<Payment> = {}): Payment => ({
  companyId,
  id: newId(),
  source: 'bank',
  endToEndId: OTHER,
  txid: null,
  amount: toCents(4990),
  returned: none,
  chargeId: null,
  settled: null,
  status: 'UNMATCHED',
  reason: 'DUPLICATE',
  booked: true,
  receivedAt: new Date('2026-11-19T13:00:00Z'),
  createdAt: new Date('2026-11-19T13:00:00Z'),
  payer: null,
  ...given,
})

const refundOf = (given: Partial<Refund> = {}): Refund =>
  ({
    companyId,
    id: newId(),
    endToEndId: E2E,
    chargeId: newId(),
    amount: toCents(1000),
    comment: null,
    bankReason: null,
    status: 'COMPLETED',
    returnId: RETURN,
    createdAt: new Date('2026-11-19T14:00:00Z'),
    finishedAt: new Date('2026-11-19T14:01:00Z'),
    ...given,
  }) as Refund

const disputeOf = (given: Partial<Dispute> = {}): Dispute =>
  ({
    companyId,
    id: newId(),
    amount: toCents(4990),
    status: 'OPEN',
    openedAt: new Date('2026-11-19T14:00:00Z'),
    ...given,
  }) as Dispute

const of = (charge: Charge, more: Partial<Explained> = {}): string =>
  explain(
    {
      company,
      charge,
      unmatched: [],
      refunds: [],
      disputes: [],
      collection: null,
      renewed: null,
      link: charge.status === 'OPEN' || charge.status === 'COMPLETED' ? link : null,
      now,
      ...more,
    },
    'pt',
  )

const dueOf = (dueDate: string): Charge['due'] => ({
  terms: { dueDate, daysAfterDue: 30, fine: { type: 'PERCENT', value: 200 } } as never,
  paid: null,
})

test('an open charge says until when and where it is paid', () => {
  assert.equal(
    of(chargeOf({ description: 'Bolo' })),
    `Olá, Maria da Silva! Sobre a cobrança de R$ 49,90 de Padaria Sol:
Referente a: Bolo

Ela ainda não foi paga. Você pode pagar com Pix até 19/11/2026 15:00:
${link}`,
  )
  assert.match(
    of(chargeOf({ due: dueOf('2026-11-25') })),
    /vence em 25\/11\/2026 e ainda não foi paga.* até 28\/12\/2026/,
  )
})

test('an overdue charge says what it costs today', () => {
  const text = of(chargeOf({ due: dueOf('2026-11-10') }))
  assert.match(text, /Ela venceu em 10\/11\/2026 e ainda não foi paga\. O valor hoje é R\$ 50,90\./)
  assert.match(text, /\/pay\/token/)
})

test('a paid charge says that nothing is to be done, with the id that a bank knows', () => {
  const text = of(chargeOf(paid))
  assert.match(text, /Recebemos seu Pix de R\$ 49,90 em 19\/11\/2026 09:00\. A cobrança está paga/)
  assert.match(text, /você não precisa fazer nada/)
  assert.ok(text.endsWith(`ID da transação (E2E): ${E2E}\nComprovante: ${link}`))
})

test('a charge that was paid late and accepted is paid, and nothing is said twice', () => {
  const charge = chargeOf(paid)
  const settled = { chargeId: charge.id, amount: toCents(4990), shortfall: none }
  const late = paymentOf({ endToEndId: E2E, reason: 'LATE', status: 'ACCEPTED', settled })
  const text = of(charge, { unmatched: [late] })
  assert.match(text, /chegou depois do prazo, mas foi aceito\. A cobrança está paga/)
  assert.doesNotMatch(text, /Recebemos um Pix/)
})

test('what is left of a payment that has settled a charge is told', () => {
  const charge = chargeOf(paid)
  const settled = { chargeId: charge.id, amount: toCents(4990), shortfall: none }
  const more = paymentOf({
    endToEndId: E2E,
    reason: 'WRONG_AMOUNT',
    amount: toCents(6000),
    settled,
  })
  const text = of(charge, { unmatched: [more] })
  assert.match(text, /foi aceito para pagar esta cobrança/)
  assert.match(text, /Sobraram R\$ 10,10 do seu Pix\. Estamos conferindo/)
})

test('a charge that was settled with less says what is missing', () => {
  const charge = chargeOf({ ...paid, shortfall: toCents(990) })
  assert.match(of(charge), /Recebemos seu Pix de R\$ 40,00 .* Faltaram R\$ 9,90/)
})

test('whoever has paid twice learns it, with the id of the second payment', () => {
  const text = of(chargeOf(paid), { unmatched: [paymentOf()] })
  assert.match(text, /Recebemos mais um Pix de R\$ 49,90 .* já estava paga\. Estamos conferindo/)
  assert.ok(text.includes(`ID da transação (E2E): ${OTHER}`))
  const refund = refundOf({ chargeId: null, endToEndId: OTHER, amount: toCents(4990) })
  const back = of(chargeOf(paid), {
    unmatched: [paymentOf({ status: 'REFUNDED' })],
    refunds: [refund],
  })
  assert.match(back, /Devolvemos R\$ 49,90 em 19\/11\/2026 11:01/)
  assert.ok(back.includes(RETURN))
  assert.doesNotMatch(back, /conferindo/)
})

test('nobody who has paid a wrong amount is asked to pay before it is decided', () => {
  const wrong = paymentOf({ reason: 'WRONG_AMOUNT', amount: toCents(4000) })
  const text = of(chargeOf(), { unmatched: [wrong] })
  assert.match(text, /Pix de R\$ 40,00 .* mas o valor da cobrança era R\$ 49,90/)
  assert.match(text, /Não pague de novo/)
  assert.doesNotMatch(text, /\/pay\/token/)
  const returned = of(chargeOf(), { unmatched: [{ ...wrong, status: 'REFUNDED' }] })
  assert.match(returned, /\/pay\/token/)
  const kept = of(chargeOf(), { unmatched: [{ ...wrong, status: 'ACCEPTED' }] })
  assert.match(kept, /aceito por Padaria Sol\. Fale com a gente antes de pagar de novo/)
  assert.doesNotMatch(kept, /\/pay\/token/)
})

test('an expired charge is not to be paid; a Pix after it waits for a decision', () => {
  const expired = chargeOf({ status: 'EXPIRED', paymentStatus: 'EXPIRED' })
  assert.match(of(expired), /O código não vale mais\. Se ainda quiser pagar, peça um novo link/)
  const late = of(expired, { unmatched: [paymentOf({ reason: 'LATE' })] })
  assert.match(late, /depois do prazo\. Estamos conferindo/)
  assert.doesNotMatch(late, /peça um novo link/)
})

test('whoever has got a new code is told of it, and not asked to pay twice', () => {
  const expired = chargeOf({ status: 'EXPIRED', paymentStatus: 'EXPIRED' })
  const open = { renewed: { status: 'OPEN', link } } as const
  assert.match(of(expired, open), /Já existe um novo código\. Pague por aqui:\n.*\/pay\/token/)
  const late = of(expired, { ...open, unmatched: [paymentOf({ reason: 'LATE' })] })
  assert.doesNotMatch(late, /\/pay\/token/)
  const done = of(expired, { renewed: { status: 'COMPLETED', link } })
  assert.match(done, /já foi pago: você não precisa fazer nada\.\nComprovante: .*\/pay\/token/)
  assert.doesNotMatch(done, /peça um novo link/)
})

test('a canceled charge is not to be paid', () => {
  assert.match(of(chargeOf({ status: 'CANCELED' })), /foi cancelada.*não precisa pagar nada/)
})

test('a refund says where the money goes, when it went, and the id of the return', () => {
  const processing = refundOf({ status: 'PROCESSING', returnId: null, finishedAt: null })
  const under = of(chargeOf(paid), { refunds: [processing] })
  assert.match(under, /A devolução de R\$ 10,00 está em andamento.*poucos minutos/)
  const done = of(chargeOf({ ...paid, paymentStatus: 'REFUNDED' }), { refunds: [refundOf()] })
  assert.match(done, /Devolvemos R\$ 10,00 em 19\/11\/2026 11:01 para a conta/)
  assert.ok(done.includes(`ID da devolução: ${RETURN}`))
  assert.doesNotMatch(done, /A cobrança está paga/)
  const byBank = of(chargeOf(paid), { refunds: [refundOf({ bankReason: 'FRAUD' })] })
  assert.match(byBank, /O banco devolveu R\$ 10,00/)
})

test('a refund that has failed is told of, unless it was ordered again', () => {
  const failed = refundOf({ status: 'FAILED', returnId: null })
  assert.match(of(chargeOf(paid), { refunds: [failed] }), /não foi concluída pelo banco/)
  const again = refundOf({ createdAt: new Date('2026-11-19T14:30:00Z') })
  assert.doesNotMatch(of(chargeOf(paid), { refunds: [failed, again] }), /não foi concluída/)
})

test('each state of a dispute has a sentence of its own', () => {
  const textOf = (status: Dispute['status']) =>
    of(chargeOf(paid), { disputes: [disputeOf({ status })] })
  assert.match(textOf('OPEN'), /contestação de R\$ 49,90, aberta no seu banco em 19\/11\/2026/)
  assert.equal(textOf('DEFENDED'), textOf('OPEN'))
  assert.match(textOf('ACCEPTED'), /Aceitamos a contestação/)
  assert.match(textOf('LOST'), /a seu favor/)
  assert.match(textOf('WON'), /continua valendo/)
  assert.match(textOf('CANCELED'), /foi cancelada, e o pagamento continua/)
})

test('a debit that has failed says when the bank tries again, and what to do until then', () => {
  const debit = chargeOf({ kind: 'RECURRING', recurrenceId: newId() })
  const at = (day: string) => new Date(`${day}T15:00:00Z`)
  const planned = { dueOn: '2026-11-23', nextAt: at('2026-11-23') }
  assert.match(of(debit, { collection: planned, link: null }), /previsto para 23\/11\/2026/)
  const failed = { dueOn: '2026-11-18', nextAt: at('2026-11-20') }
  assert.match(
    of(debit, { collection: failed, link: null }),
    /O débito de 18\/11\/2026 não foi concluído.*novamente em 22\/11\/2026: deixe/,
  )
  const over = { ...debit, status: 'EXPIRED', paymentStatus: 'EXPIRED' } as const
  assert.match(of(over, { link: null }), /não há nova tentativa/)
  assert.match(of({ ...debit, ...paid }), /O débito automático de R\$ 49,90 foi feito/)
})

test('a sale without a payer greets nobody by name', () => {
  const sale = chargeOf({ ...paid, kind: 'STATIC', payer: null })
  assert.match(of(sale), /^Olá! Sobre o Pix de R\$ 49,90 para Padaria Sol:/)
})

test('English is said in English', () => {
  const charge = chargeOf(paid)
  const given = {
    company,
    charge,
    unmatched: [],
    refunds: [],
    disputes: [],
    collection: null,
    renewed: null,
  }
  assert.match(explain({ ...given, link, now }, 'en'), /We received your Pix of R\$ 49,90 on/)
})

const STATES: Partial<Charge>[] = [
  {},
  paid,
  { ...paid, paymentStatus: 'REFUNDED' },
  { ...paid, shortfall: toCents(100) },
  { status: 'EXPIRED', paymentStatus: 'EXPIRED' },
  { status: 'CANCELED' },
  { due: dueOf('2026-11-10') },
  { due: dueOf('2026-11-30') },
]

test('no combination has an id of ours, an empty place, or a request to pay what is not open', () => {
  const one = fc.record({
    state: fc.constantFrom(...STATES),
    payments: fc.array(
      fc.record({
        status: fc.constantFrom(...PAYMENT_STATES),
        reason: fc.constantFrom(...UNMATCHED_REASONS),
      }),
      { maxLength: 3 },
    ),
    refunds: fc.array(fc.constantFrom(...REFUND_STATES), { maxLength: 3 }),
    disputes: fc.array(fc.constantFrom(...DISPUTE_STATES), { maxLength: 2 }),
    language: fc.constantFrom('pt' as const, 'en' as const),
  })
  fc.assert(
    fc.property(one, ({ state, payments, refunds, disputes, language }) => {
      const charge = chargeOf(state)
      const isOpen = charge.status === 'OPEN'
      const unmatched = payments.map((given) => paymentOf(given))
      const given: Explained = {
        company,
        charge,
        unmatched,
        refunds: refunds.map((status) =>
          refundOf(status === 'COMPLETED' ? {} : { status, returnId: null }),
        ),
        disputes: disputes.map((status) => disputeOf({ status })),
        collection: null,
        renewed: null,
        link: isOpen || charge.status === 'COMPLETED' ? link : null,
        now,
      }
      const text = explain(given, language)
      const ids: Uuid[] = [charge, ...unmatched, ...given.refunds, ...given.disputes].map(
        ({ id }) => id,
      )
      for (const id of ids) {
        assert.ok(!text.includes(id) && !text.includes(toPublic('charge', id).slice(7)))
      }
      assert.doesNotMatch(text, /undefined|null|NaN|Invalid|\{|\n{3}/)
      const isUndecided = unmatched.some(({ status }) => /UNMATCHED|DISPUTED/.test(status))
      if (isOpen && isUndecided) assert.ok(!text.includes(link))
      if (!isOpen && charge.status !== 'COMPLETED') assert.ok(!text.includes(link))
    }),
  )
})
