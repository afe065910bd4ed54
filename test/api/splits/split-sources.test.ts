import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SERVICE } from '../../../src/core/activity/rules.ts'
import * as manually from '../../../src/core/withdrawals/manual-payouts.ts'
import { listWaiting } from '../../../src/core/withdrawals/store.ts'
import { fromPublic } from '../../../src/lib/ids.ts'
import { payOutWithdrawals, releaseDueCharges } from '../../../src/worker/due.ts'
import { type Client, eventsOf, payer, startApi } from '../../support/api.ts'
import { charged, openBanked } from '../../support/bank.ts'
import { at, chargesOf, moveTo } from '../../support/billing.ts'
import { startPlaying } from '../../support/clocks.ts'
import { lastCode, lettersOf } from '../../support/mail.ts'
import { at as atApi } from '../../support/pages.ts'
import { movementsOf, pay } from '../../support/payments.ts'
import {
  dataOf,
  makeRecipients,
  netOf,
  partsOf,
  release,
  requireClean,
  shownBalance,
} from '../../support/splits.ts'
import { decide, makeCustomer, makeRecurring, RECURRENCES } from '../../support/subscriptions.ts'
import { confirm } from '../../support/withdrawals.ts'

const api = await startApi()
const { app } = api
startPlaying(api)
const OPENING = 100_000

test('a link that is split is paid in parts', async () => {
  const client = await api.client()
  const ids = await makeRecipients(client, 2)
  const split = [
    { recipientId: ids[0]!, percent: 3333 },
    { recipientId: ids[1]!, amount: 1 },
  ]
  const link = { customer: payer(), total: 1000, split }
  const { id, url } = dataOf(await client.post('/charge/payment-link', link))
  assert.deepEqual(await partsOf(client, id), [333, 1])
  const opened = await fetch(atApi(api, url), { method: 'POST', redirect: 'manual' })
  assert.equal(opened.status, 303)
  await pay(api, dataOf(await client.get(`/charge/${id}`)).brCode)
  await release(api)
  assert.deepEqual(await netOf(client, ids), [333, 1])
  assert.equal((await shownBalance(client)).available, OPENING + 666)
  await requireClean(api, client)
})

test('each charge of a subscription that is split is paid in parts', async () => {
  const client = await api.client()
  await moveTo(client, '2026-08-20T18:00:00.000Z')
  const ids = await makeRecipients(client, 2)
  const body = {
    productId: await makeRecurring(client, { price: 1991 }),
    customerId: await makeCustomer(client),
    split: ids.map((recipientId) => ({ recipientId, percent: 2500 })),
  }
  const { id, emv } = dataOf(await client.post(RECURRENCES, body))
  await decide(api, emv, 'approve')
  await moveTo(client, at('2026-10-01'))
  const charges = await chargesOf(client, id)
  const paid = charges.filter(({ status }) => status === 'COMPLETED')
  assert.equal(paid.length, 2)
  for (const charge of paid) assert.deepEqual(await partsOf(client, charge.id), [497, 497])
  assert.deepEqual(await netOf(client, ids), [994, 994])
  assert.equal((await shownBalance(client)).available, OPENING + 2 * (1991 - 994))
  await requireClean(api, client)
})

/** A live company whose bank sends nothing: a payout to a recipient waits for a person. */
async function waiting() {
  const shop = await openBanked(api)
  const [recipient] = await makeRecipients(shop, 1)
  const split = [{ recipientId: recipient!, amount: 600 }]
  const { brCode } = await charged(shop, { amount: 1000, split })
  shop.bank.payer.pay(brCode)
  await shop.bank.callbacksSent()
  await app.callbacks.process.idle()
  api.clock.advance(1)
  await releaseDueCharges.run(app)
  const { withdrawId: id } = dataOf(await shop.post(`/recipient/${recipient}/payout`))
  dataOf(await confirm(shop, id, await lastCode(api, shop.company.id)))
  await payOutWithdrawals.run(app)
  return { shop, id, uuid: fromPublic('wd', id)!, recipient: recipient! }
}

const eventTypes = async ({ company }: Client) =>
  (await eventsOf(api, company.id)).map(({ type }) => type)

test('a payout to a recipient that a person sends is ended once, and names the masked key only', async () => {
  const { shop, id, uuid, recipient } = await waiting()
  const [one] = await listWaiting(app.db, shop.company.id)
  assert.deepEqual([one!.id, one!.value], [uuid, 600])
  assert.match(one!.destination, /^r\*\*\*@example\.com$/)
  const endToEndId = 'E12345678202608201500ABCDEFGHIJK'
  for (let i = 0; i < 2; i++) await manually.completeManually(app, uuid, endToEndId, SERVICE)
  const shown = dataOf(await shop.get(`/account-balance/withdraw/${id}`))
  assert.deepEqual(
    [shown.status, shown.recipientId, shown.endToEndId],
    ['COMPLETED', recipient, endToEndId],
  )
  assert.deepEqual(await netOf(shop, [recipient]), [0])
  assert.deepEqual((await movementsOf(api, shop)).slice(-2), [
    ['WITHDRAWAL_HELD', id, 'recipients>held', 600],
    ['WITHDRAWAL_PAID', id, 'held>bank', 600],
  ])
  const ended = (await eventTypes(shop)).filter((type) => type.startsWith('withdrawal.'))
  assert.deepEqual(ended, ['withdrawal.completed'])
  const kinds = (await lettersOf(api, shop.company.id)).map(({ kind }) => kind)
  assert.equal(kinds.filter((kind) => kind === 'withdrawal-completed').length, 1)
  await requireClean(api, shop)
})

test('a payout to a recipient that a person could not send is the recipient’s again', async () => {
  const { shop, id, uuid, recipient } = await waiting()
  for (let i = 0; i < 2; i++) {
    await manually.failManually(app, uuid, 'a chave não existe', SERVICE)
  }
  assert.deepEqual(await netOf(shop, [recipient]), [600])
  const { available, held, recipients } = await shownBalance(shop)
  assert.deepEqual([available, held, recipients], [400, 0, 600])
  const [line] = dataOf(await shop.get(`/recipient/${recipient}/statement`))
  assert.deepEqual([line.type, line.amount, line.reference], ['WITHDRAWAL_RELEASED', 600, id])
  assert.ok((await eventTypes(shop)).includes('withdrawal.failed'))
  await requireClean(api, shop)
})
