import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Vintem } from '../../packages/client/src/index.ts'
import { maskRecord } from '../../src/core/version-changes/rules.ts'
import { ROUTES } from '../../src/http/routes/all.ts'
import { VERSION_NAMES } from '../../src/versions/history.ts'
import { prepare, TRIES } from '../api/every-route.ts'
import { documentOf, faultOf } from '../openapi/document.ts'
import { payer, startApi } from '../support/api.ts'
import { hostedVintemIn } from '../support/cli.ts'
import { longTest } from '../support/long.ts'
import { secretOf, temporaryFolder } from '../support/process.ts'

const api = await startApi()
const PATH = '/company/version-changes'
const [OLD, NEW] = ['2025-01-01', '2026-08-16']

// biome-ignore lint/suspicious/noExplicitAny: the shapes are what is asserted
type Any = any

/** A company that has used every operation. */
const [client, made] = await prepare(api, OLD!)
for (const { ask } of TRIES) await ask(client, made, api)
// The tries of subscriptions and of clocks are of other companies.
const plan = { name: 'Pão', description: '', price: 990, type: 'RECURRING', frequency: 'MONTHLY' }
const productId = (await client.post('/product', plan)).body.id
const customer = { ...payer(), status: 'ACTIVE' }
const customerId = (await client.post('/client', customer)).body.id
const { id } = (await client.post('/pix-automatic/recurrences', { productId, customerId })).body
await client.post('/pix-automatic/recurrences/template', { productId })
await client.get('/pix-automatic/recurrences')
await client.get(`/pix-automatic/recurrences/${id}`)
await client.post(`/pix-automatic/recurrences/${id}/cancel`)
await client.get('/sandbox/clock')
// What the tries have changed, they have deleted too.
await client.put('/client', { id: customerId, name: 'Ana Souza' })
await client.put(`/product/${productId}`, { price: 1090 })
const ana = { name: 'Ana', taxId: '52998224725', pixKey: 'ana@example.com' }
const recipientId = (await client.post('/recipient', ana)).body.id
await client.put(`/recipient/${recipientId}`, { name: 'Ana Souza' })
const hook = { name: 'loja', url: 'http://127.0.0.1:4000/pix', events: ['charge.paid'] }
const webhookId = (await client.post('/webhook', hook)).body.id
await client.put(`/webhook/${webhookId}`, { name: 'balcão' })
await client.post(`/webhook/${webhookId}/rotate-secret`)
const { endToEndId } = (await client.post('/sandbox/payment', { amount: 700 })).body
await client.post(`/sandbox/payment/${endToEndId}/return`)
await api.app.requestLog.idle()
const reply = await client.get(PATH)
const operations: Any[] = reply.body.operations
const usedOf = (operationId: string) => operations.find((one) => one.operationId === operationId)

test('a recent answer can be found for every operation but this one', () => {
  const unfound = ROUTES.filter(({ sample }) => !sample)
  assert.deepEqual(
    unfound.map(({ operationId }) => operationId),
    ['compareVersions'],
  )
})

test('every operation that was used is shown in both versions, by a record of the company', () => {
  assert.equal(reply.status, 200)
  assert.deepEqual([reply.body.from, reply.body.to], [OLD, NEW])
  const used = operations.map(({ operationId }) => operationId)
  const known = ROUTES.map(({ operationId }) => operationId).sort()
  // The request log leaves out whoever reads it.
  assert.deepEqual(
    used,
    known.filter((one) => one !== 'listRequests'),
  )
  const [old, head] = [documentOf(OLD!), documentOf(NEW!)]
  const without = operations.filter(({ answer }) => !answer)
  // The record of the first would be this answer. The others were only refused.
  assert.deepEqual(
    without.map(({ operationId }) => operationId),
    ['compareVersions', 'createSandbox', 'deleteSandbox', 'makeWithdrawalCode'],
  )
  for (const { operationId, answer, error } of operations) {
    const schemaIn = (document: typeof old, status: string | number) =>
      document.closed(
        document.resolve(document.operationOf(operationId).responses[status]).content[
          'application/json'
        ].schema,
      )
    const status = Object.keys(old.operationOf(operationId).responses)[0]!
    assert.equal(JSON.parse(error.after).errors[0].code, error.code)
    if (!answer) continue
    const [before, after] = [JSON.parse(answer.before), JSON.parse(answer.after)]
    assert.equal(faultOf(schemaIn(old, status), before), null, operationId)
    assert.equal(faultOf(schemaIn(head, status), after), null, operationId)
  }
})

