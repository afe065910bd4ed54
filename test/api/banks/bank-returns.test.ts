import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { carryOutRefunds, reconcileDue, releaseDueCharges } from '../../../src/worker/due.ts'
import { startApi } from '../../support/api.ts'
import { type Banked, charged, openBanked, read } from '../../support/bank.ts'
import { variants } from '../../support/long.ts'
import { lastCode, lettersOf } from '../../support/mail.ts'
import { balancesOf, movementsOf } from '../../support/payments.ts'

const api = await startApi()
const { app } = api
const DAY_S = 86_400

const processed = async ({ bank }: Banked) => {
  await bank.callbacksSent()
  await app.callbacks.process.idle()
}

/** A charge that was paid, and its payment. */
async function sold(shop: Banked, amount: number): Promise<{ id: string; endToEndId: string }> {
  const { id, brCode } = await charged(shop, { amount })
  const { endToEndId } = shop.bank.payer.pay(brCode)
  await processed(shop)
  return { id, endToEndId }
}

/** A payment that the merchant has yet to decide on: it pays a charge for the second time. */
async function paidTwice(shop: Banked, amount: number): Promise<string> {
  const { brCode } = await charged(shop, { amount })
  shop.bank.payer.pay(brCode)
  const { endToEndId } = shop.bank.payer.pay(brCode)
  await processed(shop)
  await releaseDueCharges.run(app)
  return endToEndId
}

const eventsOf = async ({ company }: Banked, type: string) =>
  (
    await api.rows<{ payload: string }>(
      'select payload from events where company_id = $1 and type = $2 order by position',
      [company.id, type],
    )
  ).map(({ payload }) => JSON.parse(payload))

const mailsOf = async ({ company }: Banked) =>
  (await lettersOf(api, company.id)).filter(({ kind }) => kind === 'bank-return')

const returnsOf = async (shop: Banked) =>
  (await movementsOf(api, shop)).flatMap(([kind, , accounts, amount]) =>
    kind === 'BANK_RETURN' ? [[accounts, amount]] : [],
  )

/** The books agree with themselves and with the bank. */
async function requireAgreement(shop: Banked): Promise<void> {
  api.clock.advance(3600)
  await reconcileDue.run(app)
  const audit = await auditCompany(app, shop.company.id, { whole: true })
  assert.deepEqual([audit.bank, audit.faults], ['asked', []])
}

const balances = async (shop: Banked) => {
  const { available, pending, held, unmatched } = await balancesOf(api, shop)
  return [available, pending, held, unmatched]
}

test('a return by the bank is booked when its callback comes, with events and a mail', async () => {
  const shop = await openBanked(api)
  const { id, endToEndId } = await sold(shop, 5000)
  await releaseDueCharges.run(app)
  assert.deepEqual(await balances(shop), [5000, 0, 0, 0])
  const { returnId } = shop.bank.returnByItself(endToEndId, { amount: 2000 })
  await processed(shop)
  assert.deepEqual(await balances(shop), [3000, 0, 0, 0])
  assert.deepEqual(await returnsOf(shop), [['available>bank', 2000]])
  const [refund, ...others] = (await shop.get(`/refund/charge/${id}`)).body.data
  assert.deepEqual(others, [])
  const { status, value, bankReason } = refund
  assert.deepEqual([status, value, bankReason], ['COMPLETED', 2000, 'FRAUD'])
  assert.deepEqual([refund.returnId, refund.chargeId], [returnId, id])
  const { paymentStatus, refunded } = await read(shop, id)
  assert.deepEqual([paymentStatus, refunded], ['RECEIVED', 2000])

  shop.bank.returnByItself(endToEndId, { nature: 'MED_OPERACIONAL' })
  await processed(shop)
  assert.deepEqual(await balances(shop), [0, 0, 0, 0])
  assert.equal((await read(shop, id)).paymentStatus, 'REFUNDED')
  const events = await eventsOf(shop, 'payment.returned')
  assert.deepEqual(events[0], {
    event: 'Payment.Returned',
    payment: { endToEndId, returnId, amount: 2000, reason: 'FRAUD', chargeId: id },
    externalId: null,
  })
  assert.equal(events[1].payment.reason, 'OPERATIONAL_FAILURE')
  assert.equal(events.length, 2)
  const ofCharge = await eventsOf(shop, 'charge.refunded')
  assert.deepEqual(
    ofCharge.map(({ charge }) => charge.status),
    ['RECEIVED', 'REFUNDED'],
  )
  const mails = await mailsOf(shop)
  assert.match(mails[0]!.subject, /O banco devolveu R\$\s20,00/)
  assert.match(mails[0]!.text, new RegExp(`fraude[\\s\\S]*${id}[\\s\\S]*${returnId}`))
  assert.doesNotMatch(mails[0]!.text, /negativo/)
  assert.equal(mails.length, 2)
  await requireAgreement(shop)
})

