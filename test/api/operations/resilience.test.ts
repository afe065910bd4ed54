import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import { type Creation, groupCharges } from '../../../src/core/charges/group.ts'
import { waitUntilAppliedAt } from '../../../src/core/companies/announce.ts'
import { revokeKey } from '../../../src/core/companies/commands.ts'
import { keyIdOf } from '../../../src/core/companies/keys.ts'
import { newId } from '../../../src/lib/ids.ts'
import { payer, startApi } from '../../support/api.ts'
import { until } from '../../support/until.ts'

const api = await startApi()

const cutAll = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

async function onSide<T>(act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: api.databaseUrl })
  await client.connect()
  try {
    return await act(client)
  } finally {
    await client.end()
  }
}

test('a connection that is cut inside a transaction ends neither the process nor the work', async () => {
  let attempts = 0
  const result = await api.app.db.transaction(async (tx) => {
    attempts += 1
    await tx.query({ text: 'select 1' })
    if (attempts === 1) await onSide((client) => client.query(cutAll))
    const [row] = await tx.query<{ two: number }>({ text: 'select 2 as two' })
    return row!.two
  })
  assert.deepEqual([result, attempts], [2, 2])
})

test('a key whose request found an earlier charge keeps that answer, even after it was paid', async () => {
  const client = await api.client()
  const body = { amount: 1000, customer: payer(), externalId: 'order', devMode: true }
  const post = (key: string) =>
    client.post('/charge/pix', body, { headers: { 'Idempotency-Key': key } })
  const first = await Promise.all(['a', 'b', 'c', 'd'].map(post))
  const ids = new Set(first.map(({ body: { data } }) => data.id))
  assert.equal(ids.size, 1)
  await client.post(`/charge/${[...ids][0]}/simulate-payment`)
  for (const [i, key] of ['a', 'b', 'c', 'd'].entries()) {
    const again = await post(key)
    assert.equal(again.text, first[i]!.text)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
  }
})

const WAITING = `select from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`

test('groups with the same external ids in opposite order do not wait for each other', async () => {
  const client = await api.client()
  const { charges } = api.app
  const { create } = charges
  const written: Creation[] = []
  const noteAndCreate = (creation: Creation) => {
    written.push(creation)
    return create(creation)
  }
  charges.create = Object.assign(noteAndCreate, { idle: create.idle })
  await client.post('/charge/pix', { amount: 1000, customer: payer(), externalId: 'first' })
  charges.create = create
  const [{ charge, emailIndex, at }] = written as [Creation]
  const others = { emailIndex, at, events: [], response: null, mails: [] }
  // A process writes one group at a time, so there are two of those that gather groups.
  const writers = [groupCharges(api.app.db), groupCharges(api.app.db)]
  const write = (names: string[], writer: number) =>
    names.map((externalId) =>
      writers[writer]!.create({ ...others, charge: { ...charge, id: newId(), externalId } }),
    )
  for (let round = 0; round < 6; round++) {
    // Two groups, which both begin and end with the same two, and go on at the same moment.
    const between = (group: string) =>
      Array.from({ length: 30 }, (_, n) => `${round} ${group} ${n}`)
    const [one, other] = [`${round} one`, `${round} other`]
    const groups = [
      [one, ...between('a'), other],
      [other, ...between('b'), one],
    ]
    const ends = await onSide(async (side) => {
      await side.query('begin')
      await side.query('lock table charges in exclusive mode')
      const writing = Promise.allSettled(groups.flatMap(write))
      await until('both groups wait', async () => (await api.rows(WAITING)).length === 2)
      await side.query('commit')
      return writing
    })
    const failed = ends.filter(({ status }) => status === 'rejected')
    assert.equal(failed.length, 2, 'one open charge has an external id')
  }
  const [row] = await api.rows<{ deadlocks: number }>(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  )
  assert.equal(row!.deadlocks, 0)
})

test('a key that is revoked while it is looked up is not remembered', async () => {
  for (let round = 0; round < 10; round++) {
    const client = await api.client()
    const asking = client.get('/company')
    const revoking = api.app.db.transaction((tx) =>
      revokeKey(tx, client.company.id, keyIdOf(client.key)!, api.clock.now()),
    )
    await Promise.all([asking, revoking])
    await until('the key is revoked in every server', () => waitUntilAppliedAt(api.databaseUrl))
    assert.equal((await client.get('/company')).status, 401)
  }
})

test('what recognises a request again cannot be searched for a tax id', async () => {
  const client = await api.client()
  const body = { amount: 1000, customer: { name: 'Maria', taxId: '52998224725' }, externalId: 'x' }
  await client.post('/charge/pix', body)
  const [row] = await api.rows<{ fingerprint: Buffer }>(
    'select fingerprint from charges where company_id = $1',
    [client.company.id],
  )
  const text =
    '/charge/pix\n{"amount":1000,"customer":{"name":"Maria","taxId":"52998224725"},"externalId":"x"}'
  assert.notDeepEqual(row!.fingerprint, createHash('sha256').update(text).digest())
  assert.deepEqual(row!.fingerprint, api.app.vault.fingerprint(text.split('\n')))
})

test('a record that somebody holds too long is reported as such, not as a fault of ours', async () => {
  const client = await api.client()
  const made = await client.post('/charge/pix', { amount: 1000, customer: payer() })
  await onSide(async (holder) => {
    await holder.query('begin')
    await holder.query('select 1 from charges where company_id = $1 for update', [
      client.company.id,
    ])
    const reply = await client.post(`/charge/${made.body.data.id}/cancel`)
    assert.deepEqual([reply.status, reply.body.errors[0].code], [503, 'service_unavailable'])
    await holder.query('rollback')
  })
})

test('a duplicate of a charge whose customer is gone has a customer again', async () => {
  const client = await api.client()
  const made = await client.post('/charge/pix', { amount: 1000, customer: payer() })
  const [customer] = (await client.get('/client')).body.data
  await client.delete(`/client/${customer.id}`)
  assert.equal((await client.post(`/charge/duplicate/${made.body.data.id}`)).status, 201)
  assert.equal((await client.get('/client')).body.data[0].taxId, customer.taxId)
})
