import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { fromPublic } from '../../../src/lib/ids.ts'
import { toCents } from '../../../src/lib/money.ts'
import type { Source } from '../../../src/provider/port.ts'
import { chargeTxid } from '../../../src/provider/txid.ts'
import { carryOutRefunds, reconcileDue } from '../../../src/worker/due.ts'
import { startApi } from '../../support/api.ts'
import { type Banked, charged, openBanked } from '../../support/bank.ts'
import { isLong } from '../../support/long.ts'
import { balancesOf, movementsOf, order, stateOf } from '../../support/payments.ts'

const api = await startApi()

/** A scheme's id that a payer at any bank could have, with the number of the simulated bank. */
let count = 0
const newEndToEndId = (ispb = '99999999') =>
  `E${ispb}202608201500${String(++count).padStart(11, '0')}`

/** Waits until all callbacks of a bank are sent and processed. */
async function callbacksProcessed({ bank }: Banked): Promise<void> {
  await bank.callbacksSent()
  await api.app.callbacks.process.idle()
}

async function audit({ company }: Banked): Promise<string[]> {
  api.clock.advance(2000)
  await reconcileDue.run(api.app)
  return (await auditCompany(api.app, company.id, { whole: true })).faults
}

test('a simulated payment with the id of a real one takes nothing from the books', async () => {
  for (const isFirst of [true, false]) {
    const shop = await openBanked(api)
    const [real, play] = [await charged(shop), await charged(shop, { devMode: true })]
    const endToEndId = newEndToEndId()
    const simulate = () => order(api, { brCode: play.brCode, endToEndId })
    if (isFirst) assert.equal((await simulate()).status, 201)
    shop.bank.payer.pay(real.brCode, { endToEndId })
    await callbacksProcessed(shop)
    if (!isFirst) assert.equal((await simulate()).status, 201)
    for (const { id } of [real, play]) {
      assert.deepEqual(await stateOf(shop, id), ['COMPLETED', 'PAID'])
    }
    assert.deepEqual(await movementsOf(api, shop), [
      ['CHARGE_PAID', endToEndId, 'bank>pending', 1990],
    ])
    assert.deepEqual(await audit(shop), [])
  }
})

test('real and simulated payments that are matched together stay what they are', async () => {
  for (const isRealFirst of [true, false]) {
    const shop = await openBanked(api)
    const company = await shop.fresh()
    const [real, play] = [await charged(shop), await charged(shop, { devMode: true })]
    const now = api.clock.now()
    const arrived = (source: Source, { id }: { id: string }) => ({
      app: api.app,
      company,
      arrival: { source, now },
      processed: [],
      payments: [
        {
          endToEndId: newEndToEndId(),
          txid: chargeTxid(fromPublic('charge', id)!),
          amount: toCents(1990),
          receivedAt: now,
        },
      ],
    })
    const both = [arrived('bank', real), arrived('simulated', play)]
    const inTurn = isRealFirst ? both : both.toReversed()
    await Promise.all(inTurn.map((one) => api.app.callbacks.match(one)))
    for (const { id } of [real, play]) {
      assert.deepEqual(await stateOf(shop, id), ['COMPLETED', 'PAID'])
    }
    assert.deepEqual(await movementsOf(api, shop), [
      ['CHARGE_PAID', both[0]!.payments[0]!.endToEndId, 'bank>pending', 1990],
    ])
  }
})

test('the simulated bank takes no endToEndId but one of its own', async () => {
  const shop = await openBanked(api)
  const { brCode } = await charged(shop, { devMode: true })
  const { status, body } = await order(api, { brCode, endToEndId: newEndToEndId('12345678') })
  assert.deepEqual([status, body.errors[0].code], [400, 'invalid_value'])
  assert.match(body.errors[0].description, /^endToEndId: must be E, 99999999/)
})

test('real money for a dev-mode code waits for a decision, and pays nothing', async () => {
  const shop = await openBanked(api)
  const play = await charged(shop, { devMode: true })
  const counter = await shop.post('/charge/pix/static', { amount: 700, devMode: true })
  const one = shop.bank.payer.pay(counter.body.data.brCode)
  await callbacksProcessed(shop)
  shop.bank.faults.nextCallback('lost')
  const two = shop.bank.payer.payKey(shop.company.pixKey, 1990)
  two.txid = chargeTxid(fromPublic('charge', play.id)!)
  api.clock.advance(61)
  await reconcileDue.run(api.app)
  assert.deepEqual(await stateOf(shop, play.id), ['OPEN', 'PROCESSING'])
  assert.deepEqual(await movementsOf(api, shop), [
    ['PAYMENT_UNMATCHED', one.endToEndId, 'bank>unmatched', 700],
    ['PAYMENT_UNMATCHED', two.endToEndId, 'bank>unmatched', 1990],
  ])
  assert.deepEqual(await audit(shop), [])
})

