import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { connectBank } from '../../../src/core/banks/commands.ts'
import { acceptPayment } from '../../../src/core/payments/commands.ts'
import { listWaiting } from '../../../src/core/withdrawals/store.ts'
import { carryOutRefunds, payOutWithdrawals, reconcileDue } from '../../../src/worker/due.ts'
import { type Bank, startBank } from '../../bank/bank.ts'
import { startApi } from '../../support/api.ts'
import { type Banked, charged, openBanked } from '../../support/bank.ts'
import { confirmed, rowOf } from '../../support/withdrawals.ts'

const api = await startApi()

/** Connects a company to another bank, in the place of its own. */
async function move(shop: Banked, payouts: 'manual' | 'bank' = 'manual'): Promise<Bank> {
  const bank = await startBank({ clock: api.clock, ...(payouts === 'bank' ? EFI : {}) })
  after(() => bank.close())
  await connect(shop, bank, payouts)
  return bank
}

const EFI = { style: { sends: 'efi' } } as const

async function connect({ company }: Banked, bank: Bank, payouts: 'manual' | 'bank') {
  api.clock.advance(1)
  const { id: _, ...connection } = bank.connection()
  const fields = { ...connection, payouts, certificateEndsAt: new Date('2036-01-01T00:00:00Z') }
  const { db, vault, clock } = api.app
  await db.transaction((tx) => connectBank(tx, vault, company.id, fields, clock.now()))
  api.clock.advance(1)
}

async function paidAt(shop: Banked): Promise<string> {
  const { id, brCode } = await charged(shop)
  shop.bank.payer.pay(brCode)
  await shop.bank.callbacksSent()
  await api.app.callbacks.process.idle()
  return id
}

const refundsOf = ({ company }: Banked) =>
  api.rows<{ status: string }>('select status from refunds where company_id = $1', [company.id])

test('what was booked at a former bank is not looked for at the next one', async () => {
  const shop = await openBanked(api)
  await paidAt(shop)
  await move(shop)
  const { bank, faults } = await auditCompany(api.app, shop.company.id, { whole: true })
  assert.deepEqual([bank, faults], ['asked', []])
})

test('a refund that a former bank may have made is not called failed by the next one', async () => {
  const shop = await openBanked(api)
  const id = await paidAt(shop)
  assert.equal((await shop.post(`/refund/${id}`, {})).status, 201)
  shop.bank.faults.next(/devolucao/, 'lose answer')
  shop.bank.faults.next(/devolucao/, '5xx')
  await carryOutRefunds.run(api.app)
  await move(shop)
  for (let i = 0; i < 3; i++) {
    api.clock.advance(3600)
    await carryOutRefunds.run(api.app)
  }
  assert.deepEqual(await refundsOf(shop), [{ status: 'PROCESSING' }])
  await connect(shop, shop.bank, 'manual')
  api.clock.advance(3600)
  await carryOutRefunds.run(api.app)
  assert.deepEqual(await refundsOf(shop), [{ status: 'COMPLETED' }])
  assert.equal(shop.bank.state().refunds.length, 1)
})

/** Money that the company may withdraw, through its bank. */
async function rich(): Promise<Banked> {
  const shop = await openBanked(api, { ...EFI, payouts: 'bank' })
  const { endToEndId } = shop.bank.payer.payKey(shop.company.pixKey, 100_000)
  api.clock.advance(61)
  await reconcileDue.run(api.app)
  const { db, clock } = api.app
  await db.transaction((tx) => acceptPayment(tx, shop.company.id, endToEndId, clock.now()))
  return shop
}

test('a withdrawal through the bank is sent once, however the answer gets lost', async () => {
  const shop = await rich()
  const id = await confirmed(api, shop, 5000)
  shop.bank.faults.next(/PUT .*gn.pix/, 'lose answer')
  shop.bank.faults.next(/GET .*gn.pix/, '5xx')
  await payOutWithdrawals.run(api.app)
  assert.equal((await rowOf(api, id)).status, 'PROCESSING')
  api.clock.advance(3600)
  await payOutWithdrawals.run(api.app)
  assert.equal((await rowOf(api, id)).status, 'COMPLETED')
  assert.equal(shop.bank.state().sends.size, 1)
})

test('a withdrawal that a former bank may have sent is left to an operator', async () => {
  const shop = await rich()
  const id = await confirmed(api, shop, 5000)
  shop.bank.faults.next(/PUT .*gn.pix/, 'lose answer')
  shop.bank.faults.next(/GET .*gn.pix/, '5xx')
  await payOutWithdrawals.run(api.app)
  const next = await move(shop, 'bank')
  api.clock.advance(3600)
  await payOutWithdrawals.run(api.app)
  assert.deepEqual([shop.bank.state().sends.size, next.state().sends.size], [1, 0])
  const { status, manual } = await rowOf(api, id)
  assert.deepEqual([status, manual], ['PROCESSING', true])
  const [waiting] = await listWaiting(api.app.db, shop.company.id)
  assert.ok(waiting!.orderedAt)
})
