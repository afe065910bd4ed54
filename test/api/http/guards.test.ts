import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepShipping, openLink } from '../../../src/core/charges/checkout.ts'
import * as intents from '../../../src/core/charges/intent-store.ts'
import { openShipping } from '../../../src/core/charges/shipping.ts'
import { findMany } from '../../../src/core/charges/store.ts'
import { lockOrCreate, update as updateClock } from '../../../src/core/clocks/store.ts'
import { revokeKey, revokeKeys, touchKeys } from '../../../src/core/companies/store.ts'
import { followFeeds } from '../../../src/core/feed/store.ts'
import { claim, openAnswer, sealAnswer } from '../../../src/core/idempotency.ts'
import { insertPasskey, noteUse } from '../../../src/core/people/second-factors-store.ts'
import { touchSession } from '../../../src/core/people/store.ts'
import { startWithdrawal } from '../../../src/core/withdrawals/commands.ts'
import { violatedConstraint } from '../../../src/db/database.ts'
import { fromPublic, newId, type Uuid } from '../../../src/lib/ids.ts'
import { toCents } from '../../../src/lib/money.ts'
import type { Provider } from '../../../src/provider/port.ts'
import { carryOutRefunds, payOutWithdrawals } from '../../../src/worker/due.ts'
import { payer, startApi } from '../../support/api.ts'
import { signIn } from '../../support/dashboard.ts'
import { ON_PLAIN } from '../../support/on-plain.ts'
import { makeCharge, makePaid, makeUnmatched } from '../../support/payments.ts'
import { dueAt } from '../../support/requests.ts'
import { answer, confirm, confirmed, rowOf, start, waiting } from '../../support/withdrawals.ts'

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
  const intent = {
    companyId: company.id,
    id: newId(),
    createdAt: now,
    expiresAt: later(600),
    hasDueDate: false,
  }
  await intents.insert(db, [{ ...intent, guard: null, leasedUntil: later(60) }])
  assert.equal(await intents.lease(db, intent, later(90)), true)
  assert.deepEqual(await intents.claimOrphans(db, dueAt(later(89), 10)), [])
  assert.equal((await intents.claimOrphans(db, dueAt(later(90), 10))).length, 1)
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
  const kept = sealAnswer(vault, guard, { status: 201, body: '{}', warnings: null })
  assert.equal(openAnswer(vault, company.id, kept), '{}')
  assert.throws(() => openAnswer(vault, company.id, { ...kept, key: 'two' }))
})

/** Citus adds a number to the names of constraints, and passes on only the message. */
const violating = (constraint: string) => ({
  message: new RegExp(`constraint "${constraint}(_\\d+)?"`),
})

/** A company with one record of each kind that has money, each in a state of its own. */
async function withEveryRecord() {
  const client = await api.client()
  const paid = await makePaid(api, client, 700)
  await makeUnmatched(api, client, 300)
  const open = await makeCharge(client, 900)
  for (const value of [100, 200]) {
    await client.post(`/refund/${paid.id}`, { value })
    if (value === 100) await carryOutRefunds.run(api.app)
  }
  await confirmed(api, client, 400)
  await payOutWithdrawals.run(api.app)
  await start(client, 500)
  return { client, paid: fromPublic('charge', paid.id), open: fromPublic('charge', open.id) }
}

