import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { createPlan, planDraft } from '../../../src/core/charges/plans.ts'
import { LEASE_S } from '../../../src/core/due.ts'
import { atHour } from '../../../src/pix/local-time.ts'
import { removeOrphans } from '../../../src/worker/due.ts'
import { type Client, eventsOf, payer, type Reply, startApi } from '../../support/api.ts'
import { openBanked } from '../../support/bank.ts'
import { CLOCK, startPlaying } from '../../support/clocks.ts'
import { lettersOf } from '../../support/mail.ts'

const api = await startApi()
const { app } = api
startPlaying(api)
const PLAN = '/charge/plan'

// The clock of the tests is on Thursday, 20 August 2026.
const body = (more: object = {}) => ({
  total: 100_000,
  count: 3,
  firstDueDate: '2026-08-31',
  customer: payer(),
  ...more,
})
const make = async (client: Client, more: object = {}) => {
  const reply = await client.post(PLAN, body(more))
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data
}
const read = async (client: Client, id: string) => (await client.get(`${PLAN}/${id}`)).body.data
const keyed = (key: string) => ({ headers: { 'Idempotency-Key': key } })
const faultsOf = ({ body }: Reply) =>
  body.errors.map(({ description }: { description: string }) => description)
const countOf = async (table: string, { company }: Client) =>
  (await api.rows(`select 1 from ${table} where company_id = $1`, [company.id])).length
const states = (plan: { charges: { status: string }[] }) => plan.charges.map(({ status }) => status)
const audit = async (client: Client) => {
  const { faults } = await auditCompany(app, client.company.id, { whole: true })
  assert.deepEqual(faults, [])
}
const moveTo = async (client: Client, day: string) => {
  const reply = await client.post(CLOCK, { now: atHour(day, 12).toISOString() })
  assert.equal(reply.status, 200, reply.text)
}

test('one sale is n charges with due dates, which add up and know their plan', async () => {
  const client = await api.client()
  const plan = await make(client, { externalId: 'venda-1', description: 'Geladeira' })
  assert.match(plan.id, /^plan_/)
  assert.deepEqual(
    [plan.status, plan.total, plan.count, plan.received, plan.toPay],
    ['OPEN', 100_000, 3, 0, 100_000],
  )
  const shown = plan.charges.map((one: Record<string, unknown>) => [
    one.number,
    one.total,
    one.dueDate,
  ])
  assert.deepEqual(shown, [
    [1, 33_334, '2026-08-31'],
    [2, 33_333, '2026-09-30'],
    [3, 33_333, '2026-10-31'],
  ])
  const { body: one } = await client.get(`/charge/${plan.charges[1].id}`)
  assert.deepEqual(one.data.plan, { id: plan.id, number: 2, count: 3 })
  assert.deepEqual(
    [one.data.description, one.data.externalId, one.data.due.dueDate],
    ['Geladeira (2/3)', 'venda-1', '2026-09-30'],
  )
  assert.deepEqual(await read(client, plan.id), plan)
  const { body: found } = await client.get('/charge?externalId=venda-1')
  assert.equal(found.data.length, 3)
  const { body: plain } = await client.post('/charge/pix', { amount: 1000, customer: payer() })
  assert.ok(!('plan' in (await client.get(`/charge/${plain.data.id}`)).body.data))
  const types = (await eventsOf(api, client.company.id)).map(({ type }) => type)
  assert.equal(types.filter((type) => type === 'charge.processing').length, 4)
  assert.equal((await client.get('/client')).body.data.length, 1)
})

test('amounts and days that are given are taken as they are', async () => {
  const client = await api.client()
  const plan = await make(client, {
    count: undefined,
    amounts: [50_000, 20_000, 30_000],
    firstDueDate: undefined,
    dueDates: ['2026-08-20', '2026-08-25', '2027-01-05'],
  })
  assert.deepEqual(
    plan.charges.map((one: Record<string, unknown>) => [one.total, one.dueDate]),
    [
      [50_000, '2026-08-20'],
      [20_000, '2026-08-25'],
      [30_000, '2027-01-05'],
    ],
  )
})

