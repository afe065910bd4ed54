import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp } from '../../../src/app.ts'
import { connectBank, disconnectBank } from '../../../src/core/banks/commands.ts'
import { createCharge, pixDraft } from '../../../src/core/charges/commands.ts'
import { withBankCode } from '../../../src/core/charges/intents.ts'
import { LEASE_S } from '../../../src/core/due.ts'
import type { FullApp } from '../../../src/core/full-app.ts'
import { newId, suffixOf } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log.ts'
import { toCents } from '../../../src/lib/money.ts'
import { parse } from '../../../src/pix/brcode.ts'
import { expireChargesAtBanks, removeOrphans } from '../../../src/worker/due.ts'
import { eventsOf, startApi } from '../../support/api.ts'
import { charged, openBanked, pixBody, read } from '../../support/bank.ts'
import { until } from '../../support/until.ts'

const api = await startApi()

const txidOf = (id: string) => id.slice('charge_'.length)
const typesOf = async (companyId: string) =>
  (await eventsOf(api, companyId)).map(({ type }) => type)
const countOf = async (table: string, companyId: string) => {
  await api.app.charges.removeIntent.idle()
  return (await api.rows(`select 1 from ${table} where company_id = $1`, [companyId])).length
}

test('a charge has the code that the bank issued under our txid', async () => {
  const shop = await openBanked(api)
  const { id, brCode } = await charged(shop)
  const issued = shop.bank.state().charges.get(txidOf(id))!
  assert.equal(brCode, issued.code)
  assert.deepEqual([issued.amount, issued.key, issued.expires_s], [1990, shop.company.pixKey, 600])
  assert.equal(await countOf('charge_intents', shop.company.id), 0)
})

test('a bank without the text gives the place it points to, and the code is made of it', async () => {
  const shop = await openBanked(api, { style: { code: null } })
  const { id, brCode } = await charged(shop)
  const code = parse(brCode)
  assert.equal(
    code.kind === 'dynamic' && code.location,
    shop.bank.state().charges.get(txidOf(id))!.location,
  )
})

for (const fault of ['lose answer', '5xx after effect', 'drop'] as const) {
  test(`an answer that does not arrive (${fault}) is asked for: one charge here and there`, async () => {
    const shop = await openBanked(api)
    shop.bank.faults.next('PUT /cob/{txid}', fault)
    const { id, brCode } = await charged(shop)
    const { charges } = shop.bank.state()
    assert.deepEqual([charges.size, charges.get(txidOf(id))!.code], [1, brCode])
  })
}

for (const fault of ['5xx', 'html', 'html 200'] as const) {
  test(`a bank that has not got the order (${fault}) is 503, and can be asked again`, async () => {
    const shop = await openBanked(api)
    const headers = { 'Idempotency-Key': 'pedido-6' }
    shop.bank.faults.next('PUT /cob/{txid}', fault, 2)
    const failed = await shop.post('/charge/pix', pixBody(), { headers })
    assert.deepEqual([failed.status, failed.body.errors[0].code], [503, 'provider_unavailable'])
    assert.equal((await shop.post('/charge/pix', pixBody(), { headers })).status, 201)
    assert.equal(shop.bank.state().charges.size, 1)
  })
}

test('a bank that stays silent is 503, and the same request goes on with the same txid', async () => {
  const shop = await openBanked(api)
  const headers = { 'Idempotency-Key': 'pedido-7' }
  shop.bank.faults.next('PUT /cob/{txid}', 'lose answer')
  shop.bank.faults.next('GET /cob/{txid}', '5xx')
  const failed = await shop.post('/charge/pix', pixBody(), { headers })
  assert.deepEqual([failed.status, failed.body.errors[0].code], [503, 'provider_unavailable'])
  assert.equal(await countOf('charges', shop.company.id), 0)
  const again = await shop.post('/charge/pix', pixBody(), { headers })
  assert.equal(again.status, 201, again.text)
  const { charges } = shop.bank.state()
  assert.deepEqual([...charges.keys()], [txidOf(again.body.data.id)])
  const kept = await shop.post('/charge/pix', pixBody(), { headers })
  assert.deepEqual(kept.body, again.body)
  assert.equal(kept.headers.get('idempotent-replayed'), 'true')
  assert.equal(await countOf('charge_intents', shop.company.id), 0)
})

