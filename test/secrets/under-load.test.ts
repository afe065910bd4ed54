import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { pageToken } from '../../src/core/charges/addresses.ts'
import { countSealed } from '../../src/core/secrets/rotate.ts'
import { openDatabase } from '../../src/db/database.ts'
import { fromPublic } from '../../src/lib/ids.ts'
import { createVault, keysOf } from '../../src/lib/vault.ts'
import { makeShop, SECRET_KEY, send } from '../processes/several.ts'
import { payer } from '../support/api.ts'
import { cloneDatabase } from '../support/database.ts'
import { isLong } from '../support/long.ts'
import {
  inherited,
  type Running,
  secretOf,
  startServer,
  temporaryFolder,
} from '../support/process.ts'
import { until } from '../support/until.ts'

const NEXT = secretOf('the next of several processes')
const NEXT_ID = keysOf(Buffer.from(NEXT, 'base64')).keyId
const BOTH = { SECRET_KEY, SECRET_KEY_NEXT: NEXT }
const ROTATOR = join(import.meta.dirname, 'rotator.ts')
/** Charges that are there before, so that there is a middle to be killed in. */
const BEFORE = isLong ? 20_000 : 1_000
const KILLS = isLong ? 10 : 1
/** In `npm test` the one server knows both secrets from the beginning, because a start takes long. */
const SERVERS = isLong ? 2 : 1
const SELLERS = isLong ? 3 : 1

const DATABASE_URL = await cloneDatabase()
const db = openDatabase(DATABASE_URL, 4)
const { company, keys } = await makeShop(DATABASE_URL)
const key = keys[0]!

const start = (secrets: Record<string, string>): Promise<Running> =>
  startServer({ DATABASE_URL, DATA_DIR: temporaryFolder(), ...secrets })

/** Servers that get requests. Whoever replaces one takes it out first, as a proxy does. */
const serving: Running[] = []
const inFlight = new Map<Running, number>()

/** Replaces all servers, one after the other. */
async function replaceAll(secrets: Record<string, string>): Promise<void> {
  for (const former of [...serving]) {
    serving.push(await start(secrets))
    serving.splice(serving.indexOf(former), 1)
    await until('no request', async () => !inFlight.get(former))
    former.child.kill('SIGTERM')
    assert.equal(await former.ended, 0, former.output())
  }
}

const slowest: number[] = []

async function ask(method: string, path: string, json?: unknown, once?: string) {
  const server = serving[slowest.length % serving.length]!
  inFlight.set(server, (inFlight.get(server) ?? 0) + 1)
  const began_ms = performance.now()
  const headers: Record<string, string> = once ? { 'Idempotency-Key': once } : {}
  const answer = await send(server.url, key, [method, path], json, headers).finally(() => {
    inFlight.set(server, inFlight.get(server)! - 1)
  })
  slowest.push(performance.now() - began_ms)
  assert.ok(
    answer.status < 300,
    `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`,
  )
  return answer
}

type Sold = { id: string; n: number; once: string; text: string }
const sold: Sold[] = []

const TAX_IDS = ['52998224725', '39053344705', '11144477735']
const customerOf = (n: number) => payer({ taxId: TAX_IDS[n % 3]!, email: `p${n % 7}@example.com` })
const orderOf = (n: number, externalId: string) => ({
  amount: 1000 + n,
  customer: customerOf(n),
  externalId,
  devMode: true,
})

/** Sells, reads, searches and asks again, until it is over. */
async function trade(name: string, isOver: () => boolean): Promise<void> {
  for (let n = 0; !isOver(); n += 1) {
    const once = `${name}${n}`
    const made = await ask('POST', '/charge/pix', orderOf(n, once), once)
    const { id } = made.body.data
    sold.push({ id, n, once, text: JSON.stringify(made.body) })
    const earlier = sold[Math.floor(Math.random() * sold.length)]!
    const read = await ask('GET', `/charge/${earlier.id}`)
    const shown: string = read.body.data.customer.taxId
    assert.equal(shown.replaceAll(/\D/g, ''), customerOf(earlier.n).taxId.slice(-5))
    const again = await ask('POST', '/charge/pix', orderOf(earlier.n, earlier.once), earlier.once)
    assert.equal(JSON.stringify(again.body), earlier.text)
    const found = await ask('GET', `/charge?taxId=${customerOf(n).taxId}&limit=1`)
    assert.equal(found.body.data.length, 1)
    await ask('POST', `/charge/${id}/simulate-payment`, {})
  }
}

