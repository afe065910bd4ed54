import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SERVICE } from '../../src/core/activity/rules.ts'
import { makeSandbox } from '../../src/core/sandbox-companies.ts'
import { ROUTES } from '../../src/http/routes/all.ts'
import { suffixOf } from '../../src/lib/ids.ts'
import { billDue, carryOutRefunds, generateDue, payOutWithdrawals } from '../../src/worker/due.ts'
import { type Client, eventsOf, startApi } from '../support/api.ts'
import { approvedSubscription, chargesOf } from '../support/billing.ts'
import { hostedVintemIn } from '../support/cli.ts'
import { signIn } from '../support/dashboard.ts'
import { at, linkTo } from '../support/pages.ts'
import { makeCharge, makeCode, makePaid, pay, stateOf } from '../support/payments.ts'
import { secretOf, temporaryFolder } from '../support/process.ts'
import { SANDBOX } from '../support/sandboxes.ts'
import { makeTemplate, subscribe } from '../support/subscriptions.ts'
import { confirmed, rowOf, sentOf } from '../support/withdrawals.ts'

const api = await startApi()
const someone = await api.client()
const operator = await signIn(api, someone.company, {
  role: null,
  isOperator: true,
  hasSecondFactor: true,
})

const pageOf = ({ company }: Client) => `//operator/companies/${suffixOf(company.id)}`
const change = async (client: Client, what: 'suspend' | 'resume') => {
  const done = await operator.post(`${pageOf(client)}/${what}`)
  assert.equal(done.location, `${pageOf(client).slice(1)}?done=${what}`, done.text)
}
const codeOf = ({ status, body }: Awaited<ReturnType<Client['get']>>) => [
  status,
  body?.errors?.[0]?.code,
]
const SUSPENDED = [403, 'company_suspended']

test('keys of a suspended company read and change nothing, at once, until it is resumed', async () => {
  const client = await api.client()
  await makeCharge(client, 1000)
  await change(client, 'suspend')
  for (const { method, path } of ROUTES) {
    const asked = path.replaceAll(/\{\w+\}/g, 'charge_00000000000000000000000000')
    const reply = await client.call(method, asked)
    if (method === 'GET') assert.notEqual(reply.status, 403, `${path}: ${reply.text}`)
    else assert.deepEqual(codeOf(reply), SUSPENDED, `${method} ${path}`)
  }
  await makeCharge(someone, 1000)
  await change(client, 'resume')
  await makeCharge(client, 1000)
})

test('a payer sees that the store cannot receive now, and what was paid is booked', async () => {
  const client = await api.client()
  const charge = await makeCharge(client, 1500)
  const code = await makeCode(client, 700)
  const link = await linkTo(api, client, { total: 990 })
  const { data } = (await client.get(`/charge/${charge.id}`)).body
  const template = await makeTemplate(client)
  await change(client, 'suspend')
  const url = at(api, data.url)
  for (const page of [url, link, at(api, template.url)]) {
    const { status, text } = await api.call('GET', page.slice(api.url.length))
    assert.equal(status, 200)
    assert.match(text, /Esta loja não pode receber agora/)
    assert.doesNotMatch(text, /br\.gov\.bcb\.pix/i)
  }
  const opened = await fetch(link, { method: 'POST', redirect: 'manual' })
  assert.equal(opened.status, 303, 'a link gets no code')
  assert.match(await (await fetch(link)).text(), /não pode receber agora/)
  assert.deepEqual(codeOf(await subscribe(api, template.url, {})), SUSPENDED)

  await pay(api, charge.brCode)
  await pay(api, code.brCode)
  assert.deepEqual(await stateOf(client, charge.id), ['COMPLETED', 'PAID'])
  assert.match(await (await fetch(url)).text(), /R\$ 15,00/)
  assert.doesNotMatch(await (await fetch(url)).text(), /não pode receber agora/)
  const types = (await eventsOf(api, client.company.id)).map(({ type }) => type)
  assert.equal(types.filter((type) => type === 'charge.paid').length, 2)

  await change(client, 'resume')
  assert.doesNotMatch(await (await fetch(link)).text(), /não pode receber agora/)
})

test('subscriptions of a suspended company are not charged until it is resumed', async () => {
  const [client, other] = [await api.client(), await api.client()]
  const { id } = await approvedSubscription(api, client)
  const { id: otherId } = await approvedSubscription(api, other)
  await change(client, 'suspend')
  api.clock.advance(60)
  await generateDue.run(api.app)
  await billDue.run(api.app)
  assert.deepEqual(await chargesOf(client, id), [])
  assert.equal((await chargesOf(other, otherId)).length, 1)
  await change(client, 'resume')
  await generateDue.run(api.app)
  assert.equal((await chargesOf(client, id)).length, 1)

  await change(client, 'suspend')
  await billDue.run(api.app)
  const billings = () =>
    api.rows<{ status: string }>('select status from billings where company_id = $1', [
      client.company.id,
    ])
  assert.deepEqual(await billings(), [{ status: 'PLANNED' }])
  await change(client, 'resume')
  await billDue.run(api.app)
  assert.deepEqual(await billings(), [{ status: 'SCHEDULED' }])
})

