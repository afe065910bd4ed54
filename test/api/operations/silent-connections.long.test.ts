import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { payer, startApi } from '../../support/api.ts'
import { cloneDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

/** A network between service and database that can lose connections without notice. */
async function startNetwork(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl)
  const pairs: { near: Socket; far: Socket; isLost: boolean }[] = []
  const server = createServer((near) => {
    const pair = { near, far: connect(Number(port), hostname), isLost: false }
    pairs.push(pair)
    const carry = (from: Socket, to: Socket) => {
      from.on('error', () => {})
      from.on('data', (chunk) => {
        if (!pair.isLost) to.write(chunk)
      })
      from.on('close', () => {
        if (!pair.isLost) to.destroy()
      })
    }
    carry(near, pair.far)
    carry(pair.far, near)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  after(() => {
    server.close()
    for (const { near, far } of pairs) {
      near.destroy()
      far.destroy()
    }
  })
  const url = new URL(databaseUrl)
  url.port = String((server.address() as { port: number }).port)
  return {
    url: url.href,
    /** Loses all open connections, and returns them. Neither end is informed. */
    lose() {
      const lost = pairs.filter(({ near, isLost }) => !near.closed && !isLost)
      for (const pair of lost) pair.isLost = true
      return lost
    },
  }
}

/** Less than the time after which a single statement is given up. */
const SOON_MS = 30_000

test('connections that are lost without notice are closed soon, and the service continues', async () => {
  const network = await startNetwork(await cloneDatabase())
  const api = await startApi({}, { databaseUrl: network.url })
  const client = await api.client()
  const post = (key: string) =>
    client.post(
      '/charge/pix',
      { amount: 1000, customer: payer() },
      { headers: { 'Idempotency-Key': key } },
    )
  assert.equal((await post('before')).status, 201)
  const worker = await api.app.db.tasks.connect()
  api.atEnd(async () => worker.release(true))
  await until('the database is watched', async () => {
    const rows = await api.rows(
      `select from pg_stat_activity
       where datname = current_database() and application_name = 'vintem ping'`,
    )
    return rows.length === 1
  })
  const lost = network.lose()
  assert.ok(lost.length >= 4, 'requests, heartbeat, listener and a worker')
  const late = pause(SOON_MS, null, { ref: false })
  const replies = await Promise.race([Promise.all([post('a'), post('b')]), late])
  assert.ok(replies, `not answered within ${SOON_MS} ms`)
  for (const { status } of replies) assert.ok([201, 503].includes(status), `${status}`)
  await until('all of them are closed', () => lost.every(({ near }) => near.closed))
  for (const key of ['a', 'b']) {
    await until('the service continues', async () => (await post(key)).status === 201)
  }
  const { body } = await client.get('/charge?kind=PIX')
  assert.equal(body.data.length, 3, 'each is done once')
})