test('a return is booked once, however often and by whomever it is reported', async () => {
  const shop = await openBanked(api)
  const { endToEndId } = await sold(shop, 5000)
  const { callback, bank } = shop
  bank.returnByItself(endToEndId, { amount: 1000 })
  const report = () => bank.callbacks.forge(`${callback}/pix`, { pix: [{ endToEndId }] })
  await Promise.all([report(), report(), reconcileDue.run(app), report(), reconcileDue.run(app)])
  await processed(shop)
  await report()
  await processed(shop)
  assert.deepEqual(await returnsOf(shop), [['pending>bank', 1000]])
  assert.equal((await eventsOf(shop, 'payment.returned')).length, 1)
  assert.equal((await mailsOf(shop)).length, 1)
  await releaseDueCharges.run(app)
  assert.deepEqual(await balances(shop), [4000, 0, 0, 0])
  await requireAgreement(shop)
})

test('without a callback the list of payments shows it within a minute', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const { brCode } = await charged(shop, { amount: 5000 })
  const { endToEndId } = shop.bank.payer.pay(brCode)
  shop.bank.returnByItself(endToEndId)
  api.clock.advance(61)
  await reconcileDue.run(app)
  assert.deepEqual(await returnsOf(shop), [['pending>bank', 5000]])
  await releaseDueCharges.run(app)
  assert.deepEqual(await balances(shop), [0, 0, 0, 0])
  await requireAgreement(shop)
})

test('the return of an old payment is found within a day, by asking for returns alone', async () => {
  for (const returns of variants(['filtered', 'ignored'])) {
    const shop = await openBanked(api, { style: { returns } })
    const { bank, company } = shop
    const { endToEndId } = await sold(shop, 5000)
    await releaseDueCharges.run(app)
    api.clock.advance(70 * DAY_S)
    await reconcileDue.run(app)
    bank.state().webhooks.pix.clear()
    bank.returnByItself(endToEndId)
    api.clock.advance(DAY_S)
    const { faults } = await auditCompany(app, company.id, { whole: true })
    assert.deepEqual(faults, [], 'it may be on its way')
    await reconcileDue.run(app)
    assert.deepEqual(await balances(shop), [0, 0, 0, 0])
    await requireAgreement(shop)
  }
})

test('a bank that does not list its returns still lists its payments', async () => {
  const shop = await openBanked(api, { callbacks: false, style: { returns: 'refused' } })
  const { brCode } = await charged(shop, { amount: 5000 })
  const { endToEndId } = shop.bank.payer.pay(brCode)
  api.clock.advance(61)
  await reconcileDue.run(app)
  assert.deepEqual(await balances(shop), [0, 5000, 0, 0])
  shop.bank.returnByItself(endToEndId)
  const { faults } = await auditCompany(app, shop.company.id, { whole: true })
  assert.deepEqual(faults, [], 'nobody knows whether it is on its way')
})

