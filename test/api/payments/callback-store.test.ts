import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCallbackBatchers } from '../../../src/core/payments/callbacks.ts'
import type { Database } from '../../../src/db/database.ts'
import { newId } from '../../../src/lib/ids.ts'
import { type Client, startApi } from '../../support/api.ts'

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