test('each field that differs has the sentence of the history', () => {
  const { answer, changes } = usedOf('getCharge')
  assert.deepEqual(
    changes.map(({ name }: Any) => name),
    ['envelope', 'errors', 'received'],
  )
  const status = answer.fields.find(({ path }: Any) => path === 'data.paymentStatus')
  assert.deepEqual(
    [status.formerPath, status.before, status.after],
    ['paymentStatus', 'RECIEVED', 'RECEIVED'],
  )
  assert.match(status.description, /RECIEVED becomes RECEIVED/)
  const [moved, ...added] = answer.fields
  assert.deepEqual([moved.formerPath, moved.path], ['$', 'data'])
  assert.deepEqual(
    added.slice(0, 3).map(({ path, after }: Any) => [path, after]),
    [
      ['status', 200],
      ['message', 'Charge found.'],
      ['errors', '[]'],
    ],
  )
  for (const { operationId, answer: shown } of operations) {
    for (const { path, description } of shown?.fields ?? []) {
      assert.notEqual(description, '', `${operationId} ${path}`)
    }
  }
})

test('no name, document, address, code or text of a client is shown', async () => {
  const charges = (await client.get('/charge?limit=1000&include=qr')).body
  const customers = (await client.get('/client')).body
  const company = (await client.get('/company')).body
  const webhooks = (await client.get('/webhook')).body
  const texts = new Set<string>([company.name, company.taxId, company.email, company.pixKey])
  for (const { customer, brCode, brCodeBase64, url, externalId, shipping } of charges) {
    for (const text of [brCode, brCodeBase64, url, externalId, shipping?.address]) texts.add(text)
    for (const text of Object.values(customer ?? {})) texts.add(text as string)
  }
  for (const { name, taxId, email, phone, address, postalCode, number } of customers) {
    for (const text of [name, taxId, email, phone, address, postalCode, number]) texts.add(text)
  }
  for (const { url, name } of webhooks) texts.add(url).add(name)
  texts.delete(undefined as never)
  assert.ok(texts.size > 20)
  const shown = operations.flatMap(({ answer }) => (answer ? [answer.before, answer.after] : []))
  for (const text of texts) {
    const quoted = JSON.stringify(text)
    for (const body of shown) assert.ok(!body.includes(quoted), `${text} in ${body}`)
  }
})

test('a text is hidden unless it is a word of the API, an id of ours or a moment', () => {
  const words = new Set(['PAID', 'charge.paid'])
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const strings = (inside: unknown): string[] =>
        typeof inside === 'string'
          ? [inside]
          : Object.values((inside ?? {}) as object).flatMap(strings)
      const isKnown = /^(\*\*\*|[a-z]{2,6}_[0-9a-z]{26}|[0-9a-f-]{36}|\d{4}-\d\d-\d\d(T[\d:.]+Z)?)$/
      return strings(maskRecord(value, words)).every(
        (text) => words.has(text) || isKnown.test(text),
      )
    }),
  )
  const key = '123e4567-e12b-12d1-a456-426655440000'
  assert.deepEqual(maskRecord({ pixKey: key, companyId: key, status: 'PAID' }, words), {
    pixKey: '***',
    companyId: key,
    status: 'PAID',
  })
})

test('a key is shown only records that it may read', async () => {
  const narrow = await api.client({}, { apiVersion: OLD!, scopes: ['company:read'] })
  await narrow.get('/charge')
  await narrow.get('/company')
  await api.app.requestLog.idle()
  const { body } = await narrow.get(PATH)
  const [company, charges] = body.operations
  assert.equal(company.operationId, 'getCompany')
  assert.equal(charges.operationId, 'listCharges')
  assert.equal(charges.answer, undefined)
  assert.match(charges.missing, /needs the scope payments:read/)
  assert.equal(JSON.parse(company.answer.before).id, narrow.company.id)
})

