import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FullApp } from '../../../src/core/full-app.ts'
import { addSandboxPerson } from '../../../src/core/people/sandbox.ts'
import { appsOf } from '../../../src/core/places/front.ts'
import { removeSandboxes } from '../../../src/core/sandbox-companies.ts'
import {
  MAX_SANDBOXES,
  NEW_SANDBOX_S,
  NEW_SANDBOXES,
  REMOVED_S,
} from '../../../src/core/sandboxes/rules.ts'
import { LATEST } from '../../../src/versions/history.ts'
import { type Client, caller, payer, startApi, type TestApi } from '../../support/api.ts'
import { CLOCK } from '../../support/clocks.ts'
import { makeCharge } from '../../support/payments.ts'
import { asMade, SANDBOX } from '../../support/sandboxes.ts'
import { prepare } from '../every-route.ts'
import { rowsOfCompany, stored } from '../storage.ts'
import { dataOf } from '../tries.ts'

const api = await startApi()
const MINUTE_S = 60
/** Longer than a request of the sandbox may still be under way. */
const GRACE_S = 3 * MINUTE_S

type Made = Pick<Client, 'key' | 'call'> & { id: string; expiresAt: string }

function withKey(key: string, { call } = api as Pick<TestApi, 'call'>): Client['call'] {
  return (method, path, options = {}) =>
    call(method, path, { ...options, headers: { 'X-API-KEY': key, ...options.headers } })
}

async function make(client: Pick<Client, 'call'>, json: object = {}): Promise<Made> {
  const reply = await client.call('POST', SANDBOX, { json })
  assert.equal(reply.status, 201, reply.text)
  const { id, apiKey, expiresAt } = dataOf(reply)
  return { id, key: apiKey, call: withKey(apiKey), expiresAt }
}

const codeOf = (reply: { body: { errors: { code: string }[] } }) => reply.body.errors[0]?.code

/** Does what the task of old data does, at once and after a while. */
async function removeAll(front = api): Promise<void> {
  const run = async () => {
    for (const app of appsOf(front.app)) await removeSandboxes(app as FullApp)
  }
  await run()
  front.clock.advance(GRACE_S)
  await run()
}

test('a sandbox is a company of its own, with the settings of the one that makes it', async () => {
  const client = await api.client({ name: 'Loja', settlesExactPayments: true })
  const made = await make(client, { expiresIn: 90 })
  assert.match(made.key, /^vk_sandbox_/)
  const left_ms = new Date(made.expiresAt).getTime() - api.clock.now().getTime()
  assert.equal(left_ms, 90_000)
  const company = dataOf(await made.call('GET', '/company'))
  assert.equal(company.id, made.id)
  assert.notEqual(made.id, client.company.id)
  assert.deepEqual([company.name, company.settlesExactPayments], ['Loja', true])
  assert.equal(dataOf(await made.call('GET', '/account-balance')).available, 100_000)
})

test('its time is its own', async () => {
  const client = await api.client()
  const [one, other] = [await make(client), await make(client)]
  const moved = await one.call('POST', CLOCK, { json: { advance: 86_400 } })
  assert.equal(moved.status, 200)
  const timeOf = async ({ call }: Pick<Client, 'call'>) =>
    new Date(dataOf(await call('GET', CLOCK)).now).getTime() - api.clock.now().getTime()
  assert.deepEqual(
    [await timeOf(one), await timeOf(other), await timeOf(client)],
    [86_400_000, 0, 0],
  )
})

test('neither its maker nor another sandbox sees its records', async () => {
  const client = await api.client()
  const [one, other] = [await make(client), await make(client)]
  const json = { amount: 700, customer: payer() }
  const { id } = dataOf(await one.call('POST', '/charge/pix', { json }))
  for (const stranger of [client, other]) {
    const reply = await stranger.call('GET', `/charge/${id}`)
    assert.deepEqual([reply.status, codeOf(reply)], [404, 'charge_not_found'])
  }
})

test('its key may do no more than the key that has made it', async () => {
  const client = await api.client({}, { scopes: ['company:write', 'company:read'] })
  const made = await make(client)
  const refused = await made.call('GET', '/charge')
  assert.equal(codeOf(refused), 'insufficient_scope')
  const reader = await api.client({}, { scopes: ['company:read'] })
  assert.equal(codeOf(await reader.post(SANDBOX)), 'insufficient_scope')
  assert.equal(codeOf(await reader.delete(SANDBOX)), 'insufficient_scope')
})

test('play money and real money never meet', async () => {
  const live = await api.client({ mode: 'live', pixKey: 'loja@example.com' })
  const before = await stored(api)
  for (const reply of [await live.post(SANDBOX), await live.delete(SANDBOX)]) {
    assert.deepEqual([reply.status, codeOf(reply)], [404, 'sandbox_only'])
  }
  assert.deepEqual(await stored(api), before)
})

