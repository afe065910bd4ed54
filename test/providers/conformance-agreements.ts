import assert from 'node:assert/strict'
import { newId, type Uuid } from '../../src/lib/ids.ts'
import { parse } from '../../src/pix/brcode.ts'
import { nextBusinessDay } from '../../src/pix/business-days.ts'
import { addDays, atHour, type LocalDate, localDateOf } from '../../src/pix/local-time.ts'
import type { Agreement, AgreementOrder, Collection, Outcome } from '../../src/provider/port.ts'
import { chargeTxid } from '../../src/provider/txid.ts'
import { given, reasonOf, VALUE } from '../support/agreements.ts'
import { around, type Ground, type Guarantee, idsOf } from './conformance-ground.ts'

const orderOf = ({ clock }: Ground, fields: Partial<AgreementOrder> = {}): AgreementOrder => ({
  id: newId(),
  value: VALUE,
  frequency: 'MONTHLY',
  description: 'Pão todo mês',
  payer: { name: 'Maria da Silva', taxId: '52998224725' },
  startsOn: localDateOf(clock.now()),
  retries: true,
  expiresAt: new Date(clock.now().getTime() + 90 * 86_400_000),
  ...fields,
})

type Agreed = Agreement & { id: Uuid }

async function agree(ground: Ground, fields: Partial<AgreementOrder> = {}): Promise<Agreed> {
  const order = orderOf(ground, fields)
  const agreement = given(await ground.provider.createAgreement(ground.payee, order))
  return { id: order.id, ...agreement }
}

async function approved(ground: Ground, fields: Partial<AgreementOrder> = {}): Promise<Agreed> {
  const agreement = await agree(ground, fields)
  await ground.decide(agreement, 'approve')
  return agreement
}

/** Every question and every order of Pix Automático, about what the bank does not have. */
export async function askOfAgreements(ground: Ground): Promise<Outcome<unknown>[]> {
  const { provider, payee } = ground
  const [id, on] = [newId(), dueDay(ground)]
  const agreement = { id, externalId: 'RR1234567820260820abcdefghijk' }
  return [
    await provider.findAgreement(payee, { id }),
    await provider.findAgreement(payee, agreement),
    await provider.createAgreement(payee, orderOf(ground)),
    await provider.cancelAgreement(payee, agreement),
    await provider.findCollection(payee, id),
    await provider.scheduleCollection(payee, { id, agreement, amount: VALUE, dueOn: on }),
    await provider.retryCollection(payee, id, on),
    await provider.cancelCollection(payee, id),
  ]
}

const statusOf = async ({ provider, payee }: Ground, { id, externalId }: Agreed) =>
  given(await provider.findAgreement(payee, { id, externalId }))!.status

export function agreements(guarantee: Guarantee): void {
  guarantee('an agreement is one, however often it is ordered, and is found', async (ground) => {
    const { provider, payee, agrees } = ground
    const order = orderOf(ground)
    if (!agrees) return void reasonOf(await provider.createAgreement(payee, order))
    assert.equal(given(await provider.findAgreement(payee, { id: order.id })), null)
    const made = given(await provider.createAgreement(payee, order))
    assert.deepEqual([made.status, made.decidedAt], ['CREATED', null])
    assert.match(made.externalId, /^RR\d{8}\d{8}[A-Za-z0-9]{11}$/)
    assert.equal(parse(made.brCode).kind, 'recurrence')
    assert.deepEqual(given(await provider.createAgreement(payee, order)), made)
    const others = [await agree(ground), await agree(ground, { retries: false })]
    assert.match(others[1]!.externalId, /^RN/)
    assert.notEqual(others[0]!.externalId, made.externalId)
    assert.deepEqual(given(await provider.createAgreement(payee, order)), made)
    const unknown = { id: newId(), externalId: `${made.externalId.slice(0, -4)}zzzz` }
    assert.equal(given(await provider.findAgreement(payee, unknown)), null, 'is an answer')
    const byName = { id: order.id, externalId: made.externalId }
    for (const named of [{ id: order.id }, byName])
      assert.deepEqual(given(await provider.findAgreement(payee, named)), made)
  })

  guarantee(
    'a payer approves, rejects or cancels an agreement, and when is known',
    async (ground) => {
      const { provider, payee, clock, agrees } = ground
      if (!agrees) return
      const all = [await agree(ground), await agree(ground), await agree(ground)]
      clock.advance(60)
      for (const [i, decision] of (['approve', 'reject', 'cancel'] as const).entries())
        await ground.decide(all[i]!, decision)
      for (const [i, status] of ['APPROVED', 'REJECTED', 'CANCELED'].entries()) {
        const found = given(await provider.findAgreement(payee, all[i]!))!
        assert.deepEqual([found.status, found.decidedAt], [status, clock.now()])
      }
    },
  )

  guarantee(
    'a receiver cancels an agreement, again too, but none that was rejected',
    async (ground) => {
      const { provider, payee, agrees } = ground
      if (!agrees) return
      const [waiting, active, refused] = [
        await agree(ground),
        await approved(ground),
        await agree(ground),
      ] as [Agreed, Agreed, Agreed]
      await ground.decide(refused, 'reject')
      for (const one of [waiting, active, active]) {
        assert.equal(given(await provider.cancelAgreement(payee, one)), null)
        assert.equal(await statusOf(ground, one), 'CANCELED')
      }
      reasonOf(await provider.cancelAgreement(payee, refused))
      assert.equal(await statusOf(ground, refused), 'REJECTED')
    },
  )
}