/** What the database refuses by itself: the constraint, whose record, and the change. */
const REFUSED: Record<string, [constraint: string, where: string, change: string][]> = {
  charges: [
    ['charges_amount_check', 'id = $open', 'amount = 0'],
    ['charges_amount_check', 'id = $open', 'amount = 1000000000000'],
    ['charges_check', 'id = $open', 'expires_at = created_at'],
    ['charges_check1', 'id = $paid', 'payment_date = null'],
    ['charges_check2', 'id = $paid', 'end_to_end_id = null'],
    ['charges_check3', 'id = $paid', `payment_status = 'PROCESSING'`],
    ['charges_check4', 'id = $open', `payment_status = 'EXPIRED'`],
    ['charges_code', 'id = $open', 'br_code = null'],
    ['charges_recurring', 'id = $open', `kind = 'RECURRING'`],
    ['charges_received', 'id = $paid', 'refunded = amount + 1'],
    ['charges_received', 'id = $paid', 'refunded = -1'],
    ['charges_received', 'id = $paid', 'adjustment = -amount'],
    ['charges_received', 'id = $paid', 'adjustment = 5, refunded = amount + 6'],
    ['charges_received', 'id = $open', 'adjustment = 1'],
    ['charges_settles', 'id = $paid', 'settles_at = null'],
    ['charges_status_check', 'id = $open', `status = 'PAID'`],
  ],
  payments: [
    ['payments_amount_check', `status = 'UNMATCHED'`, 'amount = 0'],
    ['payments_payer', `status = 'MATCHED'`, `payer_sealed = 'x'`],
    ['payments_returned', `status = 'UNMATCHED'`, 'returned = amount + 1'],
    ['payments_returned', `status = 'UNMATCHED'`, 'returned = -1'],
    ['payments_source', `status = 'UNMATCHED'`, `source = 'bank', booked = false`],
    ['payments_source', `status = 'UNMATCHED'`, `source = 'other'`],
  ],
  refunds: [
    ['refunds_amount_check', `status = 'PROCESSING'`, 'amount = 0'],
    ['refunds_check', `status = 'COMPLETED'`, 'finished_at = null'],
    ['refunds_check1', `status = 'COMPLETED'`, 'return_id = null'],
    ['refunds_check2', `status = 'COMPLETED'`, `failure = 'no'`],
    ['refunds_of_banks_are_done', `status = 'PROCESSING'`, `bank_reason = 'FRAUD'`],
    ['refunds_payment_source', `status = 'PROCESSING'`, `payment_source = 'bank', booked = false`],
    ['refunds_source_check', `status = 'PROCESSING'`, `source = 'held'`],
  ],
  withdrawals: [
    ['withdrawals_value_check', `status = 'PENDING_OTP'`, 'value = 0'],
    ['withdrawals_check', `status = 'PENDING_OTP'`, 'otp_hash = null'],
    ['withdrawals_check1', `status = 'PENDING_OTP'`, 'finished_at = created_at'],
    ['withdrawals_check2', `status = 'COMPLETED'`, 'end_to_end_id = null'],
    ['withdrawals_check4', `status = 'COMPLETED'`, 'confirmed_at = null'],
    ['withdrawals_otp_attempts_check', `status = 'PENDING_OTP'`, 'otp_attempts = 6'],
    ['withdrawals_taken_up', `status = 'COMPLETED'`, 'next_attempt_at = created_at'],
    ['withdrawals_approved', `status = 'COMPLETED'`, 'needs_approval = true'],
    ['withdrawals_approval', `status = 'PENDING_OTP'`, 'approved_by = id'],
    [
      'withdrawals_approval',
      `status = 'PENDING_OTP'`,
      'approved_by = id, approved_at = created_at, requested_by = company_id',
    ],
    [
      'withdrawals_approved_by_another',
      `status = 'PENDING_OTP'`,
      'needs_approval = true, approved_by = id, approved_at = created_at, requested_by = id',
    ],
    [
      'withdrawals_one_pending',
      `status = 'COMPLETED'`,
      `status = 'PENDING_OTP', otp_hash = 'x', finished_at = null, end_to_end_id = null`,
    ],
  ],
  balances: [
    ['balances_entries_check', 'true', 'entries = -1'],
    ['balances_held_check', 'true', 'held = -1'],
    ['balances_pending_check', 'true', 'pending = -1'],
    ['balances_unmatched_check', 'true', 'unmatched = -1'],
  ],
}

test('the database refuses by itself what no record of money may be', async () => {
  const { client, paid, open } = await withEveryRecord()
  for (const [table, refused] of Object.entries(REFUSED)) {
    for (const [constraint, where, change] of refused) {
      const record = where.replace('$paid', `'${paid}'`).replace('$open', `'${open}'`)
      const text = `update ${table} set ${change} where company_id = $1 and ${record}`
      await assert.rejects(
        api.rows(text, [client.company.id]),
        violating(constraint),
        `${constraint}: ${change}`,
      )
    }
  }
})

