import assert from 'node:assert/strict'
import { test } from 'node:test'
import { carryOutRefunds, payOutWithdrawals } from '../../../src/worker/due.ts'
import { eventsOf, startApi } from '../../support/api.ts'
import { decide, openDispute } from '../../support/disputes.ts'
import { lastCode } from '../../support/mail.ts'
import { movementsOf, pay, returnOf } from '../../support/payments.ts'
import {
  dataOf,
  makeRecipient,
  makeRecipients,
  makeSettled,
  makeSplit,
  netOf,
  partsOf,
  release,
  requireClean,
  shownBalance,
} from '../../support/splits.ts'
import { confirm, sentOf } from '../../support/withdrawals.ts'

const api = await startApi()
const OPENING = 100_000
const carryOut = () => carryOutRefunds.run(api.app)

const thirds = (ids: string[]) => ids.map((recipientId) => ({ recipientId, percent: 3333 }))

/** Starts a payout and confirms it by its code. */
async function payOut(client: Awaited<ReturnType<typeof api.client>>, id: string, json?: object) {
  const { withdrawId } = dataOf(await client.post(`/recipient/${id}/payout`, json))
  dataOf(await confirm(client, withdrawId, await lastCode(api, client.company.id)))
  await payOutWithdrawals.run(api.app)
  return withdrawId as string
}

test('a charge that is split three ways, with a cent of rounding, and refunded by half adds up for everybody', async () => {
  const client = await api.client()
  const ids = await makeRecipients(client, 3)
  const { id, brCode } = await makeSplit(client, 1000, thirds(ids))
  assert.deepEqual(await partsOf(client, id), [333, 333, 333])
  const endToEndId = await pay(api, brCode)
  const pending = { available: OPENING, pending: 1000, held: 0, unmatched: 0 }
  assert.deepEqual(await shownBalance(client), pending, 'until the release all of it is pending')
  assert.deepEqual(await netOf(client, ids), [0, 0, 0])
  await release(api)
  const settled = { ...pending, available: OPENING + 1, pending: 0, recipients: 999 }
  assert.deepEqual(await shownBalance(client), settled, 'the cent of rounding is the company’s')
  assert.deepEqual(await netOf(client, ids), [333, 333, 333])
  const { id: refundId } = dataOf(await client.post(`/refund/${id}`, { value: 500 }))
  assert.deepEqual(await partsOf(client, id), [166, 166, 166])
  assert.deepEqual(await netOf(client, ids), [166, 166, 166])
  const half = { ...settled, available: OPENING + 2, held: 500, recipients: 498 }
  assert.deepEqual(await shownBalance(client), half, '498 and 2 are the half that is left')
  await carryOut()
  assert.deepEqual(await shownBalance(client), { ...half, held: 0 })
  assert.deepEqual((await movementsOf(api, client)).slice(1), [
    ['SPLIT_SETTLED', endToEndId, 'pending>recipients', 999],
    ['CHARGE_SETTLED', endToEndId, 'pending>available', 1],
    ['SPLIT_TAKEN', refundId, 'recipients>available', 501],
    ['REFUND_HELD', refundId, 'available>held', 500],
    ['REFUND_PAID', refundId, 'held>bank', 500],
  ])
  await requireClean(api, client)
  dataOf(await client.post(`/refund/${id}`))
  await carryOut()
  assert.deepEqual(await netOf(client, ids), [0, 0, 0])
  assert.deepEqual(await shownBalance(client), { ...pending, pending: 0 }, 'nothing is left of it')
  await requireClean(api, client)
})

test('a refund before the release leaves recipients their parts of what is left', async () => {
  const client = await api.client()
  const ids = await makeRecipients(client, 2)
  const split = [
    { recipientId: ids[0]!, amount: 700 },
    { recipientId: ids[1]!, percent: 1000 },
  ]
  const { id, brCode } = await makeSplit(client, 1000, split)
  await pay(api, brCode)
  dataOf(await client.post(`/refund/${id}`, { value: 500 }))
  await carryOut()
  assert.deepEqual(await netOf(client, ids), [0, 0])
  await release(api)
  assert.deepEqual(await netOf(client, ids), [350, 50])
  assert.equal((await shownBalance(client)).available, OPENING + 100)
  await requireClean(api, client)
})

