import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPERATIONS, OPERATOR_API } from '../../src/http/operator-api.ts'
import { newId, type Uuid } from '../../src/lib/ids.ts'
import { payer, startApi } from '../support/api.ts'
import { lettersOf } from '../support/mail.ts'

const OPERATOR_KEY = 'operator-key-of-a-test-0123456789abcdef'
const api = await startApi({ OPERATOR_KEY }, { places: 2 })

type Reply<T> = { status: number; data: T; errors: { code: string; description: string }[] }

async function ask<T>(
  method: string,
  path: string,
  body?: unknown,
  key: string | null = OPERATOR_KEY,
  once: Record<string, string> = {},
): Promise<Reply<T>> {
  const headers = key === null ? {} : { 'X-API-KEY': key, ...once }
  const { status, body: answer } = await api.call(method, OPERATOR_API + path, {
    json: body,
    headers,
  })
  return { status, data: answer.data, errors: answer.errors }
}

type Made = { companyId: Uuid; isNew: boolean; key?: { id: Uuid; text: string } }

const wanted = (n: number) => ({
  id: newId(),
  name: `Loja ${n}`,
  taxId: '11.222.333/0001-81',
  email: `loja${n}@example.com`,
})
const make = (companies: object[]) => ask<Made[]>('POST', '/companies', { companies })
const read = async (key: string) =>
  (await api.call('GET', '/company', { headers: { 'X-API-KEY': key } })).status
const charge = async (key: string) => {
  const body = { amount: 1000, customer: payer() }
  return (await api.call('POST', '/charge/pix', { json: body, headers: { 'X-API-KEY': key } }))
    .status
}

test('without the key nobody gets in, and without the setting there is no such API', async () => {
  const other = await startApi()
  for (const { method, path } of OPERATIONS) {
    const empty = method === 'POST' ? {} : undefined
    const without = await ask(method, path, empty, null)
    assert.deepEqual([without.status, without.errors[0]?.code], [401, 'missing_api_key'], path)
    const wrong = await ask(method, path, empty, `${OPERATOR_KEY}0`)
    assert.deepEqual([wrong.status, wrong.errors[0]?.code], [401, 'invalid_api_key'], path)
    const headers = { 'X-API-KEY': OPERATOR_KEY }
    const missing = await other.call(method, OPERATOR_API + path, { json: empty, headers })
    assert.ok([404, 415].includes(missing.status), path)
  }
})

test('a hundred companies are made by one request, once, and listed in all places', async () => {
  const companies = Array.from({ length: 100 }, (_, n) => wanted(n))
  const { status, data } = await make(companies)
  assert.equal(status, 200)
  assert.deepEqual(
    data.map(({ companyId, isNew }) => [companyId, isNew]),
    companies.map(({ id }) => [id, true]),
  )
  for (const { key } of [data[0]!, data[99]!]) assert.equal(await read(key!.text), 200)
  const again = await make(companies)
  assert.ok(
    again.data.every(({ isNew, key }) => !isNew && key === undefined),
    'the same once more',
  )

  type Page = { companies: { id: Uuid; name: string; taxId: string }[]; next?: Uuid }
  const listed: Page['companies'] = []
  for (let after = ''; ; ) {
    const page = await ask<Page>('GET', `/companies?q=loja&limit=30${after}`)
    listed.push(...page.data.companies)
    if (!page.data.next) break
    after = `&after=${page.data.next}`
  }
  assert.deepEqual(listed.map(({ id }) => id).sort(), companies.map(({ id }) => id).sort())
  assert.equal(listed[0]!.taxId, '11222333000181')
})

test('two requests with one id at once make one company', async () => {
  const [one] = [wanted(1)]
  const replies = await Promise.all([1, 2, 1, 2].map((place) => make([{ ...one, place }])))
  assert.equal(replies.filter(({ data }) => data[0]!.isNew).length, 1)
})

