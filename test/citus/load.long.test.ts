import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { App } from '../../src/core/app.ts'
import { auditCompany } from '../../src/core/audits/commands.ts'
import { moveCompany } from '../../src/core/moves/move.ts'
import { appsOf } from '../../src/core/places/front.ts'
import { withSchema } from '../../src/db/citus.ts'
import { createPlace } from '../../src/db/citus-place.ts'
import { runWorker } from '../../src/serving.ts'
import { type Journal, newJournal, requireSame, trade } from '../places/trade.ts'
import { type Client, startApi } from '../support/api.ts'
import { CITUS_BIN, HOST, NO_CITUS, startCitus } from '../support/citus-nodes.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { register } from '../support/webhooks.ts'

const KILLS = 5

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
  const stopWorkers = runWorker(api.app)
  api.atEnd(() => stopWorkers())
  const receiver = await startReceiver()
  const holderOf = (url: string) => nodes.find(({ port }) => new URL(url).port === String(port))!
  return { coordinator, nodes, places, api, apps, receiver, holderOf }
}

type Scene = Awaited<ReturnType<typeof open>>
const summaryOf = ({ charges, paid, refused, gap_ms }: Journal): string =>
  `${charges.length} charges, ${paid.length} paid, ${refused} refusals, ${Math.round(gap_ms)} ms gap`

/** Trades while something is done to the cluster, and until it works again after that. */
async function duringTrade(
  { api, receiver }: Scene,
  act: (client: Client, more: () => Promise<unknown>) => Promise<void>,
) {
  const client = await api.client()
  await register(client, receiver.url, ['charge.pending', 'charge.paid'])
  const journal = newJournal()
  let isOver = false
  const trading = ['a', 'b', 'c'].map((name) => trade(client, name, journal, () => isOver))
  const more = () => {
    const count = journal.charges.length
    return until('more charges', async () => (journal.charges.length > count + 20 ? true : null))
  }
  await more()
  await act(client, more)
  await more()
  isOver = true
  await Promise.all(trading)
  return { client, journal }
}

/** What was acknowledged is in this place, each thing once, and the books agree. */
async function requireWhole(
  { receiver }: Scene,
  app: App,
  { client, journal }: Awaited<ReturnType<typeof duringTrade>>,
): Promise<void> {
  await requireSame(app.db, receiver, client, journal)
  const { faults } = await auditCompany(app, client.company.id, { whole: true })
  assert.deepEqual(faults, [])
}

/** Each test has a cluster of its own. */
const onCitus = (name: string, act: (scene: Scene, t: TestContext) => Promise<void>) =>
  test(name, { skip: CITUS_BIN ? false : NO_CITUS }, async (t) => act(await open(), t))

onCitus('a schema is moved under load: nothing is lost or doubled', async (scene, t) => {
  const { api, apps, coordinator, nodes, places, holderOf } = scene
  const from = holderOf(places[1]!)
  const to = nodes.find((node) => node !== from)!
  const moved = await duringTrade(scene, async () => {
    await coordinator.query(
      `select citus_schema_move('p2', '${HOST}', ${to.port}, shard_transfer_mode := 'force_logical')`,
    )
  })
  await requireWhole(scene, apps[1]!, moved)
  t.diagnostic(summaryOf(moved.journal))
  assert.ok(moved.journal.gap_ms < 10_000, `nothing was answered for ${moved.journal.gap_ms} ms`)
  // The address names the former node, whose locks nobody holds who writes.
  const move = { companyId: moved.client.company.id, urls: api.places, from: 2, to: 1 }
  await assert.rejects(moveCompany(move), /Citus keeps place 2 on .*PLACES/)
})

onCitus('a company is moved under load: nothing is lost or doubled', async (scene, t) => {
  const { api, apps } = scene
  let refused_ms = Number.POSITIVE_INFINITY
  const moved = await duringTrade(scene, async ({ company }) => {
    const move = { companyId: company.id, urls: api.places, from: 2, to: 1, grace_ms: 2_000 }
    refused_ms = (await moveCompany(move)).refused_ms
  })
  t.diagnostic(`${summaryOf(moved.journal)}, refused for ${Math.round(refused_ms)} ms`)
  assert.ok(refused_ms < 5_000)
  await requireWhole(scene, apps[0]!, moved)
})

onCitus('a node is killed under load, and comes back: nothing is lost', async (scene, t) => {
  const { apps, places, holderOf } = scene
  const node = holderOf(places[1]!)
  const killed = await duringTrade(scene, async (_, more) => {
    for (let n = 0; n < KILLS; n += 1) {
      await node.kill()
      await node.start()
      await more()
    }
  })
  t.diagnostic(summaryOf(killed.journal))
  await requireWhole(scene, apps[1]!, killed)
})
