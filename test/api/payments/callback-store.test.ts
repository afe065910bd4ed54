import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCallbackBatchers } from '../../../src/core/payments/callbacks.ts'
import { claimCallbacks } from '../../../src/core/payments/store.ts'
import type { Database } from '../../../src/db/database.ts'
import { newId } from '../../../src/lib/ids.ts'
import { type Client, startApi } from '../../support/api.ts'
import { dueAt } from '../../support/requests.ts'

const api = await startApi()
const { db } = api.app

/** The batcher that stores callbacks, and how often it has used the database. */
function storing(fail: () => unknown) {
  const tried = { times: 0 }
  const counted: Database = {
    ...db,
    query: ((statement) => {
      tried.times += 1
      const error = fail()
      return error ? Promise.reject(error) : db.query(statement)
    }) as Database['query'],
  }
  const { store } = createCallbackBatchers(counted, {
    askDisputes: async () => true,
    syncNamed: async () => new Set(),
    recordReturns: async () => {},
  })
  return { store, tried }
}

const callback = ({ company }: Client, fields = {}) => ({
  companyId: company.id,
  id: newId(),
  provider: 'bacen',
  sealed: Buffer.from('sealed'),
  receivedAt: api.clock.now(),
  nextAttemptAt: api.clock.now(),
  ...fields,
})

const storedOf = async ({ company }: Client) =>
  (await api.rows('select 1 from bank_callbacks where company_id = $1', [company.id])).length

test('if the database is away, a group of callbacks is tried once and not in parts', async () => {
  const client = await api.client()
  const { store, tried } = storing(() =>
    Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' }),
  )
  const ends = await Promise.allSettled(Array.from({ length: 16 }, () => store(callback(client))))
  assert.deepEqual(new Set(ends.map(({ status }) => status)), new Set(['rejected']))
  assert.equal(tried.times, 1)
  assert.equal(await storedOf(client), 0)
})

test('a faulty callback fails alone', async () => {
  const client = await api.client()
  const { store, tried } = storing(() => null)
  const faulty = callback(client, { provider: null })
  const all = [callback(client), faulty, callback(client), callback(client)]
  const ends = await Promise.allSettled(all.map((one) => store(one as typeof faulty)))
  const states = ends.map(({ status }) => status)
  assert.deepEqual(states, ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  assert.ok(tried.times > 1)
  assert.equal(await storedOf(client), 3)
})

test('a callback that is not confirmed is tried later each time, up to an hour', async () => {
  await api.rows('delete from bank_callbacks')
  const client = await api.client()
  const { store } = storing(() => null)
  await store(callback(client))
  const waits: number[] = []
  for (let attempt = 1; attempt <= 10; attempt++) {
    const now = api.clock.now()
    const [claimed, ...others] = await claimCallbacks(db, dueAt(now, 10))
    assert.deepEqual([claimed!.attempts, others], [attempt, []])
    assert.deepEqual(await claimCallbacks(db, dueAt(now, 10)), [], 'it is leased')
    const [row] = await api.rows<{ at: Date }>(
      'select next_attempt_at as at from bank_callbacks where company_id = $1',
      [client.company.id],
    )
    waits.push((row!.at.getTime() - now.getTime()) / 1000)
    api.clock.advance(waits.at(-1)!)
  }
  assert.deepEqual(waits, [30, 60, 120, 240, 480, 960, 1920, 3840, 3840, 3840])
})
