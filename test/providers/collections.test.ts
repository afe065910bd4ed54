import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sourceOf } from '../../src/core/due.ts'
import { COLLECTING } from '../../src/core/simulated-bank/collections.ts'
import { newId } from '../../src/lib/ids.ts'
import { addDays, atHour, localDateOf } from '../../src/pix/local-time.ts'
import { chargeTxid } from '../../src/provider/txid.ts'
import { given, openScene, reasonOf, type Scene, VALUE } from '../support/agreements.ts'
import { startApi } from '../support/api.ts'

const api = await startApi()
const { simulator } = api.app.providers
const open = async () => openScene(api, (await api.client()).company)
const todayOf = (scene: Scene) => localDateOf(scene.now())
const find = async ({ payee }: Scene, id: string) =>
  given(await simulator.findCollection(payee, id))

/** A collection that is due in 3 days, of a payer who has or has no funds. */
async function scheduled(scene: Scene, { funds = true, retries = true } = {}) {
  const agreement = await scene.approve({ retries }, funds)
  const [id, dueOn] = [newId(), addDays(todayOf(scene), 3)]
  const collection = given(await scene.schedule(agreement, { id, dueOn }))
  assert.equal(collection.status, 'SCHEDULED')
  return { id, dueOn, agreement }
}

/** A collection whose attempt on the due day has failed. */
async function failed(scene: Scene, options: { retries?: boolean } = {}) {
  const made = await scheduled(scene, { funds: false, ...options })
  const [attempt] = await scene.collectOn(made.dueOn)
  assert.equal(attempt!.status, 'FAILED')
  return made
}

test('a charge is scheduled from 10 to 2 days before it is due, and on no other day', async () => {
  const scene = await open()
  const agreement = await scene.approve()
  for (const inDays of [-1, 0, 1, 11, 30]) {
    const id = newId()
    assert.match(reasonOf(await scene.schedule(agreement, { id, inDays })), /2 to 10 days/)
    assert.equal(await find(scene, id), null)
  }
  for (const inDays of [2, 3, 9, 10]) {
    const id = newId()
    const collection = given(await scene.schedule(agreement, { id, inDays }))
    const on = addDays(todayOf(scene), inDays)
    const attempts = [{ on, status: 'SCHEDULED', endToEndId: null }]
    assert.deepEqual(collection, { status: 'SCHEDULED', attempts })
    assert.deepEqual(await find(scene, id), collection)
  }
})

test('days are counted by the calendar of São Paulo, in the account’s time', async () => {
  const { payee } = await open()
  const at = (time: string) => {
    const clockAhead_ms = Date.parse(time) - api.clock.now().getTime()
    return openScene(api, { ...payee, clockAhead_ms })
  }
  const agreement = await at('2026-09-01T12:00:00Z').approve()
  const dueOn = '2026-09-17'
  const tries = [
    ['2026-09-07T02:59:00Z', 'rejected'],
    ['2026-09-07T03:00:00Z', 'accepted'],
    ['2026-09-16T02:59:00Z', 'accepted'],
    ['2026-09-16T03:00:00Z', 'rejected'],
  ] as const
  for (const [time, kind] of tries) {
    assert.equal((await at(time).schedule(agreement, { dueOn })).kind, kind, time)
  }
})

test('the same charge scheduled again, at once or when its day has come, is one charge', async () => {
  const scene = await open()
  const agreement = await scene.approve()
  const [id, dueOn] = [newId(), addDays(todayOf(scene), 2)]
  const orders = Array.from({ length: 6 }, () => scene.schedule(agreement, { id, dueOn }))
  const [first, ...others] = (await Promise.all(orders)).map(given)
  for (const other of others) assert.deepEqual(other, first)
  api.clock.advance(3 * 24 * 3600)
  assert.deepEqual(given(await scene.schedule(agreement, { id, dueOn })), first)
  assert.equal((await scene.collectOn(dueOn)).length, 1)
  assert.equal(given(await scene.schedule(agreement, { id, dueOn })).status, 'PAID')
  assert.equal((await scene.received()).length, 1)
})

