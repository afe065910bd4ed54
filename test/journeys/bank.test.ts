import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unwrapWebhook } from '../../packages/client/src/webhooks.js'
import { SERVICE } from '../../src/core/activity/rules.ts'
import { auditCompany } from '../../src/core/audits/commands.ts'
import { completeManually } from '../../src/core/withdrawals/manual-payouts.ts'
import { fromPublic } from '../../src/lib/ids.ts'
import { addDays, localDateOf } from '../../src/pix/local-time.ts'
import {
  billDue,
  carryOutRefunds,
  generateDue,
  reconcileDue,
  releaseDueCharges,
} from '../../src/worker/due.ts'
import { startApi } from '../support/api.ts'
import { charged, openBanked, read } from '../support/bank.ts'
import { chargesOf } from '../support/billing.ts'
import { lastCode } from '../support/mail.ts'
import { balancesOf } from '../support/payments.ts'
import { makeSubscription, readSubscription } from '../support/subscriptions.ts'
import { makeReceiver, openDeliveryWorker } from '../support/webhooks.ts'

const DAY_S = 86_400

test('all that the interface offers works at a real bank: sell, match, release, refund, subscribe, bill, withdraw', async (t) => {
  const api = await startApi()
  const { app } = api
  const shop = await openBanked(api)
  const { bank, company } = shop
  const delivering = openDeliveryWorker(api)
  const subscribed = [
    'charge.paid',
    'charge.received',
    'charge.refunded',
    'subscription.charge.paid',
  ]
  const { receiver, webhook } = await makeReceiver(shop, subscribed)
  const processCallbacks = async () => {
    await bank.callbacksSent()
    await app.callbacks.process.idle()
  }
  const arrived = async () => {
    await delivering.run()
    const now = api.clock.now()
    const deliveries = receiver.received.splice(0)
    for (const { headers, body } of deliveries) {
      await unwrapWebhook(body, headers, webhook.secret, { now })
    }
    return deliveries.map(({ body }) => JSON.parse(body))
  }
  const first = await charged(shop, { amount: 10_000 })

  await t.test(
    'a payer pays, the merchant gets the event, and the money is withdrawable',
    async () => {
      bank.payer.pay(first.brCode)
      await processCallbacks()
      await releaseDueCharges.run(app)
      const events = await arrived()
      const charge = { id: first.id, total: 10_000 }
      assert.deepEqual(events, [
        { event: 'Charge.Paid', charge: { ...charge, status: 'PAID' } },
        { event: 'Charge.Received', charge: { ...charge, status: 'RECEIVED' } },
      ])
      assert.equal((await balancesOf(api, shop)).available, 10_000)
    },
  )

  await t.test('a static code at the counter is paid, without a callback', async () => {
    const { data } = (await shop.post('/charge/pix/static', { amount: 700 })).body
    bank.faults.nextCallback('lost')
    bank.payer.pay(data.brCode)
    await processCallbacks()
    api.clock.advance(61)
    await reconcileDue.run(app)
    await releaseDueCharges.run(app)
    assert.deepEqual(
      (await arrived()).map(({ event }: { event: string }) => event),
      ['Charge.Paid', 'Charge.Received'],
    )
  })

  await t.test('a part goes back to the payer when the bank is through with it', async () => {
    bank.course({ refunds: 'later' })
    const refund = await shop.post(`/refund/${first.id}`, { value: 2_500 })
    assert.equal(refund.status, 201, refund.text)
    await carryOutRefunds.run(app)
    assert.equal((await balancesOf(api, shop)).held, 2_500)
    bank.finishRefunds()
    api.clock.advance(6)
    await carryOutRefunds.run(app)
    assert.deepEqual(await balancesOf(api, shop), {
      available: 8_200,
      pending: 0,
      held: 0,
      unmatched: 0,
    })
    assert.equal((await arrived())[0].event, 'Charge.Refunded')
  })

  const { id, emv } = await makeSubscription(shop, { price: 4_990, dayDue: 5 })
  const dueOn = addDays(localDateOf(api.clock.now()), 5)

  await t.test('a payer agrees, and a charge is scheduled at the bank', async () => {
    bank.payer.approve(emv)
    await processCallbacks()
    assert.equal((await readSubscription(shop, id)).recurrenceAuthStatus, 'APPROVED')
    await generateDue.run(app)
    await billDue.run(app)
    const [cobr] = [...bank.state().cobrs.values()]
    assert.deepEqual([cobr!.dueOn, cobr!.amount, cobr!.status], [dueOn, 4_990, 'ATIVA'])
  })

  await t.test('it is tried again when it fails, and then paid', async () => {
    api.clock.advance(5 * DAY_S)
    bank.collect(dueOn, () => 'REJEITADA')
    await processCallbacks()
    await billDue.run(app)
    api.clock.advance(DAY_S)
    bank.collect(addDays(dueOn, 1), () => 'PAGA')
    await processCallbacks()
    await billDue.run(app)
    const [charge] = await chargesOf(shop, id)
    assert.equal(charge!.status, 'COMPLETED')
    await releaseDueCharges.run(app)
    const events = (await arrived()).map(({ event }: { event: string }) => event)
    assert.deepEqual(events.sort(), ['Charge.Paid', 'Charge.Received', 'Subscription.Charge.Paid'])
    assert.equal((await balancesOf(api, shop)).available, 8_200 + 4_990)
  })

  await t.test('the merchant cancels, and the bank knows', async () => {
    const canceled = await shop.post(`/pix-automatic/recurrences/${id}/cancel`)
    assert.equal(canceled.status, 200, canceled.text)
    assert.equal([...bank.state().recs.values()][0]!.status, 'CANCELADA')
  })

  await t.test('the operator sends what the merchant withdraws', async () => {
    const started = await shop.post('/account-balance/withdraw', { value: 13_000 })
    assert.equal(started.status, 201, started.text)
    const { withdrawId } = started.body.data
    const otp = await lastCode(api, company.id)
    const path = `/account-balance/withdraw/${withdrawId}`
    assert.equal((await shop.post(`${path}/confirm`, { otp })).status, 200)
    assert.equal((await shop.get(path)).body.data.status, 'PROCESSING')
    const withdrawal = fromPublic('wd', withdrawId)!
    await completeManually(app, withdrawal, 'E99999990202608261200ABCDEFGHIJK', SERVICE)
    assert.equal((await shop.get(path)).body.data.status, 'COMPLETED')
    assert.equal((await balancesOf(api, shop)).available, 190)
  })

  await t.test('the books agree with the bank to the cent', async () => {
    api.clock.advance(3600)
    await reconcileDue.run(app)
    const audit = await auditCompany(app, company.id, { whole: true })
    assert.deepEqual([audit.bank, audit.faults], ['asked', []])
    assert.equal((await read(shop, first.id)).status, 'COMPLETED')
    assert.deepEqual(bank.violations(), [])
  })
})
