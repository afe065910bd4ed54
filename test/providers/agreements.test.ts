import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId, unpackPair } from '../../src/lib/ids.ts'
import { toCents } from '../../src/lib/money.ts'
import { parse } from '../../src/pix/brcode.ts'
import type { AgreementStatus } from '../../src/provider/port.ts'
import { createSimulator } from '../../src/provider/simulator/simulator.ts'
import { given, openScene, reasonOf, type Scene } from '../support/agreements.ts'
import { startApi } from '../support/api.ts'

const api = await startApi()
const { simulator } = api.app.providers
const open = async () => openScene(api, (await api.client()).company)

const countOf = async ({ payee }: Scene) =>
  (await api.rows('select 1 from simulated_agreements where account_id = $1', [payee.id])).length

/** The fields of a code and of the templates in it, id by id. */
function fieldsOf(code: string): [string, string][] {
  const fields: [string, string][] = []
  for (let at = 0; at < code.length; ) {
    const length = Number(code.slice(at + 2, at + 4))
    fields.push([code.slice(at, at + 2), code.slice(at + 4, at + 4 + length)])
    at += 4 + length
  }
  return fields
}

test('an agreement that is ordered again and again, also at once, is one agreement', async () => {
  const scene = await open()
  const order = scene.orderOf()
  const orders = Array.from({ length: 8 }, () => simulator.createAgreement(scene.payee, order))
  const [first, ...others] = (await Promise.all(orders)).map(given)
  for (const other of others) assert.deepEqual(other, first)
  assert.deepEqual([first!.status, first!.decidedAt], ['CREATED', null])
  const changed = { ...order, value: toCents(5000), retries: false }
  assert.deepEqual(given(await simulator.createAgreement(scene.payee, changed)), first)
  assert.deepEqual(given(await simulator.findAgreement(scene.payee, order)), first)
  assert.equal(await countOf(scene), 1)
})

test('the id of an agreement has the form of the scheme, its retries and its day', async () => {
  const scene = await open()
  const [retried, once] = [await scene.agree(), await scene.agree({ retries: false })]
  assert.match(retried.externalId, /^RR9999999920260820[A-Za-z0-9]{11}$/)
  assert.match(once.externalId, /^RN9999999920260820[A-Za-z0-9]{11}$/)
  const late = openScene(api, { ...scene.payee, clockAhead_ms: 11.5 * 3600 * 1000 })
  assert.match((await late.agree()).externalId, /^RR9999999920260820/, '23:30 in São Paulo')
})

test('the code is of journey 2: nothing to pay, and the place of the agreement', async () => {
  const scene = await open()
  const { id, brCode } = await scene.agree()
  const fields = Object.fromEntries(fieldsOf(brCode))
  assert.deepEqual(fieldsOf(fields['26']!), [['00', 'br.gov.bcb.pix']])
  const [gui, [tag, location]] = fieldsOf(fields['80']!) as [[string, string], [string, string]]
  assert.deepEqual([gui, tag], [['00', 'br.gov.bcb.pix'], '25'])
  const [host, path, token] = location.split('/')
  assert.deepEqual([host, path], ['vintem.test', 'rec'])
  assert.deepEqual(unpackPair(token!), { companyId: scene.payee.id, id })
  assert.deepEqual(parse(brCode), {
    kind: 'recurrence',
    recurrenceLocation: location,
    name: 'Padaria Sao Joao',
    city: 'Sao Paulo',
  })
})

test('a host that is too long for a location still gives a code that can be read', async () => {
  const scene = await open()
  const { db, vault } = api.app
  const far = createSimulator(`https://${'a'.repeat(60)}.example`, db, api.clock, vault)
  const { brCode } = given(await far.createAgreement(scene.payee, scene.orderOf()))
  assert.equal(parse(brCode).kind, 'recurrence')
})

test('a bank that refuses keeps nothing; one whose answer is lost can be asked', async () => {
  const scene = await open()
  const refused = scene.orderOf({ value: toCents(66_666) })
  reasonOf(await simulator.createAgreement(scene.payee, refused))
  assert.equal(given(await simulator.findAgreement(scene.payee, refused)), null)
  const lost = scene.orderOf({ value: toCents(55_555) })
  assert.equal((await simulator.createAgreement(scene.payee, lost)).kind, 'unknown')
  const found = given(await simulator.findAgreement(scene.payee, lost))
  assert.equal(found!.status, 'CREATED')
  assert.deepEqual(given(await simulator.createAgreement(scene.payee, lost)), found)
})

const DAY_S = 24 * 3600
const REACH: Record<AgreementStatus, (scene: Scene) => Promise<string>> = {
  CREATED: async (scene) => (await scene.agree()).id,
  APPROVED: async (scene) => (await scene.approve()).id,
  EXPIRED: async (scene) => (await scene.agree({ expiresAt: scene.now() })).id,
  REJECTED: async (scene) => {
    const { id } = await scene.agree()
    given(await scene.decide(id, 'reject'))
    return id
  },
  CANCELED: async (scene) => {
    const { id } = await scene.approve()
    given(await scene.decide(id, 'cancel'))
    return id
  },
}

