import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCallbackFinder } from '../../../src/core/banks/commands.ts'
import { onePlace } from '../../../src/core/places/front.ts'
import type { Query, Tx } from '../../../src/db/database.ts'
import { createKeyRing } from '../../../src/http/auth.ts'
import { openServerNotifications } from '../../../src/http/notifications.ts'
import { newId, packPair } from '../../../src/lib/ids.ts'
import { startApi } from '../../support/api.ts'
import { stopTime } from '../../support/stopped-time.ts'
import { until } from '../../support/until.ts'

const api = await startApi({ RATE_LIMIT: '1000' })
const BELIEVED_MS = 10_000

test('a neighbour at the same address who tries wrong keys locks out nobody whose key has worked', async (t) => {
  const [known, fresh] = [await api.client(), await api.client()]
  // A server remembers keys from when it receives changes of companies.
  await until('the key is remembered', async () => {
    assert.equal((await known.get('/company')).status, 200)
    return api.service.keys.isFamiliar(known.key)
  })
  // Time is stopped, later than a key is believed without a look: no token comes back meanwhile.
  const later = performance.now() + BELIEVED_MS + 1
  t.mock.method(performance, 'now', () => later)
  const wrong = { headers: { 'X-API-KEY': 'vk_sandbox_wrong' } }
  let status = 401
  for (let i = 0; i < 1000 && status === 401; i++) {
    status = (await api.call('GET', '/company', wrong)).status
  }
  assert.equal(status, 429)
  assert.equal((await fresh.get('/company')).status, 429, 'it could be a guess')
  assert.equal((await known.get('/company')).status, 200)
})

/** A database that notes the names of its queries. */
function noting<D extends Tx>(db: D): { db: D; names: (string | undefined)[] } {
  const names: (string | undefined)[] = []
  const query: D['query'] = (query: Query) => {
    names.push(query.name)
    return db.query(query)
  }
  return { db: { ...db, query }, names }
}

test('keys that come together are looked up together, so that guesses are cheap', async () => {
  const client = await api.client()
  const { db, names } = noting(api.app.db)
  const notifications = openServerNotifications(api.databaseUrl, api.app.log)
  const ring = createKeyRing(onePlace({ ...api.app, db: { ...db, of: () => db } }), [notifications])
  const guesses = Array.from({ length: 60 }, () => `vk_sandbox_${newId().replaceAll('-', '')}`)
  const found = await Promise.all([...guesses, client.key].map((key) => ring.find(key)))
  assert.ok(found.slice(0, -1).every((session) => session === null))
  assert.equal(found.at(-1)?.company.id, client.company.id)
  assert.deepEqual(names, ['find_active_keys'])
  await notifications.close()
})

test('tokens of callbacks that come together are looked up together', async () => {
  const { db, names } = noting(api.app.db)
  const find = createCallbackFinder(db)
  const guesses = Array.from({ length: 60 }, () => packPair(newId(), newId()))
  const found = await Promise.all([...guesses, 'nobody'].map(find))
  assert.ok(found.every((companyId) => companyId === null))
  assert.deepEqual(names, ['find_callback_ids'])
})

test('a lookup that fails because of the database is not tried again in parts', async () => {
  const names: (string | undefined)[] = []
  const query = ({ name }: Query) => {
    names.push(name)
    return Promise.reject(new Error('Connection terminated'))
  }
  const db = { ...api.app.db, query }
  const notifications = openServerNotifications(api.databaseUrl, api.app.log)
  const ring = createKeyRing(onePlace({ ...api.app, db: { ...db, of: () => db } }), [notifications])
  const guesses = Array.from({ length: 60 }, () => `vk_sandbox_${newId().replaceAll('-', '')}`)
  const found = await Promise.allSettled(guesses.map((key) => ring.find(key)))
  const find = createCallbackFinder(db)
  const tokens = Array.from({ length: 60 }, () => packPair(newId(), newId()))
  const called = await Promise.allSettled(tokens.map(find))
  assert.ok([...found, ...called].every(({ status }) => status === 'rejected'))
  assert.deepEqual(names, ['find_active_keys', 'find_callback_ids'])
  await notifications.close()
})

/** A key ring that the test tells of changes, and of their absence. */
function openRing() {
  const state = { alive: true, announce: (_: string | null) => {} }
  const { db, names } = noting(api.app.db)
  const notifications = {
    on: (_: string, receive: (payload: string | null) => void) => {
      state.announce = receive
    },
    notify() {},
    alive: () => state.alive,
    close: async () => {},
  }
  const ring = createKeyRing(onePlace({ ...api.app, db: { ...db, of: () => db } }), [notifications])
  /** The company of a key that is remembered. */
  const companyOf = (key: string) => ring.findCached(key)?.company.id
  return { ring, companyOf, state, names }
}

test('a key that is remembered is looked up again after ten seconds', async (t) => {
  const { key, company } = await api.client()
  const { ring, companyOf, names } = openRing()
  const time = stopTime(t)
  await ring.find(key)
  time.advance(9.9)
  assert.equal(companyOf(key), company.id)
  time.advance(0.1)
  assert.equal(companyOf(key), undefined, 'its change may have been announced to nobody')
  await ring.find(key)
  assert.equal(companyOf(key), company.id)
  assert.equal(names.length, 2)
})

test('a key is remembered only if every change of its company is heard of', async () => {
  const { key, company } = await api.client()
  const { ring, companyOf, state } = openRing()
  state.alive = false
  assert.ok(await ring.find(key))
  assert.equal(companyOf(key), undefined, 'while the connection is lost')
  state.alive = true
  const finding = ring.find(key)
  state.announce(company.id)
  assert.ok(await finding)
  assert.equal(companyOf(key), undefined, 'a change was announced while it was looked up')
  for (const [changed, isForgotten] of [
    [newId(), false],
    [company.id, true],
    [null, true],
  ] as const) {
    await ring.find(key)
    state.announce(changed)
    assert.equal(companyOf(key) === undefined, isForgotten, String(changed))
  }
})
