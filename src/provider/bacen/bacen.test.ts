import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trust } from '../../../test/bank/certificates.ts'
import { newId, suffixOf } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { VERSION } from '../../lib/version.ts'
import { parse } from '../../pix/brcode.ts'
import { addDays, localDateOf } from '../../pix/local-time.ts'
import type { Outcome } from '../port.ts'
import {
  given,
  known,
  newAgreement,
  newCharge,
  openScene,
  type Scene,
} from './scene.test-support.ts'

for (const fault of ['lose answer', '5xx after effect', 'slow'] as const) {
  test(`${fault}: an agreement is made once, however often it is ordered`, async () => {
    const scene = await openScene(fault === 'slow' ? { limits: { exchange_ms: 1000 } } : {})
    const { bank, bacen, payee } = scene
    const ask = async <T>(act: () => Promise<Outcome<T>>) =>
      fault === 'slow' ? known(act) : given(await act())
    await ask(() => bacen.findPaid(payee, { id: newId() }))
    const order = newAgreement(scene)
    bank.faults.next('POST /rec', fault)
    const create = () => ask(() => bacen.createAgreement(payee, order))
    const agreements = await Promise.all([create(), create()])
    bank.faults.clear()
    agreements.push(await create())
    agreements.push((await ask(() => bacen.findAgreement(payee, { id: order.id })))!)
    for (const agreement of agreements) assert.deepEqual(agreement, agreements[0])
    assert.equal(bank.state().recs.size, 1)
    assert.equal(bank.seen('POST /rec'), 1)
    assert.equal(parse(agreements[0]!.brCode).kind, 'recurrence')
  })
}

test('an agreement is not ordered when the bank cannot be asked whether it has it', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  bank.faults.next('GET /rec', '5xx')
  const order = newAgreement(scene)
  assert.equal((await bacen.createAgreement(payee, order)).kind, 'unknown')
  assert.equal(bank.seen('POST /rec'), 0)
  given(await bacen.createAgreement(payee, order))
})

test('an agreement that the bank did not answer about is ordered again at the same location', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  const order = newAgreement(scene)
  bank.faults.next('POST /rec', 'drop')
  assert.equal((await bacen.createAgreement(payee, order)).kind, 'unknown')
  given(await bacen.createAgreement(payee, order))
  assert.equal(bank.seen('POST /locrec'), 1)
  const [rec] = bank.state().recs.values()
  assert.equal(rec?.contract, suffixOf(order.id))
})

test('an agreement that waits is canceled once and stays so, one that was rejected is not', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  const [kept, declined] = [newAgreement(scene), newAgreement(scene)]
  const { externalId } = given(await bacen.createAgreement(payee, kept))
  bank.faults.next('PATCH /rec', 'lose answer')
  for (const _ of [1, 2]) given(await bacen.cancelAgreement(payee, { id: kept.id, externalId }))
  const { status, decidedAt } = given(
    await bacen.findAgreement(payee, { id: kept.id, externalId }),
  )!
  assert.deepEqual([status, decidedAt], ['CANCELED', scene.clock.now()])
  const other = given(await bacen.createAgreement(payee, declined))
  bank.payer.reject(other.externalId)
  assert.deepEqual(await bacen.cancelAgreement(payee, { ...declined, ...other }), {
    kind: 'rejected',
    reason: 'the agreement is REJECTED and cannot be canceled',
  })
})

async function approved(scene: Scene) {
  const order = newAgreement(scene)
  const { externalId } = given(await scene.bacen.createAgreement(scene.payee, order))
  scene.bank.payer.approve(externalId)
  const dueOn = addDays(localDateOf(scene.clock.now()), 5)
  return { id: newId(), agreement: { id: order.id, externalId }, amount: order.value, dueOn }
}

test('a collection and its retry are scheduled once, however their answers get lost', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  const order = await approved(scene)
  bank.faults.next('PUT /cobr', 'lose answer')
  const first = given(await bacen.scheduleCollection(payee, order))
  assert.deepEqual(
    first.attempts.map(({ on, status }) => [on, status]),
    [[order.dueOn, 'SCHEDULED']],
  )
  assert.deepEqual(given(await bacen.scheduleCollection(payee, order)), first)
  bank.collect(order.dueOn, () => 'REJEITADA')
  assert.equal(given(await bacen.findCollection(payee, order.id))?.status, 'FAILED')
  const on = addDays(order.dueOn, 1)
  bank.faults.next('POST /cobr', 'lose answer')
  const retried = given(await bacen.retryCollection(payee, order.id, on))
  assert.equal(retried.attempts.length, 2)
  assert.deepEqual(given(await bacen.retryCollection(payee, order.id, on)), retried)
  bank.faults.next('PATCH /cobr', '5xx after effect')
  for (const _ of [1, 2]) {
    assert.equal(given(await bacen.cancelCollection(payee, order.id)).status, 'CANCELED')
  }
})

test('without an account nothing can be collected to it, and it is said what to do', async () => {
  const scene = await openScene({ connection: { account: null } })
  const order = await approved(scene)
  const outcome = await scene.bacen.scheduleCollection(scene.payee, order)
  assert.ok(outcome.kind === 'unknown' && /--account/.test(outcome.reason))
  assert.equal(scene.bank.seen('PUT /cobr/{txid}'), 0)
})

