import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LoggedRequest } from '../../src/core/request-log/rules.ts'
import { insertRequests } from '../../src/core/request-log/store.ts'
import { lowestIdAt, newId, suffixOf } from '../../src/lib/ids.ts'
import { CATALOGUE } from '../../src/lib/problems.ts'
import { explainError } from '../../src/web/dashboard/error-texts.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'

const api = await startApi()
const PAGE = '/developers/requests'
const DAY_MS = 24 * 3600 * 1000

const operationsIn = (text: string) =>
  [...text.matchAll(/<span class="more soft small" title="(\w+)"/g)].map(([, name]) => name)

/** A request so many days before the time of the test. */
const requestOf = (companyId: string, daysAgo: number, fields: Partial<LoggedRequest> = {}) => {
  const at = new Date(api.clock.now().getTime() - daysAgo * DAY_MS)
  return {
    companyId,
    id: lowestIdAt(at).slice(0, 24) + newId().slice(24),
    keyId: newId(),
    operation: 'getCompany',
    status: 200,
    errorCode: null,
    callerId: null,
    ms: 0,
    ...fields,
  }
}

test('a developer finds a failed call by its request id, with what to do', async () => {
  const client = await api.client()
  const headers = { 'X-Request-Id': '<b>order-42' }
  const refused = await client.post('/product', { name: 7 }, { headers })
  await client.get('/company')
  await api.app.requestLog.idle()
  const developer = await signIn(api, client.company, { role: 'developer' })
  const list = await developer.get(PAGE)
  assert.equal(list.status, 200, list.text)
  assert.deepEqual(operationsIn(list.text), ['getCompany', 'createProduct'])
  assert.match(list.text, /POST \/product</)
  const id = refused.headers.get('x-request-id')!
  const found = await developer.get(`${PAGE}?id=%20${id.toUpperCase()}`)
  assert.equal(found.location, `${developer.home}${PAGE}/${id}`)
  const one = await developer.get(`${PAGE}/${id}`)
  assert.equal(one.status, 200, one.text)
  assert.match(one.text, /invalid_value/)
  assert.match(one.text, /A resposta lista os campos e as regras/)
  assert.match(one.text, /POST \/product/)
  assert.match(one.text, />test</)
  assert.match(one.text, /X-Request-Id enviado.*&lt;b&gt;order-42</s)
  const english = await signIn(api, client.company, { role: 'viewer', language: 'en' })
  assert.match((await english.get(`${PAGE}/${id}`)).text, /A field is missing or breaks its rule/)
  const missing = await developer.get(`${PAGE}?id=${suffixOf(newId())}`)
  assert.match(missing.text, /Nenhuma requisição dos últimos 7 dias tem este ID/)
})

test('requests of another company do not exist, nor do those that are older than a week', async () => {
  const [one, other] = [await api.client(), await api.client()]
  await other.get('/company')
  const asked = await other.get('/company')
  await api.app.requestLog.idle()
  const developer = await signIn(api, one.company, { role: 'developer' })
  const id = asked.headers.get('x-request-id')!
  assert.equal((await developer.get(`${PAGE}/${id}`)).status, 404)
  assert.equal((await developer.get(`${PAGE}?id=${id}`)).status, 200)
  assert.deepEqual(operationsIn((await developer.get(PAGE)).text), [])
  const [old, young] = [requestOf(one.company.id, 7.01), requestOf(one.company.id, 6.99)]
  await insertRequests(api.app.db, [old, young])
  assert.equal((await developer.get(`${PAGE}/${suffixOf(old.id)}`)).status, 404)
  assert.equal((await developer.get(`${PAGE}/${suffixOf(young.id)}`)).status, 200)
  assert.equal(operationsIn((await developer.get(PAGE)).text).length, 1)
})

test('requests are filtered by status, operation, key and period, page by page', async () => {
  const { company } = await api.client()
  const [key] = await api.rows<{ id: string }>('select id from api_keys where company_id = $1', [
    company.id,
  ])
  const keyId = key!.id
  const developer = await signIn(api, company, { role: 'developer' })
  const refused = { status: 404, errorCode: 'charge_not_found', operation: 'getCharge', keyId }
  await insertRequests(api.app.db, [
    ...Array.from({ length: 60 }, () => requestOf(company.id, 1, { keyId })),
    requestOf(company.id, 2, refused),
    requestOf(company.id, 3, { ...refused, status: 500, errorCode: 'internal_error' }),
    requestOf(company.id, 4, { operation: 'listCharges' }),
  ])
  const find = async (query: Record<string, string>) =>
    operationsIn((await developer.get(`${PAGE}?${new URLSearchParams(query)}`)).text)
  assert.equal((await find({})).length, 50)
  assert.deepEqual(await find({ status: 'refused' }), ['getCharge'])
  assert.deepEqual(await find({ status: 'failed' }), ['getCharge'])
  assert.equal((await find({ operation: 'getCharge' })).length, 2)
  assert.equal((await find({ operation: 'getCompany', key: suffixOf(keyId) })).length, 50)
  assert.deepEqual(await find({ operation: 'listCharges', key: suffixOf(keyId) }), [])
  const day = new Date(api.clock.now().getTime() - 4 * DAY_MS).toISOString().slice(0, 10)
  assert.deepEqual(await find({ from: day, to: day }), ['listCharges'])
  const first = await developer.get(`${PAGE}?key=${suffixOf(keyId)}`)
  const next = /rel="next" href="([^"]+)"/.exec(first.text)![1]!.replaceAll('&amp;', '&')
  const second = await developer.get(`/${next}`)
  assert.equal(operationsIn(second.text).length, 12)
})

test('every error of the catalogue is explained in both languages', () => {
  for (const code of Object.keys(CATALOGUE)) {
    const [pt, en] = [explainError(code, 'pt')!, explainError(code, 'en')!]
    assert.ok(pt.means !== en.means && pt.advice !== en.advice, code)
  }
  assert.equal(explainError('of another time', 'pt'), null)
})
