import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBatch, isRefused } from '../../../src/core/charges/batch.ts'
import { pixDraft } from '../../../src/core/charges/commands.ts'
import { findCompany } from '../../../src/core/companies/store.ts'
import type { FullApp } from '../../../src/core/full-app.ts'
import { FOLLOW_AFTER_MS } from '../../../src/core/reminders/commands.ts'
import { newId } from '../../../src/lib/ids.ts'
import { invalid } from '../../../src/lib/problems.ts'
import { atHour } from '../../../src/pix/local-time.ts'
import { type Client, eventsOf, payer, type Reply, startApi } from '../../support/api.ts'
import { charged, openBanked, pixBody } from '../../support/bank.ts'
import { assertYields } from '../../support/loop.ts'
import { makeRecipient } from '../../support/splits.ts'
import { until } from '../../support/until.ts'

const api = await startApi()
const BATCH = '/charge/batch'

const charge = (more: object = {}) => ({ amount: 1990, customer: payer(), ...more })
const many = (count: number, more: (n: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, n) => charge(more(n)))
const send = (client: Client, charges: unknown[], key?: string) =>
  client.post(BATCH, { charges }, key ? { headers: { 'Idempotency-Key': key } } : {})
const idsOf = ({ body }: Reply): string[] =>
  body.data.items.flatMap((item: { charge?: { id: string } }) => item.charge?.id ?? [])
const countOf = async ({ company }: Client) =>
  (await api.rows('select id from charges where company_id = $1', [company.id])).length

test('each charge of a batch is accepted or refused by itself, with the errors it has alone', async () => {
  const client = await api.client()
  const wrong = { amount: 499, customer: { name: 'Maria', taxId: '1' } }
  const late = charge({ dueDate: '2026-08-19' })
  const reply = await send(client, [charge({ externalId: 'a' }), wrong, 7, late, charge()])
  assert.equal(reply.status, 200, reply.text)
  const { accepted, refused, items } = reply.body.data
  assert.deepEqual([accepted, refused], [2, 3])
  assert.deepEqual(
    items.map(({ index }: { index: number }) => index),
    [0, 1, 2, 3, 4],
  )
  for (const [i, body] of [wrong, 7, late].entries()) {
    const alone = await client.post('/charge/pix', body)
    assert.deepEqual(items[i + 1], { index: i + 1, errors: alone.body.errors })
  }
  const [first] = items
  const { body: single } = await client.get(`/charge/${first.charge.id}`)
  assert.deepEqual(
    [first.charge.brCode, first.charge.url, first.charge.externalId, first.charge.status],
    [single.data.brCode, single.data.url, 'a', 'PROCESSING'],
  )
  assert.ok(!('brCodeBase64' in first.charge), 'images would make it several times as long')
  assert.equal(await countOf(client), 2)
  const types = (await eventsOf(api, client.company.id)).map(({ type }) => type)
  assert.deepEqual(types.sort(), [
    'charge.pending',
    'charge.pending',
    'charge.processing',
    'charge.processing',
  ])
  const customers = await client.get('/client')
  assert.equal(customers.body.data.length, 1, 'the same payer is one customer')
})

test('each charge of a batch has its own split, or is refused for it as it is alone', async () => {
  const client = await api.client()
  const stranger = await makeRecipient(await api.client())
  const recipientId = await makeRecipient(client)
  const split = [{ recipientId, percent: 3000 }]
  const wrong = charge({ split: [{ recipientId: stranger, amount: 1 }] })
  const reply = await send(client, [charge({ split }), wrong, charge()])
  const [first, second, third] = reply.body.data.items
  const shown = await client.get(`/charge/${first.charge.id}`)
  assert.equal(shown.body.data.split[0].recipientId, recipientId)
  const alone = await client.post('/charge/pix', wrong)
  assert.deepEqual(second, { index: 1, errors: alone.body.errors })
  const plain = await client.get(`/charge/${third.charge.id}`)
  assert.ok(!('split' in plain.body.data))
})