test('a refund that the bank refuses gives everything back to where it came from', async () => {
  const client = await api.client()
  const ids = await makeRecipients(client, 3)
  const { id } = await makeSettled(api, client, 70_000, thirds(ids))
  const before = [await shownBalance(client), await netOf(client, ids)]
  dataOf(await client.post(`/refund/${id}`, { value: 66_666 }))
  assert.deepEqual(await netOf(client, ids), [1111, 1111, 1111])
  await carryOut()
  assert.deepEqual([await shownBalance(client), await netOf(client, ids)], before)
  const [newest] = dataOf(await client.get(`/recipient/${ids[0]}/statement`))
  assert.deepEqual([newest.type, newest.amount, newest.balance], ['SPLIT_GIVEN', 22_220, 23_331])
  await requireClean(api, client)
})

test('a recipient is paid by a confirmed payout, its statement shows it, and the company has nothing of it', async () => {
  const client = await api.client()
  const [id] = await makeRecipients(client, 1)
  const { endToEndId, id: charge } = await makeSettled(api, client, 2000, [
    { recipientId: id!, percent: 2500 },
  ])
  assert.equal((await shownBalance(client)).available, OPENING + 1500)
  const more = await client.post('/account-balance/withdraw', { value: OPENING + 1501 })
  assert.equal(more.status, 422, 'what is the recipient’s cannot be withdrawn')
  const wd = await payOut(client, id!)
  const [sent] = await sentOf(api, client)
  assert.equal(sent!.amount, 500)
  const shown = dataOf(await client.get(`/account-balance/withdraw/${wd}`))
  assert.match(shown.destination, /^r\*\*\*@example\.com$/)
  assert.deepEqual([shown.recipientId, shown.status, shown.value], [id, 'COMPLETED', 500])
  const lines = dataOf(await client.get(`/recipient/${id}/statement`))
  const createdAt = api.clock.now().toISOString()
  assert.deepEqual(lines, [
    { entry: 2, createdAt, type: 'WITHDRAWAL_HELD', amount: -500, balance: 0, reference: wd },
    {
      entry: 1,
      createdAt,
      type: 'SPLIT_SETTLED',
      amount: 500,
      balance: 500,
      reference: endToEndId,
      chargeId: charge,
    },
  ])
  const balance = dataOf(await client.get(`/recipient/${id}/balance`))
  assert.deepEqual(balance, { available: 0, held: 0, owed: 0 })
  const events = await eventsOf(api, client.company.id)
  const { payload } = events.find(({ type }) => type === 'withdrawal.completed')!
  assert.equal((payload as { withdrawal: { recipientId: string } }).withdrawal.recipientId, id)
  const again = await client.post(`/recipient/${id}/payout`)
  assert.deepEqual([again.status, again.body.errors[0].code], [422, 'insufficient_balance'])
  await requireClean(api, client)
})

test('what was paid out is paid by the company, and the next money of the recipient repays it', async () => {
  const client = await api.client()
  const [id] = await makeRecipients(client, 1)
  const split = [{ recipientId: id!, percent: 5000 }]
  const charge = await makeSettled(api, client, 2000, split)
  await payOut(client, id!, { value: 900 })
  dataOf(await client.post(`/refund/${charge.id}`))
  assert.deepEqual(await netOf(client, [id!]), [-900])
  // 1000 were its own, 900 are those of the recipient.
  assert.equal((await shownBalance(client)).available, OPENING - 900)
  assert.equal((await shownBalance(client)).recipients, undefined)
  await carryOut()
  await requireClean(api, client)
  await makeSettled(api, client, 1000, split)
  assert.deepEqual(await netOf(client, [id!]), [-400])
  assert.equal((await shownBalance(client)).available, OPENING + 500 - 400)
  await requireClean(api, client)
  await makeSettled(api, client, 1000, split)
  assert.deepEqual(await netOf(client, [id!]), [100])
  assert.deepEqual(await shownBalance(client), {
    available: OPENING + 500 + 500,
    pending: 0,
    held: 0,
    unmatched: 0,
    recipients: 100,
  })
  await requireClean(api, client)
})

