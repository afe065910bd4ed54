import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { parse } from '../../pix/brcode.ts'
import { chargeTxid } from '../txid.ts'
import { given, known, newCharge, openScene, type Scene } from './scene.test-support.ts'

const around = (scene: Scene) => ({
  from: new Date(scene.clock.now().getTime() - 3_600_000),
  to: new Date(scene.clock.now().getTime() + 1),
})

async function paidCharge(scene: Scene, amount = 1000) {
  const charge = newCharge(scene, amount)
  given(await scene.bacen.issueCharge(scene.payee, charge))
  return scene.bank.payer.pay(chargeTxid(charge.id))
}

for (const fault of ['lose answer', '5xx after effect'] as const) {
  test(`${fault}: a charge is asked about, and given out as the bank issued it`, async () => {
    const scene = await openScene()
    const { bank, bacen, payee } = scene
    bank.faults.next('PUT /cob', fault)
    const charge = newCharge(scene)
    const { brCode } = given(await bacen.issueCharge(payee, charge))
    const code = parse(brCode)
    const known = bank.state().charges.get(chargeTxid(charge.id))
    assert.equal(code.kind === 'dynamic' && code.location, known?.location)
    assert.equal(bank.seen('PUT /cob/{txid}'), 1)
  })
}

for (const fault of ['5xx', 'html', 'html 200'] as const) {
  test(`${fault}: a charge that the bank does not have is ordered once more, and then unknown`, async () => {
    const scene = await openScene()
    const { bank, bacen, payee } = scene
    bank.faults.next('PUT /cob', fault)
    given(await bacen.issueCharge(payee, newCharge(scene)))
    bank.faults.next('PUT /cob', fault, 2)
    assert.equal((await bacen.issueCharge(payee, newCharge(scene))).kind, 'unknown')
    assert.equal(bank.seen('PUT /cob/{txid}'), 4)
  })
}

test('a charge that was lost with its connection is ordered once more', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  bank.faults.next('PUT /cob', 'drop')
  given(await bacen.issueCharge(payee, newCharge(scene)))
  bank.faults.next('PUT /cob', 'drop', 2)
  assert.equal((await bacen.issueCharge(payee, newCharge(scene))).kind, 'unknown')
  assert.equal(bank.seen('PUT /cob/{txid}'), 4)
})

for (const fault of ['too many', 'busy'] as const) {
  test(`${fault}: the bank gets the request again when it wants to`, async () => {
    const scene = await openScene()
    const { bank, bacen, payee } = scene
    for (const operation of ['POST token', 'PUT /cob', 'GET /cob']) {
      bank.faults.next(operation, fault)
    }
    const charge = newCharge(scene)
    given(await bacen.issueCharge(payee, charge))
    assert.deepEqual(given(await bacen.findPaid(payee, charge)), [])
    assert.equal(bank.seen('POST token'), 2)
    assert.equal(bank.seen('PUT /cob/{txid}'), 2)
  })
}

test('if a bank asks for a longer wait than an order may take, it is not asked again', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  given(await bacen.findPaid(payee, { id: newId() }))
  bank.faults.next('PUT /cob', 'busy for long')
  const outcome = await bacen.issueCharge(payee, newCharge(scene))
  assert.ok(outcome.kind === 'unknown' && outcome.retryAfter_s === 3600)
  assert.equal(bank.seen('PUT /cob/{txid}'), 1)
})

test('a refund is repeated only if the bank has certainly not made it', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  const { endToEndId } = await paidCharge(scene)
  const order = { id: newId(), endToEndId, amount: toCents(400) }
  bank.faults.next('PUT /pix', 'busy')
  assert.equal((await bacen.refund(payee, order)).kind, 'unknown')
  bank.faults.next('PUT /pix', 'too many')
  given(await bacen.refund(payee, order))
  assert.equal(bank.state().refunds.length, 1)
})

test('a bank that lets the company neither order nor ask refuses', async () => {
  const scene = await openScene()
  scene.bank.grant(['pix.read', 'pix.write', 'webhook.read', 'webhook.write'])
  const outcome = await scene.bacen.issueCharge(scene.payee, newCharge(scene))
  assert.ok(outcome.kind === 'rejected' && /cob\.write/.test(outcome.reason), outcome.kind)
})

test('an order that could not be sent is sent again', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  given(await bacen.findPaid(payee, { id: newId() }))
  bank.refuseConnections(1)
  given(await bacen.issueCharge(payee, newCharge(scene)))
  assert.equal(bank.seen('PUT /cob/{txid}'), 1)
  assert.equal(bank.seen('GET /cob/{txid}'), 1)
})