test('a decision on an id that both sources have is about the real money', async () => {
  const shop = await openBanked(api)
  const [accepted, refunded] = [newEndToEndId(), newEndToEndId()]
  const { brCode } = await charged(shop, { devMode: true })
  for (const endToEndId of [accepted, refunded]) {
    assert.equal((await order(api, { brCode, amount: 5, endToEndId })).status, 201)
    shop.bank.payer.payKey(shop.company.pixKey, 700, { endToEndId })
  }
  api.clock.advance(61)
  await reconcileDue.run(api.app)
  assert.equal((await shop.post(`/payment/unmatched/${accepted}/accept`)).body.data.amount, 700)
  assert.equal((await shop.post(`/payment/unmatched/${refunded}/refund`, {})).body.data.value, 700)
  await carryOutRefunds.run(api.app)
  const rows = await api.rows(
    'select source, amount, status from payments where company_id = $1 order by status, source',
    [shop.company.id],
  )
  assert.deepEqual(rows, [
    { source: 'bank', amount: 700, status: 'ACCEPTED' },
    { source: 'bank', amount: 700, status: 'REFUNDED' },
    { source: 'simulated', amount: 5, status: 'UNMATCHED' },
    { source: 'simulated', amount: 5, status: 'UNMATCHED' },
  ])
  assert.deepEqual(await balancesOf(api, shop), {
    available: 700,
    pending: 0,
    held: 0,
    unmatched: 0,
  })
  assert.deepEqual(await audit(shop), [])
})

const settle = (shop: Banked, endToEndId: string, chargeId: string, difference = 'keep') =>
  shop.post(`/payment/unmatched/${endToEndId}/accept`, { chargeId, difference })

test('a real payment settles real charges only, and its difference goes back at the bank', async () => {
  const shop = await openBanked(api)
  const [real, play] = [await charged(shop), await charged(shop, { devMode: true })]
  const { endToEndId } = shop.bank.payer.payKey(shop.company.pixKey, 2090)
  api.clock.advance(61)
  await reconcileDue.run(api.app)
  const refused = await settle(shop, endToEndId, play.id)
  assert.deepEqual([refused.status, refused.body.errors[0].code], [409, 'payment_of_other_source'])
  assert.match(refused.body.errors[0].description, /^chargeId: the charge is a test/)
  const { body } = await settle(shop, endToEndId, real.id, 'refund')
  assert.deepEqual(body.data.settled, { chargeId: real.id, amount: 1990 })
  await carryOutRefunds.run(api.app)
  assert.equal((await shop.post(`/refund/${real.id}`, { value: 1990 })).status, 201)
  await carryOutRefunds.run(api.app)
  assert.deepEqual(await stateOf(shop, real.id), ['COMPLETED', 'REFUNDED'])
  assert.deepEqual(await balancesOf(api, shop), { available: 0, pending: 0, held: 0, unmatched: 0 })
  assert.deepEqual(await audit(shop), [])
})

test('a test payment of a live company settles test charges only, and books nothing', async () => {
  const shop = await openBanked(api)
  const [real, play] = [await charged(shop), await charged(shop, { devMode: true })]
  const endToEndId = newEndToEndId()
  assert.equal((await order(api, { brCode: play.brCode, amount: 2500, endToEndId })).status, 201)
  const refused = await settle(shop, endToEndId, real.id)
  assert.deepEqual([refused.status, refused.body.errors[0].code], [409, 'payment_of_other_source'])
  assert.equal((await settle(shop, endToEndId, play.id, 'refund')).status, 200)
  await carryOutRefunds.run(api.app)
  assert.deepEqual(await stateOf(shop, play.id), ['COMPLETED', 'PAID'])
  assert.deepEqual(await stateOf(shop, real.id), ['OPEN', 'PROCESSING'])
  assert.deepEqual(await movementsOf(api, shop), [])
  assert.deepEqual(await audit(shop), [])
})

type Step = { id: number; kind: 'real' | 'stray' | 'play' | 'play stray' | 'callback' | 'ask' }

const steps = fc.array(
  fc.record<Step>({
    id: fc.nat({ max: 2 }),
    kind: fc.constantFrom('real', 'stray', 'play', 'play stray', 'callback', 'ask'),
  }),
  { minLength: 4, maxLength: 10 },
)

test('in any order of simulated and real payments with the same ids the books are the real ones', async () => {
  const shop = await openBanked(api)
  const booked: string[] = []

  async function run(all: Step[]): Promise<void> {
    const ids = [newEndToEndId(), newEndToEndId(), newEndToEndId()]
    const used = new Set<string>()
    for (const { id, kind } of all) {
      const endToEndId = ids[id]!
      const isReal = kind === 'real' || kind === 'stray'
      if (kind === 'callback') await callbacksProcessed(shop)
      else if (kind === 'ask') {
        api.clock.advance(61)
        await reconcileDue.run(api.app)
      } else if (!isReal) {
        const { brCode } = await charged(shop, { devMode: true })
        const amount = kind === 'play' ? 1990 : 1000
        const { status } = await order(api, { brCode, amount, endToEndId })
        assert.ok([201, 422].includes(status), String(status))
      } else if (!used.has(endToEndId)) {
        used.add(endToEndId)
        const { brCode } = await charged(shop)
        shop.bank.faults.nextCallback(id % 2 ? 'lost' : 'doubled')
        shop.bank.payer.pay(brCode, { endToEndId, amount: kind === 'real' ? 1990 : 800 })
        booked.push(
          `${kind === 'real' ? 'CHARGE_PAID 1990' : 'PAYMENT_UNMATCHED 800'} ${endToEndId}`,
        )
      }
    }
    await callbacksProcessed(shop)
    api.clock.advance(61)
    await reconcileDue.run(api.app)
    const movements = await movementsOf(api, shop)
    const found = movements.map(([kind, ref, , amount]) => `${kind} ${amount} ${ref}`)
    assert.deepEqual(found.toSorted(), booked.toSorted())
  }
  await fc.assert(fc.asyncProperty(steps, run), { numRuns: isLong ? 12 : 5 })
  assert.deepEqual(await audit(shop), [])
})