test('no company but one that was made this way can be deleted', async () => {
  const client = await api.client()
  const before = await stored(api)
  const reply = await client.delete(SANDBOX)
  assert.deepEqual([reply.status, codeOf(reply)], [404, 'sandbox_only'])
  assert.match(reply.body.message, /POST \/sandbox/)
  assert.deepEqual(await stored(api), before)
})

test('a company has few until they are removed, those asked for at once included', async () => {
  const client = await api.client()
  const first = await make(client, { expiresIn: 3600 })
  const asked = Array.from({ length: MAX_SANDBOXES + 4 }, () =>
    client.call('POST', SANDBOX, { json: {} }),
  )
  const replies = await Promise.all(asked)
  const made = replies.filter(({ status }) => status === 201)
  assert.equal(made.length, MAX_SANDBOXES - 1)
  const refused = replies.find(({ status }) => status !== 201)!
  assert.deepEqual([refused.status, codeOf(refused)], [429, 'rate_limited'])
  assert.equal(refused.headers.get('retry-after'), `${3600 + REMOVED_S}`)
  assert.equal((await first.call('DELETE', SANDBOX)).status, 200)
  // Its key still works, and its rows are there.
  const early = await client.call('POST', SANDBOX, { json: {} })
  assert.deepEqual([early.status, early.headers.get('retry-after')], [429, `${REMOVED_S}`])
  await removeAll()
  await make(client)
})

test('one that was made makes no others, and says whose key does', async () => {
  const made = await make(await api.client())
  const before = await api.rows('select * from sandboxes')
  const reply = await made.call('POST', SANDBOX)
  assert.deepEqual([reply.status, codeOf(reply)], [404, 'sandbox_only'])
  assert.match(reply.body.message, /the key of the company that has made it/)
  assert.deepEqual(await api.rows('select * from sandboxes'), before)
})

test('more than a page of them are removed in one round', async () => {
  const client = await api.client()
  const ids = []
  for (let i = 0; i < 5; i += 1) ids.push((await make(client, { expiresIn: MINUTE_S })).id)
  api.clock.advance(MINUTE_S)
  await removeSandboxes(api.app, undefined, 2)
  api.clock.advance(GRACE_S)
  await removeSandboxes(api.app, undefined, 2)
  const left = await api.rows('select from companies where id = any ($1::uuid[])', [ids])
  assert.equal(left.length, 0)
})

test('they are made slowly from an address, and an IPv6 one counts with its /64', async () => {
  const limited = await startApi({
    RATE_LIMIT: '1000',
    RATE_LIMIT_BURST: '1000',
    TRUSTED_PROXIES: '127.0.0.1',
  })
  const [one, other] = [await limited.client(), await limited.client()]
  const statuses = []
  for (let i = 0; i <= MAX_SANDBOXES; i += 1) {
    const headers = { 'X-Forwarded-For': `2001:db8:0:1::${i + 1}` }
    const reply = await (i % 2 === 0 ? one : other).call('POST', SANDBOX, { headers })
    statuses.push(reply.status)
    if (reply.status === 429) assert.match(reply.headers.get('retry-after')!, /^\d+$/)
  }
  assert.deepEqual(statuses, [...Array(MAX_SANDBOXES).fill(201), 429])
})

test('they are made slowly by a company, from however many addresses', async () => {
  const limited = await startApi({
    RATE_LIMIT: '1000',
    RATE_LIMIT_BURST: '1000',
    TRUSTED_PROXIES: '127.0.0.1',
  })
  const [one, other] = [await limited.client(), await limited.client()]
  const from = (n: number) => ({ headers: { 'X-Forwarded-For': `203.0.113.${n}` } })
  for (let n = 1; n <= NEW_SANDBOXES; n += 1) {
    const made = dataOf(await one.call('POST', SANDBOX, from(n)))
    // What is deleted at once is not what the company has too many of.
    const deleted = await withKey(made.apiKey, limited)('DELETE', SANDBOX)
    assert.equal(deleted.status, 200)
  }
  const refused = await one.call('POST', SANDBOX, from(NEW_SANDBOXES + 1))
  assert.deepEqual([refused.status, codeOf(refused)], [429, 'rate_limited'])
  assert.ok(Number(refused.headers.get('retry-after')) <= NEW_SANDBOX_S)
  assert.equal((await other.call('POST', SANDBOX, from(1))).status, 201)
})

