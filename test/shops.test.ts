import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { errorOf } from '../packages/client/src/errors.ts'
import { Vintem } from '../packages/client/src/index.ts'
import { payerOfSession } from '../packages/medusa-payment-vintem/src/charge.ts'
import { stateOf } from '../packages/shop/src/charge.ts'
import { isRefusal } from '../packages/shop/src/errors.ts'
import { type Progress, pull } from '../packages/shop/src/pull.ts'
import { lowestIdAt, toPublic } from '../src/lib/ids.ts'
import { type Client, startApi } from './support/api.ts'
import { makePaid } from './support/payments.ts'
import { temporaryFolder } from './support/process.ts'

const api = await startApi()
const MAX_BYTES = 90_000
/** As the map of a script names what it is made of. */
const SOURCE = /^(\.\.\/)*(shop\/)?src\//

const paid = { status: 'COMPLETED', total: 1990 } as const

test('a charge pays for a session only with its whole amount, and only while it has it', () => {
  assert.equal(stateOf(paid, 1990), 'paid')
  assert.equal(stateOf(paid, 1991), 'closed')
  assert.equal(stateOf(paid, 1989), 'closed')
  assert.equal(stateOf({ ...paid, shortfall: 1 }, 1990), 'closed')
  assert.equal(stateOf({ ...paid, refunded: 1 }, 1990), 'closed')
  assert.equal(stateOf({ ...paid, refunded: 1990 }, 1990), 'closed')
})

test('a charge that is not paid is open for its amount, or over', () => {
  const open = { status: 'OPEN', total: 1990 } as const
  assert.equal(stateOf(open, 1990), 'open')
  assert.equal(stateOf(open, 2990), 'closed')
  assert.equal(stateOf({ ...open, status: 'CANCELED' }, 1990), 'closed')
  assert.equal(stateOf({ ...open, status: 'EXPIRED' }, 1990), 'closed')
})

test('the payer is what the page sends, and the rest is that of the customer', () => {
  const customer = {
    first_name: 'Maria',
    last_name: 'da Silva',
    email: 'maria@example.com',
    phone: null,
    metadata: { taxId: '12345678909' },
  }
  const known = { name: 'Maria da Silva', taxId: '12345678909', email: 'maria@example.com' }
  assert.deepEqual(payerOfSession(undefined, customer), known)
  assert.deepEqual(payerOfSession({ name: 'João' }, customer), { ...known, name: 'João' })
  assert.deepEqual(payerOfSession({ taxId: '12345678909' }, undefined), { taxId: '12345678909' })
})

test('an answer refuses something unless the same request is still under way', () => {
  const answer = (status: number, code: string) =>
    errorOf(status, new Headers(), { message: code, errors: [{ code, description: code }] })
  const refusals = [answer(400, 'invalid_value'), answer(409, 'charge_not_payable')]
  const others = [answer(409, 'idempotency_in_progress'), answer(503, 'service_unavailable')]
  assert.deepEqual([...refusals, ...others, new Error('away')].map(isRefusal), [
    true,
    true,
    false,
    false,
    false,
  ])
})

/** A shop that keeps its progress as JSON, and takes what nothing is wrong with. */
class Shop {
  progress: Progress | undefined
  taken: string[] = []
  fault: unknown = null

  pull({ key }: Pick<Client, 'key'>): Promise<void> {
    return pull(new Vintem({ url: api.url, key }), {
      progress: this.progress,
      save: async (progress) => {
        this.progress = JSON.parse(JSON.stringify(progress))
      },
      since_ms: async () => 0,
      take: async ({ data }) => {
        if (this.fault) throw this.fault
        this.taken.push((data as { charge: { id: string } }).charge.id)
      },
      warn: () => undefined,
    })
  }
}

async function paidOf(client: Client, count: number): Promise<string[]> {
  const ids = []
  for (let i = 0; i < count; i += 1) ids.push((await makePaid(api, client, 700)).id)
  return ids
}

test('a shop with the key of another company goes on with its payments', async () => {
  const [sandbox, live] = [await api.client(), await api.client()]
  const [before, after] = [await paidOf(sandbox, 1), await paidOf(live, 2)]
  const shop = new Shop()
  await shop.pull(sandbox)
  await shop.pull(live)
  assert.deepEqual(shop.taken, [...before, ...after])
  await shop.pull(live)
  assert.deepEqual(shop.taken, [...before, ...after])
})

test('after a backup was restored a shop goes on with the event that the server names', async () => {
  const client = await api.client()
  const old = await paidOf(client, 2)
  const shop = new Shop()
  await shop.pull(client)
  const hour_ms = 3_600_000
  const inHours = (hours: number) => new Date(Date.now() + hours * hour_ms)
  await api.rows(
    `insert into installation (secret_key_id, restored_to) values ('test', $1)
     on conflict (only_row) do update set restored_to = $1`,
    [inHours(1)],
  )
  shop.progress = { after: toPublic('evt', lowestIdAt(inHours(2))), failed: [] }
  await shop.pull(client)
  await api.rows('update installation set restored_to = null')
  assert.deepEqual(shop.taken, old)
  const made = await paidOf(client, 1)
  await shop.pull(client)
  assert.deepEqual(shop.taken, [...old, ...made])
})

test('what failed waits, no more than a few, and what is of another company does not', async () => {
  const client = await api.client()
  const ids = await paidOf(client, 5)
  const shop = new Shop()
  shop.fault = new Error('no database')
  await shop.pull(client)
  assert.equal(shop.progress!.failed.length, 5)
  const one = shop.progress!.failed[0]!
  const full = { after: shop.progress!.after!, failed: Array(100).fill(one) }
  shop.progress = full
  const [more] = await paidOf(client, 1)
  await shop.pull(client)
  assert.deepEqual(shop.progress, full)
  shop.fault = null
  shop.progress = { after: full.after, failed: [one] }
  await shop.pull(client)
  assert.deepEqual(shop.taken, [ids[0], more])
  const other = new Vintem({ url: api.url, key: (await api.client()).key })
  shop.fault = await other.charges.get(ids[0]!).catch((error) => error)
  shop.progress = { after: shop.progress!.after!, failed: [one] }
  await shop.pull(client)
  assert.deepEqual(shop.progress!.failed, [])
})

const PLUGINS = {
  medusa: ['.medusa/server/src/index.js', '.medusa/server/src/jobs/pull-vintem-payments.js'],
  vendure: ['index.js'],
}

for (const [shop, wanted] of Object.entries(PLUGINS)) {
  test(`the package for ${shop} has what the shop looks for, the client, and little else`, async () => {
    const folder = temporaryFolder()
    const { build } = await import(`../scripts/${shop}/build.ts`)
    await build(folder)
    const { version, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    assert.deepEqual(dependencies, { '@vintem/client': version })
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const stats = files.map((file) => statSync(join(folder, file)))
    const size = stats.reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0)
    assert.ok(size < MAX_BYTES, `${size} bytes`)
    const scripts = files.filter((file) => file.endsWith('.js')).sort()
    assert.deepEqual(scripts, wanted)
    const maps = scripts.map((file) => readFileSync(join(folder, `${file}.map`), 'utf8'))
    for (const map of maps) {
      assert.deepEqual(
        (JSON.parse(map).sources as string[]).filter((path) => !SOURCE.test(path)),
        [],
      )
    }
  })
}
