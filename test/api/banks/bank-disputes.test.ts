import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { carryOutRefunds, reconcileDue, sendDefenses } from '../../../src/worker/due.ts'
import { startApi } from '../../support/api.ts'
import { type Banked, charged, openBanked } from '../../support/bank.ts'
import { balancesOf, movementsOf } from '../../support/payments.ts'

const api = await startApi()
const { app } = api
const LIKE_EFI = { disputes: 'efi', token: { scopes: 'given' } } as const

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

/** Lets so much time pass that the bank is asked about disputes. */
async function ask(): Promise<void> {
  api.clock.advance(601)
  await reconcileDue.run(app)
}

const disputesOf = async (shop: Banked) => (await shop.get('/dispute')).body.data
const balances = async (shop: Banked) => Object.values(await balancesOf(api, shop))
const kindsOf = async (shop: Banked) => (await movementsOf(api, shop)).map(([kind]) => kind)

/** The books agree with themselves and with the bank. */
async function requireAgreement(shop: Banked): Promise<void> {
  api.clock.advance(3600)
  await reconcileDue.run(app)
  const audit = await auditCompany(app, shop.company.id, { whole: true })
  assert.deepEqual([audit.bank, audit.faults], ['asked', []])
}

test('a dispute that the bank lists is opened, defended at the bank, and won there', async () => {
  const shop = await openBanked(api, { style: LIKE_EFI })
  const { id: chargeId, endToEndId } = await sold(shop, 5000)
  const infraction = shop.bank.dispute(endToEndId, 3000)
  await ask()
  const [dispute, ...others] = await disputesOf(shop)
  assert.deepEqual(others, [])
  assert.deepEqual(
    [dispute.status, dispute.amount, dispute.held, dispute.reason, dispute.chargeId],
    ['OPEN', 3000, 3000, 'FRAUD', chargeId],
  )
  assert.equal(Date.parse(dispute.deadline) - Date.parse(dispute.openedAt), 7 * 86_400_000)
  await ask()
  assert.equal((await disputesOf(shop)).length, 1, 'listed again, it is the same')
  const text = 'Entregue, com assinatura.'
  assert.equal((await shop.post(`/dispute/${dispute.id}/defense`, { text })).status, 200)
  await sendDefenses.run(app)
  assert.equal(infraction.defense, text)
  assert.equal(typeof (await disputesOf(shop))[0].defense.sentAt, 'string')
  await requireAgreement(shop)
  shop.bank.decideDispute(infraction.id, 'REJEITADA')
  await ask()
  assert.equal((await disputesOf(shop))[0].status, 'WON')
  assert.deepEqual(await balances(shop), [0, 5000, 0, 0])
  await requireAgreement(shop)
})

test('the decision and the return may come in any order, and again: the money leaves once', async () => {
  for (const isReturnedFirst of [true, false]) {
    const shop = await openBanked(api, { style: LIKE_EFI })
    const { endToEndId } = await sold(shop, 5000)
    const { id } = shop.bank.dispute(endToEndId)
    await ask()
    if (isReturnedFirst) {
      shop.bank.returnDisputed(id)
      await processed(shop)
      assert.equal((await disputesOf(shop))[0].status, 'LOST')
      shop.bank.decideDispute(id, 'ACEITA')
      await ask()
    } else {
      shop.bank.decideDispute(id, 'ACEITA')
      await ask()
      const [lost] = await disputesOf(shop)
      assert.deepEqual([lost.status, lost.held], ['LOST', 5000], 'held until it is returned')
      await requireAgreement(shop)
      shop.bank.returnDisputed(id)
      await processed(shop)
    }
    await ask()
    const [dispute, ...others] = await disputesOf(shop)
    assert.deepEqual([others, dispute.status, dispute.held], [[], 'LOST', undefined])
    assert.deepEqual(await balances(shop), [0, 0, 0, 0])
    assert.equal((await kindsOf(shop)).filter((kind) => kind === 'DISPUTE_LOST').length, 1)
    await requireAgreement(shop)
  }
})

test('a return that came before the bank told why is the dispute that it tells of later', async () => {
  const shop = await openBanked(api, { style: LIKE_EFI })
  const { endToEndId } = await sold(shop, 5000)
  const { id } = shop.bank.dispute(endToEndId)
  shop.bank.decideDispute(id, 'ACEITA')
  shop.bank.returnDisputed(id)
  await processed(shop)
  assert.equal((await disputesOf(shop)).length, 1)
  await ask()
  await ask()
  const [dispute, ...others] = await disputesOf(shop)
  assert.deepEqual([others, dispute.status], [[], 'LOST'])
  await requireAgreement(shop)
})

test('to accept a dispute of a real bank is a refund at that bank', async () => {
  const shop = await openBanked(api, { style: LIKE_EFI })
  const { endToEndId } = await sold(shop, 5000)
  shop.bank.dispute(endToEndId, 2000)
  await ask()
  const [{ id }] = await disputesOf(shop)
  assert.equal((await shop.post(`/dispute/${id}/accept`)).status, 200)
  await carryOutRefunds.run(app)
  assert.equal(shop.bank.state().refunds.at(-1)!.amount, 2000)
  assert.equal((await disputesOf(shop))[0].status, 'ACCEPTED')
  assert.deepEqual(await balances(shop), [0, 3000, 0, 0])
  await requireAgreement(shop)
})

test('a bank that tells of no disputes makes one that is over when it returns after a claim', async () => {
  const shop = await openBanked(api)
  const { endToEndId } = await sold(shop, 5000)
  shop.bank.returnByItself(endToEndId, { amount: 2000 })
  await processed(shop)
  await ask()
  const [dispute, ...others] = await disputesOf(shop)
  assert.deepEqual([others, dispute.status, dispute.amount], [[], 'LOST', 2000])
  assert.equal(
    shop.bank.state().requests.some(({ path }) => path.includes('infracoes')),
    false,
  )
  await requireAgreement(shop)
})

test('a bank that does not answer about disputes still lists its payments', async () => {
  const shop = await openBanked(api, { style: LIKE_EFI, callbacks: false })
  shop.bank.grant(['cob.write', 'cob.read', 'pix.read', 'pix.write'])
  const { brCode } = await charged(shop, { amount: 5000 })
  const { endToEndId } = shop.bank.payer.pay(brCode)
  shop.bank.dispute(endToEndId)
  await ask()
  assert.equal((await kindsOf(shop))[0], 'CHARGE_PAID')
  assert.deepEqual(await disputesOf(shop), [])
})
