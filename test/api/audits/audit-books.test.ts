import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import type { Company } from '../../../src/core/companies/rules.ts'
import { matchPayments } from '../../../src/core/payments/match.ts'
import { post } from '../../../src/ledger/post.ts'
import {
  chargePaid,
  opening,
  type Posting,
  paymentUnmatched,
  refundHeld,
  refundPaid,
  refundReleased,
  withdrawalHeld,
  withdrawalPaid,
  withdrawalReleased,
} from '../../../src/ledger/recipes.ts'
import { fromPublic, newId, toPublic } from '../../../src/lib/ids.ts'
import { toCents } from '../../../src/lib/money.ts'
import type { Source } from '../../../src/provider/port.ts'
import { chargeTxid } from '../../../src/provider/txid.ts'
import { carryOutRefunds, reconcileDue } from '../../../src/worker/due.ts'
import { startApi } from '../../support/api.ts'
import { type Banked, charged, openBanked } from '../../support/bank.ts'
import { order } from '../../support/payments.ts'
import { confirmed } from '../../support/withdrawals.ts'

/*
 * Each way in which a payment can be swallowed, doubled or booked for something else. The books are
 * written by the ledger itself, so that they agree with themselves, and only the audit can see it.
 */

const api = await startApi()
const { app } = api

const idOf = (publicId: string) => fromPublic('charge', publicId)!

async function callbacksProcessed({ bank }: Banked): Promise<void> {
  await bank.callbacksSent()
  await app.callbacks.process.idle()
}

/** A live company with a paid charge and books that agree with its bank. */
async function openShop() {
  const shop = await openBanked(api)
  const charge = await charged(shop)
  const { endToEndId } = shop.bank.payer.pay(charge.brCode)
  await callbacksProcessed(shop)
  await charged(shop)
  return { ...shop, charge, endToEndId }
}

type Shop = Awaited<ReturnType<typeof openShop>>

/** A payment that the bank has received without a callback. */
async function payWithoutCallback(shop: Shop, amount = 1990) {
  const charge = await charged(shop)
  shop.bank.faults.nextCallback('lost')
  const pix = shop.bank.payer.pay(charge.brCode, { amount })
  await shop.bank.callbacksSent()
  return { charge, pix }
}

const book = ({ company }: { company: Company }, ...postings: Posting[]) =>
  app.db.transaction((tx) => post(tx, company.id, postings, api.clock.now()))

/** Changes what no command of ours would. */
const change = (sql: string, values: unknown[]) =>
  app.db.transaction(async (tx) => {
    await tx.query({ text: `set local session_replication_role = 'replica'` })
    await tx.query({ text: sql, values })
  })

type Arrived = { endToEndId: string; txid: string | null; amount?: number }

/** Records a payment as if a bank had confirmed it like this. */
const recordPayment = (
  { company }: Banked,
  { amount = 1990, ...pix }: Arrived,
  source: Source = 'bank',
) =>
  app.db.transaction((tx) => {
    const now = api.clock.now()
    const received = [{ ...pix, amount: toCents(amount), receivedAt: now }]
    return matchPayments(tx, app, company, received, { source, now })
  })

/** Lets the bank be asked up to now, without recording what it lists. */
async function audit({ company }: Banked, whole: boolean): Promise<string[]> {
  api.clock.advance(7200)
  const until = api.clock.now()
  await api.rows('update reconciliations set asked_until = $2 where company_id = $1', [
    company.id,
    until,
  ])
  return (await auditCompany(app, company.id, { whole })).faults
}