test('a request with a mistake names it and makes nothing', async () => {
  const good = wanted(1)
  const cases: [object[], RegExp][] = [
    [[good, { ...wanted(2), taxId: '1' }], /companies\[1\]\.taxId: must be a CPF/],
    [[good, { ...wanted(2), mode: 'live' }], /companies\[1\]\.pixKey: a live company needs one/],
    [[good, { ...wanted(2), place: 3 }], /companies\[1\]\.place: there are the places 1 to 2/],
    [[good, { ...wanted(2), id: 'typo' }], /companies\[1\]\.id: must be a UUID/],
    [[good, { ...wanted(2), id: good.id }], /two of them have the same id/],
    [[good, { ...wanted(2), pixkey: 'a' }], /companies\[1\]\.pixkey: is not a field/],
    [Array.from({ length: 101 }, (_, n) => wanted(n)), /companies: /],
  ]
  for (const [companies, expected] of cases) {
    const { status, errors } = await make(companies)
    assert.equal(status, 400)
    assert.match(errors.map(({ description }) => description).join(), expected)
  }
  assert.equal((await make([good])).data[0]!.isNew, true)
})

test('a request with an id that is none changes nothing', async () => {
  const [made] = (await make([wanted(1)])).data
  const { companyId, key } = made!
  const bodies: [string, object, RegExp][] = [
    ['/companies/suspend', { ids: [companyId, 'typo'] }, /ids\[1\]: must be a UUID/],
    ['/companies/resume', { ids: ['typo'] }, /ids\[0\]: must be a UUID/],
    [
      '/keys',
      { keys: [companyId, 'typo'].map((id) => ({ companyId: id, name: 'x' })) },
      /keys\[1\]\.companyId: must be a UUID/,
    ],
    [
      '/keys/revoke',
      { keys: [key!.id, 'typo'].map((id) => ({ companyId, id })) },
      /keys\[1\]\.id: must be a UUID/,
    ],
  ]
  for (const [path, body, expected] of bodies) {
    const { status, errors } = await ask('POST', path, body)
    assert.equal(status, 400, path)
    assert.match(errors[0]!.description, expected)
  }
  for (const path of ['/companies?after=typo', '/keys?companyId=typo']) {
    const { status, errors } = await ask('GET', path)
    assert.equal(status, 400, path)
    assert.match(errors[0]!.description, /must be a UUID/)
  }
  assert.equal(await charge(key!.text), 201, 'neither suspended nor revoked')
  const listed = await ask<unknown[]>('GET', `/keys?companyId=${companyId}`)
  assert.equal(listed.data.length, 1)
})

test('companies are suspended and resumed together, at once, with an entry in their logs', async () => {
  const { data } = await make([wanted(1), wanted(2)])
  const ids = data.map(({ companyId }) => companyId)
  const [key] = data.map((made) => made.key!.text)
  const unknown = newId()
  const change = async (what: string) =>
    (
      await ask<{ status: string }[]>('POST', `/companies/${what}`, { ids: [...ids, unknown] })
    ).data.map(({ status }) => status)
  assert.equal(await charge(key!), 201)
  assert.deepEqual(await change('suspend'), ['changed', 'changed', 'unknown'])
  assert.equal(await charge(key!), 403)
  assert.deepEqual(await change('suspend'), ['unchanged', 'unchanged', 'unknown'])
  assert.deepEqual(await change('resume'), ['changed', 'changed', 'unknown'])
  assert.equal(await charge(key!), 201)
  const home = await api.app.places.find(ids[0]!)
  const entries = await home!.db.query<{ action: string; name: string }>({
    text: 'select action, author_name as name from activity where company_id = $1 order by id',
    values: [ids[0]],
  })
  assert.deepEqual(
    entries.filter(({ name }) => name === 'operator API').map(({ action }) => action),
    ['company.create', 'key.create', 'company.suspend', 'company.resume'],
  )
})