test('another request with a key that waits for the bank is refused', async () => {
  const shop = await openBanked(api)
  const headers = { 'Idempotency-Key': 'pedido-8' }
  shop.bank.faults.next('PUT /cob/{txid}', '5xx')
  shop.bank.faults.next('GET /cob/{txid}', '5xx')
  assert.equal((await shop.post('/charge/pix', pixBody(), { headers })).status, 503)
  const other = await shop.post('/charge/pix', pixBody({ amount: 2000 }), { headers })
  assert.deepEqual([other.status, other.body.errors[0].code], [422, 'idempotency_key_reused'])
})

test('a charge that nobody came back for is removed at the bank, and its key is free', async () => {
  const shop = await openBanked(api)
  const headers = { 'Idempotency-Key': 'pedido-9' }
  shop.bank.faults.next('PUT /cob/{txid}', 'lose answer')
  shop.bank.faults.next('GET /cob/{txid}', '5xx')
  assert.equal((await shop.post('/charge/pix', pixBody(), { headers })).status, 503)
  const orphan = () => [...shop.bank.state().charges.values()][0]!
  await removeOrphans.run(api.app)
  assert.equal(orphan().status, 'ATIVA', 'the client may still come')
  api.clock.advance(61)
  shop.bank.faults.next('PATCH /cob/{txid}', 'lose answer')
  await removeOrphans.run(api.app)
  assert.equal(orphan().status, 'REMOVIDA_PELO_USUARIO_RECEBEDOR')
  assert.equal(await countOf('charge_intents', shop.company.id), 0)
  const again = await shop.post('/charge/pix', pixBody(), { headers })
  assert.equal(again.status, 201)
  assert.notEqual(txidOf(again.body.data.id), orphan().txid)
})

test('a charge that is being taken back is not given to who comes again meanwhile', async () => {
  const shop = await openBanked(api)
  const headers = { 'Idempotency-Key': 'pedido-11' }
  shop.bank.faults.next('PUT /cob/{txid}', 'lose answer')
  shop.bank.faults.next('GET /cob/{txid}', '5xx')
  assert.equal((await shop.post('/charge/pix', pixBody(), { headers })).status, 503)
  api.clock.advance(61)
  const { made } = shop.bank.faults
  const before = made.length
  shop.bank.faults.next('PATCH /cob/{txid}', 'slow')
  const taking = removeOrphans.run(api.app)
  await until('the bank has the request', async () => made.length > before)
  // The task waits for longer than its lease.
  api.clock.advance(61)
  const again = await shop.post('/charge/pix', pixBody(), { headers })
  assert.equal(again.status, 201, again.text)
  shop.bank.faults.release()
  await taking
  const issued = shop.bank.state().charges.get(txidOf(again.body.data.id))!
  assert.equal(issued.status, 'ATIVA')
  const states = [...shop.bank.state().charges.values()].map(({ status }) => status)
  assert.deepEqual(states.sort(), ['ATIVA', 'REMOVIDA_PELO_USUARIO_RECEBEDOR'])
  assert.equal(await countOf('charge_intents', shop.company.id), 0)
})

test('an orphan stays while the bank is down, and what is written down is never removed', async () => {
  const shop = await openBanked(api)
  shop.bank.faults.next('PUT /cob/{txid}', 'lose answer')
  shop.bank.faults.next('GET /cob/{txid}', '5xx')
  assert.equal((await shop.post('/charge/pix', pixBody())).status, 503)
  api.clock.advance(61)
  shop.bank.faults.next('*', '5xx', 2)
  await removeOrphans.run(api.app)
  assert.equal(await countOf('charge_intents', shop.company.id), 1)
  const { id } = await charged(shop)
  await api.app.charges.removeIntent.idle()
  await api.rows(
    `insert into charge_intents (company_id, id, created_at, expires_at, leased_until,
       next_attempt_at) select company_id, id, created_at, expires_at, created_at, created_at
     from charges where company_id = $1`,
    [shop.company.id],
  )
  api.clock.advance(10)
  await removeOrphans.run(api.app)
  assert.equal(await countOf('charge_intents', shop.company.id), 0)
  assert.equal(shop.bank.state().charges.get(txidOf(id))!.status, 'ATIVA')
})

