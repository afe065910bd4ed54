import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { setImmediate as endOfTick } from 'node:timers/promises'
import fc from 'fast-check'
import { createGate, type Ticket } from './gate.ts'
import { createLoopShares } from './loop-shares.ts'

const OWN_SHARE = 0.25
const SHARE = 0.1
const BEGUN_MS = 2
const BURST_MS = 20

function withClock() {
  let now_ms = 1_000
  const shares = createLoopShares(() => now_ms)
  const pass = (ms: number) => {
    now_ms += ms
  }
  return { shares, pass, now: () => now_ms }
}

/** Another company that uses little and always has a running request. */
function neighbourOf({ shares, now }: Pick<ReturnType<typeof withClock>, 'shares' | 'now'>) {
  let [request, begun_ms] = [shares.begin('neighbour', 0), now()]
  return () => {
    if (now() - begun_ms < 100) return
    request.end()
    assert.equal(shares.wait_ms('neighbour'), 0, 'who uses little never waits')
    request = shares.begin('neighbour', 0)
    begun_ms = now()
  }
}

/** Sends one request after the other for a while. Each uses the event loop for that long. */
function use(
  { shares, pass, now }: ReturnType<typeof withClock>,
  names: string[],
  cost_ms: (n: number) => number,
  most_ms: number,
): Record<string, number> {
  const used: Record<string, number> = {}
  const end_ms = now() + most_ms
  const keepNeighbour = neighbourOf({ shares, now })
  for (let n = 0; now() < end_ms; n++) {
    keepNeighbour()
    let isIdle = true
    for (const name of names) {
      if (shares.wait_ms(name) > 0) continue
      isIdle = false
      const spender = shares.begin(name, 0)
      const ms = cost_ms(n)
      pass(ms)
      spender.spend(ms)
      spender.end()
      used[name] = (used[name] ?? 0) + ms
    }
    if (isIdle) pass(1)
  }
  return used
}

test('a company that uses much gets a tenth of the event loop beside others, whatever its requests cost', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 5, max: 60 }), { minLength: 1 }), (costs) => {
      const all = use(withClock(), ['heavy'], (n) => costs[n % costs.length]!, 10_000)
      const max = 2 * BURST_MS + SHARE * 10_000 + 4 * 60
      assert.ok(all.heavy! <= max, `${all.heavy} ms of 10 s`)
      assert.ok(all.heavy! >= SHARE * 10_000 * 0.8, `only ${all.heavy} ms of 10 s`)
    }),
  )
})

test('a company that uses less than a quarter never waits, however many others use very little', () => {
  const { shares, pass } = withClock()
  const others = Array.from({ length: 24 }, (_, n) => `other ${n}`)
  for (let n = 0; n < 5_000; n++) {
    const running = others.map((name) => shares.begin(name, 0))
    assert.equal(shares.wait_ms('steady'), 0, `request ${n}`)
    const spender = shares.begin('steady', 0)
    spender.spend(2)
    pass(2 / OWN_SHARE + 0.1)
    for (const one of [spender, ...running]) one.end()
  }
})

test('beside others, what a company has begun takes a few milliseconds, or is one request', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 64 * 1024 }), fc.boolean(), (bytes, isAlone) => {
      const { shares, pass } = withClock()
      if (!isAlone) shares.begin('other', 0).end()
      pass(500)
      let begun = 0
      while (begun < 64 && shares.wait_ms('burst', bytes, 64) === 0) {
        shares.begin('burst', bytes)
        begun += 1
      }
      const cost_ms = Math.max(0.5, bytes / 25_000)
      const max = isAlone ? 64 : Math.max(1, Math.floor(BEGUN_MS / cost_ms + 1e-9))
      assert.ok(Math.abs(begun - max) <= (isAlone ? 0 : 1), `${begun} of ${max}`)
    }),
  )
})

