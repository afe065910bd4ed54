import { REFUSED_AMOUNT, UNANSWERED_AMOUNT } from '../../src/provider/simulator/simulator.ts'
import { payer } from '../support/api.ts'
import { lookFor } from '../support/until.ts'
import type { Request } from './caller.ts'
import {
  Absurd,
  type Client,
  endOf,
  expectStatus,
  get,
  note,
  type Operation,
  type Paid,
  post,
  type Shop,
  sendAgain,
} from './journal.ts'
import { numbered } from './random.ts'

/** Sells without pause until nothing new is to be begun. */
export async function sell(client: Client): Promise<void> {
  const { operations } = client
  begin(client)
  const counterCode = operations.has('counter') ? await makeCounterCode(client) : null
  const recipient = operations.has('split') ? await makeRecipient(client) : null
  const product = operations.has('subscribe') ? await makeProduct(client) : null
  while (!client.stopping()) {
    await operate<unknown>(client, () => {
      const may = (one: Operation, times: number) =>
        client.random.onceIn(times) && operations.has(one)
      // A static code is paid many times, and each payment becomes a charge of its own.
      if (may('counter', 6)) return payAtBank(client, counterCode!, AT_COUNTER)
      if (may('batch', 6)) return sellMany(client)
      if (may('subscribe', 10)) return subscribe(client, product!)
      if (may('replay', 6)) return replay(client)
      if (may('read', 6)) return readAll(client)
      return sellOne(client, recipient)
    })
  }
}

/** Does the next operation. If an answer makes no sense, it is noted, and the next one begins. */
export async function operate<T>(client: Client, act: () => Promise<T>): Promise<T | null> {
  begin(client)
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof Absurd)) throw error
    client.journal.absurd.push(`${client.name}, operation ${client.begun}: ${error.message}`)
    return null
  }
}

/** The choices of an operation depend on nothing that other operations have done. */
function begin(client: Client): void {
  client.begun += 1
  client.random = numbered(client.seed, client.number, client.begun)
}

const LISTS = ['/charge?limit=20', '/event?limit=20', '/client?limit=20', '/account-balance']

/** What a company has, of which nothing may be another company's. */
async function readAll(client: Client): Promise<void> {
  await get(client, LISTS[client.random.below(LISTS.length)]!)
}

async function replay(client: Client): Promise<void> {
  const { recent, random } = client
  const asked = recent[random.below(recent.length)]
  if (asked) await sendAgain(client, asked)
}

/** What a week of a subscription costs. */
export const WEEKLY_VALUE = 1990

async function makeProduct(client: Client): Promise<string> {
  const product = { name: 'Pão todo dia', description: 'Francês', price: WEEKLY_VALUE }
  const recurring = { ...product, type: 'RECURRING', frequency: 'WEEKLY' }
  return (await post(client, '/product', recurring, [201])).body.data.id
}

/** A payer agrees to be charged every week, or does not. */
async function subscribe(client: Client, productId: string): Promise<void> {
  const { shop, random, journal, caller } = client
  const customer = { ...payerOf(shop), status: 'ACTIVE' }
  const customerId: string = (await post(client, '/client', customer, [201])).body.data.id
  const wanted = { productId, customerId }
  const { body } = await post(client, '/pix-automatic/recurrences', wanted, [201])
  const { id, emv } = body.data
  const decision = random.onceIn(4) ? 'reject' : 'approve'
  const json = { emv, decision }
  const path = '/bank/authorizations'
  const request: Request = { method: 'POST', path, json, apiKey: null, key: null }
  expectStatus(request, await caller.call(request), [200])
  const state = decision === 'approve' ? 'APPROVED' : 'REJECTED'
  journal.subscriptions.push({ company: shop.company, id, state })
}

/** In production a sandbox company mails receipts to its own address. */
const payerOf = ({ email, mark }: Shop) => payer({ name: `Maria ${mark}`, email })

async function makeRecipient(client: Client): Promise<string> {
  const body = { name: 'Ana Lima', taxId: '52998224725', pixKey: 'ana@example.com' }
  return (await post(client, '/recipient', body, [201])).body.data.id
}