test('a charge that may exist at a disconnected bank is dropped when it has expired', async () => {
  const shop = await openBanked(api)
  shop.bank.faults.next('PUT /cob/{txid}', 'lose answer')
  shop.bank.faults.next('GET /cob/{txid}', '5xx')
  assert.equal((await shop.post('/charge/pix', pixBody())).status, 503)
  await api.app.db.transaction((tx) => disconnectBank(tx, shop.company.id))
  api.clock.advance(61)
  await removeOrphans.run(api.app)
  assert.equal(await countOf('charge_intents', shop.company.id), 1)
  api.clock.advance(600)
  await removeOrphans.run(api.app)
  assert.equal(await countOf('charge_intents', shop.company.id), 0)
})

test('a refusal of the bank is answered in its words, and nothing is stored', async () => {
  const shop = await openBanked(api)
  shop.bank.state().foreignKeys.add(shop.company.pixKey)
  const headers = { 'Idempotency-Key': 'pedido-12' }
  const reply = await shop.post('/charge/pix', pixBody(), { headers })
  const [error] = reply.body.errors
  assert.deepEqual([reply.status, error.code], [422, 'provider_rejected'])
  assert.match(error.description, /^The bank refuses the order: .*chave/)
  assert.equal(await countOf('charge_intents', shop.company.id), 0)
  assert.equal(await countOf('charges', shop.company.id), 0)
  // Once the operator has corrected it, the same request works.
  shop.bank.state().foreignKeys.clear()
  assert.equal((await shop.post('/charge/pix', pixBody(), { headers })).status, 201)
})

test('a bank that says when to come again is passed on', async () => {
  const shop = await openBanked(api)
  shop.bank.faults.next('PUT /cob/{txid}', 'busy for long')
  const reply = await shop.post('/charge/pix', pixBody())
  assert.deepEqual([reply.status, reply.body.errors[0].code], [503, 'provider_unavailable'])
  assert.equal(reply.headers.get('retry-after'), '3600')
})

test('intents that arrive together are committed together, and each key has one', async () => {
  const { company } = await api.client()
  const createdAt = api.clock.now()
  const newIntent = (key: string | null) => ({
    companyId: company.id,
    id: newId(),
    createdAt,
    expiresAt: createdAt,
    hasDueDate: false,
    leasedUntil: new Date(createdAt.getTime() + 3_600_000),
    guard: key === null ? null : { key, fingerprint: Buffer.alloc(32) },
  })
  const intents = [null, 'a', 'b', 'a', null].map(newIntent)
  const insert = () => Promise.all(intents.map((intent) => api.app.charges.insertIntent(intent)))
  const inserted = await insert()
  assert.equal(inserted.filter(Boolean).length, 4)
  assert.ok(inserted[0] && inserted[1] !== inserted[3])
  const rows = await api.rows<{ id: string; transaction: string }>(
    'select id, xmin::text as transaction from charge_intents where company_id = $1',
    [company.id],
  )
  assert.deepEqual(
    rows.map(({ id }) => id).sort(),
    intents.flatMap(({ id }, i) => (inserted[i] ? [id] : [])).sort(),
  )
  assert.equal(new Set(rows.map(({ transaction }) => transaction)).size, 1)
  // A statement whose connection was lost is sent again.
  assert.deepEqual(await insert(), [false, false, false, false, false])
  await Promise.all(intents.map((intent) => api.app.charges.removeIntent(intent)))
  assert.equal(await countOf('charge_intents', company.id), 0)
})

