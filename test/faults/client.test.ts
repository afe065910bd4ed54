import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { Vintem } from '../../packages/client/src/index.ts'
import { forEachLimited } from '../../src/lib/for-each-limited.ts'
import { payer, startApi } from '../support/api.ts'
import { isLong } from '../support/long.ts'
import { FATES, startFaultProxy } from './client-proxy.ts'
import { createRandom } from './random.ts'

const CREATIONS = Number(process.env.CREATIONS ?? (isLong ? 1_000 : 60))
const SEED = Number(process.env.SEED ?? randomInt(2 ** 31))
/** Most of the time is pauses, which do not hinder each other. */
const AT_ONCE = 40
const TIMEOUT_MS = 4_000

test(`${CREATIONS} creations through an unreliable network, seed ${SEED}: none doubled, none lost`, async (t) => {
  const api = await startApi()
  const { key, company } = await api.client()
  const proxy = await startFaultProxy(api.url, createRandom(SEED))
  api.atEnd(proxy.close)
  const vintem = new Vintem({ url: proxy.url, key, retries: 40, timeout_ms: TIMEOUT_MS })
  // No externalId, because the server would know repetitions by it too.
  const create = async (n: number): Promise<string> => {
    const amount = 1000 + n
    if (n % 3 === 0) return (await vintem.charges.createPix({ amount, customer: payer() })).id
    if (n % 3 === 1) return (await vintem.links.create({ total: amount, customer: payer() })).id
    const fields = payer({ name: `Cliente ${n}`, status: 'ACTIVE' }) as never
    return (await vintem.customers.create(fields)).id
  }
  const ids = new Map<number, string>()
  const all = Array.from({ length: CREATIONS }, (_, n) => n)
  await forEachLimited(AT_ONCE, all, async (n) => {
    ids.set(n, await create(n))
  })

  const direct = new Vintem({ url: api.url, key })
  const stored: [number, string][] = []
  for await (const { id, total } of direct.charges.list({ limit: 1000 })) {
    stored.push([total - 1000, id])
  }
  for await (const { id, name } of direct.customers.list({ limit: 1000 })) {
    const [, n] = /^Cliente (\d+)$/.exec(name) ?? []
    if (n) stored.push([Number(n), id])
  }
  const inOrder = (pairs: [number, string][]) => pairs.toSorted(([a], [b]) => a - b)
  assert.deepEqual(inOrder(stored), inOrder([...ids]), `of company ${company.id}, seed ${SEED}`)
  for (const fate of FATES) assert.ok(proxy.counts[fate] > 0, fate)
  t.diagnostic(JSON.stringify(proxy.counts))
})