test('a bank that does not answer in time leaves all unknown', async () => {
  const scene = await openScene({ limits: { exchange_ms: 700 } })
  const { bank, bacen, payee } = scene
  await known(() => bacen.findPaid(payee, { id: newId() }))
  bank.faults.next('*', 'slow', 10)
  const reason = 'the bank has not answered in time'
  assert.deepEqual(await bacen.issueCharge(payee, newCharge(scene)), { kind: 'unknown', reason })
  bank.faults.clear()
})

test('all requests of one order together have a limit of their own', async () => {
  const scene = await openScene({ limits: { order_ms: 700 } })
  const { bank, bacen, payee } = scene
  await known(() => bacen.findPaid(payee, { id: newId() }))
  bank.faults.next('*', 'slow', 10)
  const outcome = await bacen.issueCharge(payee, newCharge(scene))
  assert.equal(outcome.kind, 'unknown')
  bank.faults.clear()
})

test('an answer that is too long is not read', async () => {
  const scene = await openScene({ limits: { answer_bytes: 300 } })
  assert.deepEqual(await scene.bacen.findPaid(scene.payee, { id: newId() }), {
    kind: 'unknown',
    reason: 'the bank gives no token: the answer of the bank is too long',
  })
})

test('a question is asked once more when its connection was lost', async () => {
  const { bank, bacen, payee } = await openScene()
  bank.faults.next('GET /cob', 'drop')
  assert.deepEqual(given(await bacen.findPaid(payee, { id: newId() })), [])
  bank.faults.next('GET /cob', 'drop', 2)
  assert.equal((await bacen.findPaid(payee, { id: newId() })).kind, 'unknown')
  bank.faults.clear()
})

test('a charge of another amount under the same id is refused', async () => {
  const scene = await openScene({ style: { repeated: 409 } })
  const { bacen, payee } = scene
  const charge = newCharge(scene, 1000)
  const first = given(await bacen.issueCharge(payee, charge))
  assert.deepEqual(given(await bacen.issueCharge(payee, charge)), first)
  const other = await bacen.issueCharge(payee, { ...charge, amount: toCents(1001) })
  assert.equal(other.kind, 'rejected')
})

test('a charge is removed once and stays so, and what was paid is not removed', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  const [open, paid] = [newCharge(scene), newCharge(scene)]
  for (const charge of [open, paid]) given(await bacen.issueCharge(payee, charge))
  bank.payer.pay(chargeTxid(paid.id))
  bank.faults.next('PATCH /cob', 'lose answer')
  for (const _ of [1, 2, 3]) given(await bacen.removeCharge(payee, open))
  given(await bacen.removeCharge(payee, { id: newId() }))
  assert.equal(given(await bacen.removeCharge(payee, paid)), 'paid')
  assert.equal((await bacen.issueCharge(payee, open)).kind, 'rejected')
})

test('a charge that the bank does not remove is not called paid', async () => {
  const scene = await openScene()
  const { bank, bacen, clock, payee } = scene
  const open = newCharge(scene)
  given(await bacen.issueCharge(payee, open))
  bank.grant(['cob.read', 'pix.read'])
  clock.advance(3600)
  const refused = await bacen.removeCharge(payee, open)
  assert.equal(refused.kind, 'rejected')
  bank.faults.next('PATCH /cob', '5xx', 10)
  assert.equal((await bacen.removeCharge(payee, open)).kind, 'unknown')
})

test('a list is read to its last page, each payment once, by the moment of each', async () => {
  const scene = await openScene({ style: { mostPerPage: 2 } })
  const { bank, bacen, clock, payee } = scene
  const ids: string[] = []
  for (let i = 0; i < 5; i++) {
    ids.push((await paidCharge(scene)).endToEndId)
    clock.advance(1)
  }
  const { from, to } = around(scene)
  const listed = given(await bacen.listReceived(payee, { from, to }))
  assert.deepEqual(listed.map(({ endToEndId }) => endToEndId).sort(), ids.sort())
  const [first, last] = [listed[0]!, listed.at(-1)!]
  const inner = given(
    await bacen.listReceived(payee, { from: first.receivedAt, to: last.receivedAt }),
  )
  assert.deepEqual(inner, listed.slice(0, -1))
  bank.faults.next('GET /pix', 'html 200')
  assert.equal((await bacen.listReceived(payee, { from, to })).kind, 'unknown')
})

test('what came to another key of the account is not listed, whatever it names', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  const own = bank.payer.payKey(payee.pixKey.toUpperCase(), 700)
  const named = await paidCharge(scene)
  bank.payer.payKey('outra@padaria.example', 800)
  bank.state().pix.get(named.endToEndId)!.key = 'antiga@padaria.example'
  const listed = given(await bacen.listReceived(payee, around(scene)))
  const ids = listed.map(({ endToEndId }) => endToEndId)
  assert.deepEqual(ids, [own.endToEndId])
})

