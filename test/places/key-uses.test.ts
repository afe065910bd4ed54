import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { type Client, startApi } from '../support/api.ts'
import { killMoverAt } from './killed-mover.ts'

const api = await startApi({}, { places: 2 })

/** A company whose key was used just now. */
async function makeUsed(): Promise<Client> {
  const client = await api.client()
  assert.equal((await client.get('/charge')).status, 200)
  return client
}

async function isNoted({ company }: Client): Promise<boolean> {
  const [row] = await api.rows<{ last_used_at: Date | null }>(
    'select last_used_at from api_keys where company_id = $1',
    [company.id],
  )
  return row!.last_used_at !== null
}

test('uses of keys are noted while another company has left the place', async () => {
  const [gone, other] = [await makeUsed(), await makeUsed()]
  await killMoverAt(api, gone.company.id, 'left')
  await api.service.keys.flush()
  assert.equal(await isNoted(other), true)
})

test('uses of keys that cannot be noted while a company changes its place are noted later', async () => {
  const [moving, other] = [await makeUsed(), await makeUsed()]
  await killMoverAt(api, moving.company.id, 'caught up')
  const mover = new pg.Client({ connectionString: api.places[1]! })
  await mover.connect()
  try {
    // As a mover does for the moment in which it refuses writers.
    await mover.query('select pg_advisory_lock(1986618989, hashtext($1))', [moving.company.id])
    await api.service.keys.flush()
    assert.deepEqual([await isNoted(moving), await isNoted(other)], [false, false])
  } finally {
    await mover.end()
  }
  await api.service.keys.flush()
  assert.deepEqual([await isNoted(moving), await isNoted(other)], [true, true])
})