test('deleted, it stops at once, the request can be repeated, and its key ends', async () => {
  const client = await api.client()
  const made = await make(client)
  const hook = { url: 'https://loja.example/', name: 'Loja', events: ['charge.pending'] }
  const { id } = dataOf(await made.call('POST', '/webhook', { json: hook }))
  const first = await made.call('DELETE', SANDBOX)
  assert.deepEqual(dataOf(first), { id: made.id })
  assert.equal(dataOf(await made.call('GET', `/webhook/${id}`)).status, 'INACTIVE')
  assert.equal((await made.call('DELETE', SANDBOX)).text, first.text)
  await removeAll()
  const after = await made.call('GET', '/company')
  assert.deepEqual([after.status, codeOf(after)], [401, 'invalid_api_key'])
  assert.equal((await client.get('/company')).status, 200)
})

test('its time ends in real time, wherever its clock is', async () => {
  const made = await make(await api.client(), { expiresIn: 10 * MINUTE_S })
  await made.call('POST', CLOCK, { json: { advance: 157_000_000 } })
  await removeAll()
  assert.equal((await made.call('GET', '/company')).status, 200)
  api.clock.advance(10 * MINUTE_S)
  await removeAll()
  assert.equal((await made.call('GET', '/company')).status, 401)
})

/** The tables in which a company has rows. */
async function tablesWith(front: TestApi, companyId: string): Promise<string[]> {
  const columns = await front.rows<{ name: string; column: string }>(
    `select c.relname as name, a.attname as column from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.atttypid = 'uuid'::regtype
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
       and not c.relispartition and not a.attisdropped order by 1`,
  )
  await front.app.lateActivity.idle()
  const parts = columns.map(
    ({ name, column }) =>
      `select '${name}' as name where exists (select from ${name} where ${column} = $1)`,
  )
  const rows = await front.rows<{ name: string }>(parts.join(' union '), [companyId])
  return rows.map(({ name }) => name).sort()
}

test('all that it has is removed, wherever that is interrupted, and nothing of others', async () => {
  const [client] = await prepare(api, LATEST.name)
  const neighbour = await api.client()
  await makeCharge(neighbour, 700)
  const { id } = client.company
  await asMade(api, client)
  assert.equal((await client.delete(SANDBOX)).status, 200)
  const tables = await tablesWith(api, id)
  assert.ok(tables.length > 20, `${tables.length} tables have rows`)
  const others = await rowsOfCompany(api, neighbour.company.id)
  await removeSandboxes(api.app)
  api.clock.advance(GRACE_S)
  // What is removed before a killed process ends is committed, as it is before this error.
  await api.rows(`create function killed() returns trigger language plpgsql as
    $$ begin raise exception 'killed'; end $$`)
  for (const table of tables.filter((name) => !/^api_requests/.test(name))) {
    await api.rows(`create trigger killed before delete on ${table}
      for each statement execute function killed()`)
    await assert.rejects(removeSandboxes(api.app), /killed/, table)
    await api.rows(`drop trigger killed on ${table}`)
  }
  await removeSandboxes(api.app)
  assert.deepEqual(await tablesWith(api, id), [])
  assert.equal(await rowsOfCompany(api, neighbour.company.id), others)
  await removeSandboxes(api.app)
})

test('books of other companies cannot be removed, not even by the same connection', async () => {
  const client = await api.client()
  const made = await make(client)
  const { client: connection, release } = await api.app.db.connect()
  await connection.query(`set vintem.mover = 'on'`)
  for (const id of [client.company.id, made.id]) {
    for (const table of ['postings', 'activity']) {
      const removal = connection.query(`delete from ${table} where company_id = $1`, [id])
      await assert.rejects(removal, /never changed or deleted/)
    }
  }
  release(true)
})

test('a sandbox that is being moved is left alone until it has arrived', async () => {
  const made = await make(await api.client())
  await api.rows(
    `insert into company_moves (company_id, state, other_place) values ($1, 'leaving', 2)`,
    [made.id],
  )
  await made.call('DELETE', SANDBOX)
  await removeAll()
  assert.equal((await made.call('GET', '/company')).status, 200)
  await api.rows('delete from company_moves where company_id = $1', [made.id])
  await removeAll()
  assert.deepEqual(await tablesWith(api, made.id), [])
})

test('with two databases it lives where its maker does, and both forget it', async () => {
  const two = await startApi({}, { places: 2 })
  const maker = await two.client()
  const reply = await maker.post(SANDBOX)
  const { id, apiKey } = dataOf(reply)
  const call = withKey(apiKey, { call: caller(two.url) })
  assert.equal(dataOf(await call('GET', '/company')).id, id)
  await two.app.db.control.transaction((tx) => addSandboxPerson(tx, id, two.clock.now()))
  await call('DELETE', SANDBOX)
  await removeAll(two)
  assert.equal((await call('GET', '/company')).status, 401)
  assert.deepEqual(await tablesWith(two, id), [])
  assert.deepEqual(await two.peopleRows('select from memberships where company_id = $1', [id]), [])
  assert.equal((await maker.get('/company')).status, 200)
})
