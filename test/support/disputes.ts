import assert from 'node:assert/strict'
import { auditCompany } from '../../src/core/audits/commands.ts'
import { releaseDueCharges } from '../../src/worker/due.ts'
import type { Client, TestApi } from './api.ts'
import { decisionOf, disputeOf, makePaid } from './payments.ts'

/** A dispute of a payment of a sandbox company, as the API shows it. */
export async function openDispute(
  client: Client,
  endToEndId: string,
  fields: { value?: number; reason?: string; hours?: number } = {},
) {
  const { status, body, text } = await client.post(disputeOf(endToEndId), fields)
  assert.equal(status, 201, text)
  return body.data
}

/** What the bank decides. */
export async function decide(client: Client, id: string, decision: 'won' | 'lost' | 'canceled') {
  const { status, body, text } = await client.post(decisionOf(id), { decision })
  assert.equal(status, 200, text)
  return body.data
}

export const disputeNow = async (client: Client, id: string) =>
  (await client.get(`/dispute/${id}`)).body.data

/** A paid charge whose money can be withdrawn. */
export async function makeReceived(api: TestApi, client: Client, amount: number) {
  const paid = await makePaid(api, client, amount)
  api.clock.advance(60)
  await releaseDueCharges.run(api.app)
  return paid
}

/** The books agree with themselves, with the records and with the bank. */
export async function requireClean({ app }: TestApi, { company }: Client): Promise<void> {
  const { faults, bank } = await auditCompany(app, company.id, { whole: true })
  assert.deepEqual([bank, faults], ['asked', []])
}