test('a payment that is asked for and not understood is not passed over', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  const charge = newCharge(scene)
  given(await bacen.issueCharge(payee, charge))
  const paid = bank.payer.pay(chargeTxid(charge.id))
  bank.state().pix.get(paid.endToEndId)!.amount = Number.NaN
  for (const outcome of [
    await bacen.findPaid(payee, charge),
    await bacen.findReceived(payee, [paid.endToEndId]),
  ]) {
    assert.equal(outcome.kind, 'unknown')
  }
  bank.violations().length = 0
})

test('what no bank could know is not asked for, and one silence makes all unknown', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  const { endToEndId } = await paidCharge(scene)
  const forged = ['x', 'E123', `${endToEndId}0`, '../cob', 'D'.repeat(32)]
  const found = given(await bacen.findReceived(payee, [...forged, endToEndId, endToEndId]))
  assert.deepEqual(
    found.map((pix) => pix.endToEndId),
    [endToEndId],
  )
  assert.equal(bank.seen('GET /pix/{e2eid}'), 1)
  bank.faults.next('GET /pix/{e2eid}', '5xx')
  const ids = [endToEndId, 'E99999990202608201500abcdefghijk']
  assert.equal((await bacen.findReceived(payee, ids)).kind, 'unknown')
})

test('a refund is made once, however its answer gets lost', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  const { endToEndId } = await paidCharge(scene)
  const order = { id: newId(), endToEndId, amount: toCents(400) }
  bank.faults.next('PUT /pix', 'lose answer')
  const returned = given(await bacen.refund(payee, order))
  assert.deepEqual(given(await bacen.findRefund(payee, order)), returned)
  assert.equal(bank.state().refunds.length, 1)
  const listed = given(await bacen.listTransfers(payee, around(scene)))
  assert.deepEqual(
    listed.map(({ direction, orderId, amount }) => [direction, orderId, amount]),
    [
      ['received', null, 1000],
      ['returned', order.id, 400],
    ],
  )
})

test('a bank that refuses to answer about a refund has not refused the refund', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  const { endToEndId } = await paidCharge(scene)
  const order = { id: newId(), endToEndId, amount: toCents(400) }
  bank.grant(['pix.write'])
  bank.revokeTokens()
  assert.equal((await bacen.findRefund(payee, order)).kind, 'unknown')
  bank.faults.next('PUT /pix', 'lose answer')
  assert.equal((await bacen.refund(payee, order)).kind, 'unknown')
  assert.equal((await bacen.findRefund(payee, order)).kind, 'unknown')
  assert.equal(bank.state().refunds.length, 1)
})

test('a refund under way is unknown until it is done or was not possible', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  bank.course({ refunds: 'later' })
  const { endToEndId } = await paidCharge(scene)
  const orders = [1, 2].map((cents) => ({ id: newId(), endToEndId, amount: toCents(cents) }))
  const [done, failed] = orders as [(typeof orders)[0], (typeof orders)[0]]
  assert.equal((await bacen.refund(payee, done)).kind, 'unknown')
  bank.finishRefunds()
  given(await bacen.findRefund(payee, done))
  assert.equal((await bacen.refund(payee, failed)).kind, 'unknown')
  bank.finishRefunds(false)
  assert.equal((await bacen.findRefund(payee, failed)).kind, 'rejected')
})

test('a return of another amount under our id is not ours', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  const { endToEndId } = await paidCharge(scene)
  const order = { id: newId(), endToEndId, amount: toCents(400) }
  const { returnId } = given(await bacen.refund(payee, order))
  const [made] = bank.state().refunds
  const reason = 'a refund of another amount has its id'
  for (const status of ['DEVOLVIDO', 'NAO_REALIZADO'] as const) {
    Object.assign(made!, { amount: 401, status })
    assert.deepEqual(await bacen.findRefund(payee, order), { kind: 'unknown', reason })
    assert.deepEqual(await bacen.refund(payee, order), { kind: 'unknown', reason })
  }
  Object.assign(made!, { amount: 400, status: 'DEVOLVIDO' })
  bank.style({ namesReturns: false })
  assert.equal((await bacen.findRefund(payee, order)).kind, 'unknown', 'it has no name yet')
  bank.style({ namesReturns: true })
  assert.deepEqual(given(await bacen.findRefund(payee, order)), { returnId })
  assert.equal(bank.state().refunds.length, 1)
})

test('a refused refund stays unknown while it cannot be asked for', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  const { endToEndId } = await paidCharge(scene)
  const order = { id: newId(), endToEndId, amount: toCents(400) }
  for (const fault of ['5xx', 'gateway 404', 'refuse'] as const) {
    bank.faults.next('PUT /pix', 'refuse')
    bank.faults.next('GET /pix', fault)
    assert.equal((await bacen.refund(payee, order)).kind, 'unknown', fault)
  }
  bank.faults.next('PUT /pix', 'refuse')
  assert.equal((await bacen.refund(payee, order)).kind, 'rejected')
})
