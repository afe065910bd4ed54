import assert from 'node:assert/strict'
import type { Client, TestApi } from './api.ts'
import { CLOCK } from './clocks.ts'
import { decide, makeSubscription, readSubscription } from './subscriptions.ts'
import { until } from './until.ts'

/** A day of São Paulo, which is three hours behind UTC all year round since 2019. */
export type Day = string

const DAY_MS = 24 * 3600 * 1000
/** A moment of a day, as answers have it. */
export const at = (day: Day, time = '00:00:00'): string =>
  new Date(`${day}T${time}-03:00`).toISOString()

export const daysAfter = (day: Day, days: number): Day =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

/**
 * Moves a company's clock to a moment, and is back when all that was due is done, however long a
 * busy machine takes.
 */
export async function moveTo(client: Client, now: string): Promise<void> {
  const { status, text } = await client.post(CLOCK, { now })
  assert.equal(status, 200, text)
  const arrived = await until('the clock has arrived', async () => {
    const { data } = (await client.get(CLOCK)).body
    return data.status === 'READY' && data.now
  })
  assert.equal(arrived, now)
}

export type Subscription = { id: string; emv: string }

/** A subscription that its payer has approved. */
export async function approvedSubscription(
  api: TestApi,
  client: Client,
  fields: Record<string, unknown> = {},
  funds?: boolean,
): Promise<Subscription> {
  const { id, emv } = await makeSubscription(client, fields)
  await decide(api, emv, 'approve', funds)
  return { id, emv }
}

export type ShownCharge = {
  id: string
  status: string
  paymentStatus: string
  total: string
  expiresAt: string
  paymentDate?: string
  endToEndId?: string
}

/** The charges of a subscription, oldest first. */
export const chargesOf = async (client: Client, id: string): Promise<ShownCharge[]> =>
  (await readSubscription(client, id)).charges.toReversed()

export const statesOf = async (client: Client, id: string): Promise<string[]> =>
  (await chargesOf(client, id)).map(({ status, paymentStatus }) => `${status} ${paymentStatus}`)

export type FedEvent = {
  type: string
  createdAt: string
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
  data: any
}

/** All events of a company, in the order of its feed. */
export async function feedOf(client: Client): Promise<FedEvent[]> {
  const { status, body, text } = await client.get('/event?limit=1000')
  assert.equal(status, 200, text)
  return body.data
}

/** The events of charges and subscriptions, each with its time. */
export const eventLinesOf = async (client: Client): Promise<string[]> =>
  (await feedOf(client)).map(({ type, createdAt }) => `${createdAt} ${type}`)

type Collection = { status: string; due_on: string; attempts: { on: Day; status: string }[] }

/** What the simulated bank has of a charge, by its own books. */
export async function collectionsOf(api: TestApi, client: Client): Promise<Collection[]> {
  return api.rows<Collection>(
    `select status, due_on::text, attempts from simulated_collections
     where account_id = $1 order by due_on, id`,
    [client.company.id],
  )
}

/** The attempts of a company's only collection: the day of each and what came of it. */
export async function attemptsOf(api: TestApi, client: Client): Promise<string[]> {
  const collections = await collectionsOf(api, client)
  assert.equal(collections.length, 1)
  return collections[0]!.attempts.map(({ on, status }) => `${on} ${status}`)
}