/** What each decision makes of each status; what is not here is not possible. */
const TO: Record<string, Partial<Record<AgreementStatus, AgreementStatus>>> = {
  approve: { CREATED: 'APPROVED', APPROVED: 'APPROVED' },
  reject: { CREATED: 'REJECTED', REJECTED: 'REJECTED' },
  cancel: { CREATED: 'CANCELED', APPROVED: 'CANCELED', CANCELED: 'CANCELED' },
}

for (const [decision, allowed] of Object.entries(TO)) {
  test(`${decision}: possible where it is, the same again changes nothing`, async () => {
    const scene = await open()
    for (const [from, reach] of Object.entries(REACH) as [
      AgreementStatus,
      typeof REACH.CREATED,
    ][]) {
      const id = await reach(scene)
      const before = given(await simulator.findAgreement(scene.payee, { id }))!
      assert.equal(before.status, from)
      api.clock.advance(60)
      const outcome = await scene.decide(id, decision as 'approve')
      const after = given(await simulator.findAgreement(scene.payee, { id }))!
      const to = allowed[from]
      if (to === undefined) {
        assert.match(reasonOf(outcome), new RegExp(`is ${from} and cannot be`))
        assert.deepEqual(after, before)
      } else {
        const decidedAt = to === from ? before.decidedAt : scene.now()
        assert.deepEqual(after, { ...before, status: to, decidedAt })
        assert.deepEqual(given(outcome).agreement, after)
      }
    }
    reasonOf(await scene.decide(newId(), decision as 'approve'))
  })
}

test('the receiver cancels what has not ended, also twice, and is refused when it has', async () => {
  const scene = await open()
  const cancel = (id: string) =>
    simulator.cancelAgreement(scene.payee, { id, externalId: 'not looked at' })
  for (const from of ['CREATED', 'APPROVED', 'CANCELED'] as const) {
    const id = await REACH[from](scene)
    for (let round = 0; round < 2; round++) assert.equal(given(await cancel(id)), null)
    assert.equal(given(await simulator.findAgreement(scene.payee, { id }))!.status, 'CANCELED')
  }
  for (const from of ['REJECTED', 'EXPIRED'] as const) {
    const id = await REACH[from](scene)
    assert.match(reasonOf(await cancel(id)), new RegExp(from))
    assert.equal(given(await simulator.findAgreement(scene.payee, { id }))!.status, from)
  }
  reasonOf(await cancel(newId()))
})

test('an agreement that nobody decides on expires at its end, to the second', async () => {
  const scene = await open()
  const expiresAt = new Date(scene.now().getTime() + DAY_S * 1000)
  const { id } = await scene.agree({ expiresAt })
  const { id: approved } = await scene.approve({ expiresAt })
  const statusOf = async (which: string) =>
    given(await simulator.findAgreement(scene.payee, { id: which }))
  api.clock.advance(DAY_S - 1)
  assert.equal((await statusOf(id))!.status, 'CREATED')
  api.clock.advance(1)
  const { status, decidedAt } = (await statusOf(id))!
  assert.deepEqual([status, decidedAt], ['EXPIRED', expiresAt])
  assert.equal((await statusOf(approved))!.status, 'APPROVED', 'only what is undecided expires')
})

test('the bank uses the account’s clock: only the account with a moved clock sees it expire', async () => {
  const scene = await open()
  const { id } = await scene.agree()
  const ahead = { ...scene.payee, clockAhead_ms: DAY_S * 1000 }
  assert.equal(given(await simulator.findAgreement(ahead, { id }))!.status, 'EXPIRED')
  assert.equal(given(await simulator.findAgreement(scene.payee, { id }))!.status, 'CREATED')
})

test('of two decisions at once, one counts and the other is refused', async () => {
  const scene = await open()
  for (let round = 0; round < 5; round++) {
    const { id } = await scene.agree()
    const outcomes = await Promise.all([scene.decide(id, 'approve'), scene.decide(id, 'reject')])
    const kinds = outcomes.map(({ kind }) => kind)
    assert.deepEqual(kinds.toSorted(), ['accepted', 'rejected'])
    const { status } = given(await simulator.findAgreement(scene.payee, { id }))!
    assert.equal(status, kinds[0] === 'accepted' ? 'APPROVED' : 'REJECTED')
  }
})

test('agreements of one account are unknown to every other', async () => {
  const [one, other] = [await open(), await open()]
  const { id } = await one.approve()
  assert.equal(given(await simulator.findAgreement(other.payee, { id })), null)
  reasonOf(await other.decide(id, 'cancel'))
  reasonOf(await simulator.cancelAgreement(other.payee, { id, externalId: 'x' }))
  assert.equal(given(await simulator.findAgreement(one.payee, { id }))!.status, 'APPROVED')
})

test('the records of the bank do not name the payer', async () => {
  const scene = await open()
  await scene.agree()
  const rows = await api.rows('select a::text as row from simulated_agreements a')
  assert.doesNotMatch(JSON.stringify(rows), /Maria|52998224725/)
})