test('only what the payer has agreed to is taken: approved, and of the agreed value', async () => {
  const scene = await open()
  const undecided = await scene.agree()
  assert.match(reasonOf(await scene.schedule(undecided)), /not APPROVED/)
  assert.match(reasonOf(await scene.schedule({ ...undecided, id: newId() })), /not APPROVED/)
  const approved = await scene.approve()
  assert.match(reasonOf(await scene.schedule(approved, { amount: VALUE + 1 })), /agreed/)
  given(await scene.decide(approved.id, 'cancel'))
  assert.match(reasonOf(await scene.schedule(approved)), /not APPROVED/)
})

async function findNextAt(accountId: string): Promise<Date | null> {
  const [row] = await api.rows<{ min: Date | null }>(sourceOf(COLLECTING).next!, [accountId])
  return row!.min
}

test('on the due day at eight in the morning the money arrives, and is a Pix like any other', async () => {
  const scene = await open()
  const { id, dueOn } = await scheduled(scene)
  const at = atHour(dueOn, 8)
  assert.deepEqual(await findNextAt(scene.payee.id), at)
  const early = new Date(at.getTime() - 1)
  assert.deepEqual(await simulator.collectDue(scene.payee.id, early, 10), [])
  const [collected, ...others] = await simulator.collectDue(scene.payee.id, at, 10)
  const { status, txid, payment } = collected!
  assert.deepEqual([others, status, txid], [[], 'PAID', chargeTxid(id)])
  const { endToEndId } = payment!
  assert.match(endToEndId, /^E99999999\d{12}[0-9A-Za-z]{11}$/)
  const attempts = [{ on: dueOn, status: 'PAID', endToEndId }]
  assert.deepEqual(await find(scene, id), { status: 'PAID', attempts })
  const pix = { endToEndId, txid, amount: VALUE, receivedAt: at }
  assert.deepEqual(given(await simulator.findReceived(scene.payee, [endToEndId])), [pix])
  const asked = [1, 2].map(() => simulator.findReceived(scene.payee, [endToEndId]))
  assert.deepEqual((await Promise.all(asked)).map(given), [[pix], [pix]], 'two ask at once')
  assert.deepEqual(await scene.received(), [pix])
  const period = { from: at, to: new Date(at.getTime() + 1) }
  assert.deepEqual(given(await simulator.listTransfers(scene.payee, period)), [
    { direction: 'received', endToEndId, txid, orderId: null, paymentId: null, amount: VALUE, at },
  ])
  assert.equal(await findNextAt(scene.payee.id), null)
  assert.deepEqual(await simulator.collectDue(scene.payee.id, at, 10), [])
})

test('an empty account fails the attempt, three retries too, and then there are no more', async () => {
  const scene = await open()
  const { id, dueOn } = await failed(scene)
  const days = [1, 4, 7].map((days) => addDays(dueOn, days))
  for (const on of days) {
    const retried = given(await simulator.retryCollection(scene.payee, id, on))
    assert.deepEqual(
      [retried.status, retried.attempts.at(-1)],
      ['SCHEDULED', { on, status: 'SCHEDULED', endToEndId: null }],
    )
    const again = given(await simulator.retryCollection(scene.payee, id, on))
    assert.deepEqual(again, retried, 'the same day again is the same attempt')
    assert.deepEqual(await findNextAt(scene.payee.id), atHour(on, 8))
    const [collected] = await scene.collectOn(on)
    assert.deepEqual([collected!.status, collected!.payment], ['FAILED', null])
  }
  const attempts = [dueOn, ...days].map((on) => ({ on, status: 'FAILED', endToEndId: null }))
  assert.deepEqual(await find(scene, id), { status: 'FAILED', attempts })
  const seventh = addDays(dueOn, 7)
  assert.deepEqual(
    given(await simulator.retryCollection(scene.payee, id, seventh)).attempts,
    attempts,
  )
  assert.deepEqual(await scene.received(), [])
})

test('a fourth retry within the seven days is refused', async () => {
  const scene = await open()
  const { id, dueOn } = await failed(scene)
  for (const days of [1, 2, 3]) {
    given(await simulator.retryCollection(scene.payee, id, addDays(dueOn, days)))
    await scene.collectOn(addDays(dueOn, days))
  }
  const fourth = await simulator.retryCollection(scene.payee, id, addDays(dueOn, 4))
  assert.match(reasonOf(fourth), /retried 3 times/)
})