test('requests that arrive together each get a charge of their own', async () => {
  const shop = await openBanked(api)
  const made = await Promise.all(Array.from({ length: 12 }, () => charged(shop)))
  assert.equal(new Set(made.map(({ id }) => id)).size, 12)
  assert.equal(shop.bank.state().charges.size, 12)
  assert.equal(shop.bank.seen('POST token'), 1)
})

test('canceled here is removed there; what was paid there is not canceled', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const { id } = await charged(shop)
  assert.equal((await shop.post(`/charge/${id}/cancel`)).status, 200)
  assert.equal(shop.bank.state().charges.get(txidOf(id))!.status, 'REMOVIDA_PELO_USUARIO_RECEBEDOR')
  const paid = await charged(shop)
  shop.bank.payer.pay(paid.brCode)
  const refused = await shop.post(`/charge/${paid.id}/cancel`)
  assert.deepEqual([refused.status, refused.body.errors[0].code], [409, 'charge_not_payable'])
})

test('a link gets its code from the bank when it is opened, once', async () => {
  const shop = await openBanked(api)
  const body = { total: 700, customer: pixBody().customer }
  const { data } = (await shop.post('/charge/payment-link', body)).body
  assert.equal(shop.bank.state().charges.size, 0)
  const path = new URL(data.url ?? data.paymentLinkUrl).pathname
  shop.bank.faults.next('PUT /cob/{txid}', 'lose answer')
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const opened = await api.call('POST', path, { raw: '', headers: form })
  assert.ok(opened.status < 400, opened.text)
  const [issued] = [...shop.bank.state().charges.values()]
  assert.equal((await read(shop, data.id)).brCode, issued!.code)
})

test('a charge whose callback was lost is asked about before it is called expired', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const [paid, unpaid] = [await charged(shop), await charged(shop)]
  api.clock.advance(590)
  const { endToEndId } = shop.bank.payer.pay(paid.brCode)
  api.clock.advance(135)
  await expireChargesAtBanks.run(api.app)
  const found = await read(shop, paid.id)
  assert.deepEqual([found.status, found.paymentStatus], ['COMPLETED', 'PAID'])
  assert.equal((await read(shop, unpaid.id)).status, 'EXPIRED')
  const rows = await api.rows('select 1 from payments where end_to_end_id = $1', [endToEndId])
  assert.equal(rows.length, 1)
  const types = await typesOf(shop.company.id)
  assert.deepEqual(types.slice(-2).sort(), ['charge.expired', 'charge.paid'])
})

test('while a bank is down its charges wait for its answer, others do not, and none for ever', async () => {
  const [shop, other] = [await openBanked(api), await openBanked(api)]
  const [paid, unpaid, elsewhere] = [await charged(shop), await charged(shop), await charged(other)]
  shop.bank.faults.nextCallback('lost')
  shop.bank.payer.pay(paid.brCode)
  api.clock.advance(721)
  shop.bank.faults.next('GET /cob', '5xx', 2)
  await expireChargesAtBanks.run(api.app)
  const asked = shop.bank.seen('GET /cob/{txid}')
  await expireChargesAtBanks.run(api.app)
  assert.equal(shop.bank.seen('GET /cob/{txid}'), asked, 'a silent bank is left alone for a while')
  assert.ok(!(await typesOf(shop.company.id)).includes('charge.expired'))
  assert.ok((await typesOf(other.company.id)).includes('charge.expired'), elsewhere.id)
  api.clock.advance(31)
  await expireChargesAtBanks.run(api.app)
  assert.equal((await read(shop, paid.id)).paymentStatus, 'PAID')
  assert.equal((await read(shop, unpaid.id)).status, 'EXPIRED')
  const { id } = await charged(shop)
  api.clock.advance(600 + 30 * 60 + 1)
  shop.bank.faults.next('*', '5xx', 3)
  await expireChargesAtBanks.run(api.app)
  assert.equal((await read(shop, id)).status, 'EXPIRED')
  assert.equal(
    (await typesOf(shop.company.id)).filter((type) => type === 'charge.expired').length,
    2,
  )
})

