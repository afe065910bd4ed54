import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditDue } from '../../../src/core/audits/commands.ts'
import { removeOrphans } from '../../../src/core/charges/intents.ts'
import { claimDueRefunds } from '../../../src/core/refunds/returns.ts'
import { carryOutRefunds } from '../../../src/worker/orders.ts'
import { until } from '../../deliveries/until.ts'
import { startApi } from '../../support/api.ts'
import { type Banked, charged, openBanked, pixBody } from '../../support/bank.ts'

const api = await startApi()

async function paid(shop: Banked, count: number): Promise<string[]> {
  const charges = await Promise.all(Array.from({ length: count }, () => charged(shop)))
  for (const { brCode } of charges) shop.bank.payer.pay(brCode)
  await shop.bank.callbacksSent()
  await api.app.callbacks.process.idle()
  return charges.map(({ id }) => id)
}

async function refund(shop: Banked, id: string): Promise<void> {
  const { status, text } = await shop.post(`/refund/${id}`, {})
  assert.equal(status, 201, text)
}

test('refunds at a bank that hangs keep those of others waiting for one round at most', async () => {
  const [hung, well] = [await openBanked(api), await openBanked(api)]
  for (const id of await paid(hung, 12)) await refund(hung, id)
  const [id] = await paid(well, 1)
  hung.bank.faults.next(/devolucao/, '5xx', 100)
  await carryOutRefunds(api.app)
  api.clock.advance(3600)
  await refund(well, id!)
  const claims = await claimDueRefunds(api.app, 10)
  assert.equal(claims.length, 10)
  assert.ok(claims.some(({ order: { companyId } }) => companyId === well.company.id))
  hung.bank.faults.clear()
})

test('a bank that hangs keeps the books of others from no audit', async () => {
  const [hung, well] = [await openBanked(api), await openBanked(api)]
  await paid(hung, 1)
  await paid(well, 1)
  api.clock.advance(3600)
  hung.bank.faults.next('*', 'slow', 100)
  const audited = async ({ company }: Banked) =>
    (await api.rows('select 1 from audits where company_id = $1', [company.id])).length === 1
  const auditing = auditDue(api.app)
  await until('the other is audited', () => audited(well))
  assert.equal(await audited(hung), false)
  hung.bank.faults.clear()
  await auditing
})

test('a bank that hangs keeps no other from taking charges back', async () => {
  const [hung, well] = [await openBanked(api), await openBanked(api)]
  for (const { bank, post } of [hung, hung, well]) {
    bank.faults.next('PUT /cob/{txid}', 'lose answer')
    bank.faults.next('GET /cob/{txid}', '5xx')
    assert.equal((await post('/charge/pix', pixBody())).status, 503)
  }
  api.clock.advance(61)
  hung.bank.faults.next('*', 'slow', 100)
  const taking = removeOrphans(api.app)
  const isRemoved = async () =>
    [...well.bank.state().charges.values()].every(({ status }) => status.startsWith('REMOVIDA'))
  await until('the other has taken it back', isRemoved)
  hung.bank.faults.clear()
  await taking
})