test('more can go back than is available, and the next money makes up for it', async () => {
  const shop = await openBanked(api)
  const { id, endToEndId } = await sold(shop, 5000)
  await releaseDueCharges.run(app)
  const started = await shop.post('/account-balance/withdraw', { value: 4000 })
  assert.equal(started.status, 201, started.text)
  const path = `/account-balance/withdraw/${started.body.data.withdrawId}`
  const otp = await lastCode(api, shop.company.id)
  assert.equal((await shop.post(`${path}/confirm`, { otp })).status, 200)
  shop.bank.returnByItself(endToEndId)
  await processed(shop)
  assert.deepEqual(await balances(shop), [-4000, 0, 4000, 0])
  assert.equal((await read(shop, id)).paymentStatus, 'REFUNDED')
  const [mail] = await mailsOf(shop)
  assert.match(mail!.text, /negativo: − R\$\s40,00/)
  const statement = await shop.get('/account-balance/statement?format=csv&dialect=br')
  assert.match(statement.text, /Devolução feita pelo banco/)

  await sold(shop, 1500)
  await releaseDueCharges.run(app)
  assert.deepEqual(await balances(shop), [-2500, 0, 4000, 0])
  const second = await sold(shop, 3000)
  await releaseDueCharges.run(app)
  assert.deepEqual(await balances(shop), [500, 0, 4000, 0])
  const refused = await shop.post(`/refund/${second.id}`, {})
  assert.equal(refused.body.errors[0].code, 'insufficient_balance')
  await requireAgreement(shop)
})

test('a payment that waits for a decision waits only for what is left of it', async () => {
  const shop = await openBanked(api)
  const [part, whole] = [await paidTwice(shop, 5000), await paidTwice(shop, 700)]
  shop.bank.returnByItself(part, { amount: 1200 })
  shop.bank.returnByItself(whole)
  await processed(shop)
  assert.deepEqual(await balances(shop), [5700, 0, 0, 3800])
  const [shown, ...others] = (await shop.get('/payment/unmatched')).body.data
  assert.deepEqual([shown.endToEndId, shown.amount, shown.returned], [part, 5000, 1200])
  assert.deepEqual(others, [])
  const again = await shop.post(`/payment/unmatched/${whole}/refund`, {})
  assert.equal(again.body.errors[0].code, 'payment_not_unmatched')
  await requireAgreement(shop)
  assert.equal((await shop.post(`/payment/unmatched/${part}/accept`)).status, 200)
  assert.deepEqual(await balances(shop), [9500, 0, 0, 0])
  shop.bank.returnByItself(part, { amount: 100 })
  await processed(shop)
  assert.deepEqual(await balances(shop), [9400, 0, 0, 0])
  await requireAgreement(shop)
})

test('what is left of a payment after a return goes back by a refund', async () => {
  const shop = await openBanked(api)
  const endToEndId = await paidTwice(shop, 5000)
  shop.bank.returnByItself(endToEndId, { amount: 1200 })
  await processed(shop)
  const { body } = await shop.post(`/payment/unmatched/${endToEndId}/refund`, {})
  assert.equal(body.data.value, 3800)
  await carryOutRefunds.run(app)
  assert.deepEqual(await balances(shop), [5000, 0, 0, 0])
  await requireAgreement(shop)
})

/** Orders a refund that the bank has not got yet, and has the bank return the money first. */
async function outrun(shop: Banked, path: string, endToEndId: string): Promise<void> {
  assert.equal((await shop.post(path, {})).status, 201)
  shop.bank.returnByItself(endToEndId)
  await processed(shop)
}

test('the bank returns the money of a charge before it gets our order: it goes back once', async () => {
  for (const isReleased of [false, true]) {
    const shop = await openBanked(api)
    const { id, endToEndId } = await sold(shop, 5000)
    if (isReleased) await releaseDueCharges.run(app)
    await outrun(shop, `/refund/${id}`, endToEndId)
    assert.deepEqual(await balances(shop), [-5000, 0, 5000, 0])
    assert.equal((await read(shop, id)).refunded, 5000)
    await carryOutRefunds.run(app)
    await releaseDueCharges.run(app)
    assert.deepEqual(await balances(shop), [0, 0, 0, 0])
    const { paymentStatus, refunded } = await read(shop, id)
    assert.deepEqual([paymentStatus, refunded], ['REFUNDED', 5000])
    await requireAgreement(shop)
  }
})

