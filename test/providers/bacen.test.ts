import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../src/lib/ids.ts'
import { toCents } from '../../src/lib/money.ts'
import { createBacen } from '../../src/provider/bacen/bacen.ts'
import type { Connection } from '../../src/provider/bacen/connection.ts'
import { PROFILE_NAMES } from '../../src/provider/bacen/profiles.ts'
import type { Outcome } from '../../src/provider/port.ts'
import type { StyleOptions } from '../bank/bank.ts'
import { openReceiver, type Taken } from '../bank/receiver.ts'
import { given, reasonOf } from '../support/agreements.ts'
import { PATIENT } from '../support/patience.ts'
import { type BankGround, openBank } from './conformance-banks.ts'

const AMOUNT = toCents(1234)

async function open(style: StyleOptions = {}, profile?: string): Promise<BankGround> {
  const ground = await openBank(style, (bank) => bank.profile(profile))
  after(ground.close)
  return ground
}

const unknownOf = (outcome: Outcome<unknown>): string => {
  assert.equal(outcome.kind, 'unknown', JSON.stringify(outcome))
  return (outcome as { reason: string }).reason
}

/** The adapter with something changed in what it knows of its bank. */
function connected({ connection, clock }: BankGround, fields: Partial<Connection>) {
  const changed = { ...connection, ...fields, id: newId() }
  const bacen = createBacen({ connectionOf: async () => changed, clock, limits: PATIENT })
  after(bacen.close)
  return bacen
}

for (const profile of PROFILE_NAMES.filter((name) => !name.endsWith('-sandbox'))) {
  test(`${profile} takes an address for callbacks, uses it, and gives it back`, async () => {
    const receiver = await openReceiver()
    after(receiver.close)
    const { bank, bacen, payee, agrees, clock } = await open({}, profile)
    const url = `${receiver.url}/callbacks/secret`
    const kinds = agrees ? ['pix', 'rec', 'cobr'] : ['pix']
    const states = (at: string | null) => kinds.map((kind) => ({ kind, url: at, fault: null }))
    assert.deepEqual(await bacen.findCallbacks(payee), states(null))
    assert.deepEqual(await bacen.registerCallbacks(payee, url), states(url))
    assert.deepEqual(await bacen.findCallbacks(payee), states(url))
    receiver.taken()
    const expiresAt = new Date(clock.now().getTime() + 60_000)
    const charge = { id: newId(), amount: AMOUNT, expiresAt }
    const { endToEndId } = bank.payer.pay(given(await bacen.issueCharge(payee, charge)).brCode)
    await bank.callbacksSent()
    const [{ path, body }] = receiver.taken() as [Taken]
    assert.match(path, /^\/callbacks\/secret(\/pix)?$/)
    assert.equal(body.pix[0].endToEndId, endToEndId)
    assert.deepEqual(await bacen.removeCallbacks(payee), states(null))
    assert.deepEqual(await bacen.findCallbacks(payee), states(null))
    assert.deepEqual(await bacen.inspect(payee).then(({ faults }) => faults), [])
    assert.deepEqual(bank.violations(), [])
  })
}

test('a refund that takes its time is unknown until it is done, or has failed', async () => {
  const { bank, bacen, payee } = await open()
  bank.course({ refunds: 'later' })
  for (const isDone of [true, false]) {
    const { endToEndId } = bank.payer.payKey(payee.pixKey, AMOUNT)
    const order = { id: newId(), endToEndId, amount: AMOUNT }
    unknownOf(await bacen.refund(payee, order))
    unknownOf(await bacen.refund(payee, order))
    unknownOf(await bacen.findRefund(payee, order))
    bank.finishRefunds(isDone)
    const outcome = await bacen.findRefund(payee, order)
    if (isDone) assert.match(given(outcome)!.returnId, /^D/)
    else assert.match(reasonOf(outcome), /encerrada/)
  }
  assert.deepEqual(bank.violations(), [])
})

test('money that takes its time is unknown until it is sent, or has failed', async () => {
  const { bank, bacen, payee } = await open({}, 'efi')
  bank.course({ sends: 'later' })
  for (const isDone of [true, false]) {
    const order = { id: newId(), amount: AMOUNT, pixKey: 'maria@example.com' }
    unknownOf(await bacen.payouts.send(payee, order, async () => {}))
    unknownOf(await bacen.payouts.findSent(payee, order))
    unknownOf(await bacen.payouts.send(payee, order, async () => {}))
    bank.finishSends(isDone)
    const outcome = await bacen.payouts.findSent(payee, order)
    if (isDone) assert.match(given(outcome)!.endToEndId, /^E/)
    else reasonOf(outcome)
  }
  assert.equal(bank.state().sends.size, 2)
})

test('a certificate that has ended, or a wrong secret, leaves everything unknown', async () => {
  const ground = await open()
  const { bank, payee, clock } = ground
  const { expired } = bank.credentials
  const charge = {
    id: newId(),
    amount: AMOUNT,
    expiresAt: new Date(clock.now().getTime() + 60_000),
  }
  const wrong: Partial<Connection>[] = [
    { certificate: { kind: 'pem', ...expired, passphrase: null } },
    { clientSecret: 'wrong' },
    { ca: null },
  ]
  for (const fields of wrong) {
    const bacen = connected(ground, fields)
    unknownOf(await bacen.issueCharge(payee, charge))
    unknownOf(await bacen.findPaid(payee, charge))
    assert.equal((await bacen.inspect(payee)).faults.length, 1)
  }
  assert.equal(bank.state().charges.size, 0)
  const pfx = connected(ground, {
    certificate: {
      kind: 'pfx',
      pfx: bank.credentials.pfx,
      passphrase: bank.credentials.passphrase,
    },
  })
  given(await pfx.issueCharge(payee, charge))
})

test('scopes that the bank does not grant are named', async () => {
  const { bank, bacen, payee } = await open()
  bank.grant(['cob.read', 'cob.write', 'pix.read'])
  const { scopes, faults } = await bacen.inspect(payee)
  assert.deepEqual(faults, [])
  assert.deepEqual(scopes.granted?.toSorted(), ['cob.read', 'cob.write', 'pix.read'])
  for (const scope of ['pix.write', 'webhook.write', 'rec.write'])
    assert.ok(scopes.missing.includes(scope), scope)
})

test('many orders at once share one token, and another when the bank forgets it', async () => {
  const { bank, bacen, payee, clock } = await open()
  const issue = () => {
    const expiresAt = new Date(clock.now().getTime() + 60_000)
    return bacen.issueCharge(payee, { id: newId(), amount: AMOUNT, expiresAt })
  }
  const many = () => Promise.all(Array.from({ length: 12 }, issue))
  for (const outcome of await many()) given(outcome)
  assert.equal(bank.seen('POST token'), 1)
  bank.revokeTokens()
  for (const outcome of await many()) given(outcome)
  assert.equal(bank.seen('POST token'), 2)
  clock.advance(3600)
  for (const outcome of await many()) given(outcome)
  assert.equal(bank.seen('POST token'), 3)
  assert.equal(bank.state().charges.size, 36)
  assert.deepEqual(bank.violations(), [])
})
