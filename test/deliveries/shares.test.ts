import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { cloneDatabase } from '../support/database.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { delivering } from './crowd.ts'
import { patience } from './figures.ts'
import {
  atEnd,
  beginScene,
  commitEvents,
  makeCompany,
  openApp,
  registerAll,
  withSenderLimits,
} from './scene.ts'

beginScene()

/** More receivers than requests that may be open at once, on hosts of their own. */
const COMPANIES = 22
const EACH = 50
/** Requests of one company to receivers that have not answered yet. */
const SLOTS = 32

const app = openApp(await cloneDatabase())

/** Receivers on many loopback addresses that do not answer before they are let. */
async function startSlow() {
  const held: ServerResponse[] = []
  const server = createServer((_, response) => held.push(response))
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  atEnd(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const answer = () => {
    server.removeAllListeners('request')
    server.on('request', (_, response) => response.end())
    for (const response of held) response.end()
  }
  return { held, answer, urlOf: (n: number) => `http://127.0.0.${n + 2}:${port}/` }
}

test(
  `${COMPANIES * EACH} receivers that take their time keep no other company waiting`,
  patience,
  async () => {
    const own = withSenderLimits(app, { deadline_ms: 300_000, connect_ms: 300_000 })
    const { held, answer, urlOf } = await startSlow()
    const slow = []
    for (let n = 0; n < COMPANIES; n++) {
      const company = await makeCompany(own)
      await registerAll(own, company, Array(EACH).fill(urlOf(n)))
      await commitEvents(own, company.id)
      slow.push(company)
    }
    const receiver = await startReceiver()
    const [known, newcomer] = [await makeCompany(own), await makeCompany(own)]
    await registerAll(own, known, [`${receiver.url}/known`])
    await registerAll(own, newcomer, [`${receiver.url}/newcomer`])
    await delivering(own, async () => {
      const most = COMPANIES * SLOTS
      await until('the slow hold all that they may', () => held.length >= most)
      await commitEvents(own, known.id, 5)
      own.alarm.wake('deliver webhooks')
      await until('a receiver gets its events', () => receiver.received.length === 5)
      await commitEvents(own, newcomer.id)
      own.alarm.wake('deliver webhooks')
      await until('so does a new one', () => receiver.received.length === 6)
      assert.equal(held.length, most)
      answer()
      await until('all is delivered', async () => {
        const [row] = await own.db.query<{ count: number }>({
          text: 'select count(*)::int as count from deliveries',
        })
        return row!.count === 0
      })
    })
  },
)
