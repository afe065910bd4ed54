import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { acceptPayment } from '../../../src/core/payments/commands.ts'
import { payOut } from '../../../src/core/withdrawals/payouts.ts'
import { claimDuePayouts } from '../../../src/core/withdrawals/store.ts'
import { payOutWithdrawals, reconcileDue } from '../../../src/worker/due.ts'
import { startApi } from '../../support/api.ts'
import { type Banked, openBanked } from '../../support/bank.ts'
import { dueNow } from '../../support/requests.ts'
import { balanceOf, confirmed, rowOf } from '../../support/withdrawals.ts'

const api = await startApi()

type Kind = 'efi' | 'inter' | 'sicoob'
const ORDER: Record<Kind, RegExp> = {
  efi: /^PUT .*gn\/pix/,
  inter: /^POST .*banking/,
  sicoob: /confirmacao/,
}
const QUESTION: Record<Kind, RegExp> = {
  efi: /^GET .*gn\/pix/,
  inter: /^GET .*banking/,
  sicoob: /^GET .*pagamentos/,
}

/** A company that withdraws through its bank. */
async function rich(sends: Kind): Promise<Banked> {
  const shop = await openBanked(api, { style: { sends }, payouts: 'bank' })
  const { endToEndId } = shop.bank.payer.payKey(shop.company.pixKey, 100_000)
  api.clock.advance(61)
  await reconcileDue.run(api.app)
  const { db, clock } = api.app
  await db.transaction((tx) => acceptPayment(tx, shop.company.id, endToEndId, clock.now()))
  return shop
}

for (const sends of ['inter', 'sicoob'] as const) {
  test(`${sends}: a withdrawal is sent once, and the audit finds it at the bank`, async () => {
    const shop = await rich(sends)
    const id = await confirmed(api, shop, 5000)
    await payOutWithdrawals.run(api.app)
    await payOutWithdrawals.run(api.app)
    const sent = [...shop.bank.state().sends.values()]
    const { status, end_to_end_id, bank_reference } = await rowOf(api, id)
    assert.deepEqual([status, end_to_end_id], ['COMPLETED', sent[0]!.endToEndId])
    assert.deepEqual([sent.length, sent[0]!.amount], [1, 5000])
    assert.ok(bank_reference)
    api.clock.advance(86_400)
    await reconcileDue.run(api.app)
    const { faults } = await auditCompany(api.app, shop.company.id, { whole: true })
    assert.deepEqual(faults, [])
  })

  test(`${sends}: a withdrawal whose answers are lost is asked about, and sent once`, async () => {
    const shop = await rich(sends)
    const id = await confirmed(api, shop, 5000)
    shop.bank.faults.next(ORDER[sends], 'lose answer')
    shop.bank.faults.next(QUESTION[sends], '5xx')
    await payOutWithdrawals.run(api.app)
    assert.equal((await rowOf(api, id)).status, 'PROCESSING')
    for (let i = 0; i < 3; i++) {
      api.clock.advance(600)
      await payOutWithdrawals.run(api.app)
    }
    assert.equal((await rowOf(api, id)).status, 'COMPLETED')
    assert.equal(shop.bank.state().sends.size, 1)
  })
}

for (const sends of ['efi', 'inter', 'sicoob'] as const) {
  test(`${sends}: the refusal of a first order ends the withdrawal, and its money is free again`, async () => {
    const shop = await rich(sends)
    const id = await confirmed(api, shop, 5000)
    shop.bank.faults.next(ORDER[sends], 'refuse')
    await payOutWithdrawals.run(api.app)
    const { status, failure, ordered_at } = await rowOf(api, id)
    assert.equal(status, 'FAILED')
    assert.match(String(failure), /^A operação não é permitida/)
    assert.ok(ordered_at)
    assert.deepEqual(await balanceOf(api, shop), { available: 100_000, held: 0 })
    assert.equal(shop.bank.state().sends.size, 0)
  })
}

for (const sends of ['efi', 'inter', 'sicoob'] as const) {
  test(`${sends}: a refusal that may be of a second order leaves the withdrawal open`, async () => {
    const shop = await rich(sends)
    const id = await confirmed(api, shop, 5000)
    shop.bank.faults.next(ORDER[sends], 'lose answer')
    shop.bank.faults.next(QUESTION[sends], '5xx', 2)
    await payOutWithdrawals.run(api.app)
    shop.bank.faults.next(ORDER[sends], 'refuse')
    shop.bank.faults.next(QUESTION[sends], 'refuse', 2)
    api.clock.advance(600)
    await payOutWithdrawals.run(api.app)
    assert.equal((await rowOf(api, id)).status, 'PROCESSING')
    assert.deepEqual(await balanceOf(api, shop), { available: 95_000, held: 5000 })
  })
}

test('sicoob: a worker whose claim another has taken over confirms nothing', async () => {
  const shop = await rich('sicoob')
  const id = await confirmed(api, shop, 5000)
  const claim = async () => {
    const claims = await claimDuePayouts(api.app.db, dueNow(api.app, 100))
    return claims.find(({ order }) => order.companyId === shop.company.id)!
  }
  const slow = await claim()
  api.clock.advance(61)
  const fast = await claim()
  await payOut(api.app, slow)
  assert.equal((await rowOf(api, id)).bank_reference, null)
  const { sends } = shop.bank.state()
  assert.equal(sends.size, 0)
  await payOut(api.app, fast)
  await payOut(api.app, slow)
  assert.equal((await rowOf(api, id)).status, 'COMPLETED')
  assert.equal(sends.size, 1)
})
