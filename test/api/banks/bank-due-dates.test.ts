import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { isBusinessDay } from '../../../src/pix/business-days.ts'
import {
  addDays,
  atHour,
  type LocalDate,
  localDateOf,
  weekdayOf,
} from '../../../src/pix/local-time.ts'
import { expireChargesAtBanks, removeOrphans } from '../../../src/worker/due.ts'
import { payer, startApi } from '../../support/api.ts'
import { type Banked, openBanked, read } from '../../support/bank.ts'

const api = await startApi()
const { app } = api

const AMOUNT = 100_000

/** The first Monday of a week without holidays that is at least two weeks away. */
function due(): LocalDate {
  const isOpen = (monday: LocalDate) =>
    [0, 1, 2, 3, 4].every((days) => isBusinessDay(addDays(monday, days)))
  let day = addDays(localDateOf(api.clock.now()), 14)
  while (weekdayOf(day) !== 1 || !isOpen(day)) day = addDays(day, 1)
  return day
}
const moveTo = (day: string) =>
  api.clock.advance((atHour(day, 12).getTime() - api.clock.now().getTime()) / 1000)

const TERMS = {
  fine: { type: 'PERCENT', value: 200 },
  interest: { type: 'PERCENT_PER_DAY', value: 10 },
}
const bodyOf = (dueDate: string, more: object = {}) => ({
  amount: AMOUNT,
  customer: payer(),
  dueDate,
  ...TERMS,
  ...more,
})

async function issue(shop: Banked, dueDate: string, more: object = {}) {
  const reply = await shop.post('/charge/pix', bodyOf(dueDate, more))
  assert.equal(reply.status, 201, reply.text)
  const { id, brCode } = reply.body.data
  return { id, brCode, txid: id.slice('charge_'.length) }
}

async function pay(shop: Banked, brCode: string, options: object = {}) {
  const pix = shop.bank.payer.pay(brCode, options)
  await shop.bank.callbacksSent()
  await app.callbacks.process.idle()
  return pix
}

async function entriesOf(shop: Banked): Promise<string[]> {
  const { body } = await shop.get('/account-balance/statement')
  return body.data
    .map(({ type, amount }: { type: string; amount: number }) => `${type} ${amount}`)
    .toReversed()
}

async function requireClean({ company }: Banked): Promise<void> {
  const { bank, faults } = await auditCompany(app, company.id, { whole: true })
  assert.deepEqual([bank, faults], ['asked', []])
}

const unmatchedOf = async (shop: Banked) => (await shop.get('/payment/unmatched')).body.data

test('paid late at a real bank, a charge is complete, and fine and interest are in the books', async () => {
  const shop = await openBanked(api)
  const dueDate = due()
  const { id, brCode, txid } = await issue(shop, dueDate, { description: 'Mensalidade' })
  const known = shop.bank.state().charges.get(txid)!
  assert.deepEqual([known.code, known.due!.on, known.message], [brCode, dueDate, 'Mensalidade'])
  assert.deepEqual(known.due!.multa, { modalidade: 2, valorPerc: '2.00' })
  moveTo(addDays(dueDate, 3))
  const { amount } = await pay(shop, brCode)
  assert.equal(amount, 102_300)
  const { status, due: shown } = await read(shop, id)
  assert.equal(status, 'COMPLETED')
  assert.deepEqual(
    [shown.amount.fine, shown.amount.interest, shown.amount.total],
    [2000, 300, amount],
  )
  const entries = ['CHARGE_PAID 100000', 'FINE_PAID 2000', 'INTEREST_PAID 300']
  assert.deepEqual(await entriesOf(shop), entries)
  await requireClean(shop)
  const refund = await shop.post(`/refund/${id}`)
  assert.deepEqual([refund.status, refund.body.data.value], [201, amount], refund.text)
  await requireClean(shop)
})

