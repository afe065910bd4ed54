import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import type { FullApp } from '../../../src/core/full-app.ts'
import { toCents } from '../../../src/lib/money.ts'
import { carryOutRefunds, payOutWithdrawals } from '../../../src/worker/orders.ts'
import { type Client, startApi } from '../../support/api.ts'
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
const whileSilent: FullApp = { ...app, providers: { ...app.providers, bankOf: () => silent } }

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
  await carryOutRefunds(app)
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
  await payOutWithdrawals(app)
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