async function makeCounterCode(client: Client): Promise<string> {
  const amount = 1 + client.random.below(2_000)
  const { body } = await post(client, '/charge/pix/static', { amount }, [201])
  const { correlationID: id, brCode } = body.data
  client.journal.staticCodes.push({ company: client.shop.company, id, amount })
  return brCode
}

/** No charge ends while the clock is moved by hours. */
const EXPIRES_IN_S = 30 * 86_400

async function sellOne(client: Client, recipient: string | null): Promise<void> {
  const { shop, random, journal, operations } = client
  const amount = chooseAmount(client)
  const devMode = random.onceIn(3)
  const isSplit = random.onceIn(3) && recipient !== null
  const split = isSplit ? { split: [{ recipientId: recipient, percent: SHARE }] } : {}
  const customer = payerOf(shop)
  const wanted = { amount, customer, devMode, expiresIn: EXPIRES_IN_S, ...split }
  const { body } = await post(client, '/charge/pix', wanted, [201])
  const { id, brCode } = body.data
  journal.charges.push({ company: shop.company, id, amount })
  if (isSplit) journal.splits.push({ company: shop.company, id, amount, recipient })
  if (devMode) await simulate(client, id, amount)
  else await payAtBank(client, brCode, AT_SHOP)
  const isPaid = await isSeen(client, async () => {
    const { status } = (await get(client, `/charge/${id}/status`)).body.data
    return status === 'COMPLETED'
  })
  if (!isPaid) return
  if (random.onceIn(4) && operations.has('again')) await payAgain(client, brCode)
  const choice = random.below(4)
  if (choice === 0 && operations.has('refund')) await refund(client, id, amount)
  if (choice === 1 && operations.has('dispute')) await dispute(client, id, amount)
}

/** Charges of one request. A retry after a kill makes those that are missing. */
async function sellMany(client: Client): Promise<void> {
  const { shop, random, journal } = client
  const customer = payerOf(shop)
  const amounts = Array.from({ length: 2 + random.below(4) }, () => 500 + random.below(5_000))
  const charges = amounts.map((amount) => ({ amount, customer, expiresIn: EXPIRES_IN_S }))
  const { body } = await post(client, '/charge/batch', { charges }, [200])
  journal.batches += 1
  journal.keys += charges.length
  for (const { charge, errors } of body.data.items) {
    if (errors) throw new Error(`a charge of the batch was refused: ${JSON.stringify(errors)}`)
    note(client, 'a charge of the batch', charge.id)
    journal.charges.push({ company: shop.company, id: charge.id, amount: charge.amount })
    await payAtBank(client, charge.brCode, AT_SHOP)
  }
}

/** Of two amounts the simulated bank refuses the return, or its answer gets lost. */
function chooseAmount({ random }: Client): number {
  if (random.onceIn(15)) return REFUSED_AMOUNT
  return random.onceIn(15) ? UNANSWERED_AMOUNT : 500 + random.below(5_000)
}

/** What recipients get, in hundredths of a percent. */
export const SHARE = 3333

const AT_SHOP = { state: 'MATCHED', atCounter: false } as const
const AT_COUNTER = { state: 'MATCHED', atCounter: true } as const
const AGAIN = { state: 'UNMATCHED', atCounter: false } as const

/** An order to the bank has no key: the scheme's id, chosen here, makes it one payment. */
async function payAtBank(
  client: Client,
  brCode: string,
  kind: Pick<Paid, 'state' | 'atCounter'>,
): Promise<Paid> {
  const endToEndId = schemeId(client)
  const json = { brCode, endToEndId }
  const { mark } = client.shop
  const nobody = { apiKey: null, key: null }
  const request: Request = { method: 'POST', path: '/bank/pix', json, ...nobody, mark }
  const answer = await client.caller.call(request)
  expectStatus(request, answer, [201])
  note(client, '/bank/pix', endToEndId)
  const { amount } = answer.body.data
  const paid: Paid = { company: client.shop.company, name: endToEndId, amount, ...kind }
  client.journal.payments.push(paid)
  return paid
}