test('a company sees nothing of another, and nothing before it has used an operation', async () => {
  const other = await api.client({}, { apiVersion: OLD! })
  assert.deepEqual((await other.get(PATH)).body.operations, [])
  await other.get('/charge')
  await other.get('/client')
  await api.app.requestLog.idle()
  const { body } = await other.get(PATH)
  assert.deepEqual(
    body.operations.map((one: Any) => [one.operationId, one.answer]),
    [
      ['compareVersions', undefined],
      ['listCharges', undefined],
      ['listCustomers', undefined],
    ],
  )
  assert.match(body.operations[1].missing, /no recent record/)
})

test('the same version changes nothing, and an unknown one is refused', async () => {
  const { body } = await client.get(`${PATH}?from=${NEW}&to=${NEW}`)
  for (const { operationId, changes, answer } of body.operations) {
    assert.deepEqual([changes, answer?.fields ?? []], [[], []], operationId)
  }
  const refused = await client.get(`${PATH}?to=2024-01-01`)
  assert.equal(refused.status, 400)
  for (const name of VERSION_NAMES) assert.ok(refused.body.message.includes(name))
})

test('the typed client has the same', async () => {
  const vintem = new Vintem({ url: api.url, key: client.key, version: '2025-01-01' })
  const diff = await vintem.versions.diff({ to: '2026-08-16' })
  assert.deepEqual([diff.from, diff.to], [OLD, NEW])
  const charge = diff.operations.find(({ operationId }) => operationId === 'getCharge')!
  assert.deepEqual(charge.answer, usedOf('getCharge').answer)
})

longTest('company pin --dry-run prints the same, and changes nothing', async () => {
  const vintem = hostedVintemIn(temporaryFolder())
  const env = {
    ...api.databases,
    SECRET_KEY: secretOf('api'),
    PUBLIC_URL: 'https://pix.example.com',
  }
  const pin = (...more: string[]) =>
    vintem(['company', 'pin', client.company.id, NEW!, '--dry-run', ...more], env)
  const { code, stdout, stderr } = await pin('--json')
  assert.deepEqual([code, stderr], [0, ''])
  const printed = JSON.parse(stdout)
  assert.deepEqual([printed.from, printed.to], [OLD, NEW])
  const charge = printed.operations.find((one: Any) => one.operationId === 'getCharge')
  assert.deepEqual(charge.answer.fields, usedOf('getCharge').answer.fields)
  const text = (await pin()).stdout
  assert.match(text, /operations that were used in the last 7 days answer otherwise/)
  assert.match(text, /^GET \/charge\/\{id\} \(getCharge\): envelope, errors, received$/m)
  assert.match(text, /^ {2}paymentStatus: "RECIEVED" → data\.paymentStatus: "RECEIVED"$/m)
  assert.match(text, /Nothing was changed\.\n$/)
  assert.equal((await client.get('/company')).body.apiVersion, OLD)
})

longTest('with a server and a key alone, the commands need no database', async () => {
  const vintem = hostedVintemIn(temporaryFolder())
  const asked = ['--url', api.url, '--key', client.key, '--json']
  for (const words of [
    ['company', 'pin', '--dry-run'],
    ['versions', 'diff', '--to', NEW!],
  ]) {
    const { code, stdout, stderr } = await vintem([...words, ...asked], {})
    assert.deepEqual([code, stderr], [0, ''])
    const { from, to, operations: shown } = JSON.parse(stdout)
    assert.deepEqual([from, to, shown.length], [OLD, NEW, operations.length])
  }
  const wrong = await vintem(['versions', 'diff', '--to', '1999-01-01', ...asked], {})
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /--to must be one of 2025-01-01, 2026-08-16/)
  const missing = await vintem(['company', 'pin'], {})
  assert.equal(missing.code, 2)
  assert.match(missing.stderr, /Missing: <company-id>, <version>\./)
})
