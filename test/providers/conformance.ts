import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId, type Uuid } from '../../src/lib/ids.ts'
import { toCents } from '../../src/lib/money.ts'
import { parse } from '../../src/pix/brcode.ts'
import { isBusinessDay } from '../../src/pix/business-days.ts'
import { type DueTerms, moveTerms } from '../../src/pix/due-amount.ts'
import {
  addDays,
  atHour,
  daysBetween,
  type LocalDate,
  localDateOf,
  weekdayOf,
} from '../../src/pix/local-time.ts'
import type {
  BankDispute,
  ChargeOrder,
  PaidParts,
  ReceivedPix,
  SendOrder,
} from '../../src/provider/port.ts'
import { chargeTxid, staticTxid } from '../../src/provider/txid.ts'
import { given, reasonOf } from '../support/agreements.ts'
import { agreements, askOfAgreements, collections, retries } from './conformance-agreements.ts'
import { around, type Ground, type Guarantee, idsOf, type Open } from './conformance-ground.ts'

const AMOUNT = toCents(1234)
const HOUR_s = 3600
const UNKNOWN = 'E99999999202608201500zzzzzzzzzzz'

/** The points that the port promises of every bank. */
const POINTS = {
  charges,
  dueDates,
  payments,
  refunds,
  agreements,
  collections,
  retries,
  gateways: (guarantee: Guarantee) =>
    guarantee('a 404 of a gateway says nothing about what the bank has', asksInVain),
  payouts: (guarantee: Guarantee) =>
    guarantee('money is sent once for its order, and found again', sendsOnce),
  disputes: disputesOf,
}
export type Point = keyof typeof POINTS
const ALL = Object.keys(POINTS) as Point[]

/** The behaviour that the port promises of every bank, or some points of it. */
export function conform(name: string, open: Open, points: readonly Point[] = ALL): void {
  const guarantee = (words: string, act: (ground: Ground) => Promise<void>) =>
    test(`${name}: ${words}`, async () => {
      const ground = await open()
      await act(ground)
      ground.verify()
    })
  for (const point of points) POINTS[point](guarantee)
}

const chargeOf = ({ clock }: Ground, id: Uuid): ChargeOrder => ({
  id,
  amount: AMOUNT,
  expiresAt: new Date(clock.now().getTime() + HOUR_s * 1000),
  description: 'Pão, 2 unidades',
  payer: { name: 'Maria da Silva', taxId: '52998224725' },
})

async function issue(ground: Ground, id = newId()) {
  const { provider, payee } = ground
  const { brCode } = given(await provider.issueCharge(payee, chargeOf(ground, id)))
  return { id, brCode, txid: chargeTxid(id) }
}

const paidOf = async ({ provider, payee }: Ground, id: Uuid) =>
  given(await provider.findPaid(payee, { id }))

function charges(guarantee: Guarantee): void {
  guarantee('a charge is issued once, paid, and what has arrived is found', async (ground) => {
    const { provider, payee, clock } = ground
    const { id, brCode, txid } = await issue(ground)
    assert.equal(parse(brCode).kind, 'dynamic')
    assert.equal((await issue(ground, id)).brCode, brCode, 'issued again it is the same')
    assert.deepEqual(await paidOf(ground, id), [])
    const endToEndId = await ground.pay(brCode, AMOUNT)
    const pix: ReceivedPix = { endToEndId, txid, amount: AMOUNT, receivedAt: clock.now() }
    assert.deepEqual(await paidOf(ground, id), [pix])
    assert.deepEqual(given(await provider.findReceived(payee, [endToEndId])), [pix])
    assert.deepEqual(given(await provider.listReceived(payee, around(ground))), [pix])
    const removed = await provider.removeCharge(payee, { id })
    if (ground.remembers) assert.equal(given(removed), 'paid')
    assert.deepEqual(await paidOf(ground, id), [pix], 'and money stays where it is')
  })

  guarantee('a charge is removed, however often, and one that never was too', async (ground) => {
    const { provider, payee } = ground
    const { id } = await issue(ground)
    for (const one of [id, id, newId()])
      assert.equal(given(await provider.removeCharge(payee, { id: one })), 'removed')
    assert.deepEqual(await paidOf(ground, id), [])
    assert.deepEqual(await paidOf(ground, newId()), [])
  })

  guarantee(
    'a static code names key, amount and itself, and is paid many times',
    async (ground) => {
      const { provider, payee } = ground
      const id = newId()
      const { brCode } = given(await provider.issueStaticCode(payee, { id, amount: AMOUNT }))
      const code = parse(brCode)
      assert.ok(code.kind === 'static')
      assert.deepEqual([code.key, code.amount, code.txid], [payee.pixKey, AMOUNT, staticTxid(id)])
      const paid = [await ground.pay(brCode, AMOUNT), await ground.pay(brCode, AMOUNT)]
      const found = given(await provider.listReceived(payee, around(ground)))
      assert.deepEqual(idsOf(found), paid.sort())
      assert.deepEqual(new Set(found.map(({ txid }) => txid)), new Set([staticTxid(id)]))
    },
  )
}

