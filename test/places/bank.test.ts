import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditDue } from '../../src/core/audits/commands.ts'
import { moveCompany, type Step } from '../../src/core/moves/move.ts'
import { appsOf } from '../../src/core/places/front.ts'
import { toCents } from '../../src/lib/money.ts'
import { reconcileDue } from '../../src/worker/due.ts'
import { type Client, startApi } from '../support/api.ts'
import { charged, openBanked, read } from '../support/bank.ts'
import { killMoverAt } from './killed-mover.ts'

const api = await startApi({}, { places: 2 })
const [first, second] = appsOf(api.app) as [typeof api.app, typeof api.app]

/** Moves a company to the first place, and does something at a step. */
function move({ company }: Client, step: Step, act: () => Promise<unknown>) {
  let isDone = false
  const onStep = async (now: Step) => {
    // If the step takes long, it is tried again.
    if (now !== step || isDone) return
    isDone = true
    await act()
  }
  const places = { urls: api.places, from: 2, to: 1 }
  return moveCompany({ companyId: company.id, ...places, workers_ms: 0, grace_ms: 0, onStep })
}

/** What stops the payouts of a company, after the time in which a callback may still arrive. */
async function differenceIn(app: typeof first, { company }: Client): Promise<unknown> {
  api.clock.advance(121)
  await auditDue(app)
  const [audit] = await app.db.query<{ difference: string | null }>({
    text: 'select difference from audits where company_id = $1',
    values: [company.id],
  })
  assert.ok(audit, 'it was audited')
  return audit.difference
}

test('a payment whose callback was refused during a move is booked when the move is over', async () => {
  const client = await openBanked(api)
  const { id, brCode } = await charged(client)
  api.clock.advance(1)
  await reconcileDue.run(second)
  await move(client, 'locked', async () => {
    client.bank.payer.pay(brCode)
    await client.bank.callbacksSent()
  })
  assert.equal((await read(client, id)).paymentStatus, 'PROCESSING', 'the callback was refused')
  api.clock.advance(1)
  await reconcileDue.run(first)
  assert.equal((await read(client, id)).paymentStatus, 'PAID')
  assert.equal(await differenceIn(first, client), null)
})

/** A company at the simulated bank without open charges, which is asked for rarely. */
async function idleCompany(): Promise<{ client: Client; lose(): Promise<unknown> }> {
  const client = await api.client()
  await reconcileDue.run(second)
  api.clock.advance(1)
  const payment = { txid: null, amount: toCents(700) }
  return { client, lose: () => second.providers.simulator.pay(client.company, payment) }
}

const bookedIn = async ({ db }: typeof first, { company }: Client): Promise<number> => {
  const text = 'select from payments where company_id = $1 and amount = 700'
  return (await db.query({ text, values: [company.id] })).length
}

test('a company whose bank is asked rarely is asked when its move is over', async () => {
  const { client, lose } = await idleCompany()
  await move(client, 'caught up', lose)
  api.clock.advance(1)
  await reconcileDue.run(first)
  assert.equal(await bookedIn(first, client), 1)
  assert.equal(await differenceIn(first, client), null)
})

test('a company is asked for when its move was interrupted while it was refused', async () => {
  const { client, lose } = await idleCompany()
  await lose()
  await killMoverAt(api, client.company.id, 'locked')
  api.clock.advance(1)
  await reconcileDue.run(second)
  assert.equal(await bookedIn(second, client), 1)
  assert.equal(await differenceIn(second, client), null)
})
