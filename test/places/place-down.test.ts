import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { databaseAt } from '../citus/cluster.ts'
import { payer, startApi } from '../support/api.ts'

const api = await startApi({}, { places: 2 })

test('companies of one place work as fast as ever while another place is down', async () => {
  const client = await api.client()
  assert.equal((await client.get('/charge')).status, 200)
  const down = new URL(api.places[0]!)
  const name = down.pathname.slice(1)
  const base = new pg.Client({ connectionString: databaseAt(down.href, 'postgres') })
  await base.connect()
  try {
    await base.query(`alter database ${name} allow_connections false`)
    await base.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
      name,
    ])
    const times: number[] = []
    for (let n = 0; n < 5; n += 1) {
      const start_ms = performance.now()
      const made = await client.post('/charge/pix', { amount: 1000, customer: payer() })
      assert.equal(made.status, 201, made.text)
      times.push(Math.round(performance.now() - start_ms))
    }
    assert.ok(Math.max(...times) < 1_000, `each took ${times.join(', ')} ms`)
  } finally {
    await base.query(`alter database ${name} allow_connections true`)
    await base.end()
  }
})