test('the same batch with the same key has the same bytes, and another one is refused', async () => {
  const client = await api.client()
  const charges = [...many(70), { amount: 1 }]
  const first = await send(client, charges, 'lote-1')
  const again = await send(client, charges, 'lote-1')
  assert.equal(again.text, first.text)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  const other = await send(client, many(2), 'lote-1')
  assert.deepEqual([other.status, other.body.errors[0].code], [422, 'idempotency_key_reused'])
  assert.equal(await countOf(client), 70)
  const unkeyed = await send(client, many(2))
  assert.equal(unkeyed.body.data.accepted, 2, 'without a key they are new ones')
  assert.equal(await countOf(client), 72)
})

/** A batch below the edge, where it can be stopped in the middle. */
function below(client: Client, count: number, key: string, pace: () => Promise<void>) {
  const app = api.app as FullApp
  const { company } = client
  const drafts = many(count).map((body) =>
    pixDraft(api.app, company, body, () => Buffer.alloc(0), null),
  )
  const fingerprint = app.vault.fingerprint([key, String(count)])
  const guard = { key, fingerprint }
  return createBatch(app, company, drafts, { guard, pace, matchPaid: async () => {} })
}
const noPace = async () => {}

test('what was stopped in the middle goes on with its key: nothing is doubled and nothing lost', async () => {
  const client = await api.client()
  let left = 100
  const dying = below(client, 150, 'lote-2', async () => {
    if (--left < 0) throw new Error('killed')
  })
  await assert.rejects(dying, /killed/)
  await api.app.charges.create.idle()
  const before = await countOf(client)
  assert.ok(before > 0 && before < 150, String(before))
  const rest = await below(client, 150, 'lote-2', noPace)
  const ids = rest.map((one) => (isRefused(one) ? '' : one.charge.id))
  assert.equal(new Set(ids).size, 150)
  assert.equal(await countOf(client), 150)
  const again = await below(client, 150, 'lote-2', noPace)
  assert.deepEqual(
    again.map((one) => (isRefused(one) ? '' : one.charge.id)),
    ids,
  )
  await assert.rejects(below(client, 149, 'lote-2', noPace), { code: 'idempotency_key_reused' })
  assert.equal(await countOf(client), 150)
})

test('two processes with the same batch and key make each charge once', async () => {
  const client = await api.client()
  for (const key of ['lote-3a', 'lote-3b', 'lote-3c', 'lote-3d', 'lote-3e']) {
    const before = await countOf(client)
    const both = await Promise.all([
      below(client, 150, key, noPace),
      below(client, 150, key, noPace),
    ])
    const [some, others] = both.map((all) => all.map((one) => !isRefused(one) && one.charge.id))
    assert.deepEqual(some, others)
    assert.equal((await countOf(client)) - before, 150)
  }
})

test('a key older than a day begins again', async () => {
  const client = await api.client()
  const first = idsOf(await send(client, many(3), 'lote-4'))
  api.clock.advance(25 * 3600)
  const later = idsOf(await send(client, many(3), 'lote-4'))
  assert.equal(new Set([...first, ...later]).size, 6)
})

test('an externalId is recognized in a batch as it is alone', async () => {
  const client = await api.client()
  const own = charge({ externalId: 'pedido-1' })
  const alone = await client.post('/charge/pix', own)
  const { body } = await send(client, [own, charge({ externalId: 'pedido-2' }), own, charge()])
  const [first, second, third, fourth] = body.data.items
  assert.equal(first.charge.id, alone.body.data.id)
  assert.deepEqual([first.replayed, second.replayed, third.replayed], [true, undefined, true])
  assert.equal(third.charge.id, first.charge.id)
  assert.notEqual(fourth.charge.id, first.charge.id)
  assert.equal(await countOf(client), 3)
})

test('two charges of a batch with the same externalId and body are one', async () => {
  const client = await api.client()
  const { body } = await send(client, [...many(5, () => ({ externalId: 'x' })), charge()], 'lote-5')
  const ids = new Set(body.data.items.map((item: { charge: { id: string } }) => item.charge.id))
  assert.deepEqual([body.data.accepted, ids.size, await countOf(client)], [6, 2, 2])
})

