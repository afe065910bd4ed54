import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../src/db/database.ts'
import { type Client, payer } from '../support/api.ts'
import type { Receiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

/** What the client was answered, and the longest time without a success. */
export type Journal = { charges: string[]; paid: string[]; refused: number; gap_ms: number }

export const newJournal = (): Journal => ({ charges: [], paid: [], refused: 0, gap_ms: 0 })

/** Creates charges and pays every second one. Each request is repeated until it works. */
export async function trade(client: Client, name: string, journal: Journal, isOver: () => boolean) {
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

/** Charges, events and deliveries are those that were acknowledged, each once. */
export async function requireSame(
  db: Database,
  receiver: Receiver,
  client: Client,
  journal: Journal,
): Promise<void> {
  const { id } = client.company
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
