import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAnswer, type StoredResponse } from '../../src/core/idempotency.ts'
import { suffixOf } from '../../src/lib/ids.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'

const api = await startApi()
const KEY = /vk_sandbox_[0-9a-z]+/

/** Whether the API accepts a key, and what it answers. */
const statusOf = async (key: string, path: string) =>
  (await api.call('GET', path, { headers: { 'X-API-KEY': key } })).status

const keysOf = (companyId: string) =>
  api.rows<{ id: string; name: string; scopes: string[]; revoked_at: Date | null }>(
    'select id, name, scopes, revoked_at from api_keys where company_id = $1 order by id',
    [companyId],
  )

const checkedIn = (page: string) =>
  [...page.matchAll(/name="([a-z]+:[a-z]+)" value="1" checked/g)].map(([, scope]) => scope)
const USUAL = ['payments:read', 'payments:write', 'catalog:read', 'catalog:write']

test('a key is shown once, works, and can do what was checked', async () => {
  const { company } = await api.client()
  const owner = await signIn(api, company)
  const form = await owner.get('/developers/keys/new')
  assert.deepEqual(checkedIn(form.text), USUAL)
  const made = await owner.post('/developers/keys/new', {
    name: ' Loja <b>virtual</b> ',
    'company:read': '1',
  })
  assert.equal(made.status, 200, made.text)
  assert.equal(made.headers.get('cache-control'), 'no-store')
  const key = KEY.exec(made.text)![0]
  assert.equal(await statusOf(key, '/company'), 200)
  assert.equal(await statusOf(key, '/webhook'), 403)
  const list = await owner.get('/developers/keys')
  assert.match(list.text, /Loja &lt;b&gt;virtual&lt;\/b&gt;/)
  assert.match(list.text, /Ver os dados da empresa/)
  assert.ok(!list.text.includes(key))
})

test('a form that is sent again makes no other key, and does not show it again', async () => {
  const { company } = await api.client()
  const owner = await signIn(api, company)
  const form = { name: 'once', 'company:read': '1', once: '0'.repeat(26) }
  const sent = await Promise.all(
    Array.from({ length: 3 }, () => owner.post('/developers/keys/new', form)),
  )
  sent.push(await owner.post('/developers/keys/new', form))
  const shown = sent.filter(({ text }) => KEY.test(text))
  assert.equal(shown.length, 1)
  const others = sent.filter(({ text }) => !KEY.test(text))
  for (const { location } of others) assert.match(location!, /\/developers\/keys\?done=shown$/)
  assert.match((await owner.get('/developers/keys?done=shown')).text, /só é mostrada uma vez/)
  const keys = await keysOf(company.id)
  assert.equal(keys.length, 2)
  const [stored] = await api.rows<{ sealed_body: Buffer }>(
    'select sealed_body from idempotency_keys where company_id = $1',
    [company.id],
  )
  const kept = openAnswer(api.app.vault, company.id, {
    key: `pages:${form.once}`,
    sealedBody: stored!.sealed_body,
  } as StoredResponse)
  assert.deepEqual(Object.keys(JSON.parse(kept)), ['id'], 'nor is it stored')
  const made = suffixOf(JSON.parse(kept).id)
  const rotation = { once: '2'.repeat(26) }
  const rotate = () => owner.post(`/developers/keys/${made}/rotate`, rotation)
  assert.match((await rotate()).text, KEY)
  assert.match((await rotate()).location!, /\/developers\/keys\?done=shown$/)
  const other = await owner.post('/developers/keys/new', { ...form, name: 'another' })
  assert.equal(other.status, 422)
  assert.match(other.text, /já foi enviado com outros dados/)
})

test('a wrong form is shown again with what was typed', async () => {
  const { company } = await api.client()
  const owner = await signIn(api, company, { language: 'en' })
  const empty = await owner.post('/developers/keys/new', { name: '' })
  assert.equal(empty.status, 400)
  assert.match(empty.text, /Enter a name of 1 to 255 characters/)
  assert.deepEqual(checkedIn(empty.text), [])
  assert.match(empty.text, /Check at least one permission/)
  const long = await owner.post('/developers/keys/new', {
    name: 'x'.repeat(256),
    'company:read': '1',
  })
  assert.equal(long.status, 400)
  assert.match(long.text, /x{256}/)
  assert.equal((await keysOf(company.id)).length, 1)
})

