import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { payer } from '../support/api.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { makeShop, openStream, type Several, send, startSeveral, untilGone } from './several.ts'

const DATABASE_URL = await cloneDatabase()
const [PER_SECOND, BURST] = [2, 30]
const { keys } = await makeShop(DATABASE_URL, 3)
const [limited, shown, familiar] = keys as [string, string, string]
const server: Several = await startSeveral({
  DATABASE_URL,
  RATE_LIMIT: String(PER_SECOND),
  RATE_LIMIT_BURST: String(BURST),
  TRUSTED_PROXIES: '127.0.0.1',
  SHUTDOWN_SECONDS: '1',
})

const times = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

test('a key has one rate limit over all processes', async () => {
  const began_ms = performance.now()
  const asked = await Promise.all(
    times(3 * BURST).map(() => send(server.url, limited, ['GET', '/company'])),
  )
  const passed_s = (performance.now() - began_ms) / 1000
  const names = await Promise.all(asked.map(({ reply }) => server.answeredBy(reply)))
  assert.deepEqual([...new Set(names)].sort(), ['api 1', 'api 2'])
  const answered = asked.filter(({ status }) => status === 200).length
  const refused = asked.filter(({ status }) => status === 429)
  assert.equal(answered + refused.length, asked.length)
  assert.ok(answered >= BURST, `${answered} were answered`)
  assert.ok(answered <= BURST + PER_SECOND * passed_s, `${answered} in ${passed_s} s`)
  for (const { reply } of refused) assert.ok(Number(reply.headers.get('retry-after')) >= 1)
})

/** Of one address, fewer pages may be opened. */
let addresses = 0
function nextAddress(): string {
  addresses += 1
  return `10.0.${addresses >> 8}.${addresses & 255}`
}

/** What `src/web/live.ts` allows. */
const MAX_OF_CHARGE = 20

test('a charge has one limit of open pages over all processes, also after one was killed', async () => {
  const json = { amount: 1000, customer: payer() }
  const made = await send(server.url, shown, ['POST', '/charge/pix'], json)
  assert.equal(made.status, 201)
  const page = `${server.url}${new URL(made.body.data.url).pathname}/events`
  const show = () => openStream(page, { 'X-Forwarded-For': nextAddress() })
  const streams = await Promise.all(times(MAX_OF_CHARGE + 5).map(show))
  const open = streams.filter(({ status }) => status === 200)
  assert.equal(open.length, MAX_OF_CHARGE)
  assert.equal(streams.filter(({ status }) => status === 429).length, 5)

  process.kill(server.pidOf('api 1'), 'SIGKILL')
  await server.untilStarted('api 1', 2)
  // What the killed process had open is given back: all places can be taken again.
  for (const { asking } of open) asking.destroy()
  const again = await until('all places are free', async () => {
    const opened = await Promise.all(times(MAX_OF_CHARGE).map(show))
    if (opened.every(({ status }) => status === 200)) return opened
    for (const { asking } of opened) asking.destroy()
    return null
  })
  assert.equal((await show()).status, 429)
  for (const { asking } of again) asking.destroy()
})

/** What `src/http/admission.ts` allows. */
const FAILED_KEYS = 200

test('a key that has worked in one process is let through by all, whoever guesses beside it', async () => {
  const ask = async (key: string) => (await send(server.url, key, ['GET', '/company'])).status
  const askFamiliar = () => ask(familiar)
  assert.equal(await askFamiliar(), 200)
  const guess = () => ask('vk_sandbox_wrong')
  await until('guesses are refused', async () => {
    const [guesses, known] = await Promise.all([
      Promise.all(times(FAILED_KEYS / 2).map(guess)),
      Promise.all([askFamiliar(), askFamiliar()]),
    ])
    assert.deepEqual(known, [200, 200])
    return guesses.includes(429)
  })
  // Of each process that has not seen the key before, the first request would be refused.
  const known = await Promise.all([...times(FAILED_KEYS).map(guess), ...times(8).map(askFamiliar)])
  assert.deepEqual(known.slice(FAILED_KEYS), Array(8).fill(200))
})

test('of wrong keys that are sent together to all processes no more are tried than the limit', async () => {
  const began_ms = performance.now()
  const headers = { 'X-Forwarded-For': '192.0.2.200' }
  const guess = async (n: number) =>
    (await send(server.url, `vk_sandbox_${n}`, ['GET', '/company'], undefined, headers)).status
  const statuses = await Promise.all(times(3 * FAILED_KEYS).map(guess))
  const tried = statuses.filter((status) => status === 401).length
  const passed_s = (performance.now() - began_ms) / 1000
  assert.ok(tried >= FAILED_KEYS && tried <= FAILED_KEYS + 20 * passed_s, `${tried} in ${passed_s}`)
  assert.equal(statuses.filter((status) => status === 429).length, statuses.length - tried)
})

test('a signal to all processes ends them, and one that hangs is killed', async () => {
  const pids = server.pids()
  const alive = ['api 1', 'api 2', 'worker'].map(server.pidOf)
  process.kill(server.pidOf('api 2'), 'SIGSTOP')
  // A terminal and a supervisor signal the children too, who leave it to the first process.
  for (const pid of alive) process.kill(pid, 'SIGINT')
  const sent = once(server.child, 'exit')
  server.child.kill('SIGINT')
  await sent
  assert.equal(await server.ended, 0)
  await untilGone(pids)
  const killed = server.lines().filter(({ msg }) => /is killed/.test(msg ?? ''))
  assert.equal(killed.length, 1)
})