test('a bank that knows a holiday of the city asks for less, and its parts are booked', async () => {
  const shop = await openBanked(api)
  const dueDate = due()
  const [inTime, late] = [await issue(shop, dueDate), await issue(shop, dueDate)]
  shop.bank.style({ holidays: [dueDate] })
  moveTo(addDays(dueDate, 1))
  assert.equal((await read(shop, inTime.id)).due.amount.total, 102_100, 'we know no such day')
  assert.equal((await pay(shop, inTime.brCode)).amount, AMOUNT)
  moveTo(addDays(dueDate, 3))
  assert.equal((await pay(shop, late.brCode)).amount, 102_200)
  for (const [{ id }, fine, interest] of [
    [inTime, 0, 0],
    [late, 2000, 200],
  ] as const) {
    const { status, due: shown } = await read(shop, id)
    assert.deepEqual(
      [status, shown.amount.fine, shown.amount.interest],
      ['COMPLETED', fine, interest],
    )
  }
  const entries = [
    'CHARGE_PAID 100000',
    'CHARGE_PAID 100000',
    'FINE_PAID 2000',
    'INTEREST_PAID 200',
  ]
  assert.deepEqual(await entriesOf(shop), entries)
  await requireClean(shop)
})

test('a bank that names no parts is believed if its amount is ours, and not if it is another', async () => {
  const shop = await openBanked(api, { style: { namesParts: false } })
  const dueDate = due()
  const [first, second] = [await issue(shop, dueDate), await issue(shop, dueDate)]
  moveTo(addDays(dueDate, 3))
  await pay(shop, first.brCode)
  shop.bank.style({ holidays: [dueDate] })
  const { endToEndId } = await pay(shop, second.brCode)
  const paid = ['CHARGE_PAID 100000', 'FINE_PAID 2000', 'INTEREST_PAID 300']
  assert.deepEqual(await entriesOf(shop), [...paid, 'PAYMENT_UNMATCHED 102200'])
  assert.equal((await read(shop, second.id)).status, 'OPEN')
  const [{ reason }] = await unmatchedOf(shop)
  assert.equal(reason, 'WRONG_AMOUNT')
  const path = `/payment/unmatched/${endToEndId}/accept`
  const settled = await shop.post(path, { chargeId: second.id })
  assert.equal(settled.body.data.settled.shortfall, 100, settled.text)
  await requireClean(shop)
})

test('another amount pays nothing, also with parts that do not explain it', async () => {
  const shop = await openBanked(api)
  const dueDate = due()
  const { id, brCode } = await issue(shop, dueDate)
  moveTo(addDays(dueDate, 3))
  const named = (...valores: string[]) => {
    const [original, multa] = valores.map((valor) => ({ valor }))
    return { extras: { componentesValor: { original, multa } } }
  }
  await pay(shop, brCode, { amount: AMOUNT })
  await pay(shop, brCode, { amount: 101_000, ...named('1000.00', '20.00') })
  await pay(shop, brCode, { amount: 101_000, ...named('990.00', '20.00') })
  const reasons = (await unmatchedOf(shop)).map(({ reason }: { reason: string }) => reason)
  assert.deepEqual(reasons, ['WRONG_AMOUNT', 'WRONG_AMOUNT', 'WRONG_AMOUNT'])
  assert.equal((await read(shop, id)).status, 'OPEN')
  await requireClean(shop)
})

test('canceled here, a charge with a due date is removed there', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const [one, paid] = [await issue(shop, due()), await issue(shop, due())]
  assert.equal((await shop.post(`/charge/${one.id}/cancel`)).status, 200)
  assert.equal(shop.bank.seen('PATCH /cobv/{txid}'), 1)
  const { charges } = shop.bank.state()
  assert.equal(charges.get(one.txid)!.status, 'REMOVIDA_PELO_USUARIO_RECEBEDOR')
  shop.bank.payer.pay(paid.brCode)
  const refused = await shop.post(`/charge/${paid.id}/cancel`)
  assert.deepEqual([refused.status, refused.body.errors[0].code], [409, 'charge_not_payable'])
  assert.equal(shop.bank.seen('PATCH /cob/{txid}'), 0)
})

test('before it expires, the bank is asked about it among charges with a due date', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const dueDate = due()
  const more = { daysAfterDue: 2 }
  const [paid, unpaid] = [await issue(shop, dueDate, more), await issue(shop, dueDate, more)]
  moveTo(addDays(dueDate, 2))
  shop.bank.payer.pay(paid.brCode)
  moveTo(addDays(dueDate, 4))
  await expireChargesAtBanks.run(app)
  assert.equal((await read(shop, paid.id)).status, 'COMPLETED')
  assert.equal((await read(shop, unpaid.id)).status, 'EXPIRED')
  assert.equal(shop.bank.seen('GET /cobv/{txid}'), 2)
  assert.equal(shop.bank.seen('GET /cob/{txid}'), 0)
  await requireClean(shop)
})