test('a payout that fails gives the money back, of which a debt that arose meanwhile is repaid', async () => {
  const client = await api.client()
  const [id] = await makeRecipients(client, 1)
  const charge = await makeSettled(api, client, 80_000, [{ recipientId: id!, amount: 70_000 }])
  const { withdrawId } = dataOf(await client.post(`/recipient/${id}/payout`, { value: 66_666 }))
  assert.deepEqual(dataOf(await client.get(`/recipient/${id}/balance`)), {
    available: 3334,
    held: 66_666,
    owed: 0,
  })
  dataOf(await client.post(`/refund/${charge.id}`, { value: 40_000 }))
  assert.deepEqual(await netOf(client, [id!]), [-31_666])
  dataOf(await confirm(client, withdrawId, await lastCode(api, client.company.id)))
  await payOutWithdrawals.run(api.app)
  assert.deepEqual(await netOf(client, [id!]), [35_000])
  assert.equal((await shownBalance(client)).recipients, 35_000)
  assert.equal((await shownBalance(client)).available, OPENING + 5000)
  const movements = await movementsOf(api, client)
  assert.deepEqual(movements.slice(-2), [
    ['WITHDRAWAL_RELEASED', withdrawId, 'held>recipients', 66_666],
    ['SPLIT_TAKEN', withdrawId, 'recipients>available', 31_666],
  ])
  await carryOut()
  await requireClean(api, client)
})

test('a return that the bank makes by itself takes from recipients in proportion', async () => {
  const client = await api.client()
  const ids = await makeRecipients(client, 2)
  const { endToEndId } = await makeSettled(api, client, 1000, [
    { recipientId: ids[0]!, percent: 3000 },
    { recipientId: ids[1]!, percent: 1000 },
  ])
  dataOf(await client.post(returnOf(endToEndId), { value: 500 }))
  assert.deepEqual(await netOf(client, ids), [150, 50])
  assert.equal((await shownBalance(client)).available, OPENING + 300)
  await requireClean(api, client)
  await payOut(client, ids[0]!)
  const all = (await shownBalance(client)).available!
  const own = dataOf(await client.post('/account-balance/withdraw', { value: all })).withdrawId
  dataOf(await confirm(client, own, await lastCode(api, client.company.id)))
  await payOutWithdrawals.run(api.app)
  dataOf(await client.post(returnOf(endToEndId)))
  assert.deepEqual(await netOf(client, ids), [-150, 0])
  const { available, recipients } = await shownBalance(client)
  assert.deepEqual([available, recipients], [-450, undefined], '300 of its own and 150 it is owed')
  await requireClean(api, client)
})

test('a refund for which there is not enough says whose money lacks, and changes nothing', async () => {
  const client = await api.client()
  const [id] = await makeRecipients(client, 1)
  const charge = await makeSettled(api, client, 2000, [{ recipientId: id!, percent: 5000 }])
  await payOut(client, id!, { value: 900 })
  const own = dataOf(await client.post('/account-balance/withdraw', { value: OPENING + 500 }))
  const before = [await shownBalance(client), await netOf(client, [id!])]
  const reply = await client.post(`/refund/${charge.id}`)
  assert.deepEqual(
    [reply.status, reply.body.errors[0].description],
    [
      422,
      'value: 2000 cents are more than the 500 cents in the available balance and the 100 cents of its recipients.',
    ],
  )
  assert.deepEqual([await shownBalance(client), await netOf(client, [id!])], before)
  dataOf(await client.post(`/account-balance/withdraw/${own.withdrawId}/cancel`))
  await requireClean(api, client)
})