async function fill(): Promise<void> {
  for (let n = 0; n < BEFORE; n += 500) {
    const charges = Array.from({ length: 500 }, (_, i) => ({
      amount: 500 + i,
      customer: payer({ taxId: TAX_IDS[i % 3]!, name: `Pessoa ${n + i}` }),
    }))
    await ask('POST', '/charge/batch', { charges })
  }
}

const rotator = (stderr: 'inherit' | 'ignore' = 'inherit'): ChildProcess =>
  spawn(process.execPath, [ROTATOR, SECRET_KEY, NEXT, DATABASE_URL], {
    env: inherited,
    stdio: ['ignore', 'pipe', stderr],
  })

/** Lets it begin with a part of a large table, and kills it there. */
async function killInTheMiddle(): Promise<void> {
  const child = rotator()
  for await (const chunk of child.stdout!) {
    if (/"table":"charges"[^\n]*"isDone":false/.test(String(chunk))) break
  }
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

async function finish(): Promise<{ resealed: number; unreadable: number }> {
  const child = rotator()
  let text = ''
  for await (const chunk of child.stdout!) text += String(chunk)
  const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
  assert.equal(code, 0, text)
  return JSON.parse(text.trim().split('\n').at(-1)!)
}

test('a secret is replaced under load, killed on its way, and no request fails', async (t) => {
  const first = isLong ? { SECRET_KEY } : BOTH
  serving.push(...(await Promise.all(Array.from({ length: SERVERS }, () => start(first)))))
  await fill()
  let isOver = false
  const trading = Array.from({ length: SELLERS }, (_, i) => trade(`s${i}-`, () => isOver))
  const failed = Promise.all(trading).then(() => {})
  failed.catch(() => {})
  /** Sales go on while something is done, and after it. */
  const step = async (act: Promise<unknown>) => {
    await Promise.race([act, failed])
    const before = sold.length
    const more = until('more sales', async () => sold.length > before + 2)
    await Promise.race([more, failed])
  }
  if (isLong) {
    const [code] = await once(rotator('ignore'), 'exit')
    assert.notEqual(code, 0, 'servers that do not know the new secret are found')
    await step(replaceAll(BOTH))
  }
  for (let n = 0; n < KILLS; n += 1) await step(killInTheMiddle())
  const rotated = finish()
  await step(rotated)
  assert.equal((await rotated).unreadable, 0)
  await step(replaceAll({ SECRET_KEY: NEXT }))
  isOver = true
  await failed
  for (const { counts, table } of await countSealed([db])) {
    assert.deepEqual(
      [...counts.keys()].filter((id) => id !== NEXT_ID),
      [],
      table,
    )
  }
  const customers = await db.query({ text: 'select from customers' })
  assert.equal(customers.length, TAX_IDS.length, 'no payer has become two customers')
  // As payers got their addresses, before.
  const former = createVault(Buffer.from(SECRET_KEY, 'base64'))
  for (const { id } of sold.slice(0, 20)) {
    const token = pageToken(former, { companyId: company.id, id: fromPublic('charge', id)! })
    assert.equal((await fetch(`${serving[0]!.url}/pay/${token}`)).status, 200)
  }
  const sorted = slowest.toSorted((a, b) => a - b)
  const p99 = sorted[Math.floor(sorted.length * 0.99)]!
  t.diagnostic(`${sorted.length} requests, p99 ${p99.toFixed(0)} ms, 0 failed`)
  await db.end()
})