/** Goes to noon of a day. */
function goTo({ clock }: Ground, day: LocalDate): void {
  clock.advance((atHour(day, 12).getTime() - clock.now().getTime()) / 1000)
}

type Scheduled = { id: Uuid; dueOn: LocalDate; agreement: Agreed }

/** A bank may put a collection off to the next day on which banks work. */
const dueDay = ({ clock }: Ground): LocalDate =>
  nextBusinessDay(addDays(localDateOf(clock.now()), 3))

const schedule = (ground: Ground, agreement: Agreed, dueOn = dueDay(ground), id = newId()) =>
  ground.provider.scheduleCollection(ground.payee, { id, agreement, amount: VALUE, dueOn })

async function scheduled(ground: Ground, fields: Partial<AgreementOrder> = {}): Promise<Scheduled> {
  const agreement = await approved(ground, fields)
  const id = newId()
  given(await schedule(ground, agreement, dueDay(ground), id))
  return { id, dueOn: dueDay(ground), agreement }
}

async function failed(ground: Ground, fields: Partial<AgreementOrder> = {}): Promise<Scheduled> {
  const one = await scheduled(ground, fields)
  goTo(ground, one.dueOn)
  await ground.collect(false)
  return one
}

const find = async ({ provider, payee }: Ground, id: Uuid): Promise<Collection | null> =>
  given(await provider.findCollection(payee, id))

/** Status, then each attempt with its day and status. */
const summaryOf = (collection: Collection | null) =>
  collection && [
    collection.status,
    ...collection.attempts.map(({ on, status }) => `${on} ${status}`),
  ]