test('each rule of a plan has its own message, and nothing is half-written', async () => {
  const client = await api.client()
  const refused = async (more: object) => {
    const reply = await client.post(PLAN, body(more))
    assert.equal(reply.status, 400, reply.text)
    return faultsOf(reply)
  }
  assert.deepEqual(await refused({ count: 61 }), ['count: must be at most 60'])
  assert.deepEqual(await refused({ count: 1 }), ['count: must be at least 2'])
  assert.deepEqual(await refused({ count: undefined }), [
    'count: send it, or amounts or dueDates, which are counted',
  ])
  assert.deepEqual(await refused({ amounts: [50_000, 50_000] }), [
    'count: is 3, and there are 2 amounts or dueDates',
  ])
  assert.deepEqual(await refused({ amounts: [50_000, 30_000, 30_000] }), [
    'amounts: add up to 110000 cents, and total is 100000',
  ])
  assert.deepEqual(await refused({ firstDueDate: undefined }), [
    'firstDueDate: send it, or all dueDates',
  ])
  assert.deepEqual(await refused({ dueDates: ['2026-09-01', '2026-09-01', '2026-08-30'] }), [
    'firstDueDate: send it or dueDates, not both',
    'dueDates[1]: must be after the one before, 2026-09-01',
    'dueDates[2]: must be after the one before, 2026-09-01',
  ])
  assert.deepEqual(await refused({ total: 1400 }), [
    'total: each of 3 equal parts would be less than 500 cents',
  ])
  assert.deepEqual(await refused({ firstDueDate: '2026-08-19' }), [
    'firstDueDate: must not be before today, 2026-08-20',
  ])
  assert.deepEqual(await refused({ fine: { type: 'PERCENT', value: 10_001 } }), [
    'fine.value: must be at most 10000, which is 100,00 %',
  ])
  assert.deepEqual(await refused({ rebate: { type: 'FIXED', value: 40_000 } }), [
    'rebate.value: must be less than the amount of the charge',
  ])
  const { body: many } = await client.post(PLAN, { ...body(), total: 7, customer: { name: 'x' } })
  assert.equal(many.errors.length, 2)
  assert.equal(await countOf('charges', client), 0)
  assert.equal(await countOf('charge_plans', client), 0)
})

test('paid early, each charge costs less; paid late, more; and the plan says what is left', async () => {
  const client = await api.client()
  const { id, charges } = await make(client, {
    devMode: true,
    total: 90_000,
    fine: { type: 'PERCENT', value: 200 },
    discounts: [{ type: 'PERCENT', value: 1000, daysBeforeDue: 5 }],
  })
  // The discount of the first one holds until 26 August.
  const first = await read(client, id)
  assert.equal(first.toPay, 81_000)
  await client.post(`/charge/${charges[2].id}/simulate-payment`)
  const early = await read(client, id)
  assert.deepEqual([early.received, early.toPay, early.status], [27_000, 54_000, 'OPEN'])
  await moveTo(client, '2026-09-02')
  const late = await read(client, id)
  assert.equal(late.toPay, 30_600 + 27_000)
  assert.equal(late.charges[0].amount.fine, 600)
  await client.post(`/charge/${charges[0].id}/simulate-payment`)
  await client.post(`/charge/${charges[1].id}/simulate-payment`)
  const paid = await read(client, id)
  assert.deepEqual([paid.status, paid.received, paid.toPay], ['COMPLETED', 84_600, 0])
  const canceled = await client.post(`${PLAN}/${id}/cancel`)
  assert.deepEqual([canceled.status, canceled.body.errors[0].code], [409, 'plan_not_cancelable'])
  await audit(client)
})

test('canceling a plan cancels what is not paid, once', async () => {
  const client = await api.client()
  const { id, charges } = await make(client, { devMode: true })
  await client.post(`/charge/${charges[0].id}/simulate-payment`)
  const canceled = await client.post(`${PLAN}/${id}/cancel`)
  assert.equal(canceled.status, 200, canceled.text)
  const plan = canceled.body.data
  assert.deepEqual([plan.status, plan.toPay, plan.received], ['CANCELED', 0, 33_334])
  assert.deepEqual(states(plan), ['COMPLETED', 'CANCELED', 'CANCELED'])
  const again = await client.post(`${PLAN}/${id}/cancel`)
  assert.deepEqual(again.body, canceled.body)
  const types = (await eventsOf(api, client.company.id)).map(({ type }) => type)
  assert.equal(types.filter((type) => type === 'charge.canceled').length, 2)
  await audit(client)
})