const DUE: DueTerms = {
  dueDate: '2026-08-28',
  daysAfterDue: 30,
  fine: { type: 'PERCENT', value: 200 },
  interest: { type: 'PERCENT_PER_MONTH', value: 100, days: 'CALENDAR' },
  discounts: [{ type: 'FIXED', value: 5000, until: '2026-08-24' }],
  rebate: { type: 'FIXED', value: 1000 },
}
const DUE_AMOUNT = toCents(101_000)

/** The days from the due date on which it is paid, and what is added and taken off then. */
const PAID_ON: [days: number, parts: Partial<PaidParts>, total: number][] = [
  [-4, { discount: toCents(5000) }, 95_000],
  [0, {}, 100_000],
  [5, { fine: toCents(2000), interest: toCents(167) }, 102_167],
]

/** A charge with a due date, a Friday with only business days of banks from 4 before to 5 after. */
function dueChargeOf(ground: Ground, id: Uuid): ChargeOrder {
  const today = localDateOf(ground.clock.now())
  const isQuiet = (friday: LocalDate) =>
    weekdayOf(friday) === 5 &&
    [-4, 0, 3, 4, 5].every((days) => isBusinessDay(addDays(friday, days)))
  let dueDate = addDays(today, 7)
  while (!isQuiet(dueDate)) dueDate = addDays(dueDate, 1)
  const terms = moveTerms(DUE, daysBetween(DUE.dueDate, dueDate))
  return { ...chargeOf(ground, id), amount: DUE_AMOUNT, due: { terms } }
}

function dueDates(guarantee: Guarantee): void {
  guarantee('a charge with a due date is issued once, and paid as its day says', async (ground) => {
    const { provider, payee, clock } = ground
    const charges = PAID_ON.map(() => dueChargeOf(ground, newId()))
    const codes: string[] = []
    for (const charge of charges) {
      const { brCode } = given(await provider.issueCharge(payee, charge))
      assert.equal(parse(brCode).kind, 'dynamic')
      const again = given(await provider.issueCharge(payee, charge))
      assert.equal(again.brCode, brCode, 'issued again it is the same')
      assert.deepEqual(given(await provider.findPaid(payee, charge)), [])
      codes.push(brCode)
    }
    const { dueDate } = charges[0]!.due!.terms
    for (const [i, [days, parts, total]] of PAID_ON.entries()) {
      const charge = charges[i]!
      clock.advance((atHour(addDays(dueDate, days), 12).getTime() - clock.now().getTime()) / 1000)
      const endToEndId = await ground.payDue(codes[i]!, total)
      const none = { fine: toCents(0), interest: toCents(0), discount: toCents(0) }
      const pix: ReceivedPix = {
        endToEndId,
        txid: chargeTxid(charge.id),
        amount: toCents(total),
        receivedAt: clock.now(),
        ...(ground.namesParts && {
          parts: { original: DUE_AMOUNT, rebate: toCents(1000), ...none, ...parts },
        }),
      }
      assert.deepEqual(given(await provider.findPaid(payee, charge)), [pix])
      assert.deepEqual(given(await provider.findReceived(payee, [endToEndId])), [pix])
      assert.deepEqual(given(await provider.listReceived(payee, around(ground))), [pix])
      const removed = await provider.removeCharge(payee, charge)
      if (ground.remembers) assert.equal(given(removed), 'paid')
    }
  })

  guarantee('a charge with a due date is removed, however often', async (ground) => {
    const { provider, payee } = ground
    const charge = dueChargeOf(ground, newId())
    given(await provider.issueCharge(payee, charge))
    for (const one of [charge, charge, { ...charge, id: newId() }])
      assert.equal(given(await provider.removeCharge(payee, one)), 'removed')
    assert.deepEqual(given(await provider.findPaid(payee, charge)), [])
  })
}

