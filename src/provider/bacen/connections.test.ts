import assert from 'node:assert/strict'
import { test } from 'node:test'
import tls from 'node:tls'
import { OLD_CIPHERS } from '../../../test/bank/server.ts'
import { newId } from '../../lib/ids.ts'
import { chargeTxid } from '../txid.ts'
import { given, known, newCharge, openScene, type Scene } from './scene.test-support.ts'

const issue = async (scene: Scene) =>
  given(await scene.bacen.issueCharge(scene.payee, newCharge(scene)))

test('an idle connection is kept for 60 seconds', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const scene = await openScene()
  const { connections } = scene.bank.state()
  await issue(scene)
  t.mock.timers.tick(59_000)
  await issue(scene)
  assert.equal(connections.length, 1)
  t.mock.timers.tick(60_000)
  await issue(scene)
  assert.equal(connections.length, 2)
})

for (const version of ['TLSv1.2', null] as const) {
  test(`a TLS session is resumed by the next connection, ${version ?? 'newest TLS'}`, async () => {
    const scene = await openScene({ style: { tls: version } })
    const { bank } = scene
    const { connections } = bank.state()
    await issue(scene)
    for (const _ of [1, 2]) {
      bank.closeConnections()
      await issue(scene)
    }
    assert.deepEqual(
      connections.map(({ isResumed }) => isResumed),
      connections.map((_, n) => n > 0),
    )
    assert.ok(connections.length >= 3)
    assert.ok(connections.every((one) => one.tls === (version ?? 'TLSv1.3')))
  })
}

test('a bank that speaks nothing newer than TLS 1.1 gets no connection', async (t) => {
  // The process is started as if it had to speak with old servers.
  const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls
  t.after(() => Object.assign(tls, { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS }))
  Object.assign(tls, { DEFAULT_MIN_VERSION: 'TLSv1.1', DEFAULT_CIPHERS: OLD_CIPHERS })
  const scene = await openScene({ style: { tls: 'TLSv1.1' } })
  const { bank, bacen, payee } = scene
  const outcome = await bacen.issueCharge(payee, newCharge(scene))
  assert.equal(outcome.kind, 'unknown')
  assert.deepEqual([bank.state().connections, bank.state().charges.size], [[], 0])
})

test('a new certificate begins a TLS session of its own', async () => {
  const scene = await openScene()
  const { bank, connect } = scene
  await issue(scene)
  connect(bank.connection())
  await issue(scene)
  assert.deepEqual(
    bank.state().connections.map(({ isResumed }) => isResumed),
    [false, false],
  )
})

test('HTTP/2 is used with a bank that offers it, for many orders at once', async () => {
  const scene = await openScene({ style: { http2: true } })
  const { bank } = scene
  await Promise.all(Array.from({ length: 10 }, () => issue(scene)))
  assert.equal(bank.state().charges.size, 10)
  assert.ok(bank.state().connections.every(({ protocol }) => protocol === 'h2'))
  bank.closeConnections()
  await issue(scene)
  // A bank may stop offering it.
  bank.style({ http2: false })
  bank.closeConnections()
  await issue(scene)
  assert.equal(bank.state().connections.at(-1)!.protocol, 'http/1.1')
})

for (const fault of ['lose answer', 'drop', '5xx after effect'] as const) {
  test(`HTTP/2, ${fault}: a charge is asked about, and exists once`, async () => {
    const scene = await openScene({ style: { http2: true } })
    const { bank, bacen, payee } = scene
    bank.faults.next('PUT /cob', fault)
    const charge = newCharge(scene)
    given(await bacen.issueCharge(payee, charge))
    assert.deepEqual([...bank.state().charges.keys()], [chargeTxid(charge.id)])
    assert.equal(bank.seen('PUT /cob/{txid}'), fault === 'drop' ? 2 : 1)
  })
}

test('HTTP/2: the limits of time and length hold', async () => {
  const scene = await openScene({ style: { http2: true }, limits: { exchange_ms: 700 } })
  const { bank, bacen, payee } = scene
  await known(() => bacen.findPaid(payee, { id: newId() }))
  bank.faults.next('*', 'slow', 10)
  const late = { kind: 'unknown', reason: 'the bank has not answered in time' }
  assert.deepEqual(await bacen.issueCharge(payee, newCharge(scene)), late)
  bank.faults.clear()
  const short = await openScene({ style: { http2: true }, limits: { answer_bytes: 300 } })
  assert.deepEqual(await short.bacen.findPaid(short.payee, { id: newId() }), {
    kind: 'unknown',
    reason: 'the bank gives no token: the answer of the bank is too long',
  })
})

test('a connection is read once, and again when the company has another one', async () => {
  const [scene, other] = [await openScene(), await openScene()]
  const { bacen, connect, reads } = scene
  const [first, second] = [scene.bank.connection(), other.bank.connection()]
  const ask = async (bankId: string | null) =>
    given(await bacen.findPaid({ ...scene.payee, bankId }, { id: newId() }))
  connect(first)
  for (const _ of [1, 2, 3]) await ask(first.id)
  assert.equal(reads(), 1)
  connect(second)
  for (const _ of [1, 2, 3]) await ask(second.id)
  assert.equal(reads(), 2)
  // A payee with the former connection id gets the current connection.
  await ask(first.id)
  assert.equal(reads(), 3)
  assert.deepEqual(
    [scene, other].map(({ bank }) => bank.seen('GET /cob/{txid}')),
    [3, 4],
  )
})