export function collections(guarantee: Guarantee): void {
  guarantee('a collection is scheduled once and paid on its day with one Pix', async (ground) => {
    const { provider, payee, clock, agrees } = ground
    if (!agrees) return
    const agreement = await approved(ground)
    const [id, dueOn] = [newId(), dueDay(ground)]
    assert.equal(await find(ground, id), null)
    for (let round = 0; round < 2; round++) {
      assert.equal(given(await schedule(ground, agreement, dueDay(ground), id)).status, 'SCHEDULED')
      assert.deepEqual(summaryOf(await find(ground, id)), ['SCHEDULED', `${dueOn} SCHEDULED`])
    }
    goTo(ground, dueOn)
    await ground.collect(true)
    const paid = (await find(ground, id))!
    assert.deepEqual(summaryOf(paid), ['PAID', `${dueOn} PAID`])
    const { endToEndId } = paid.attempts[0]!
    const received = given(await provider.findReceived(payee, [endToEndId!]))
    const pix = { endToEndId, txid: chargeTxid(id), amount: VALUE, receivedAt: clock.now() }
    assert.deepEqual(received, [pix])
    assert.deepEqual(idsOf(given(await provider.listReceived(payee, around(ground)))), [endToEndId])
    reasonOf(await provider.cancelCollection(payee, id))
    reasonOf(await provider.retryCollection(payee, id, addDays(dueOn, 1)))
    assert.equal((await find(ground, id))!.status, 'PAID')
  })

  guarantee('nothing is scheduled that was not agreed to, or too early or late', async (ground) => {
    if (!ground.agrees) return
    const [waiting, active] = [await agree(ground), await approved(ground)]
    const [near, far] = [newId(), newId()]
    reasonOf(await schedule(ground, waiting))
    const inDays = (days: number) => addDays(localDateOf(ground.clock.now()), days)
    reasonOf(await schedule(ground, active, inDays(1), near))
    reasonOf(await schedule(ground, active, inDays(11), far))
    for (const id of [near, far]) assert.equal(await find(ground, id), null)
    given(await schedule(ground, active, inDays(10)))
  })

  guarantee('a canceled collection takes nothing, and is canceled still', async (ground) => {
    const { provider, payee, agrees } = ground
    if (!agrees) return
    const { id, dueOn } = await scheduled(ground)
    for (let round = 0; round < 2; round++)
      assert.equal(given(await provider.cancelCollection(payee, id)).status, 'CANCELED')
    goTo(ground, dueOn)
    await ground.collect(true)
    assert.equal((await find(ground, id))!.status, 'CANCELED')
    assert.deepEqual(given(await provider.listReceived(payee, around(ground))), [])
    reasonOf(await provider.cancelCollection(payee, newId()))
  })

  guarantee('an agreement that ends, ends what is scheduled of it', async (ground) => {
    const { provider, payee, agrees } = ground
    if (!agrees) return
    const [ours, theirs, other] = [
      await scheduled(ground),
      await scheduled(ground),
      await scheduled(ground),
    ] as [Scheduled, Scheduled, Scheduled]
    given(await provider.cancelAgreement(payee, ours.agreement))
    await ground.decide(theirs.agreement, 'cancel')
    const statuses = [ours, theirs, other].map(async ({ id }) => (await find(ground, id))!.status)
    assert.deepEqual(await Promise.all(statuses), ['CANCELED', 'CANCELED', 'SCHEDULED'])
  })
}

export function retries(guarantee: Guarantee): void {
  guarantee('a failed collection is tried again on the days that are ordered', async (ground) => {
    const { provider, payee, agrees } = ground
    if (!agrees) return
    const { id, dueOn } = await failed(ground)
    const lost = await find(ground, id)
    assert.deepEqual(summaryOf(lost), ['FAILED', `${dueOn} FAILED`])
    assert.equal(lost!.attempts[0]!.endToEndId, null, 'no Pix came of it')
    const retry = (days: number): Promise<Outcome<Collection>> =>
      provider.retryCollection(payee, id, addDays(dueOn, days))
    const [second, third] = [addDays(dueOn, 2), addDays(dueOn, 4)]
    for (let round = 0; round < 2; round++) {
      const again = given(await retry(2))
      assert.deepEqual(summaryOf(again), ['SCHEDULED', `${dueOn} FAILED`, `${second} SCHEDULED`])
    }
    reasonOf(await retry(3))
    goTo(ground, second)
    await ground.collect(false)
    given(await retry(4))
    goTo(ground, third)
    await ground.collect(true)
    assert.deepEqual(summaryOf(await find(ground, id)), [
      'PAID',
      `${dueOn} FAILED`,
      `${second} FAILED`,
      `${third} PAID`,
    ])
    const received = given(await provider.listReceived(payee, around(ground)))
    assert.equal(received.length, 1)
  })

  guarantee(
    'there are three retries within seven days, where they are agreed to',
    async (ground) => {
      const { provider, payee, agrees } = ground
      if (!agrees) return
      const once = await failed(ground, { retries: false })
      assert.deepEqual(summaryOf(await find(ground, once.id)), ['FAILED', `${once.dueOn} FAILED`])
      reasonOf(await provider.retryCollection(payee, once.id, addDays(once.dueOn, 1)))
      const { id, dueOn } = await failed(ground)
      reasonOf(await provider.retryCollection(payee, id, addDays(dueOn, 8)))
      for (const days of [1, 2, 3]) {
        given(await provider.retryCollection(payee, id, addDays(dueOn, days)))
        goTo(ground, addDays(dueOn, days))
        await ground.collect(false)
      }
      assert.equal((await find(ground, id))!.status, 'FAILED')
      reasonOf(await provider.retryCollection(payee, id, addDays(dueOn, 4)))
      reasonOf(await provider.retryCollection(payee, newId(), dueOn))
    },
  )
}