test('companies that use much divide the share of one', () => {
  const used = use(withClock(), ['a', 'b', 'c'], () => 3, 20_000)
  const sum = Object.values(used).reduce((total, ms) => total + ms, 0)
  assert.ok(sum <= 6 * BURST_MS + SHARE * 20_000 * 1.1, `${sum} ms of 20 s`)
  for (const [name, ms] of Object.entries(used)) assert.ok(ms > sum / 5, `${name}: ${ms} of ${sum}`)
})

test('companies that use much get all while nobody else is served', () => {
  const { shares, pass } = withClock()
  for (let n = 0; n < 1_000; n++) {
    assert.equal(shares.wait_ms('only'), 0)
    const spender = shares.begin('only', 0)
    pass(50)
    spender.spend(50)
    spender.end()
  }
  const another = shares.begin('another', 0)
  assert.ok(shares.wait_ms('only') > 0, 'what it has used counts as soon as another comes')
  pass(300)
  assert.equal(shares.wait_ms('only'), 0, 'who takes long waits for something else')
  another.end()
})

test('requests that begin together count with the cost of the last ones', () => {
  const { shares, pass } = withClock()
  for (let n = 0; n < 30; n++) {
    const spender = shares.begin('heavy', 0)
    spender.spend(2)
    spender.end()
  }
  pass(900)
  shares.begin('other', 0)
  let begun = 0
  while (shares.wait_ms('heavy') === 0) {
    shares.begin('heavy', 0)
    begun += 1
  }
  assert.ok(begun <= BURST_MS / 1.7, `${begun} requests of 2 ms each`)
})

test('slices of a company’s requests are given in order, as many as its share has room for', async () => {
  const { shares, pass } = withClock()
  const heavy = shares.begin('heavy', 0)
  heavy.spend(BURST_MS)
  const given: number[] = []
  const ask = (n: number) => heavy.take(4).then(() => given.push(n))
  shares.begin('light', 0)
  const all = [1, 2, 3, 4].map(ask)
  await endOfTick()
  assert.deepEqual(given, [], 'it has used its share')
  for (let gone_ms = 2; gone_ms <= 400; gone_ms += 2) {
    pass(2)
    await endOfTick()
    // 4 ms each of a tenth of the time, and the first as soon as anything is left.
    const max = 1 + (gone_ms * SHARE) / 4
    assert.ok(given.length <= max, `${given.length} of ${max} after ${gone_ms} ms`)
  }
  await Promise.all(all)
  assert.deepEqual(given, [1, 2, 3, 4])
})

test('large bodies count before anything is known of a company', () => {
  const { shares } = withClock()
  shares.begin('other', 0)
  let begun = 0
  while (shares.wait_ms('new') === 0) {
    shares.begin('new', 64 * 1024)
    begun += 1
  }
  assert.ok(begun <= 8, `${begun} bodies of 64 KiB`)
})

const connection = () =>
  Object.assign(new EventEmitter(), { destroyed: false }) as unknown as ServerResponse

test('requests beyond a company’s share wait in order, those of another begin at once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { shares, pass } = withClock()
  const gate = createGate({ running: 10, waiting: 2, inAll: 100 }, shares)
  const begun: string[] = []
  const enter = (company: string, name: string, ms: number) => {
    const response = connection()
    gate.enter(company, response, ({ spender }: Ticket) => {
      begun.push(name)
      spender.spend(ms)
    })
    return response
  }
  enter('small', 's1', 0)
  const first = enter('heavy', 'h1', 100)
  enter('heavy', 'h2', 1)
  const third = enter('heavy', 'h3', 1)
  assert.throws(() => enter('heavy', 'h4', 1), { code: 'rate_limited' })
  enter('small', 's2', 0)
  assert.deepEqual(begun, ['s1', 'h1', 's2'])
  first.emit('close')
  assert.deepEqual(begun, ['s1', 'h1', 's2'], 'a free slot is not a share')
  third.emit('close')
  pass(1_100)
  enter('small', 's3', 0)
  t.mock.timers.tick(1_100)
  await endOfTick()
  assert.deepEqual(begun, ['s1', 'h1', 's2', 's3', 'h2'], 'who has gone is not begun')
})