test('money is sent once, however its answer gets lost', async () => {
  const scene = await openScene({ style: { sends: 'efi', errors: 'efi' } })
  const { bank, bacen, payee } = scene
  const order = { id: newId(), amount: toCents(5000), pixKey: 'dona@padaria.example' }
  assert.equal(given(await bacen.payouts.findSent(payee, order)), null)
  bank.faults.next('PUT /v3', 'lose answer')
  await bacen.payouts.send(payee, order, async () => {})
  await bacen.payouts.send(payee, order, async () => {})
  assert.equal(bank.state().sends.size, 1)
  const sent = given(await bacen.payouts.findSent(payee, order))
  assert.ok(sent)
  bank.course({ sends: 'later' })
  const other = { ...order, id: newId() }
  assert.equal((await bacen.payouts.send(payee, other, async () => {})).kind, 'unknown')
  bank.finishSends(false)
  assert.equal((await bacen.payouts.findSent(payee, other)).kind, 'rejected')
})

test('what a bank does not offer is refused without asking it', async () => {
  const scene = await openScene()
  const { bank, bacen, payee, connect } = scene
  const profile = bank.profile()
  const paths = { ...profile.paths, rec: null, cobr: null, webhookrec: null, webhookcobr: null }
  connect(bank.connection({ profile: { ...profile, paths } }))
  const outcome = await bacen.createAgreement(payee, newAgreement(scene))
  assert.deepEqual(outcome, {
    kind: 'rejected',
    reason: 'the bank is not known to offer Pix Automático',
  })
  const states = await bacen.findCallbacks(payee)
  assert.deepEqual(states, [{ kind: 'pix', url: null, fault: null }])
})

test('for a company without a bank every outcome is unknown', async () => {
  const { bacen, payee, connect } = await openScene()
  connect(null)
  const silence = { kind: 'unknown', reason: 'no bank is connected' }
  assert.deepEqual(await bacen.findPaid(payee, { id: newId() }), silence)
  assert.deepEqual((await bacen.inspect(payee)).faults, ['no bank is connected'])
})

test('a company that is connected again uses its new bank, with a new token', async () => {
  const [old, other] = [await openScene(), await openScene()]
  const charge = newCharge(old)
  given(await old.bacen.issueCharge(old.payee, charge))
  old.connect(other.bank.connection())
  given(await old.bacen.issueCharge(old.payee, charge))
  assert.deepEqual([old.bank.seen('POST token'), other.bank.seen('POST token')], [1, 1])
  assert.equal(other.bank.state().charges.size, 1)
})

test('a bank refuses a certificate that has expired, belongs to another company or cannot be used', async () => {
  const { bank, bacen, payee, connect } = await openScene()
  const { expired, pfx, passphrase } = bank.credentials
  connect(bank.connection({ certificate: { kind: 'pem', ...expired, passphrase: null } }))
  assert.equal((await bacen.findPaid(payee, { id: newId() })).kind, 'unknown')
  const foreign = { kind: 'pem', ...(await trust()).foreign(), passphrase: null } as const
  connect(bank.connection({ certificate: foreign }))
  const { faults: unaccepted } = await bacen.inspect(payee)
  assert.match(unaccepted.join(), /^the bank gives no token: .* does not accept the certificate/)
  connect(bank.connection({ certificate: { kind: 'pfx', pfx, passphrase: 'wrong' } }))
  const reason = 'the bank gives no token: the certificate cannot be used'
  assert.deepEqual(await bacen.findPaid(payee, { id: newId() }), { kind: 'unknown', reason })
  connect(bank.connection({ ca: null }))
  const { faults } = await bacen.inspect(payee)
  assert.deepEqual(faults, [
    'the bank gives no token: the certificate of the bank cannot be trusted',
  ])
  connect(bank.connection({ certificate: { kind: 'pfx', pfx, passphrase } }))
  assert.deepEqual(given(await bacen.findPaid(payee, { id: newId() })), [])
})

test('the bank gets the name and the version of this service with every request', async () => {
  const { bank, bacen, payee } = await openScene()
  given(await bacen.findPaid(payee, { id: newId() }))
  const agents = bank.state().requests.map(({ userAgent }) => userAgent)
  assert.deepEqual(agents, [`vintem/${VERSION}`, `vintem/${VERSION}`])
  assert.match(VERSION, /^\d+\.\d+\.\d+$/)
})

test('callbacks are registered, found and removed, each kind by itself', async () => {
  const { bank, bacen, payee } = await openScene()
  const url = 'https://vintem.example/callbacks/abc'
  const kinds = ['pix', 'rec', 'cobr'] as const
  const registered = kinds.map((kind) => ({ kind, url, fault: null }))
  assert.deepEqual(await bacen.registerCallbacks(payee, url), registered)
  assert.deepEqual(await bacen.findCallbacks(payee), registered)
  bank.faults.next('GET /webhookrec', 'html')
  const faults = (await bacen.findCallbacks(payee)).map(({ fault }) => fault !== null)
  assert.deepEqual(faults, [false, true, false])
  const none = kinds.map((kind) => ({ kind, url: null, fault: null }))
  for (const _ of [1, 2]) assert.deepEqual(await bacen.removeCallbacks(payee), none)
  assert.deepEqual(await bacen.findCallbacks(payee), none)
})