test('a batch is refused as a whole only if it is none: each rule says so', async () => {
  const client = await api.client()
  const refusal = async (body: unknown) => {
    const { status, body: answer } = await client.post(BATCH, body)
    return [status, answer.errors[0].code, answer.errors[0].description]
  }
  const rule = (text: string) => [400, 'invalid_value', text]
  assert.deepEqual(await refusal({}), rule('charges: is required'))
  assert.deepEqual(await refusal({ charges: [] }), rule('charges: must have at least 1 item(s)'))
  assert.deepEqual(
    await refusal({ charges: many(1001) }),
    rule('charges: must have at most 1000 items'),
  )
  assert.deepEqual(
    await refusal({ charges: many(1000, () => ({ x: Array(20).fill(0) })) }),
    rule('body: must not have more than 20000 values'),
  )
  const long = await client.post(BATCH, { charges: ['x'.repeat(1_024_000)] })
  assert.deepEqual([long.status, long.body.errors[0].code], [413, 'payload_too_large'])
  assert.match(long.body.errors[0].description, /1000 KiB/)
  const small = await client.post('/charge/pix', { x: 'x'.repeat(70_000) })
  assert.deepEqual(
    [small.status, small.body.errors[0].description],
    [413, 'The body is larger than 64 KiB.'],
  )
  assert.equal(await countOf(client), 0)
})

test('unknown fields of charges are named, as they are alone', async () => {
  const client = await api.client()
  const { headers, status } = await send(client, [charge(), charge({ colour: 'red' })])
  assert.deepEqual([status, headers.get('x-ignored-fields')], [200, 'charges[1].colour'])
})

test('1,000 charges are made without keeping the event loop', async () => {
  const client = await api.client()
  const charges = many(1000, (n) => ({ description: `Pedido ${n}`, externalId: `${newId()}` }))
  const reply = await send(client, charges)
  assert.deepEqual([reply.body.data.accepted, new Set(idsOf(reply)).size], [1000, 1000])
  const next = () => many(1000).map((one) => ({ ...one, externalId: newId() }))
  await assertYields('a batch', () => send(client, next(), newId()))
})

test('a batch that takes long makes charges by the rules of reminders that have changed meanwhile', async () => {
  const client = await api.client()
  const company = (await findCompany(api.app.db, client.company.id))!
  const body = { ...charge({ dueDate: '2026-08-28' }), amount: 1990 }
  const drafts = [1, 2].map(() => pixDraft(api.app, company, body, () => Buffer.alloc(32), null))
  let waited_ms = 0
  const systemClock = { now: () => new Date(api.clock.now().getTime() + waited_ms) }
  const pace = async () => {
    const rules = [{ day: -3, enabled: true, channel: 'EMAIL' }]
    assert.equal((await client.put('/reminder', { rules })).status, 200)
    waited_ms += FOLLOW_AFTER_MS
  }
  const outcomes = await createBatch({ ...api.app, systemClock }, company, drafts, {
    guard: null,
    pace,
    matchPaid: async () => {},
  })
  const moments = outcomes.map((one) => (isRefused(one) ? null : one.charge.noticeAt))
  assert.deepEqual(moments.at(-1), atHour('2026-08-25', 9))
})

test('a bank that stops answering is not asked about all, and the same batch goes on', async () => {
  const shop = await openBanked(api)
  const charges = Array.from({ length: 90 }, () => pixBody())
  // Each order is sent, and asked for, in vain.
  shop.bank.faults.next('PUT /cob/{txid}', '5xx', 500)
  const failed = await send(shop, charges, 'lote-6')
  assert.equal(failed.status, 200, failed.text)
  assert.equal(failed.body.data.accepted, 0)
  const codes = new Set(
    failed.body.data.items.map((item: { errors: { code: string }[] }) => item.errors[0]!.code),
  )
  assert.deepEqual([...codes], ['provider_unavailable'])
  shop.bank.faults.clear()
  const again = await send(shop, charges, 'lote-6')
  assert.equal(again.headers.get('idempotent-replayed'), null, 'the answer was not kept')
  assert.equal(again.body.data.accepted, 90, again.text)
  assert.equal(shop.bank.state().charges.size, 90, 'one at the bank for each')
  assert.equal((await send(shop, charges, 'lote-6')).text, again.text)
  assert.deepEqual(
    [...shop.bank.state().charges.keys()].sort(),
    idsOf(again)
      .map((id) => id.slice('charge_'.length))
      .sort(),
  )
})