/** What the audit must say of each damage, among what else it may say. */
const DAMAGES: Record<string, [does: (shop: Shop) => Promise<unknown>, says: RegExp]> = {
  'swallowed: the bank has it, we have nothing': [
    (shop) => payWithoutCallback(shop),
    /has received 1990 in E\w+, our books say nothing/,
  ],
  'swallowed: it is among the payments, and is not booked': [
    async (shop) => {
      const { pix, charge } = await payWithoutCallback(shop)
      await api.rows(
        `insert into payments (company_id, source, end_to_end_id, id, txid, amount, charge_id,
           status, reason, booked, received_at, created_at)
         values ($1, 'bank', $2, $3, $4, 1990, $5, 'MATCHED', null, true, $6, $6)`,
        [shop.company.id, pix.endToEndId, newId(), pix.txid, idOf(charge.id), api.clock.now()],
      )
    },
    /has received 1990 in E\w+, our books say nothing/,
  ],
  'swallowed: its charge says paid, and nothing is booked': [
    async (shop) => {
      const { pix, charge } = await payWithoutCallback(shop)
      await change(
        `update charges set status = 'COMPLETED', payment_status = 'RECEIVED', booked = true,
           end_to_end_id = $3, payment_date = $4, settles_at = $4
         where company_id = $1 and id = $2`,
        [shop.company.id, idOf(charge.id), pix.endToEndId, api.clock.now()],
      )
      const { state } = shop.bank
      state().pix.delete(pix.endToEndId)
    },
    /a charge is paid with 1990 by E\w+, its posting is not in the books/,
  ],
  'swallowed by a simulated payment of the same id': [
    async (shop) => {
      const { pix } = await payWithoutCallback(shop)
      await change(
        `insert into payments (company_id, source, end_to_end_id, id, amount, status, reason,
           booked, received_at, created_at)
         values ($1, 'simulated', $2, $3, 1990, 'UNMATCHED', 'UNKNOWN', false, $4, $4)`,
        [shop.company.id, pix.endToEndId, newId(), api.clock.now()],
      )
    },
    /has received 1990 in E\w+, our books say nothing/,
  ],
  'doubled: booked as paid and as unmatched': [
    ({ company, endToEndId }) =>
      book({ company }, paymentUnmatched({ endToEndId, amount: toCents(1990), chargeId: null })),
    /PAYMENT_UNMATCHED of 1990 for E\w+, is not what its record says/,
  ],
  'doubled: booked again under another id': [
    (shop) =>
      recordPayment(shop, {
        endToEndId: 'E12345678202608201500aaaaaaaaaaa',
        txid: null,
        amount: 1990,
      }),
    /1990 of E12345678202608201500aaaaaaaaaaa are booked, the bank says nothing/,
  ],
  'booked for another charge, by records that agree with it': [
    async (shop) => {
      const { pix } = await payWithoutCallback(shop)
      const other = await charged(shop)
      await recordPayment(shop, { endToEndId: pix.endToEndId, txid: chargeTxid(idOf(other.id)) })
    },
    /E\w+ is booked for another charge than the bank has received it for/,
  ],
  'booked for a charge that another payment has paid': [
    async (shop) => {
      const { pix } = await payWithoutCallback(shop)
      const chargeId = idOf(shop.charge.id)
      await book(shop, chargePaid({ endToEndId: pix.endToEndId, amount: toCents(1990), chargeId }))
    },
    /CHARGE_PAID of 1990 for E\w+, is not what its record says/,
  ],
  'booked in another amount': [
    async (shop) => {
      const { pix } = await payWithoutCallback(shop)
      await recordPayment(shop, { endToEndId: pix.endToEndId, txid: null, amount: 1991 })
    },
    /has received 1990 in E\w+, our books say 1991/,
  ],
  'booked by another company': [
    async (shop) => {
      const other = await openShop()
      const { pix } = await payWithoutCallback(other)
      await recordPayment(shop, { endToEndId: pix.endToEndId, txid: pix.txid })
      const faults = await audit(other, true)
      assert.match(faults.join(), /has received 1990 in E\w+, our books say nothing/)
    },
    /1990 of E\w+ are booked, the bank says nothing/,
  ],
  'play money that is booked': [
    async (shop) => {
      const play = await charged(shop, { devMode: true })
      const { endToEndId } = (await order(api, { brCode: play.brCode })).body.data
      const payment = { endToEndId, amount: toCents(1990), chargeId: idOf(play.id) }
      await book(shop, chargePaid(payment))
    },
    /CHARGE_PAID of 1990 for E99999999\w+, is not what its record says.*the bank says nothing/,
  ],
  'the play money of a sandbox in a live company': [
    (shop) => book(shop, opening(toCents(500))),
    /OPENING of 500 for opening, is not what its record says/,
  ],
  'a refund that is booked as paid and was not sent': [
    async (shop) => {
      const { data } = (await shop.post(`/refund/${shop.charge.id}`, { value: 500 })).body
      await change(
        `update refunds set status = 'COMPLETED', return_id = 'D1', finished_at = created_at
         where company_id = $1`,
        [shop.company.id],
      )
      const chargeId = idOf(shop.charge.id)
      await book(shop, refundPaid({ ref: data.id, amount: toCents(500), chargeId }))
    },
    /500 of rfnd_\w+ are booked as paid, the bank has not sent them/,
  ],
  'a refund that is booked and never ordered': [
    (shop) => {
      const refund = { ref: toPublic('rfnd', newId()), amount: toCents(500) }
      return book(shop, refundHeld(refund, 'pending'), refundPaid(refund))
    },
    /REFUND_PAID of 500 for rfnd_\w+, is not what its record says/,
  ],
  'a refund that was sent and is booked as kept': [
    async (shop) => {
      const { data } = (await shop.post(`/refund/${shop.charge.id}`, { value: 500 })).body
      const [id, chargeId] = [fromPublic('rfnd', data.id)!, idOf(shop.charge.id)]
      const refund = { id, endToEndId: shop.endToEndId, amount: toCents(500) }
      const sent = await app.providers.bacen.refund(await shop.fresh(), refund)
      assert.equal(sent.kind, 'accepted')
      await change(
        `update refunds set status = 'FAILED', failure = 'x', finished_at = created_at
         where company_id = $1`,
        [shop.company.id],
      )
      await book(shop, refundReleased({ ref: data.id, amount: toCents(500), chargeId }, 'pending'))
    },
    /500 of rfnd_\w+ are booked as kept, the bank has sent them/,
  ],
  'a withdrawal that is booked and never ordered': [
    async (shop) => {
      const key = shop.company.pixKey
      const { endToEndId } = shop.bank.payer.payKey(key, 700)
      await reconciled(shop)
      await shop.post(`/payment/unmatched/${endToEndId}/accept`)
      const withdrawal = { ref: toPublic('wd', newId()), amount: toCents(700) }
      await book(shop, withdrawalHeld(withdrawal), withdrawalPaid(withdrawal))
    },
    /WITHDRAWAL_PAID of 700 for wd_\w+, is not what its record says/,
  ],
}