test('a return beside a refund of a part leaves nothing in pending', async () => {
  const shop = await openBanked(api)
  const { id, endToEndId } = await sold(shop, 5000)
  assert.equal((await shop.post(`/refund/${id}`, { value: 3000 })).status, 201)
  shop.bank.returnByItself(endToEndId)
  await processed(shop)
  assert.deepEqual(await balances(shop), [-3000, 0, 3000, 0])
  await requireAgreement(shop)
  await carryOutRefunds.run(app)
  assert.deepEqual(await balances(shop), [0, 0, 0, 0])
  await requireAgreement(shop)
})

test('the bank returns an unmatched payment before it gets our order: it goes back once', async () => {
  const shop = await openBanked(api)
  const endToEndId = await paidTwice(shop, 5000)
  await outrun(shop, `/payment/unmatched/${endToEndId}/refund`, endToEndId)
  assert.deepEqual(await balances(shop), [0, 0, 5000, 0])
  await carryOutRefunds.run(app)
  assert.deepEqual(await balances(shop), [5000, 0, 0, 0])
  assert.deepEqual((await shop.get('/payment/unmatched')).body.data, [])
  await requireAgreement(shop)
})

test('a refund of ours is no return of the bank, even while it is being made', async () => {
  const shop = await openBanked(api)
  const { id } = await sold(shop, 5000)
  await releaseDueCharges.run(app)
  shop.bank.course({ refunds: 'later' })
  assert.equal((await shop.post(`/refund/${id}`, { value: 1000 })).status, 201)
  await carryOutRefunds.run(app)
  shop.bank.finishRefunds()
  await processed(shop)
  await reconcileDue.run(app)
  assert.deepEqual(await returnsOf(shop), [])
  api.clock.advance(60)
  await carryOutRefunds.run(app)
  assert.deepEqual(await balances(shop), [4000, 0, 0, 0])
  await requireAgreement(shop)
})

test('returns of payments that are not ours are left alone', async () => {
  const shop = await openBanked(api)
  const at = new Date(api.clock.now().getTime() - DAY_S * 1000)
  const { endToEndId } = shop.bank.payer.payKey(shop.company.pixKey, 900, { at })
  shop.bank.returnByItself(endToEndId)
  await shop.bank.callbacks.forge(`${shop.callback}/pix`, { pix: [{ endToEndId }] })
  await processed(shop)
  await requireAgreement(shop)
  assert.deepEqual(await balances(shop), [0, 0, 0, 0])
})

test('a return that was listed and is not booked is found by the audit', async () => {
  const shop = await openBanked(api)
  const { endToEndId } = await sold(shop, 5000)
  await requireAgreement(shop)
  shop.bank.state().webhooks.pix.clear()
  const { returnId } = shop.bank.returnByItself(endToEndId)
  const { faults } = await auditCompany(app, shop.company.id, { whole: true })
  assert.deepEqual(faults, [], 'it may be on its way')
  // The bank says now that it was made before it was listed last, by no whole hours.
  shop.bank.state().refunds[0]!.doneAt = new Date(api.clock.now().getTime() - 5_400_000)
  const after = await auditCompany(app, shop.company.id, { whole: true })
  const said = `the bank has returned 5000 in ${returnId}, our books say nothing`
  assert.deepEqual(after.faults, [said])
})

test('the database keeps the available balance from falling below zero by anything else', async () => {
  const shop = await openBanked(api)
  const posting = (kind: string) =>
    api.rows(
      `insert into postings (company_id, entry, kind, ref, debit, credit, amount, available,
         pending, held, unmatched, created_at)
       values ($1, 1, $2, 'x', 'available', 'bank', 1, -1, 0, 0, 0, now())`,
      [shop.company.id, kind],
    )
  await assert.rejects(posting('WITHDRAWAL_HELD'), /postings_available_check/)
})

test('a return that is booked and that the bank never made is found by the audit', async () => {
  const shop = await openBanked(api)
  const { endToEndId } = await sold(shop, 5000)
  shop.bank.returnByItself(endToEndId)
  await processed(shop)
  shop.bank.state().refunds.length = 0
  const { faults } = await auditCompany(app, shop.company.id, { whole: true })
  assert.match(faults.join(), /^5000 of rfnd_\w+ are booked as returned, the bank has not returned/)
})