test('a payer who fills the account pays on the retry', async () => {
  const scene = await open()
  const { id, dueOn, agreement } = await failed(scene)
  const on = addDays(dueOn, 1)
  given(await simulator.retryCollection(scene.payee, id, on))
  given(await scene.decide(agreement.id, 'approve', true))
  const [collected] = await scene.collectOn(on)
  assert.equal(collected!.status, 'PAID')
  const { status, attempts } = (await find(scene, id))!
  assert.deepEqual([status, ...attempts.map((one) => one.status)], ['PAID', 'FAILED', 'PAID'])
  assert.deepEqual(
    (await scene.received()).map(({ txid, endToEndId }) => [txid, endToEndId]),
    [[chargeTxid(id), attempts[1]!.endToEndId]],
  )
})

test('approving again without a word on funds leaves the account as it is', async () => {
  const scene = await open()
  const { dueOn, agreement } = await scheduled(scene, { funds: false })
  given(await scene.decide(agreement.id, 'approve'))
  assert.equal((await scene.collectOn(dueOn))[0]!.status, 'FAILED')
})

test('a retry is refused before there is need, on a wrong day, and where none is agreed', async () => {
  const scene = await open()
  const retry = (id: string, on: string) => simulator.retryCollection(scene.payee, id, on)
  const waiting = await scheduled(scene)
  assert.match(reasonOf(await retry(waiting.id, addDays(waiting.dueOn, 1))), /SCHEDULED/)
  await scene.collectOn(waiting.dueOn)
  assert.match(reasonOf(await retry(waiting.id, addDays(waiting.dueOn, 1))), /PAID/)
  const { id, dueOn, agreement } = await failed(scene)
  assert.match(reasonOf(await retry(id, addDays(dueOn, 8))), /within 7 days/)
  assert.match(reasonOf(await retry(id, addDays(dueOn, -1))), /over, or was tried/)
  const later = openScene(api, { ...scene.payee, clockAhead_ms: 5 * 24 * 3600 * 1000 })
  const yesterday = addDays(todayOf(later), -1)
  assert.ok(yesterday > dueOn)
  assert.match(reasonOf(await simulator.retryCollection(later.payee, id, yesterday)), /over/)
  given(await scene.decide(agreement.id, 'cancel'))
  assert.match(reasonOf(await retry(id, addDays(dueOn, 1))), /not APPROVED/)
  const once = await failed(scene, { retries: false })
  assert.match(reasonOf(await retry(once.id, addDays(once.dueOn, 1))), /no retries/)
  reasonOf(await retry(newId(), dueOn))
})

test('a canceled collection takes nothing, canceled twice too; a paid one stays paid', async () => {
  const scene = await open()
  const { payee } = scene
  const [stopped, paid] = [await scheduled(scene), await scheduled(scene)]
  for (let round = 0; round < 2; round++) {
    const canceled = given(await simulator.cancelCollection(payee, stopped.id))
    assert.deepEqual(canceled, { status: 'CANCELED', attempts: [] })
  }
  const collected = await scene.collectOn(stopped.dueOn)
  assert.deepEqual(
    collected.map(({ id }) => id),
    [paid.id],
  )
  assert.match(reasonOf(await simulator.cancelCollection(payee, paid.id)), /PAID/)
  const lost = await failed(scene)
  const over = given(await simulator.cancelCollection(payee, lost.id))
  assert.deepEqual([over.status, over.attempts.length], ['CANCELED', 1])
  const again = simulator.retryCollection(payee, lost.id, addDays(lost.dueOn, 1))
  assert.match(reasonOf(await again), /CANCELED/)
  reasonOf(await simulator.cancelCollection(payee, newId()))
})