async function reconciled(_shop: Banked): Promise<void> {
  api.clock.advance(61)
  await reconcileDue.run(app)
}

test('books that only commands have written agree with the bank, trials and all', async () => {
  const shop = await openShop()
  const play = await charged(shop, { devMode: true })
  await order(api, { brCode: play.brCode })
  await shop.post(`/refund/${play.id}`, { value: 100 })
  await shop.post(`/refund/${shop.charge.id}`, { value: 500 })
  await carryOutRefunds.run(app)
  const counter = (await shop.post('/charge/pix/static', { amount: 300 })).body.data
  for (let i = 0; i < 2; i++) shop.bank.payer.pay(counter.brCode)
  shop.bank.payer.pay(counter.brCode, { amount: 301 })
  shop.bank.payer.pay(shop.charge.brCode)
  shop.bank.payer.payKey(shop.company.pixKey, 100)
  await callbacksProcessed(shop)
  await reconciled(shop)
  for (const whole of [false, true, false]) assert.deepEqual(await audit(shop, whole), [])
})

for (const [name, [damage, says]] of Object.entries(DAMAGES)) {
  test(`the audit finds money ${name}`, async () => {
    const shop = await openShop()
    assert.deepEqual(await audit(shop, false), [])
    await damage(shop)
    assert.match((await audit(shop, false)).join('; '), says)
    assert.match((await audit(shop, true)).join('; '), says, 'and in an audit of everything')
  })
}

test('the audit finds a withdrawal that was sent and is booked as kept', async () => {
  const client = await api.client()
  const wd = await confirmed(api, client, 700)
  const order = { id: fromPublic('wd', wd)!, amount: toCents(700), pixKey: client.company.pixKey }
  const sent = await app.providers.simulator.send(client.company, order, async () => {})
  assert.equal(sent.kind, 'accepted')
  await change(
    `update withdrawals set status = 'FAILED', failure = 'x', finished_at = created_at,
       next_attempt_at = null
     where company_id = $1`,
    [client.company.id],
  )
  await book(client, withdrawalReleased({ ref: wd, amount: toCents(700) }))
  const { faults } = await auditCompany(app, client.company.id, { whole: true })
  assert.match(faults.join('; '), /700 of wd_\w+ are booked as kept, the bank has sent them/)
})

test('an audit of everything finds a refund that was sent and is not booked, whatever its record says', async () => {
  const shop = await openShop()
  const { data } = (await shop.post(`/refund/${shop.charge.id}`, { value: 500 })).body
  const id = fromPublic('rfnd', data.id)!
  const refund = { id, endToEndId: shop.endToEndId, amount: toCents(500) }
  await app.providers.bacen.refund(await shop.fresh(), refund)
  await change(
    `update refunds set status = 'COMPLETED', return_id = 'D1', finished_at = created_at
     where company_id = $1`,
    [shop.company.id],
  )
  const faults = (await audit(shop, true)).join('; ')
  assert.match(faults, /the bank has returned 500 in D\w+, our books say nothing/)
})