test('a repeated request is the same plan: by key, and by externalId while it is open', async () => {
  const client = await api.client()
  const first = await client.post(PLAN, body(), keyed('carne-1'))
  const again = await client.post(PLAN, body(), keyed('carne-1'))
  assert.equal(again.text, first.text)
  const named = body({ externalId: 'venda-2' })
  const both = await Promise.all([client.post(PLAN, named), client.post(PLAN, named)])
  const [one, other] = both.map((reply) => reply.body.data.id)
  assert.equal(one, other)
  const third = await client.post(PLAN, named)
  assert.deepEqual([third.body.data.id, third.headers.get('idempotent-replayed')], [one, 'true'])
  assert.equal(await countOf('charges', client), 6)
  await client.post(`${PLAN}/${one}/cancel`)
  assert.notEqual((await client.post(PLAN, named)).body.data.id, one)
  assert.equal(await countOf('charge_plans', client), 3)
})

test('plans are listed newest first, page by page, and are not shown to another company', async () => {
  const client = await api.client()
  const ids = [await make(client), await make(client), await make(client)].map(({ id }) => id)
  const page = await client.get(`${PLAN}?limit=2`)
  assert.deepEqual(
    page.body.data.map(({ id }: { id: string }) => id),
    [ids[2], ids[1]],
  )
  assert.ok(!('charges' in page.body.data[0]))
  const next = /<([^>]+)>/.exec(page.headers.get('link')!)![1]!
  const rest = await client.get(next.replace(/^https?:\/\/[^/]+/, ''))
  assert.deepEqual(
    rest.body.data.map(({ id }: { id: string }) => id),
    [ids[0]],
  )
  const stranger = await api.client()
  for (const reply of [
    await stranger.get(`${PLAN}/${ids[0]}`),
    await stranger.post(`${PLAN}/${ids[0]}/cancel`),
    await stranger.get(`${PLAN}/charge_00000000000000000000000000`),
  ]) {
    assert.deepEqual([reply.status, reply.body.errors[0].code], [404, 'plan_not_found'])
  }
})

test('a bank that fails for one charge has no half plan: the same key goes on with the same ids', async () => {
  const shop = await openBanked(api)
  shop.bank.faults.next('PUT /cobv/{txid}', 'lose answer')
  shop.bank.faults.next('GET /cobv/{txid}', '5xx', 4)
  const failed = await shop.post(PLAN, body(), keyed('carne-2'))
  assert.deepEqual([failed.status, failed.body.errors[0].code], [503, 'provider_unavailable'])
  assert.equal(await countOf('charges', shop), 0)
  shop.bank.faults.clear()
  const made = await shop.post(PLAN, body(), keyed('carne-2'))
  assert.equal(made.status, 201, made.text)
  const ids = made.body.data.charges.map(({ id }: { id: string }) => id.slice('charge_'.length))
  assert.deepEqual([...shop.bank.state().charges.keys()].sort(), ids.sort())
  assert.equal(await countOf('charge_intents', shop), 0)
})

test('a plan that nobody came back for leaves nothing at the bank', async () => {
  const shop = await openBanked(api)
  const { company } = shop
  const fresh = await shop.fresh()
  const wanted = planDraft(app, fresh, body() as never, () => Buffer.alloc(0))
  // Killed after the bank has issued all codes, and before they are written.
  await assert.rejects(
    createPlan(app, fresh, wanted, null, async () => {
      throw new Error('killed')
    }),
    /killed/,
  )
  assert.equal(shop.bank.state().charges.size, 3)
  assert.equal(await countOf('charges', { company } as Client), 0)
  api.clock.advance(LEASE_S + 61)
  await removeOrphans.run(app)
  const left = [...shop.bank.state().charges.values()].map(({ status }) => status)
  assert.deepEqual(left, Array(3).fill('REMOVIDA_PELO_USUARIO_RECEBEDOR'))
  assert.equal(await countOf('charge_intents', shop), 0)
})