const schemeId = ({ random }: Client): string => {
  const digits = Array.from({ length: 12 }, () => random.below(10)).join('')
  const unique = Array.from({ length: 11 }, () => random.below(36).toString(36)).join('')
  return `E99999999${digits}${unique}`
}

async function simulate(client: Client, id: string, amount: number): Promise<void> {
  await post(client, `/charge/${id}/simulate-payment`, undefined, [200])
  const { company } = client.shop
  client.journal.payments.push({ company, name: id, amount, ...AT_SHOP })
}

/** Longer than any fault lasts. */
const LOOK_S = 30

/** Nobody waits for long, or when the load ends, for what may be lost: the check finds it. */
async function isSeen({ stopping }: Client, look: () => Promise<boolean>): Promise<boolean> {
  const seen = await lookFor(async () => ((await look()) ? 'seen' : stopping() && 'over'), LOOK_S)
  return seen === 'seen'
}

/** Money that arrives twice is kept, goes back, or waits for somebody to decide. */
async function payAgain(client: Client, brCode: string): Promise<void> {
  const { journal, random, shop } = client
  const paid = await payAtBank(client, brCode, AGAIN)
  const path = `/payment/unmatched/${paid.name}`
  // The bank is answered before the payment is matched where that fails at first.
  const isListed = await isSeen(client, async () => {
    const { body } = await get(client, '/payment/unmatched?limit=50')
    return body.data.some(({ endToEndId }: { endToEndId: string }) => endToEndId === paid.name)
  })
  if (!isListed) return
  const choice = random.below(3)
  if (choice === 1) {
    await post(client, `${path}/accept`, undefined, [200])
    paid.state = 'ACCEPTED'
  } else if (choice === 2) {
    const { body } = await post(client, `${path}/refund`, {}, [201])
    const state = endOf(paid.amount)
    journal.refunds.push({
      company: shop.company,
      id: body.data.id,
      amount: paid.amount,
      charge: null,
      state,
    })
    if (state === 'COMPLETED') paid.state = 'REFUNDED'
  }
}

/** The payer wants all of it back: the merchant agrees, or the bank decides. */
async function dispute(client: Client, charge: string, amount: number): Promise<void> {
  const { random, journal, shop } = client
  const { company } = shop
  const name: string = (await get(client, `/charge/${charge}`)).body.data.endToEndId
  const opened = await post(client, `/sandbox/payment/${name}/dispute`, {}, [201])
  const id: string = opened.body.data.id
  const decisions = ['WON', 'LOST', 'CANCELED'] as const
  // The simulated bank refuses to return this amount, and the dispute would be open again.
  const isAccepted = random.onceIn(4) && amount !== REFUSED_AMOUNT
  const state = isAccepted ? 'ACCEPTED' : decisions[random.below(decisions.length)]!
  journal.disputes.push({ company, id, amount, name, state })
  if (state === 'ACCEPTED') await post(client, `/dispute/${id}/accept`, undefined, [200])
  else {
    const decision = state.toLowerCase()
    await post(client, `/sandbox/dispute/${id}/decide`, { decision }, [200])
  }
  if (state !== 'ACCEPTED' && state !== 'LOST') return
  const [refund] = (await get(client, `/refund/charge/${charge}`)).body.data
  const returned = state === 'LOST' ? { returned: name } : {}
  const completed = { state: 'COMPLETED' as const, ...returned }
  journal.refunds.push({ company, id: refund.id, amount, charge, ...completed })
}

/** Whole, or in one or two parts. */
async function refund(client: Client, id: string, amount: number): Promise<void> {
  const { random, journal, shop } = client
  const part = 1 + random.below(Math.floor(amount / 2))
  const values = [[undefined], [part], [part, part]][random.below(3)]!
  for (const value of values) {
    const wanted = value === undefined ? {} : { value }
    const { status, body } = await post(client, `/refund/${id}`, wanted, [201, 422])
    // What is left of the balance may be less than what should go back.
    if (status === 422) return
    const returned: number = body.data.value
    journal.refunds.push({
      company: shop.company,
      id: body.data.id,
      amount: returned,
      charge: id,
      state: endOf(returned),
    })
  }
}
