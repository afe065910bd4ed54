import { REFUSED_AMOUNT, UNANSWERED_AMOUNT } from '../../src/provider/simulator/simulator.ts'
import { payer } from '../support/api.ts'
import { until } from '../support/until.ts'
import type { Request } from './caller.ts'
import { type Client, endOf, expectStatus, get, type Paid, post } from './journal.ts'

/** Sells without pause until nothing new is to be begun. */
export async function sell(client: Client): Promise<void> {
  const counterCode = await makeCounterCode(client)
  const recipient = await makeRecipient(client)
  while (!client.stopping()) {
    // A static code is paid many times, and each payment becomes a charge of its own.
    if (client.random.onceIn(6)) await payAtBank(client, counterCode, AT_COUNTER)
    else if (client.random.onceIn(5)) await sellMany(client)
    else await sellOne(client, recipient)
  }
}

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

async function sellOne(client: Client, recipient: string): Promise<void> {
  const { shop, random, journal } = client
  const amount = chooseAmount(client)
  const devMode = random.onceIn(3)
  // In production a sandbox company mails receipts to its own address.
  const isSplit = random.onceIn(3)
  const split = isSplit ? { split: [{ recipientId: recipient, percent: SHARE }] } : {}
  const wanted = { amount, customer: payer({ email: shop.email }), devMode, ...split }
  const { body } = await post(client, '/charge/pix', wanted, [201])
  const { id, brCode } = body.data
  journal.charges.push({ company: shop.company, id, amount })
  if (isSplit) journal.splits.push({ company: shop.company, id, amount, recipient })
  if (devMode) await simulate(client, id, amount)
  else await payAtBank(client, brCode, AT_SHOP)
  await until(`${id} is paid`, async () => {
    const { status } = (await get(client, `/charge/${id}/status`)).body.data
    return status === 'COMPLETED' ? true : null
  })
  if (random.onceIn(4)) await payAgain(client, brCode)
  const choice = random.below(4)
  if (choice === 0) await refund(client, id, amount)
  if (choice === 1) await dispute(client, id, amount)
}

/** Charges of one request. A retry after a kill makes those that are missing. */
async function sellMany(client: Client): Promise<void> {
  const { shop, random, journal } = client
  const customer = payer({ email: shop.email })
  const amounts = Array.from({ length: 2 + random.below(4) }, () => 500 + random.below(5_000))
  const charges = amounts.map((amount) => ({ amount, customer }))
  const { body } = await post(client, '/charge/batch', { charges }, [200])
  journal.batches += 1
  journal.keys += charges.length
  for (const { charge } of body.data.items) {
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
  const request: Request = { method: 'POST', path: '/bank/pix', json, apiKey: null, key: null }
  const answer = await client.caller.call(request)
  expectStatus(request, answer, [201])
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

/** Money that arrives twice is kept, goes back, or waits for somebody to decide. */
async function payAgain(client: Client, brCode: string): Promise<void> {
  const { journal, random, shop } = client
  const paid = await payAtBank(client, brCode, AGAIN)
  const path = `/payment/unmatched/${paid.name}`
  // The bank is answered before the payment is matched where that fails at first.
  await until(`${paid.name} is listed`, async () => {
    const { body } = await get(client, '/payment/unmatched?limit=50')
    const listed = body.data.some(
      ({ endToEndId }: { endToEndId: string }) => endToEndId === paid.name,
    )
    return listed ? true : null
  })
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