test(
  'the database refuses by itself a posting that moves nothing, or money that is not there',
  ON_PLAIN,
  async () => {
    const { client } = await withEveryRecord()
    const post = (fields: object) =>
      api.rows(
        `insert into postings select (jsonb_populate_record(p, $2)).* from postings p
       where company_id = $1 order by entry desc limit 1`,
        [
          client.company.id,
          JSON.stringify({ entry: 1000, kind: 'OPENING', ref: 'new', ...fields }),
        ],
      )
    for (const [constraint, fields] of [
      ['postings_amount_check', { amount: 0 }],
      ['postings_amount_check', { amount: -1 }],
      ['postings_check', { debit: 'held', credit: 'held' }],
      ['postings_debit_check', { debit: 'other' }],
      ['postings_credit_check', { credit: 'other' }],
      ['postings_entry_check', { entry: 0 }],
      ['postings_available_check', { debit: 'available', credit: 'held', available: -1 }],
      ['postings_held_check', { held: -1 }],
      ['postings_pending_check', { pending: -1 }],
      ['postings_unmatched_check', { unmatched: -1 }],
    ] as const) {
      await assert.rejects(
        post(fields),
        violating(constraint),
        `${constraint}: ${JSON.stringify(fields)}`,
      )
    }
  },
)

test(
  'the simulated bank carries out an order once, and gives no ids of other banks',
  ON_PLAIN,
  async () => {
    const { client } = await withEveryRecord()
    const copy = (fields: object) =>
      api.rows(
        `insert into simulated_transfers select (jsonb_populate_record(t, $2)).*
       from simulated_transfers t where account_id = $1 and direction = 'sent'`,
        [client.company.id, JSON.stringify(fields)],
      )
    const id = `E99999999${'a'.repeat(23)}`
    for (const [constraint, fields] of [
      ['transfers_order', { end_to_end_id: id }],
      ['transfers_own_ids', { end_to_end_id: id.replace('9', '1'), order_id: 'new' }],
      ['transfers_amount_check', { end_to_end_id: id, order_id: 'new', amount: 0 }],
    ] as const) {
      await assert.rejects(copy(fields), violating(constraint))
    }
    await copy({ end_to_end_id: id, order_id: 'new' })
  },
)

test('a key is revoked once, and was last used when it was used last', async () => {
  const { company } = await api.client()
  const [{ id } = assert.fail()] = await api.rows<{ id: Uuid }>(
    'select id from api_keys where company_id = $1',
    [company.id],
  )
  const now = api.clock.now()
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000)
  // Two processes write when it was used, in any order.
  for (const seconds of [10, 20, 15]) {
    await touchKeys(db, new Map([[id, { companyId: company.id, at: at(seconds) }]]))
  }
  for (const seconds of [30, 40]) assert.ok(await revokeKey(db, company.id, id, at(seconds)))
  await revokeKeys(db, company.id, at(50))
  const row = await api.rows('select last_used_at, revoked_at from api_keys where id = $1', [id])
  assert.deepEqual(row, [{ last_used_at: at(20), revoked_at: at(30) }])
})

test('what is noted of clocks, sessions, passkeys and followed feeds only goes forward', async () => {
  const client = await api.client()
  const { id: companyId } = client.company
  const clock = await db.transaction((tx) => lockOrCreate(tx, companyId))
  const ahead = { ...clock, ahead_ms: 5000 }
  assert.equal(await updateClock(db, companyId, clock, ahead), true)
  assert.equal(await updateClock(db, companyId, ahead, { ...clock, ahead_ms: 4000 }), true)
  const { person, session } = await signIn(api, client.company)
  const now = api.clock.now()
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000)
  const passkey = {
    id: 'key',
    personId: person.id,
    name: 'phone',
    publicKey: Buffer.alloc(32),
    counter: 7,
    transports: [],
    createdAt: now,
    lastUsedAt: null,
  }
  await insertPasskey(db.control, passkey)
  for (const [seconds, counter] of [
    [20, 9],
    [10, 8],
  ] as const) {
    await touchSession(db.control, session.id, at(seconds))
    await noteUse(db.control, 'key', counter, at(20))
    await followFeeds(db, [companyId], seconds * 1000)
  }
  const [row] = await api.rows<{ ahead_ms: number; left: number }>(
    `select ahead_ms, extract(epoch from until - now())::int8 as left
     from test_clocks join followed_feeds using (company_id) where company_id = $1`,
    [companyId],
  )
  assert.equal(row!.ahead_ms, 5000)
  assert.ok(row!.left > 10_000, String(row!.left))
  const [seen] = await api.peopleRows(
    'select last_seen_at, counter from sessions join passkeys using (person_id) where person_id = $1',
    [person.id],
  )
  assert.deepEqual(seen, { last_seen_at: at(20), counter: 9 })
})
