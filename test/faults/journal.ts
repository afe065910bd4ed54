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
  subscriptions: Subscribed[]
  /** Codes that were sent again, because the first did not arrive. */
  resent: number
  /** Codes that were not those of the last mail. */
  wrongCodes: number
  /** Requests under a key of their own, and charges of batches, which have one too. */
  keys: number
  /** Each has a key that says only that it has begun. */
  batches: number
  /** Answers that said why not. */
  refusals: Record<string, number>
  /** Some requests with their answers, to be sent once more when all is over. */
  sample: Asked[]
  /** Requests that were sent once more and were not answered as at first. */
  changed: string[]
  /** Answers that made no sense after what was answered before. */
  absurd: string[]
  replays: number
  /** What clients have begun, in its order. */
  steps: Step[]
}

export type Asked = { request: Request; digest: string }

/** A request of a client, by which a history is told. */
export type Step = {
  client: string
  /** The number of the operation of this client that it is a part of. */
  operation: number
  path: string
  /** What was answered. */
  id: string
  /** How many faults had begun before. */
  faults: number
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
  /** A code ends after ten minutes, which is at once if the clock is moved. */
  state: 'COMPLETED' | 'FAILED' | 'CANCELED' | 'EXPIRED'
}

/** What the payer has decided. */
export type Subscribed = { company: string; id: string; state: 'APPROVED' | 'REJECTED' }

export const emptyJournal = (): Journal => ({
  charges: [],
  splits: [],
  disputes: [],
  staticCodes: [],
  payments: [],
  refunds: [],
  withdrawals: [],
  subscriptions: [],
  resent: 0,
  wrongCodes: 0,
  keys: 0,
  batches: 0,
  refusals: {},
  sample: [],
  changed: [],
  absurd: [],
  replays: 0,
  steps: [],
})

/** How an order to the simulated bank ends. */
export const endOf = (amount: number): 'COMPLETED' | 'FAILED' =>
  amount === REFUSED_AMOUNT ? 'FAILED' : 'COMPLETED'

export type Shop = { company: string; email: string; apiKey: string; mark: string }

/** What the load is made of. The rest of a sale is always there: to charge, and to be paid. */
export const OPERATIONS = [
  'counter',
  'batch',
  'split',
  'again',
  'refund',
  'dispute',
  'subscribe',
  'replay',
  'read',
  'withdraw',
] as const
export type Operation = (typeof OPERATIONS)[number]

/** Who acts for a company: one thing after the other, each to its end. */
export type Client = {
  /** Unlike that of any other client. */
  name: string
  /** By which its choices differ from those of others. */
  number: number
  shop: Shop
  seed: number
  /** Choices of the present operation. */
  random: Random
  /** How many operations it has begun. */
  begun: number
  operations: Set<Operation>
  journal: Journal
  caller: Caller
  /** Its last requests, of which some are sent again. */
  recent: Asked[]
  /** True once nothing new is to be begun. */
  stopping(): boolean
  /** How many faults have begun. */
  faults(): number
}

const SAMPLE = 20
const RECENT = 8

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
  const { apiKey, mark } = shop
  const request: Request = { method: 'POST', path, json, apiKey, key, mark }
  const answer = await caller.call(request)
  expectStatus(request, answer, expected)
  const { status, digest, body } = answer
  if (status >= 400) {
    const code: string = body.errors[0].code
    journal.refusals[code] = (journal.refusals[code] ?? 0) + 1
  }
  note(client, path, idIn(body) ?? String(status))
  if (number % SAMPLE === 0) journal.sample.push({ request, digest })
  if (client.recent.push({ request, digest }) > RECENT) client.recent.shift()
  return answer
}

// biome-ignore lint/suspicious/noExplicitAny: a client reads what it expects of a body
const idIn = ({ data }: any): string | undefined =>
  data?.id ?? data?.withdrawId ?? data?.correlationID

/** Remembers a request as a step of the history. */
export function note({ name, begun, journal, faults }: Client, path: string, id: string): void {
  journal.steps.push({ client: name, operation: begun, path, id, faults: faults() })
}

/** Whoever sends a request again gets the same answer. */
export async function sendAgain(
  { caller, journal }: Pick<Client, 'caller' | 'journal'>,
  { request, digest }: Asked,
): Promise<void> {
  journal.replays += 1
  const answer = await caller.call(request)
  if (answer.replayed && answer.digest === digest) return
  const body = JSON.stringify(answer.body)
  journal.changed.push(`${request.path} was answered ${answer.status} ${body}`)
}

export async function get(client: Client, path: string): Promise<Answer> {
  const { shop, caller } = client
  const { apiKey, mark } = shop
  const request: Request = { method: 'GET', path, apiKey, key: null, mark }
  const answer = await caller.call(request)
  expectStatus(request, answer, [200])
  return answer
}

/** An answer that makes no sense, such as that a charge is unknown which was acknowledged. */
export class Absurd extends Error {}

export function expectStatus(request: Request, { status, body }: Answer, expected: number[]): void {
  if (expected.includes(status)) return
  const { method, path, json } = request
  const asked = `${method} ${path} ${JSON.stringify(json)}`
  throw new Absurd(`${asked} was answered ${status}: ${JSON.stringify(body)}`)
}