for (const side of ['payer', 'receiver'] as const) {
  test(`an agreement that the ${side} cancels ends what is scheduled of it, and that alone`, async () => {
    const scene = await open()
    const agreement = await scene.approve()
    const [paid, waiting] = [newId(), newId()]
    given(await scene.schedule(agreement, { id: paid, inDays: 2 }))
    given(await scene.schedule(agreement, { id: waiting, inDays: 9 }))
    const bystander = await scheduled(scene)
    await scene.collectOn(addDays(todayOf(scene), 2))
    if (side === 'receiver') given(await simulator.cancelAgreement(scene.payee, agreement))
    else assert.deepEqual(given(await scene.decide(agreement.id, 'cancel')).canceled, [waiting])
    assert.deepEqual(await find(scene, waiting), { status: 'CANCELED', attempts: [] })
    assert.equal((await find(scene, paid))!.status, 'PAID')
    assert.equal((await find(scene, bystander.id))!.status, 'SCHEDULED')
  })
}

test('collected by many at once and again, each attempt makes one Pix', async () => {
  const scene = await open()
  const agreement = await scene.approve()
  const ids = Array.from({ length: 12 }, () => newId())
  for (const id of ids) given(await scene.schedule(agreement, { id }))
  const day = addDays(todayOf(scene), 3)
  const runs = await Promise.all(Array.from({ length: 6 }, () => scene.collectOn(day, 5)))
  for (let more = 1; more > 0; ) {
    const run = await scene.collectOn(day, 5)
    runs.push(run)
    more = run.length
  }
  assert.ok(runs.every((run) => run.length <= 5))
  const collected = runs.flat()
  assert.deepEqual(collected.map(({ id }) => id).sort(), ids.sort())
  const received = await scene.received()
  assert.deepEqual(received.map(({ txid }) => txid).sort(), ids.map(chargeTxid).sort())
})

test('a bank that is cut off half-way has done nothing, and goes on with one Pix', async () => {
  const scene = await open()
  const { id, dueOn } = await scheduled(scene)
  await api.rows(`create function cut() returns trigger language plpgsql as
    $$ begin raise exception 'cut off'; end $$`)
  await api.rows(`create trigger cut before update on simulated_collections
    for each row execute function cut()`)
  try {
    await assert.rejects(scene.collectOn(dueOn), /cut off/)
  } finally {
    await api.rows('drop trigger cut on simulated_collections')
  }
  assert.deepEqual(await scene.received(), [])
  assert.equal((await find(scene, id))!.status, 'SCHEDULED')
  assert.equal((await scene.collectOn(dueOn)).length, 1)
  assert.equal((await scene.received()).length, 1)
})

test('a payment that exists for the order of an attempt is used, and no second is made', async () => {
  const scene = await open()
  const { id, dueOn } = await scheduled(scene)
  const txid = chargeTxid(id)
  const orderId = `cobr_${txid}_${dueOn}`
  const existing = await simulator.pay(scene.payee, { txid, amount: VALUE, orderId })
  const [collected] = await scene.collectOn(dueOn)
  assert.equal(collected!.payment!.endToEndId, existing.endToEndId)
  assert.equal((await find(scene, id))!.attempts[0]!.endToEndId, existing.endToEndId)
  assert.equal((await scene.received()).length, 1)
})

test('canceled while it is collected: paid with one Pix, or canceled with none', async () => {
  const scene = await open()
  for (let round = 0; round < 6; round++) {
    const { id, dueOn, agreement } = await scheduled(scene)
    const cancel =
      round % 2 === 0
        ? simulator.cancelCollection(scene.payee, id)
        : scene.decide(agreement.id, 'cancel')
    await Promise.all([cancel, scene.collectOn(dueOn)])
    await scene.collectOn(dueOn)
    const { status, attempts } = (await find(scene, id))!
    const own = (await scene.received()).filter(({ txid }) => txid === chargeTxid(id))
    const ids = own.map(({ endToEndId }) => endToEndId)
    if (status === 'PAID') assert.deepEqual(ids, [attempts[0]!.endToEndId])
    else assert.deepEqual([status, ids], ['CANCELED', []])
  }
})

test('one account is collected without the others', async () => {
  const [one, other] = [await open(), await open()]
  const [a, b] = [await scheduled(one), await scheduled(other)]
  assert.deepEqual(
    (await one.collectOn(a.dueOn)).map(({ accountId, id }) => [accountId, id]),
    [[one.payee.id, a.id]],
  )
  assert.equal((await find(other, b.id))!.status, 'SCHEDULED')
  assert.equal(given(await simulator.findCollection(one.payee, b.id)), null)
  reasonOf(await simulator.cancelCollection(one.payee, b.id))
})