function payments(guarantee: Guarantee): void {
  guarantee(
    'late, doubled and uneven payments are all seen, in every way to ask',
    async (ground) => {
      const { provider, payee, clock } = ground
      const start = clock.now()
      const { id, brCode } = await issue(ground)
      const paid = [await ground.pay(brCode, AMOUNT)]
      clock.advance(2 * HOUR_s)
      paid.push(await ground.pay(brCode, AMOUNT), await ground.pay(brCode, 1))
      const removed = await issue(ground)
      given(await provider.removeCharge(payee, removed))
      const after = await ground.pay(removed.brCode, AMOUNT)
      assert.deepEqual(idsOf(await paidOf(ground, id)), paid.toSorted())
      assert.deepEqual(idsOf(await paidOf(ground, removed.id)), [after])
      const asked = [...paid, UNKNOWN, after]
      const found = given(await provider.findReceived(payee, asked))
      assert.deepEqual(idsOf(found), [...paid, after].sort(), 'what nobody has sent is left out')
      const period = { from: start, to: around(ground).to }
      assert.deepEqual(idsOf(given(await provider.listReceived(payee, period))), idsOf(found))
      assert.deepEqual(given(await provider.findReceived(payee, [])), [])
    },
  )

  guarantee(
    'a period holds what came at its start, and not what came at its end',
    async (ground) => {
      const { provider, payee, clock } = ground
      const times: Date[] = []
      const ids: string[] = []
      for (let i = 0; i < 7; i++) {
        times.push(clock.now())
        ids.push(await ground.payKey(100 + i))
        clock.advance(60)
      }
      const period = { from: times[1]!, to: times[6]! }
      const found = given(await provider.listReceived(payee, period))
      assert.deepEqual(idsOf(found), ids.slice(1, 6).sort())
      assert.deepEqual(new Set(found.map(({ txid }) => txid)), new Set([null]))
      const amounts = found.map(({ amount }) => amount).sort()
      assert.deepEqual(amounts, [101, 102, 103, 104, 105])
      const empty = { from: times[0]!, to: times[0]! }
      assert.deepEqual(given(await provider.listReceived(payee, empty)), [])
    },
  )
}

const KEY = 'maria@example.com'
const REFERENCE = 'E00416968202611161200abcdefghijk'

