import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepShipping, openLink } from '../../../src/core/charges/checkout.ts'
import * as intents from '../../../src/core/charges/intent-store.ts'
import { openShipping } from '../../../src/core/charges/shipping.ts'
import { findMany } from '../../../src/core/charges/store.ts'
import { claim, openAnswer, sealAnswer } from '../../../src/core/idempotency.ts'
import { startWithdrawal } from '../../../src/core/withdrawals/commands.ts'
import { violatedConstraint } from '../../../src/db/database.ts'
import { fromPublic, newId } from '../../../src/lib/ids.ts'
import { toCents } from '../../../src/lib/money.ts'
import type { Provider } from '../../../src/provider/port.ts'
import { payer, startApi } from '../../support/api.ts'
import { makePaid } from '../../support/payments.ts'
import { answer, confirm, rowOf, waiting } from '../../support/withdrawals.ts'

const api = await startApi()
const { db, vault } = api.app

test('a code whose hash begins like that of the right one is as wrong as any other', async () => {
  const { client, id, code } = await waiting(api)
  const hashOf = (tried: string) =>
    vault.hashCode(tried, `${client.company.id}:${fromPublic('wd', id)}`)
  assert.deepEqual((await rowOf(api, id)).otp_hash, hashOf(code))
  const [first] = hashOf(code)
  const codes = Array.from({ length: 100_000 }, (_, i) => String(i).padStart(6, '0'))
  const alike = codes.find((tried) => tried !== code && hashOf(tried)[0] === first)!
  for (let tries = 0; tries < 5; tries++) {
    assert.equal((await rowOf(api, id)).status, 'PENDING_OTP')
    assert.deepEqual(answer(await confirm(client, id, alike)), [400, 'otp_invalid'])
  }
  assert.equal((await rowOf(api, id)).status, 'CANCELED', 'its tries are spent')
})

test('a key that one method has used is taken for the other methods of the same place', async () => {
  const client = await api.client()
  const { body } = await client.post('/product', { name: 'Pão', description: '', price: 700 })
  const path = `/product/${body.data.id}`
  const headers = { 'Idempotency-Key': newId() }
  assert.equal((await client.call('DELETE', path, { headers })).status, 200)
  assert.equal((await client.call('DELETE', path, { headers })).status, 200, 'the same again')
  const other = await client.call('PUT', path, { headers })
  assert.deepEqual(answer(other), [422, 'idempotency_key_reused'])
})

test('an intent whose charge is being removed at the bank cannot be leased', async () => {
  const { company } = await api.client()
  const now = api.clock.now()
  const later = (s: number) => new Date(now.getTime() + s * 1000)
  const intent = { companyId: company.id, id: newId(), createdAt: now, expiresAt: later(600) }
  await intents.insert(db, [{ ...intent, guard: null, leasedUntil: later(60) }])
  assert.equal(await intents.lease(db, intent, later(90)), true)
  assert.deepEqual(await intents.claimOrphans(db, later(89), later(200), 10, []), [])
  assert.equal((await intents.claimOrphans(db, later(90), later(200), 10, [])).length, 1)
  assert.equal(await intents.lease(db, intent, later(300)), false)
  await intents.remove(db, [intent])
  assert.equal(await intents.lease(db, intent, later(300)), false)
})

const ADDRESS = {
  postalCode: '01310100',
  address: 'Avenida Paulista',
  number: '1000',
  district: 'Bela Vista',
  city: 'São Paulo',
  state: 'SP',
}

test('a charge keeps the first shipping address that it gets', async () => {
  const client = await api.client()
  const link = { customer: payer(), total: 5000, needShipping: true }
  const { body } = await client.post('/charge/payment-link', link)
  const key = { companyId: client.company.id, id: fromPublic('charge', body.data.id)! }
  const read = async () => (await findMany(db, [key]))[0]!
  const charge = await read()
  await keepShipping(api.app, charge, ADDRESS)
  await keepShipping(api.app, charge, { ...ADDRESS, number: '2000' })
  assert.deepEqual(openShipping(vault, key, (await read()).shipping!), ADDRESS)
})

test('a link that expires while its bank is asked gets no code', async () => {
  const client = await api.client()
  const link = { customer: payer(), total: 5000, expiresIn: 600 }
  const { body } = await client.post('/charge/payment-link', link)
  const key = { companyId: client.company.id, id: fromPublic('charge', body.data.id)! }
  const [charge] = await findMany(db, [key])
  const provider = api.app.providers.of(client.company, charge!.devMode)
  const slow: Provider = {
    ...provider,
    issueCharge: async (...asked) => {
      api.clock.advance(600)
      return provider.issueCharge(...asked)
    },
  }
  const app = { ...api.app, providers: { ...api.app.providers, of: () => slow } }
  await assert.rejects(openLink(app, client.company, charge!, null), { code: 'charge_not_payable' })
  const [row] = await findMany(db, [key])
  assert.equal(row!.brCode, null)
})

test('a key that is claimed is not claimed again before a day is over', async () => {
  const { company } = await api.client()
  const [now, fingerprint] = [api.clock.now(), Buffer.alloc(32)]
  assert.equal(await claim(db, company.id, 'order', fingerprint, now), true)
  const later = (s: number) => new Date(now.getTime() + s * 1000)
  assert.equal(await claim(db, company.id, 'order', fingerprint, later(86_399)), false)
  assert.equal(await claim(db, company.id, 'order', fingerprint, later(86_400)), true)
})

test('the database lets a Pix pay one charge of a company', async () => {
  const client = await api.client()
  const [one, two] = [await makePaid(api, client, 700), await makePaid(api, client, 800)]
  const doubled = api.rows('update charges set end_to_end_id = $1 where id = $2', [
    one.endToEndId,
    fromPublic('charge', two.id),
  ])
  await assert.rejects(doubled, (error) => violatedConstraint(error) === 'charges_payment')
})

test('the database wants a reason for an unmatched payment, and none for another', async () => {
  const client = await api.client()
  const { endToEndId } = await makePaid(api, client, 700)
  for (const change of [`status = 'UNMATCHED'`, `reason = 'LATE'`, `status = 'ACCEPTED'`]) {
    const changed = api.rows(`update payments set ${change} where end_to_end_id = $1`, [endToEndId])
    await assert.rejects(changed, { code: '23514' }, change)
  }
  await api.rows(
    `update payments set status = 'UNMATCHED', reason = 'LATE' where end_to_end_id = $1`,
    [endToEndId],
  )
  const cleared = api.rows(`update payments set reason = null where end_to_end_id = $1`, [
    endToEndId,
  ])
  await assert.rejects(cleared, { code: '23514' })
})

test('a withdrawal goes to the key for payouts, and to the one for payments where there is none', async () => {
  const pixKey = 'vendas@example.com'
  for (const payoutKey of ['cofre@example.com', null]) {
    const { company } = await api.client({ pixKey })
    const { destination } = await db.transaction((tx) =>
      startWithdrawal(tx, api.app, { ...company, payoutKey }, toCents(700)),
    )
    assert.equal(destination, payoutKey ?? pixKey)
  }
})

test('a stored response can be opened with its own key only', async () => {
  const { company } = await api.client()
  const guard = { companyId: company.id, key: 'one', fingerprint: Buffer.alloc(32) }
  const kept = sealAnswer(vault, guard, { status: 201, body: '{}' })
  assert.equal(openAnswer(vault, company.id, kept), '{}')
  assert.throws(() => openAnswer(vault, company.id, { ...kept, key: 'two' }))
})
