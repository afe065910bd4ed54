import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { appsOf } from '../../src/core/app.ts'
import { auditCompany } from '../../src/core/audits/commands.ts'
import { moveCompany } from '../../src/core/places/move.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { until } from '../deliveries/until.ts'
import { type Client, payer, startApi } from '../support/api.ts'
import { startReceiver } from '../support/receiver.ts'
import { register } from '../support/webhooks.ts'

const api = await startApi({}, { places: 2 })
const apps = appsOf(api.app)
const workers = apps.map((app) => startWorker(app))
api.atEnd(() => Promise.all(workers.map((worker) => worker.stop())))
const receiver = await startReceiver()

/** What the client was answered, and the longest time without a success. */
type Journal = { charges: string[]; paid: string[]; refused: number; gap_ms: number }

/** Creates charges and pays every second one. Each request is repeated until it works. */
async function trade(client: Client, name: string, journal: Journal, isOver: () => boolean) {
  let last_ms = performance.now()
  const insist = async (path: string, json: object, key: string) => {
    for (;;) {
      const reply = await client.post(path, json, { headers: { 'Idempotency-Key': key } })
      if (reply.status < 300) {
        journal.gap_ms = Math.max(journal.gap_ms, performance.now() - last_ms)
        last_ms = performance.now()
        return reply.body.data
      }
      assert.equal(reply.status, 503, reply.text)
      assert.ok(Number(reply.headers.get('retry-after')) >= 1)
      journal.refused += 1
      await pause(50)
    }
  }
  for (let n = 0; !isOver(); n += 1) {
    const charge = { amount: 1000 + n, customer: payer(), devMode: true }
    const { id } = await insist('/charge/pix', charge, `${name}${n}`)
    journal.charges.push(id)
    if (n % 2 === 1) continue
    await insist(`/charge/${id}/simulate-payment`, {}, `${name}${n} paid`)
    journal.paid.push(id)
  }
}

test('a company is moved under load: nothing is lost or doubled, and others notice nothing', async () => {
  const [moved, other] = [await api.client(), await api.client()]
  await register(moved, receiver.url, ['charge.pending', 'charge.paid'])
  const journal: Journal = { charges: [], paid: [], refused: 0, gap_ms: 0 }
  const others: Journal = { charges: [], paid: [], refused: 0, gap_ms: 0 }
  let isOver = false
  const trading = [
    ...['a', 'b', 'c'].map((name) => trade(moved, name, journal, () => isOver)),
    trade(other, 'o', others, () => isOver),
  ]
  await until('some charges', async () => (journal.charges.length > 20 ? true : null))
  const { id } = moved.company
  const { refused_ms } = await moveCompany({
    companyId: id,
    urls: api.places,
    from: 2,
    to: 1,
    grace_ms: 2_000,
  })
  const count = journal.charges.length
  await until('charges in the new place', async () =>
    journal.charges.length > count + 20 ? true : null,
  )
  isOver = true
  await Promise.all(trading)
  assert.ok(refused_ms < 5_000, `refused for ${refused_ms} ms`)
  assert.equal(others.refused, 0)
  await requireSame(moved, journal)
  const { faults } = await auditCompany(apps[0]!, id, { whole: true })
  assert.deepEqual(faults, [])
})

/** Charges, events and deliveries are those that were acknowledged, each once. */
async function requireSame(client: Client, journal: Journal): Promise<void> {
  const { id } = client.company
  const { db } = apps[0]!
  const stored = await db.query<{ id: string; paid: boolean }>({
    text: `select id, payment_status <> 'PROCESSING' as paid from charges where company_id = $1`,
    values: [id],
  })
  assert.equal(stored.length, journal.charges.length)
  assert.equal(stored.filter(({ paid }) => paid).length, journal.paid.length)
  const feed: string[] = []
  for (let after = ''; ; ) {
    const { body } = await client.get(`/event?limit=100${after}`)
    if (body.data.length === 0) break
    for (const event of body.data) {
      if (['charge.pending', 'charge.paid'].includes(event.type)) {
        feed.push(`${event.type} ${event.data.charge.id}`)
      }
    }
    after = `&after=${body.data.at(-1).id}`
  }
  const expected = [
    ...journal.charges.map((charge) => `charge.pending ${charge}`),
    ...journal.paid.map((charge) => `charge.paid ${charge}`),
  ]
  assert.deepEqual(feed.toSorted(), expected.toSorted())
  await until('all deliveries', async () => {
    const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
    return ids.size >= expected.length ? true : null
  })
}
