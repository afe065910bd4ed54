import { REFUSED_AMOUNT, UNANSWERED_AMOUNT } from '../../src/provider/simulator/simulator.ts'
import { payer } from '../support/api.ts'
import { until } from '../support/until.ts'
import type { Request } from './caller.ts'
import { type Client, endOf, expectStatus, get, type Paid, post } from './journal.ts'

/** Sells without pause until nothing new is to be begun. */
export async function sell(client: Client): Promise<void> {
  const counterCode = await makeCounterCode(client)
  while (!client.stopping()) {
    // A static code is paid many times, and each payment becomes a charge of its own.
    if (client.random.onceIn(6)) await payAtBank(client, counterCode, AT_COUNTER)
    else await sellOne(client)
  }
}

async function makeCounterCode(client: Client): Promise<string> {
  const amount = 1 + client.random.below(2_000)
  const { body } = await post(client, '/charge/pix/static', { amount }, [201])
  const { correlationID: id, brCode } = body.data
  client.journal.staticCodes.push({ company: client.shop.company, id, amount })
  return brCode
}

async function sellOne(client: Client): Promise<void> {
  const { shop, random, journal } = client
  const amount = chooseAmount(client)
  const devMode = random.onceIn(3)
  // In production a sandbox company mails receipts to its own address.
  const wanted = { amount, customer: payer({ email: shop.email }), devMode }
  const { body } = await post(client, '/charge/pix', wanted, [201])
  const { id, brCode } = body.data
  journal.charges.push({ company: shop.company, id, amount })
  if (devMode) await simulate(client, id, amount)
  else await payAtBank(client, brCode, AT_SHOP)
  await until(`${id} is paid`, async () => {
    const { status } = (await get(client, `/charge/${id}/status`)).body.data
    return status === 'COMPLETED' ? true : null
  })
  if (random.onceIn(4)) await payAgain(client, brCode)
  if (random.onceIn(3)) await refund(client, id, amount)
}

/** Of two amounts the simulated bank refuses the return, or its answer gets lost. */
function chooseAmount({ random }: Client): number {
  if (random.onceIn(15)) return REFUSED_AMOUNT
  return random.onceIn(15) ? UNANSWERED_AMOUNT : 500 + random.below(5_000)
}

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