test('no withdrawal leaves a suspended company, and refunds that were ordered do', async () => {
  const client = await api.client()
  const { id: chargeId } = await makePaid(api, client, 2000)
  const refunded = await client.post(`/refund/${chargeId}`, { value: 500 })
  assert.ok(refunded.status < 300, refunded.text)
  const id = await confirmed(api, client, 5000)
  await change(client, 'suspend')
  await payOutWithdrawals.run(api.app)
  await carryOutRefunds.run(api.app)
  assert.deepEqual(await sentOf(api, client), [])
  assert.equal((await rowOf(api, id)).status, 'PROCESSING')
  const refunds = await api.rows('select status from refunds where company_id = $1', [
    client.company.id,
  ])
  assert.deepEqual(refunds, [{ status: 'COMPLETED' }])
  await change(client, 'resume')
  await payOutWithdrawals.run(api.app)
  assert.equal((await sentOf(api, client)).length, 1)
  assert.equal((await rowOf(api, id)).status, 'COMPLETED')
})

test('with a company end the sandboxes that its keys have made, and it makes no more', async () => {
  const client = await api.client()
  const [made, other] = [
    (await client.post(SANDBOX)).body.data,
    (await someone.post(SANDBOX)).body.data,
  ]
  const call = (apiKey: string, method: string, path: string, json: object) =>
    api.call(method, path, { json, headers: { 'X-API-KEY': apiKey } })
  const hook = { url: 'https://loja.example/', name: 'Loja', events: ['charge.pending'] }
  assert.equal((await call(made.apiKey, 'POST', '/webhook', hook)).status, 201)
  await change(client, 'suspend')
  const after = await call(made.apiKey, 'POST', '/charge/pix', {})
  assert.deepEqual(codeOf(after), [401, 'invalid_api_key'])
  const hooks = await api.rows('select status from webhooks where company_id = $1', [made.id])
  assert.deepEqual(hooks, [{ status: 'INACTIVE' }])
  assert.deepEqual(codeOf(await call(other.apiKey, 'POST', '/charge/pix', {})), [
    400,
    'invalid_value',
  ])
  // A request that was let in before the suspension finds it in the database.
  const late = api.app.db.transaction((tx) =>
    makeSandbox(tx, api.app, client.company, { author: SERVICE, scopes: new Set() }),
  )
  await assert.rejects(late, { code: 'company_suspended' })
  await change(client, 'resume')
  assert.equal((await client.post(SANDBOX)).status, 201)
})

test('a test clock that is advancing stops, because its work would wait', async () => {
  const client = await api.client()
  await api.rows(
    `insert into test_clocks (company_id, ahead_ms, target) values ($1, 1000, '2030-01-01')`,
    [client.company.id],
  )
  await change(client, 'suspend')
  const clocks = await api.rows('select ahead_ms, target from test_clocks where company_id = $1', [
    client.company.id,
  ])
  assert.deepEqual(clocks, [{ ahead_ms: 1000, target: null }])
})

test('an operator proves who they are first, and the company can see who has done it', async () => {
  const client = await api.client({ name: 'Padaria Suspeita' })
  const unsure = await signIn(api, client.company, {
    role: null,
    isOperator: true,
    hasSecondFactor: true,
    isConfirmed: false,
  })
  for (const asked of [
    await unsure.get(`${pageOf(client)}/suspend`),
    await unsure.post(`${pageOf(client)}/suspend`),
  ]) {
    assert.equal(asked.status, 303)
    assert.match(asked.location!, /^\/account\/confirm\?next=/)
  }
  await makeCharge(client, 1000)
  const question = await operator.get(`${pageOf(client)}/suspend`)
  assert.match(question.text, /Suspender Padaria Suspeita\?/)
  await change(client, 'suspend')
  await change(client, 'suspend')
  assert.match((await operator.get(pageOf(client))).text, /Suspensa desde/)
  assert.match((await operator.get('//operator/companies?q=Suspeita')).text, /Suspensa/)
  const owner = await signIn(api, client.company)
  assert.match((await owner.get('')).text, /Esta empresa está suspensa/)
  await change(client, 'resume')
  assert.doesNotMatch((await owner.get('')).text, /está suspensa/)
  const entries = await api.rows<{ action: string; author_name: string }>(
    'select action, author_name from activity where company_id = $1 order by id',
    [client.company.id],
  )
  const own = entries.filter(({ action }) => /suspend|resume/.test(action))
  assert.deepEqual(
    own.map(({ action, author_name }) => [action, author_name]),
    [
      ['company.suspend', operator.person.email],
      ['company.resume', operator.person.email],
    ],
  )
})

test('vintem company suspend and resume do the same', async () => {
  const client = await api.client()
  await makeCharge(client, 1000)
  const vintem = hostedVintemIn(temporaryFolder())
  const env = {
    ...api.databases,
    SECRET_KEY: secretOf('api'),
    PUBLIC_URL: 'https://pix.example.com',
  }
  const run = async (what: string) => {
    const { code, stdout, stderr } = await vintem(['company', what, client.company.id], env)
    assert.equal(code, 0, stderr)
    return stdout
  }
  assert.match(await run('suspend'), /is suspended\./)
  assert.deepEqual(codeOf(await client.post('/charge/pix', {})), SUSPENDED)
  assert.match(await run('suspend'), /is suspended already/)
  assert.match(await run('resume'), /works again/)
  await makeCharge(client, 1000)
  assert.match(await run('resume'), /is not suspended/)
})
