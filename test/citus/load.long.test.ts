import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { appsOf } from '../../src/core/app.ts'
import { auditCompany } from '../../src/core/audits/commands.ts'
import { withSchema } from '../../src/db/citus.ts'
import { createPlace } from '../../src/db/citus-place.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { until } from '../deliveries/until.ts'
import { newJournal, requireSame, trade } from '../places/trade.ts'
import { startApi } from '../support/api.ts'
import { CITUS_BIN, startCitus } from '../support/citus-nodes.ts'
import { startReceiver } from '../support/receiver.ts'
import { register } from '../support/webhooks.ts'

const NONE = 'CITUS_BIN does not say where a PostgreSQL with Citus is'

/** Two places on the two nodes of a cluster, people in the first and companies in the second. */
async function open() {
  const [coordinator, ...nodes] = await startCitus(2)
  const places: string[] = []
  for (const schema of ['p1', 'p2']) {
    places.push(await createPlace(withSchema(coordinator.url, schema)))
  }
  const api = await startApi({}, { places: places as [string, string] })
  // Registered after the end of the service, and so run after it.
  after(() => Promise.all([coordinator, ...nodes].map((node) => node.stop())))
  const apps = appsOf(api.app)
  const workers = apps.map((app) => startWorker(app))
  api.atEnd(() => Promise.all(workers.map((worker) => worker.stop())))
  const receiver = await startReceiver()
  const holderOf = (url: string) => nodes.find(({ port }) => new URL(url).port === String(port))!
  return { coordinator, nodes, places, api, db: apps[1]!.db, app: apps[1]!, receiver, holderOf }
}

/** Trades while something is done to the cluster, and until it works again after that. */
async function duringTrade(
  { api, app, db, receiver }: Awaited<ReturnType<typeof open>>,
  act: () => Promise<void>,
) {
  const client = await api.client()
  await register(client, receiver.url, ['charge.pending', 'charge.paid'])
  const journal = newJournal()
  let isOver = false
  const trading = ['a', 'b', 'c'].map((name) => trade(client, name, journal, () => isOver))
  const more = (what: string) => {
    const count = journal.charges.length
    return until(what, async () => (journal.charges.length > count + 20 ? true : null))
  }
  await more('charges before')
  await act()
  await more('charges after')
  isOver = true
  await Promise.all(trading)
  await requireSame(db, receiver, client, journal)
  const { faults } = await auditCompany(app, client.company.id, { whole: true })
  assert.deepEqual(faults, [])
  return journal
}

test('a schema is moved to another node under load: nothing is lost or doubled', {
  skip: CITUS_BIN ? false : NONE,
}, async (t) => {
  const scene = await open()
  const { coordinator, nodes, places, holderOf } = scene
  const from = holderOf(places[1]!)
  const to = nodes.find((node) => node !== from)!
  const moved = await duringTrade(scene, async () => {
    await coordinator.query(
      `select citus_schema_move('p2', '127.0.0.1', ${to.port}, shard_transfer_mode := 'force_logical')`,
    )
  })
  t.diagnostic(JSON.stringify({ ...moved, charges: moved.charges.length, paid: moved.paid.length }))
  assert.ok(moved.gap_ms < 10_000, `nothing was answered for ${moved.gap_ms} ms`)
})