test('keys are made, listed and revoked together; owners learn of those that move money', async () => {
  const live = { ...wanted(1), mode: 'live', pixKey: 'loja@example.com' }
  const { data: companies } = await make([live, wanted(2)])
  const [one, two] = companies.map(({ companyId }) => companyId)
  type Key = { companyId: Uuid; status: string; id: Uuid; text: string }
  const { data: keys } = await ask<Key[]>('POST', '/keys', {
    keys: [
      { companyId: one, name: 'till' },
      { companyId: two, name: 'reader', scopes: ['payments:read'] },
      { companyId: newId(), name: 'nobody' },
    ],
  })
  assert.deepEqual(
    keys.map(({ status }) => status),
    ['created', 'created', 'unknown'],
  )
  assert.equal(await read(keys[0]!.text), 200)
  assert.equal(await charge(keys[1]!.text), 403, 'it may only read')
  const letters = await lettersOf(api, one!)
  assert.deepEqual(
    letters.map(({ kind }) => kind),
    ['access-changed'],
  )
  const listed = await ask<{ name: string; revokedAt?: string }[]>('GET', `/keys?companyId=${one}`)
  assert.deepEqual(
    listed.data.map(({ name }) => name),
    ['first', 'till'],
  )
  const gone = await ask<{ status: string }[]>('POST', '/keys/revoke', {
    keys: [
      { companyId: one, id: keys[0]!.id },
      { companyId: two, id: keys[0]!.id },
    ],
  })
  assert.deepEqual(
    gone.data.map(({ status }) => status),
    ['revoked', 'unknown'],
  )
  assert.equal(await read(keys[0]!.text), 401, 'at once')
  const after = await ask<{ revokedAt?: string }[]>('GET', `/keys?companyId=${one}`)
  assert.ok(after.data[1]!.revokedAt)
})

test('keys that are asked for again with the same Idempotency-Key are made once', async () => {
  const companies = (
    await make([
      { ...wanted(1), place: 1 },
      { ...wanted(2), place: 2 },
    ])
  ).data
  const ids = companies.map(({ companyId }) => companyId)
  const keys = [...ids, ids[0]].map((companyId) => ({ companyId, name: 'once' }))
  const send = (wanted: object[], key = 'a key of the operator') =>
    ask<{ id: Uuid; text: string }[]>('POST', '/keys', { keys: wanted }, OPERATOR_KEY, {
      'Idempotency-Key': key,
    })
  const [one, two] = await Promise.all([send(keys), send(keys)])
  assert.equal(new Set(one.data.map(({ text }) => text)).size, 3)
  assert.deepEqual(two.data, one.data)
  const other = await send(keys.map((key) => ({ ...key, name: 'other' })))
  assert.deepEqual([other.status, other.errors[0]!.code], [422, 'idempotency_key_reused'])
  assert.equal((await send(keys, 'ü')).status, 400)
  assert.notEqual((await send(keys, 'another')).data[0]!.id, one.data[0]!.id)
})

test('the keys of all companies are listed by the hundred', async () => {
  const companies = (
    await make([
      { ...wanted(1), place: 1 },
      { ...wanted(2), place: 2 },
    ])
  ).data
  type Listed = { id: Uuid; companyId: Uuid }
  const listed: Listed[] = []
  for (let after = ''; ; after = `&after=${listed.at(-1)!.id}`) {
    const { data } = await ask<Listed[]>('GET', `/keys?limit=50${after}`)
    if (data.length === 0) break
    listed.push(...data)
  }
  const known = new Set(listed.map(({ id }) => id))
  assert.equal(known.size, listed.length)
  for (const { companyId, key } of companies) {
    assert.ok(listed.some((one) => one.id === key!.id && one.companyId === companyId))
  }
  const ids = listed.map(({ id }) => id)
  assert.deepEqual(ids, ids.toSorted())
})
