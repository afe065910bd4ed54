import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany, auditDue } from '../../../src/core/audits/commands.ts'
import { findLastAudit } from '../../../src/core/audits/store.ts'
import type { FullFront } from '../../../src/core/full-app.ts'
import { reconcileSoon, saveAskedUntil } from '../../../src/core/reconciliation-schedule.ts'
import { toCents } from '../../../src/lib/money.ts'
import { carryOutRefunds, payOutWithdrawals, reconcileDue } from '../../../src/worker/due.ts'
import { type Client, startApi } from '../../support/api.ts'
import { charged, openBanked } from '../../support/bank.ts'
import { makePaid } from '../../support/payments.ts'
import { confirmed } from '../../support/withdrawals.ts'

const api = await startApi()
const { app } = api

const audit = async ({ company }: Client, by = app) =>
  (await auditCompany(by, company.id, { whole: false })).faults

const differenceOf = async ({ company }: Client) => {
  const [row] = await api.rows<{ difference: string | null }>(
    'select difference from audits where company_id = $1',
    [company.id],
  )
  return row!.difference
}

const SILENT = async () => ({ kind: 'unknown', reason: 'no answer' }) as const
const { simulator } = app.providers
const silent = { ...simulator, listTransfers: SILENT, findReceived: SILENT, listReceived: SILENT }
/** The app while banks do not answer. */
const whileSilent: FullFront = { ...app, providers: { ...app.providers, bankOf: () => silent } }

test('if the bank does not answer, a difference from before stays', async () => {
  const client = await api.client()
  await makePaid(api, client, 1990)
  const { endToEndId } = await simulator.pay(client.company, { txid: null, amount: toCents(321) })
  api.clock.advance(121)
  assert.equal((await audit(client)).length, 1)
  const difference = await differenceOf(client)
  assert.match(difference!, /received 321/)
  await api.rows('delete from simulated_transfers where end_to_end_id = $1', [endToEndId])
  assert.deepEqual(await audit(client, whileSilent), [])
  assert.equal(await differenceOf(client), difference)
  assert.deepEqual(await audit(client), [])
  assert.equal(await differenceOf(client), null)
})

test('a refund that is booked as paid and that the bank never sent is found', async () => {
  const client = await api.client()
  const { id } = await makePaid(api, client, 1990)
  await client.post(`/refund/${id}`)
  await carryOutRefunds.run(app)
  await api.rows(
    `delete from simulated_transfers where account_id = $1 and direction = 'returned'`,
    [client.company.id],
  )
  const [fault, ...more] = await audit(client)
  assert.match(fault!, /^1990 of rfnd_\w+ are booked as paid, the bank has not sent them$/)
  assert.deepEqual(more, [])
})

test('a withdrawal that is booked as paid and that the bank never sent is found', async () => {
  const client = await api.client()
  await confirmed(api, client, 5000)
  await payOutWithdrawals.run(app)
  await api.rows(`delete from simulated_transfers where account_id = $1 and direction = 'sent'`, [
    client.company.id,
  ])
  const [fault] = await audit(client)
  assert.match(fault!, /^5000 of wd_\w+ are booked as paid, the bank has not sent them$/)
})

test('a payment that is booked and that the bank never received is found', async () => {
  const client = await api.client()
  const { endToEndId } = await makePaid(api, client, 1990)
  await api.rows('delete from simulated_transfers where end_to_end_id = $1', [endToEndId])
  const [fault] = await audit(client)
  assert.equal(fault, `1990 of ${endToEndId} are booked, the bank says nothing`)
})

const auditedAt = async ({ company }: Client): Promise<number> =>
  (await findLastAudit(app.db, company.id))!.auditedAt.getTime()

test('a company without new postings is audited again after ten minutes', async () => {
  const client = await api.client()
  await auditDue(app)
  const first = await auditedAt(client)
  api.clock.advance(599)
  await auditDue(app)
  assert.equal(await auditedAt(client), first)
  api.clock.advance(1)
  await auditDue(app)
  assert.equal(await auditedAt(client), first + 600_000)
})

test('a company whose books differ is audited each time', async () => {
  const client = await api.client()
  await auditDue(app)
  await api.rows(`update audits set difference = 'held' where company_id = $1`, [client.company.id])
  api.clock.advance(1)
  await auditDue(app)
  assert.equal(await auditedAt(client), api.clock.now().getTime())
  assert.equal(await differenceOf(client), null)
})

test('a real bank is audited only as far as reconciliation has asked it', async () => {
  const shop = await openBanked(api)
  const paid = await charged(shop)
  await reconcileDue.run(app)
  const asked = api.clock.now()
  api.clock.advance(1)
  shop.bank.faults.nextCallback('held')
  shop.bank.payer.pay(paid.brCode)
  // The callback is late by hours, and so is the task that would ask the bank.
  api.clock.advance(3 * 3600)
  const { bank, faults } = await auditCompany(app, shop.company.id, { whole: false })
  assert.deepEqual([bank, faults], ['asked', []])
  const { bankCheckedUntil } = (await findLastAudit(app.db, shop.company.id))!
  assert.deepEqual(bankCheckedUntil, new Date(asked.getTime() - 600_000))
  shop.bank.callbacks.releaseHeld()
  await shop.bank.callbacksSent()
  await app.callbacks.process.idle()
  api.clock.advance(3600)
  await reconcileDue.run(app)
  const later = await auditCompany(app, shop.company.id, { whole: true })
  assert.deepEqual([later.bank, later.faults], ['asked', []])
})

test('an audit by a clock that was set back takes back nothing that was checked', async () => {
  const client = await api.client()
  await audit(client)
  const checked = async () => (await findLastAudit(app.db, client.company.id))!.bankCheckedUntil
  const first = await checked()
  api.clock.advance(-300)
  await audit(client)
  assert.deepEqual(await checked(), first)
  api.clock.advance(301)
  await audit(client)
  assert.deepEqual(await checked(), new Date(first!.getTime() + 1000))
})

test('what a bank was asked for stays asked, and it is due no later than it was', async () => {
  const { company } = await api.client()
  const [now, row] = [api.clock.now(), async () => (await schedule())[0]!]
  const schedule = () =>
    api.rows<{ asked_until: Date; next_attempt_at: Date }>(
      'select asked_until, next_attempt_at from reconciliations where company_id = $1',
      [company.id],
    )
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000)
  await saveAskedUntil(app.db, company.id, at(60), at(120))
  // A worker that was slower than its lease.
  await saveAskedUntil(app.db, company.id, at(30), at(90))
  assert.deepEqual(await row(), { asked_until: at(60), next_attempt_at: at(90) })
  await reconcileSoon(app.db, company.id, at(100))
  assert.deepEqual((await row()).next_attempt_at, at(90))
  await reconcileSoon(app.db, company.id, at(80))
  assert.deepEqual(await row(), { asked_until: at(60), next_attempt_at: at(80) })
})
