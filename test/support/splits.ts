import assert from 'node:assert/strict'
import { auditCompany } from '../../src/core/audits/commands.ts'
import { releaseDueCharges } from '../../src/worker/due.ts'
import { type Client, payer, type Reply, type TestApi } from './api.ts'
import { pay } from './payments.ts'

/** What an API answers, if it is what was asked for. */
export function dataOf({ status, body, text }: Reply) {
  assert.ok(status < 300, text)
  return body.data
}

let made = 0
/** A new recipient, and its id. */
export async function makeRecipient(client: Client, fields: object = {}): Promise<string> {
  made += 1
  const body = { name: `Recebedor ${made}`, taxId: '52998224725', pixKey: `r${made}@example.com` }
  return dataOf(await client.post('/recipient', { ...body, ...fields })).id
}

export const makeRecipients = async (client: Client, count: number): Promise<string[]> => {
  const ids: string[] = []
  while (ids.length < count) ids.push(await makeRecipient(client))
  return ids
}

export type Term = { recipientId: string; amount?: number; percent?: number }

/** A charge that is divided among recipients. */
export async function makeSplit(client: Client, amount: number, split: Term[], fields = {}) {
  const charge = { amount, customer: payer(), split, ...fields }
  return dataOf(await client.post('/charge/pix', charge)) as { id: string; brCode: string }
}

/** The same, paid and released. */
export async function makeSettled(api: TestApi, client: Client, amount: number, split: Term[]) {
  const charge = await makeSplit(client, amount, split)
  const endToEndId = await pay(api, charge.brCode)
  await release(api)
  return { ...charge, endToEndId }
}

export async function release(api: TestApi): Promise<void> {
  api.clock.advance(60)
  await releaseDueCharges.run(api.app)
}

/** What each recipient has; below zero it owes the company. */
export const netOf = (client: Client, ids: string[]): Promise<number[]> =>
  Promise.all(
    ids.map(async (id) => {
      const { available, owed } = dataOf(await client.get(`/recipient/${id}/balance`))
      assert.ok(available === 0 || owed === 0)
      return available - owed
    }),
  )

/** The balance as it is shown. */
export const shownBalance = async (client: Client): Promise<Record<string, number>> =>
  dataOf(await client.get('/account-balance'))

/** All that the audit finds, from the first entry. */
export async function requireClean({ app }: TestApi, { company }: Client): Promise<void> {
  const { faults } = await auditCompany(app, company.id, { whole: true })
  assert.deepEqual(faults, [])
}

/** The parts that a charge shows. */
export const partsOf = async (client: Client, id: string): Promise<number[]> =>
  dataOf(await client.get(`/charge/${id}`)).split.map(({ value }: { value: number }) => value)