/** What is asked or ordered, whether the bank has such a thing or not, gets no clear answer. */
async function asksInVain(ground: Ground): Promise<void> {
  const { provider, payouts, payee, agrees, clock } = ground
  const { id, brCode } = await issue(ground)
  const endToEndId = await ground.pay(brCode, AMOUNT)
  const refund = { id: newId(), endToEndId, amount: AMOUNT }
  // Some banks can be asked only by a reference of their own.
  const sending = { id: newId(), amount: AMOUNT, pixKey: KEY, reference: REFERENCE }
  await ground.withoutRoute(async () => {
    const outcomes = [
      await provider.findPaid(payee, { id }),
      await provider.removeCharge(payee, { id }),
      await provider.issueCharge(payee, chargeOf(ground, newId())),
      await provider.issueCharge(payee, dueChargeOf(ground, newId())),
      await provider.findPaid(payee, { id, due: {} }),
      await provider.removeCharge(payee, { id, due: {} }),
      await provider.findReceived(payee, [endToEndId]),
      await provider.listReceived(payee, around(ground)),
      await provider.listReturned(payee, around(ground)),
      await provider.listTransfers(payee, around(ground)),
      await provider.findRefund(payee, refund),
      await provider.refund(payee, refund),
      ...(agrees ? await askOfAgreements(ground) : []),
      ...(payouts ? [await payouts.findSent(payee, sending)] : []),
      ...(payouts ? [await payouts.send(payee, sending, async () => {})] : []),
    ]
    // The token is over now, and the address of tokens has no route either.
    clock.advance(HOUR_s)
    outcomes.push(await provider.findPaid(payee, { id }))
    for (const [i, { kind }] of outcomes.entries()) assert.equal(kind, 'unknown', `question ${i}`)
  })
  assert.deepEqual(idsOf(await paidOf(ground, id)), [endToEndId])
}

function refunds(guarantee: Guarantee): void {
  guarantee(
    'a refund is done once for its order, in part or whole, never beyond',
    async (ground) => {
      const { provider, payee } = ground
      const { brCode } = await issue(ground)
      const endToEndId = await ground.pay(brCode, AMOUNT)
      const orderOf = (amount: number, id = newId()) => ({
        id,
        endToEndId,
        amount: toCents(amount),
        comment: 'Sem estoque',
      })
      const part = orderOf(1000)
      assert.equal(given(await provider.findRefund(payee, part)), null)
      const done = given(await provider.refund(payee, part))
      assert.match(done.returnId, /^D[0-9A-Za-z]{31}$/)
      assert.deepEqual(given(await provider.refund(payee, part)), done, 'repeated it is the same')
      assert.deepEqual(given(await provider.findRefund(payee, part)), done)
      const beyond = orderOf(235)
      reasonOf(await provider.refund(payee, beyond))
      assert.equal(given(await provider.findRefund(payee, beyond)), null)
      const rest = orderOf(234)
      const second = given(await provider.refund(payee, rest))
      reasonOf(await provider.refund(payee, orderOf(1)))
      reasonOf(await provider.refund(payee, { ...orderOf(1), endToEndId: UNKNOWN }))
      const moved = given(await provider.listTransfers(payee, around(ground)))
      const shown = moved.map(({ at, txid, ...transfer }) => transfer)
      const returned = { direction: 'returned', paymentId: endToEndId }
      const expected = [
        { direction: 'received', ...RECEIVED, endToEndId, amount: AMOUNT },
        { ...returned, endToEndId: done.returnId, orderId: part.id, amount: 1000 },
        { ...returned, endToEndId: second.returnId, orderId: rest.id, amount: 234 },
      ]
      assert.deepEqual(shown.sort(byId), expected.sort(byId))
    },
  )

  guarantee('a return that nobody has ordered is shown with its payment', async (ground) => {
    const { provider, payee, clock } = ground
    const other = await ground.payKey(100)
    const { brCode, id, txid } = await issue(ground)
    const endToEndId = await ground.pay(brCode, AMOUNT)
    const receivedAt = clock.now()
    const own = { id: newId(), endToEndId, amount: toCents(34) }
    const { returnId } = given(await provider.refund(payee, own))
    clock.advance(20 * 24 * HOUR_s)
    const byBank = await ground.returnByItself(endToEndId, 1000)
    const ordered = { returnId, orderId: own.id, amount: own.amount, at: receivedAt }
    const pix: ReceivedPix = {
      endToEndId,
      txid,
      amount: AMOUNT,
      receivedAt,
      returns: [{ ...ordered, reason: 'OTHER' }, byBank],
    }
    const period = { from: receivedAt, to: around(ground).to }
    assert.deepEqual(await paidOf(ground, id), [pix])
    assert.deepEqual(given(await provider.findReceived(payee, [endToEndId])), [pix])
    assert.deepEqual(given(await provider.listReturned(payee, period)), [pix])
    const listed = given(await provider.listReceived(payee, period))
    assert.deepEqual(idsOf(listed), [other, endToEndId].sort())
    assert.deepEqual(
      listed.find(({ txid }) => txid !== null),
      pix,
    )
    const moved = given(await provider.listTransfers(payee, period))
    assert.deepEqual(
      moved.find(({ endToEndId }) => endToEndId === byBank.returnId),
      {
        direction: 'returned',
        endToEndId: byBank.returnId,
        paymentId: endToEndId,
        orderId: null,
        txid: null,
        amount: byBank.amount,
        at: byBank.at,
      },
    )
  })
}

