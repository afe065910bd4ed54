import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, test } from 'node:test'
import pg from 'pg'
import { cloneDatabase } from '../../test/support/database.ts'
import { openDatabase, serializationConflict } from './database.ts'

// Registered before the end of the database, and so over before it.
after(() => Promise.all([db.end(), listener.end()]))
const url = await cloneDatabase()
const listener = new pg.Client({ connectionString: url })
const received: string[] = []
const db = openDatabase(url, 2)
await listener.connect()
listener.on('notification', ({ payload }) => received.push(payload!))
await listener.query('listen news')

/** Waits for a notification that is sent after those that are looked for. */
async function receivedUntil(last: string): Promise<string[]> {
  db.notify('news', last)
  while (!received.includes(last)) await once(listener, 'notification')
  return received.splice(0)
}

test('servers are notified once, when what they are notified of is committed', async () => {
  let runs = 0
  await db.transaction(async (tx) => {
    runs += 1
    tx.notify('news', 'one')
    tx.notify('news', 'one')
    if (runs === 1) throw serializationConflict()
    const [row] = await tx.query({ text: 'select pg_current_xact_id_if_assigned() as id' })
    assert.equal(row!.id, null, 'the transaction itself does not notify')
  })
  const failed = db.transaction(async (tx) => {
    tx.notify('news', 'nothing')
    throw new Error('a fault of ours')
  })
  await assert.rejects(failed)
  assert.deepEqual(await receivedUntil('last'), ['one', 'last'])
})

test('many notifications are sent by few statements', async () => {
  let statements = 0
  db.pools.light.on('acquire', () => {
    statements += 1
  })
  for (let n = 0; n < 500; n += 1) db.hot.notify('news', `${n}`)
  assert.equal((await receivedUntil('end')).length, 501)
  assert.equal(statements, 1)
})

test('what was to be sent is sent before the database is closed', async () => {
  const other = openDatabase(url, 1)
  await other.transaction(async (tx) => tx.notify('news', 'from a command'))
  await other.end()
  assert.deepEqual(await receivedUntil('end'), ['from a command', 'end'])
})
