import { REFUSED_AMOUNT } from '../../src/provider/simulator/simulator.ts'
import type { Answer, Caller, Request } from './caller.ts'
import type { Random } from './random.ts'

/** All that was answered to clients, which is what must be true in the end. */
export type Journal = {
  charges: Charged[]
  splits: Divided[]
  disputes: Disputed[]
  staticCodes: Charged[]
  payments: Paid[]
  refunds: Refunded[]
  withdrawals: Withdrawn[]
  /** Codes that were sent again, because the first did not arrive. */
  resent: number
  /** Requests under a key of their own, and charges of batches, which have one too. */
  keys: number
  /** Each has a key that says only that it has begun. */
  batches: number
  /** Answers that said why not. */
  refusals: Record<string, number>
  /** Some requests with their answers, to be sent once more when all is over. */
  sample: { request: Request; digest: string }[]
}

export type Charged = { company: string; id: string; amount: number }

/** A charge of which a recipient gets a part. */
export type Divided = Charged & { recipient: string }

/** `name` is the scheme's id of the payment, whose money was claimed back. */
export type Disputed = {
  company: string
  id: string
  amount: number
  name: string
  state: 'ACCEPTED' | 'WON' | 'LOST' | 'CANCELED'
}

/** `name` is the scheme's id, or the charge of a simulated payment whose id the bank has chosen. */
export type Paid = {
  company: string
  name: string
  amount: number
  state: 'MATCHED' | 'UNMATCHED' | 'ACCEPTED' | 'REFUNDED'
  /** Whether it paid a static code, and so became a charge of its own. */
  atCounter: boolean
}

export type Refunded = {
  company: string
  id: string
  amount: number
  /** Null for the refund of a payment that matched none. */
  charge: string | null
  state: 'COMPLETED' | 'FAILED'
  /** The payment of a lost dispute, which the bank has returned by itself. */
  returned?: string
}

export type Withdrawn = {
  company: string
  id: string
  amount: number
  state: 'COMPLETED' | 'FAILED' | 'CANCELED'
}

export const emptyJournal = (): Journal => ({
  charges: [],
  splits: [],
  disputes: [],
  staticCodes: [],
  payments: [],
  refunds: [],
  withdrawals: [],
  resent: 0,
  keys: 0,
  batches: 0,
  refusals: {},
  sample: [],
})

/** How an order to the simulated bank ends. */
export const endOf = (amount: number): 'COMPLETED' | 'FAILED' =>
  amount === REFUSED_AMOUNT ? 'FAILED' : 'COMPLETED'

export type Shop = { company: string; email: string; apiKey: string }

/** Who acts for a company: one thing after the other, each to its end. */
export type Client = {
  /** Unlike that of any other client. */
  name: string
  shop: Shop
  random: Random
  journal: Journal
  caller: Caller
  /** True once nothing new is to be begun. */
  stopping(): boolean
}

const SAMPLE = 20

/** Posts under a key of its own; an answer that is neither of these statuses is a fault. */
export async function post(
  client: Client,
  path: string,
  json: unknown,
  expected: number[],
): Promise<Answer> {
  const { shop, journal, caller, name } = client
  journal.keys += 1
  const number = journal.keys
  const key = `${name}-${number}`
  const request: Request = { method: 'POST', path, json, apiKey: shop.apiKey, key }
  const answer = await caller.call(request)
  expectStatus(request, answer, expected)
  const { status, digest, body } = answer
  if (status >= 400) {
    const code: string = body.errors[0].code
    journal.refusals[code] = (journal.refusals[code] ?? 0) + 1
  }
  if (number % SAMPLE === 0) journal.sample.push({ request, digest })
  return answer
}

export async function get(client: Client, path: string): Promise<Answer> {
  const { shop, caller } = client
  const request: Request = { method: 'GET', path, apiKey: shop.apiKey, key: null }
  const answer = await caller.call(request)
  expectStatus(request, answer, [200])
  return answer
}

export function expectStatus(request: Request, { status, body }: Answer, expected: number[]): void {
  if (expected.includes(status)) return
  const { method, path, json } = request
  const asked = `${method} ${path} ${JSON.stringify(json)}`
  throw new Error(`${asked} was answered ${status}: ${JSON.stringify(body)}`)
}