test('the answer to a live company without a bank says how to connect one', async () => {
  const shop = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const reply = await shop.post('/charge/pix', pixBody())
  assert.deepEqual([reply.status, reply.body.errors[0].code], [503, 'provider_unavailable'])
  assert.match(reply.body.errors[0].description, /vintem bank connect.*devMode=true/)
})

test('the same request in another process is answered that the bank is being asked', async () => {
  const shop = await openBanked(api)
  const company = await shop.fresh()
  const guard = { key: 'pedido-10', fingerprint: Buffer.alloc(32, 1) }
  const create = (app: FullApp) => {
    const draft = pixDraft(app, company, pixBody(), () => Buffer.alloc(32), null)
    const showing = { show: ({ id }: { id: string }) => ({ id }), seal: null, guard }
    return createCharge(app, company, draft, showing, async () => {})
  }
  shop.bank.faults.next('PUT /cob/{txid}', 'slow')
  const first = create(api.app)
  await until('the bank has the request', async () => shop.bank.faults.made.length === 1)
  await assert.rejects(create(openSecond()), { code: 'idempotency_in_progress' })
  shop.bank.faults.release()
  assert.deepEqual([...shop.bank.state().charges.keys()], [suffixOf((await first).shown.id)])
})

/** To the database this is a second process. */
function openSecond(): FullApp {
  const { databaseUrl, clock } = api
  const { config, publicUrl } = api.app
  const app = createApp({ config, databaseUrl, clock, log: createLog('silent'), publicUrl })
  api.atEnd(async () => {
    await app.providers.bacen.close()
    await app.sender.close()
    await app.db.end()
  })
  return app
}

test('an expired certificate opens no connection, and the company is warned before', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const { expired } = shop.bank.credentials
  const certificate = { kind: 'pem', passphrase: null, ...expired } as const
  const { id: _, ...connection } = shop.bank.connection({ certificate })
  const fields = { ...connection, payouts: 'manual', certificateEndsAt: new Date() } as const
  await api.app.db.transaction((tx) =>
    connectBank(tx, api.app.vault, shop.company.id, fields, api.clock.now()),
  )
  const reply = await shop.post('/charge/pix', pixBody())
  assert.deepEqual([reply.status, reply.body.errors[0].code], [503, 'provider_unavailable'])
  assert.match(reply.body.errors[0].description, /certificate/)
})

test('what opens the account at the bank cannot be read in the database', async () => {
  const shop = await openBanked(api)
  await charged(shop)
  const { clientSecret, clientId, key, account } = shop.bank.credentials
  const [row] = await api.rows<{ dump: string }>(
    'select b::text as dump from bank_connections b where company_id = $1',
    [shop.company.id],
  )
  const hex = (text: string) => Buffer.from(text).toString('hex')
  for (const secret of [clientSecret, clientId, key.slice(100, 160), account.number]) {
    assert.ok(!row!.dump.includes(secret) && !row!.dump.includes(hex(secret)))
  }
})

test('a charge that was removed at the bank during a long pause is not written', async (t) => {
  const shop = await openBanked(api)
  const company = await shop.fresh()
  const { bacen } = api.app.providers
  const nobody = { description: null, payer: null, due: null }
  const wanted = { amount: toCents(1990), devMode: false, lifetime_s: 600, ...nobody }
  const written: string[] = []
  const create = () =>
    withBankCode(api.app, company, wanted, null, async ({ id }) => written.push(id))
  await create()
  const issueCharge = bacen.issueCharge
  t.mock.method(bacen, 'issueCharge', async (...order: Parameters<typeof issueCharge>) => {
    const outcome = await issueCharge(...order)
    api.clock.advance(LEASE_S)
    await removeOrphans.run(api.app)
    const paused_ms = performance.now() + LEASE_S * 1000
    t.mock.method(performance, 'now', () => paused_ms)
    return outcome
  })
  await assert.rejects(create(), { code: 'provider_unavailable' })
  assert.equal(written.length, 1)
})