const RECEIVED = { orderId: null, paymentId: null }

const byId = (a: { endToEndId: string }, b: { endToEndId: string }) =>
  a.endToEndId < b.endToEndId ? -1 : 1

/** If the bank is still processing an order, the outcome is `unknown`, and it can be asked. */
async function sendsOnce({ payouts, payee }: Ground): Promise<void> {
  if (!payouts) return
  const order: SendOrder = { id: newId(), amount: AMOUNT, pixKey: 'maria@example.com' }
  const store = async (reference: string) => {
    order.reference = reference
  }
  assert.equal(given(await payouts.findSent(payee, order)), null)
  const first = await payouts.send(payee, order, store)
  assert.notEqual(first.kind, 'rejected', JSON.stringify(first))
  const found = given(await payouts.findSent(payee, order))!
  assert.match(found.endToEndId, /^E[0-9A-Za-z]{31}$/)
  if (first.kind === 'accepted') assert.deepEqual(first.value, found)
  assert.deepEqual(given(await payouts.send(payee, order, store)), found)
}

/** A bank that tells of no disputes has none, and takes no defense. */
function disputesOf(guarantee: Guarantee): void {
  guarantee(
    'a dispute is listed as it is, takes a defense once, and ends as decided',
    async (ground) => {
      const { provider, payee, clock, disputes } = ground
      const list = async () => given(await provider.listDisputes(payee, around(ground)))
      if (!disputes) {
        assert.deepEqual(await list(), [])
        const none = await provider.sendDefense(payee, { id: 'x', text: 'x' })
        assert.equal(given(none), 'not taken')
        return
      }
      for (const decision of ['WON', 'LOST', 'CANCELED'] as const) {
        const { brCode } = await issue(ground)
        const endToEndId = await ground.pay(brCode, AMOUNT)
        const openedAt = clock.now()
        const id: string = await disputes.open(endToEndId, 1000)
        const told = {
          id,
          endToEndId,
          amount: toCents(1000),
          reason: 'FRAUD',
          openedAt,
          deadline: new Date(openedAt.getTime() + 168 * HOUR_s * 1000),
        }
        const one = async (): Promise<BankDispute | undefined> =>
          (await list()).find((found) => found.id === id)
        assert.deepEqual(await one(), { ...told, status: 'OPEN', decidedAt: null })
        const defense = { id, text: 'Entregue.' }
        assert.equal(given(await provider.sendDefense(payee, defense)), 'sent')
        assert.deepEqual(await one(), { ...told, status: 'DEFENDED', decidedAt: null })
        clock.advance(60)
        await disputes.decide(id, decision)
        assert.deepEqual(await one(), { ...told, status: decision, decidedAt: clock.now() })
        const late = await provider.sendDefense(payee, defense)
        assert.equal(late.kind, 'rejected')
        const [pix] = given(await provider.findReceived(payee, [endToEndId]))
        const returned = pix!.returns?.map(({ amount, orderId }) => [amount, orderId])
        assert.deepEqual(returned, decision === 'LOST' ? [[1000, null]] : undefined)
        clock.advance(60)
      }
      const later = { from: new Date(clock.now().getTime() + 1), to: around(ground).to }
      assert.deepEqual(given(await provider.listDisputes(payee, later)), [])
    },
  )
}