test('a bank that loses one answer has it asked for: one charge here and there', async () => {
  const shop = await openBanked(api)
  await charged(shop)
  shop.bank.faults.next('PUT /cob/{txid}', 'lose answer')
  const { body } = await send(
    shop,
    Array.from({ length: 5 }, () => pixBody()),
  )
  assert.equal(body.data.accepted, 5)
  assert.equal(shop.bank.state().charges.size, 6)
})

test('charges in devMode are made also if no bank is connected, and the others say so', async () => {
  const client = await api.client({ mode: 'live', pixKey: 'lote@example.com' })
  const charges = many(200, (n) => ({ devMode: n % 100 !== 0 }))
  const { body } = await send(client, charges, 'lote-7')
  assert.deepEqual([body.data.accepted, body.data.refused, await countOf(client)], [198, 2, 198])
  assert.equal(body.data.items[100].errors[0].code, 'provider_unavailable')
})

test('what was made before is not called refused when the bank is gone', async () => {
  const shop = await openBanked(api)
  const app = api.app as FullApp
  const { company } = shop
  const bodies = Array.from({ length: 150 }, () => pixBody())
  const made = bodies.map((body) => pixDraft(api.app, company, body, () => Buffer.alloc(0), null))
  const guard = { key: 'lote-8', fingerprint: Buffer.alloc(32) }
  const call = { guard, pace: noPace, matchPaid: async () => {} }
  const refused = [invalid('not this one'), ...made.slice(1)]
  await createBatch(app, await shop.fresh(), refused, call)
  const withoutBank = { ...(await shop.fresh()), bankId: null }
  const again = await createBatch(app, withoutBank, made, call)
  assert.deepEqual(
    again.map((one) => isRefused(one) && one.refusal.code),
    made.map((_, i) => i === 0 && 'provider_unavailable'),
  )
})

test('text that cannot be stored refuses its own charge only', async () => {
  const client = await api.client()
  const wrong = [charge({ description: 'a\0b' }), charge({ externalId: '\ud800' })]
  const { status, body } = await send(client, [charge(), ...wrong])
  assert.deepEqual([status, body.data.accepted, body.data.refused], [200, 1, 2])
  for (const [i, one] of wrong.entries()) {
    const alone = await client.post('/charge/pix', one)
    assert.deepEqual(body.data.items[i + 1].errors, alone.body.errors)
  }
  const above = await client.post(BATCH, { charges: wrong, more: 'a\0b' })
  assert.deepEqual(
    [
      above.status,
      above.body.errors.map(({ description }: { description: string }) => description),
    ],
    [400, ['more: must not contain a NUL character']],
  )
})

test('batches of one company are taken one at a time, and do not keep those of another waiting', async () => {
  const shop = await openBanked(api)
  const other = await api.client()
  shop.bank.faults.next('PUT /cob/{txid}', 'slow')
  const first = send(shop, [pixBody()])
  await until('the bank has the order', async () => shop.bank.faults.made.length > 0)
  const others = Array.from({ length: 9 }, () => send(shop, [pixBody()]))
  // Eight wait, so only the one that is refused is answered.
  const refused = await Promise.race(others)
  assert.deepEqual([refused.status, refused.body.errors[0].code], [429, 'rate_limited'])
  assert.equal((await send(other, [charge()])).body.data.accepted, 1)
  assert.equal((await shop.get('/charge')).status, 200, 'other requests go on')
  shop.bank.faults.release()
  const replies = await Promise.all([first, ...others])
  const made = replies.filter(({ body }) => body.data?.accepted === 1)
  assert.equal(made.length, 9)
})