test('a developer makes no key that can do more than they can', async () => {
  const { company } = await api.client()
  const developer = await signIn(api, company, { role: 'developer' })
  const form = await developer.get('/developers/keys/new')
  assert.doesNotMatch(form.text, /balance:write|company:write/)
  const forged = { name: 'more', 'payments:read': '1', 'balance:write': '1' }
  assert.equal((await developer.post('/developers/keys/new', forged)).status, 400)
  const [first] = await keysOf(company.id)
  const list = await developer.get('/developers/keys')
  assert.doesNotMatch(list.text, /\/rotate/)
  const path = `/developers/keys/${suffixOf(first!.id)}/rotate`
  assert.equal((await developer.get(path)).status, 403)
  assert.equal((await developer.post(path)).status, 403)
  const made = await developer.post('/developers/keys/new', { name: 'own', 'payments:read': '1' })
  assert.equal(await statusOf(KEY.exec(made.text)![0], '/webhook'), 403)
  assert.equal((await keysOf(company.id)).length, 2)
})

test('rotating keeps the former key until it is revoked', async () => {
  const { company, key: former } = await api.client()
  const owner = await signIn(api, company)
  const { id } = (await keysOf(company.id))[0]!
  const path = `/developers/keys/${suffixOf(id)}`
  assert.match((await owner.get(`${path}/rotate`)).text, /continua funcionando/)
  const rotated = await owner.post(`${path}/rotate`)
  const key = KEY.exec(rotated.text)![0]
  assert.ok(rotated.text.includes(`${path}/revoke`))
  assert.deepEqual(
    [await statusOf(former, '/company'), await statusOf(key, '/company')],
    [200, 200],
  )
  const [before, after] = await keysOf(company.id)
  assert.deepEqual([after!.name, after!.scopes], [before!.name, before!.scopes])
  assert.match((await owner.get(`${path}/revoke`)).text, /deixa de funcionar na hora/)
  const revoked = await owner.post(`${path}/revoke`)
  assert.match(revoked.location!, /\/developers\/keys\?done=revoked$/)
  assert.deepEqual(
    [await statusOf(former, '/company'), await statusOf(key, '/company')],
    [401, 200],
  )
  assert.match((await owner.get('/developers/keys?done=revoked')).text, /Revogada/)
  assert.equal((await owner.get(`${path}/rotate`)).status, 404)
  await owner.post(`${path}/revoke`)
  const log = await api.rows<{ action: string }>(
    'select action from activity where company_id = $1 order by id',
    [company.id],
  )
  assert.deepEqual(
    log.map(({ action }) => action),
    ['key.rotate', 'key.revoke'],
  )
})

test('only owners and developers who have just confirmed who they are', async () => {
  const { company } = await api.client()
  for (const role of ['finance', 'support', 'viewer'] as const) {
    const member = await signIn(api, company, { role })
    assert.equal((await member.get('/developers/keys')).status, 403)
    assert.equal((await member.post('/developers/keys/new', { name: 'x' })).status, 403)
    assert.doesNotMatch((await member.get('/developers')).text, /developers\/keys/)
  }
  const late = await signIn(api, company, { isConfirmed: false })
  assert.equal((await late.get('/developers/keys')).status, 200)
  const asked = await late.get('/developers/keys/new')
  assert.match(asked.location!, /^\/account\/confirm\?next=/)
  const sent = await late.post('/developers/keys/new', { name: 'x', 'company:read': '1' })
  assert.equal(sent.status, 303)
  assert.equal((await keysOf(company.id)).length, 1)
})

test('a key of another company is not there', async () => {
  const [one, other] = [await api.client(), await api.client()]
  const owner = await signIn(api, one.company)
  const { id } = (await keysOf(other.company.id))[0]!
  for (const action of ['rotate', 'revoke']) {
    const path = `/developers/keys/${suffixOf(id)}/${action}`
    assert.equal((await owner.get(path)).status, 404)
    assert.equal((await owner.post(path)).status, 404)
  }
  assert.equal(await statusOf(other.key, '/company'), 200)
})