test('every rule of a split has its own message, and nothing is written', async () => {
  const client = await api.client()
  const stranger = await makeRecipient(await api.client())
  const [one, two, off] = await makeRecipients(client, 3)
  dataOf(await client.put(`/recipient/${off}`, { status: 'INACTIVE' }))
  const ask = async (split: unknown) => {
    const customer = { name: 'Ana', taxId: '52998224725' }
    const { status, body } = await client.post('/charge/pix', { amount: 1000, customer, split })
    return [status, ...body.errors.map(({ description }: { description: string }) => description)]
  }
  const is = async (split: unknown, ...answer: unknown[]) =>
    assert.deepEqual(await ask(split), answer)
  await is([], 400, 'split: must have at least 1 item(s)')
  await is([{ recipientId: one }], 400, 'split[0].amount: send it, or percent')
  await is(
    [{ recipientId: one, amount: 5, percent: 5 }],
    400,
    'split[0].percent: send it or amount, not both',
  )
  await is(
    [{ recipientId: one, percent: 10_001 }],
    400,
    'split[0].percent: must be at most 10000',
    'split: its percentages are 10001 together, more than 10000',
  )
  await is([{ recipientId: one, amount: 0 }], 400, 'split[0].amount: must be at least 1')
  await is([{ recipientId: one, percent: 0.5 }], 400, 'split[0].percent: must be a whole number')
  await is(
    [one, two, one].map((recipientId) => ({ recipientId, amount: 5 })),
    400,
    'split[2].recipientId: is named before; send one part for each recipient',
  )
  await is(
    [one, two].map((recipientId) => ({ recipientId, percent: 5001 })),
    400,
    'split: its percentages are 10002 together, more than 10000',
  )
  await is(
    [
      { recipientId: one, amount: 501 },
      { recipientId: two, percent: 5000 },
    ],
    400,
    'split: its parts are 1001 cents together, more than the 1000 cents of the charge',
  )
  await is(
    [
      { recipientId: stranger, amount: 5 },
      { recipientId: off, amount: 5 },
    ],
    404,
    'split[0].recipientId: the company has no such recipient.',
    'split[1].recipientId: the recipient must be ACTIVE',
  )
  await is(
    Array.from({ length: 11 }, (_, i) => ({ recipientId: `rcpt_${i}`, amount: 1 })),
    400,
    'split: must have at most 10 items',
  )
  const [count] = await api.rows('select count(*)::int from charges where company_id = $1', [
    client.company.id,
  ])
  assert.deepEqual(count, { count: 0 })
})

test('a dispute takes from recipients in proportion, and gives it back when it is won', async () => {
  const client = await api.client()
  const ids = await makeRecipients(client, 2)
  const { endToEndId } = await makeSettled(api, client, 1000, [
    { recipientId: ids[0]!, percent: 3000 },
    { recipientId: ids[1]!, percent: 1000 },
  ])
  const before = await shownBalance(client)
  const { id } = await openDispute(client, endToEndId, { value: 500 })
  assert.deepEqual(await netOf(client, ids), [150, 50])
  const held = { ...before, available: OPENING + 300, disputed: 500, recipients: 200 }
  assert.deepEqual(await shownBalance(client), held)
  await requireClean(api, client)
  await decide(client, id, 'won')
  assert.deepEqual(await netOf(client, ids), [300, 100])
  assert.deepEqual(await shownBalance(client), before)
  await requireClean(api, client)
})

test('a dispute that is lost after the payout leaves the recipient owing its part', async () => {
  const client = await api.client()
  const ids = await makeRecipients(client, 2)
  const { endToEndId } = await makeSettled(api, client, 1000, [
    { recipientId: ids[0]!, percent: 3000 },
    { recipientId: ids[1]!, percent: 1000 },
  ])
  await payOut(client, ids[0]!)
  const { id } = await openDispute(client, endToEndId)
  assert.deepEqual(await netOf(client, ids), [-300, 0])
  assert.equal((await shownBalance(client)).available, OPENING - 300)
  await decide(client, id, 'lost')
  assert.deepEqual(await netOf(client, ids), [-300, 0])
  assert.deepEqual(await shownBalance(client), {
    available: OPENING - 300,
    pending: 0,
    held: 0,
    unmatched: 0,
  })
  await requireClean(api, client)
})

test('the refund of a disputed charge takes nothing twice, and if it fails each has what is not disputed', async () => {
  const client = await api.client()
  const [id] = await makeRecipients(client, 1)
  const charge = await makeSettled(api, client, 70_000, [{ recipientId: id!, percent: 5000 }])
  await openDispute(client, charge.endToEndId, { value: 10_000 })
  assert.deepEqual(await netOf(client, [id!]), [30_000])
  dataOf(await client.post(`/refund/${charge.id}`, { value: 66_666 }))
  assert.deepEqual(await netOf(client, [id!]), [1667])
  await carryOut()
  assert.deepEqual(await netOf(client, [id!]), [30_000])
  await requireClean(api, client)
})

test('a charge that is disputed while it is pending gives recipients their parts of the rest', async () => {
  const client = await api.client()
  const [id] = await makeRecipients(client, 1)
  const charge = await makeSplit(client, 1000, [{ recipientId: id!, percent: 5000 }])
  const endToEndId = await pay(api, charge.brCode)
  const dispute = await openDispute(client, endToEndId, { value: 400 })
  await release(api)
  assert.deepEqual(await netOf(client, [id!]), [300])
  await requireClean(api, client)
  await decide(client, dispute.id, 'won')
  assert.deepEqual(await netOf(client, [id!]), [500])
  await requireClean(api, client)
})