test('a charge with a due date that was never written is removed where the bank has it', async () => {
  const shop = await openBanked(api)
  const headers = { 'Idempotency-Key': 'vencimento-1' }
  shop.bank.faults.next('PUT /cobv/{txid}', 'lose answer')
  shop.bank.faults.next('GET /cobv/{txid}', '5xx')
  const body = bodyOf(due())
  const failed = await shop.post('/charge/pix', body, { headers })
  assert.deepEqual([failed.status, failed.body.errors[0].code], [503, 'provider_unavailable'])
  api.clock.advance(61)
  await removeOrphans.run(app)
  const [orphan] = [...shop.bank.state().charges.values()]
  assert.equal(orphan!.status, 'REMOVIDA_PELO_USUARIO_RECEBEDOR')
  assert.equal(shop.bank.seen('PATCH /cob/{txid}'), 0)
  const again = await shop.post('/charge/pix', body, { headers })
  assert.equal(again.status, 201, again.text)
  assert.equal(shop.bank.state().charges.size, 2)
})

test('a bank that stays silent is 503, and the same request goes on with the same terms', async () => {
  const shop = await openBanked(api)
  const headers = { 'Idempotency-Key': 'vencimento-2' }
  const body = bodyOf(due())
  shop.bank.faults.next('PUT /cobv/{txid}', 'lose answer')
  shop.bank.faults.next('GET /cobv/{txid}', '5xx')
  assert.equal((await shop.post('/charge/pix', body, { headers })).status, 503)
  const again = await shop.post('/charge/pix', body, { headers })
  assert.equal(again.status, 201, again.text)
  const known = [...shop.bank.state().charges.keys()]
  assert.deepEqual(known, [again.body.data.id.slice('charge_'.length)])
})

test('a link with a due date gets its code among charges with a due date', async () => {
  const shop = await openBanked(api)
  const link = { total: AMOUNT, customer: payer(), dueDate: due(), ...TERMS }
  const made = await shop.post('/charge/payment-link', link)
  assert.equal(made.status, 201, made.text)
  const { data } = made.body
  const path = new URL(data.url ?? data.paymentLinkUrl).pathname
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const opened = await api.call('POST', path, { raw: '', headers: form })
  assert.ok(opened.status < 400, opened.text)
  const [issued] = [...shop.bank.state().charges.values()]
  assert.deepEqual(
    [issued!.due?.on, issued!.code],
    [link.dueDate, (await read(shop, data.id)).brCode],
  )
})

test('a link that is opened only after its due date can be paid', async () => {
  const shop = await openBanked(api)
  const [dueDate, body] = [due(), { total: AMOUNT, customer: payer(), ...TERMS }]
  const { data } = (await shop.post('/charge/payment-link', { ...body, dueDate })).body
  assert.equal((await read(shop, data.id)).brCode, undefined, 'the payer asks for the code')
  moveTo(addDays(dueDate, 3))
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const opened = await api.call('POST', new URL(data.url).pathname, { raw: '', headers: form })
  assert.ok(opened.status < 400, opened.text)
  assert.equal((await pay(shop, (await read(shop, data.id)).brCode)).amount, 102_300)
  assert.equal((await read(shop, data.id)).status, 'COMPLETED')
  await requireClean(shop)
})

test('a link with a due date that nobody has opened is removed at the bank if it is canceled', async () => {
  const shop = await openBanked(api)
  const body = { total: AMOUNT, customer: payer(), dueDate: due(), ...TERMS }
  const { data } = (await shop.post('/charge/payment-link', body)).body
  assert.equal((await shop.post(`/charge/${data.id}/cancel`)).status, 200)
  const [known] = [...shop.bank.state().charges.values()]
  assert.equal(known!.status, 'REMOVIDA_PELO_USUARIO_RECEBEDOR')
})

for (const cobv of [403, 404] as const) {
  test(`a bank without due dates (${cobv}) is 422 that names dueDate, and sells without`, async () => {
    const shop = await openBanked(api, { style: { cobv } })
    const reply = await shop.post('/charge/pix', bodyOf(due()))
    const [error] = reply.body.errors
    assert.deepEqual([reply.status, error.code], [422, 'provider_rejected'])
    assert.match(error.description, /offers no charges with a due date, so leave out dueDate/)
    const left = 'select 1 from charge_intents where company_id = $1'
    assert.deepEqual(await api.rows(left, [shop.company.id]), [])
    const plain = await shop.post('/charge/pix', { amount: AMOUNT, customer: payer() })
    assert.equal(plain.status, 201, plain.text)
  })
}