test('charges that are being taken back at the bank are not written', async () => {
  const shop = await openBanked(api)
  const fresh = await shop.fresh()
  const wanted = planDraft(app, fresh, body() as never, () => Buffer.alloc(0))
  const writing = createPlan(app, fresh, wanted, null, async (insert) => {
    // A worker began to remove one of them while the others were waited for.
    await api.rows(
      `update charge_intents set attempts = 1 where (company_id, id) in
         (select company_id, id from charge_intents where company_id = $1 limit 1)`,
      [shop.company.id],
    )
    return app.db.transaction(insert)
  })
  await assert.rejects(writing, { code: 'provider_unavailable' })
  assert.equal(await countOf('charges', shop), 0)
  assert.equal(await countOf('charge_plans', shop), 0)
})

test('a bank that does not remove one charge has the others canceled, and the rest is done again', async () => {
  const shop = await openBanked(api)
  const { id } = await make(shop, { count: 4 })
  shop.bank.faults.next('PATCH /cobv/{txid}', '5xx', 20)
  shop.bank.faults.next('GET /cobv/{txid}', '5xx', 20)
  const failed = await shop.post(`${PLAN}/${id}/cancel`, undefined, keyed('cancela-1'))
  assert.deepEqual([failed.status, failed.body.errors[0].code], [503, 'provider_unavailable'])
  assert.match(
    failed.body.errors[0].description,
    /^\d+ charges were canceled.*Send the request again/,
  )
  shop.bank.faults.clear()
  const done = await shop.post(`${PLAN}/${id}/cancel`, undefined, keyed('cancela-1'))
  assert.deepEqual([done.status, done.body.data.status], [200, 'CANCELED'])
  const left = [...shop.bank.state().charges.values()].map(({ status }) => status)
  assert.deepEqual(left, Array(4).fill('REMOVIDA_PELO_USUARIO_RECEBEDOR'))
})

const pageOf = async (url: string, language = 'pt') => {
  const path = url.replace('http://vintem.test', api.url)
  const reply = await fetch(path, { headers: { 'accept-language': language } })
  return { status: reply.status, text: await reply.text() }
}

test('the payer has one page with all charges, what each costs today, and links to pay them', async () => {
  const client = await api.client()
  const discounts = [{ type: 'FIXED', value: 1000, daysBeforeDue: 5 }]
  const plan = await make(client, { devMode: true, description: 'Geladeira', discounts })
  await client.post(`/charge/${plan.charges[0].id}/simulate-payment`)
  const page = await pageOf(plan.url)
  assert.equal(page.status, 200)
  assert.match(page.text, /Carnê de R\$\s1\.000,00 em 3 parcelas/)
  assert.match(page.text, /Para quitar tudo hoje.*R\$\s646,66/s)
  assert.match(page.text, /Parcela 1 de 3 · 31\/08\/2026.*Paga.*Ver comprovante/s)
  assert.match(page.text, /Parcela 3 de 3 · 31\/10\/2026.*R\$\s323,33.*<s[^>]*>R\$\s333,33/s)
  assert.equal(page.text.match(/Pagar com Pix/g)?.length, 2)
  const { pathname } = new URL(plan.charges[2].url)
  assert.ok(page.text.includes(`href="${pathname}"`))
  const charge = await pageOf(plan.charges[2].url)
  assert.match(charge.text, /Parcela 3 de 3.*ver todas/s)
  assert.ok(charge.text.includes(new URL(plan.url).pathname))
  assert.match((await pageOf(plan.url, 'en')).text, /3 installments|Installment 1 of 3/)
  const forged = await pageOf(plan.url.slice(0, -3))
  assert.equal(forged.status, 404)
  const other = await pageOf(plan.url.replace('/plan/', '/pay/'))
  assert.equal(other.status, 404, 'a plan is no charge')
})

test('the payer gets the page by e-mail if the company wants it, once', async () => {
  const client = await api.client()
  const plan = await make(client, { notifyCustomer: true, description: 'Geladeira' })
  await make(client)
  const letters = await lettersOf(api, client.company.id)
  assert.deepEqual(
    letters.map(({ kind, subject }) => [kind, subject]),
    [['payment-link', 'Padaria São João: seu carnê em 3 parcelas']],
  )
  assert.match(letters[0]!.text, /31\/08\/2026/)
  assert.ok(letters[0]!.text.includes(plan.url))
  await client.post(`${PLAN}/${plan.id}/cancel`)
  assert.deepEqual(await lettersOf(api, client.company.id), [], 'nobody is asked for what is over')
})
