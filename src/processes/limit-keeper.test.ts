import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitFailures } from '../lib/limits.ts'
import type { Channel } from './channel.ts'
import { createLimitKeeper, type LimitKeeper } from './limit-keeper.ts'
import type { LimitAnswer, LimitCall } from './messages.ts'
import { createRemoteLimits } from './remote-limits.ts'

const LONG_MS = 3_600_000

/** A process that uses limits, and the answers that it has got. */
function join(keeper: LimitKeeper) {
  const answers = new Map<number, LimitAnswer[1]>()
  const familiar: string[] = []
  const client = keeper.join(
    (given) => {
      for (const [id, value] of given) answers.set(id, value)
    },
    (names) => familiar.push(...names),
  )
  return { ...client, answers, familiar, send: (...call: LimitCall) => client.call([call]) }
}

/** Lets what was promised by now be done. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a bucket is the same for all processes', () => {
  const keeper = createLimitKeeper()
  const [one, other] = [join(keeper), join(keeper)]
  for (const client of [one, other]) client.send(0, 'rate', 'keys', '', 0.001, 3)
  one.call([
    [1, 'take', 'keys', 'a'],
    [2, 'take', 'keys', 'a'],
  ])
  other.send(1, 'take', 'keys', 'a')
  other.send(2, 'take', 'keys', 'a')
  other.send(3, 'take', 'keys', 'b')
  assert.deepEqual([...one.answers.values()], [0, 0])
  assert.equal(other.answers.get(1), 0)
  assert.ok(Number(other.answers.get(2)) > 0, 'there is no fourth token')
  assert.equal(other.answers.get(3), 0)
})

test('what fails in any process is counted before it is tried, and what succeeds is given back', async () => {
  const keeper = createLimitKeeper()
  const limits = [0, 1].map(() => {
    const waiting = new Map<number, (value: unknown) => void>()
    let next = 0
    const client = keeper.join(
      (given) => {
        for (const [id, value] of given) waiting.get(id)!(value)
      },
      () => {},
    )
    const ask = (verb: LimitCall[1], limit: string, name: string) => {
      next += 1
      const id = next
      const answer = new Promise<unknown>((resolve) => waiting.set(id, resolve))
      // A message takes a while.
      setImmediate(() => client.call([[id, verb, limit, name]]))
      return Object.assign(answer, { id })
    }
    const post = (...call: [LimitCall[1], string, string, ...number[]]) =>
      client.call([[0, ...call]])
    const familiar = { has: () => false, forget: () => {} }
    return createRemoteLimits({ post, ask } as unknown as Channel, familiar)
  })
  const attempts = limits.map(({ rate }) => limitFailures(rate('failed', 0.001, 10)))
  const refuse = () => {
    throw new Error('refused')
  }
  const tryAll = (count: number, result: string | null) =>
    Promise.allSettled(
      Array.from({ length: count }, (_, n) =>
        attempts[n % 2]!('address', refuse, async () => {
          await settled()
          return result
        }),
      ),
    )
  const done = (results: PromiseSettledResult<unknown>[]) =>
    results.filter(({ status }) => status === 'fulfilled').length
  assert.equal(done(await tryAll(10, 'right')), 10)
  assert.equal(done(await tryAll(100, null)), 10, 'as many as the bucket has')
  assert.equal(done(await tryAll(2, 'right')), 0, 'until there are tokens again')
})

test('the slots of a process are given back when it ends, and no others', () => {
  const keeper = createLimitKeeper()
  const [one, other] = [join(keeper), join(keeper)]
  for (const client of [one, other]) client.send(0, 'queue', 'pages', '', 100, 3)
  one.send(1, 'tryEnter', 'pages', 'a')
  one.send(2, 'tryEnter', 'pages', 'a')
  one.send(0, 'leave', 'pages', '', 2)
  other.send(1, 'tryEnter', 'pages', 'a')
  other.send(2, 'tryEnter', 'pages', 'a')
  other.send(3, 'tryEnter', 'pages', 'a')
  assert.deepEqual([...other.answers.values()], [true, true, false])
  one.end()
  other.send(4, 'tryEnter', 'pages', 'a')
  other.send(5, 'tryEnter', 'pages', 'a')
  assert.deepEqual([other.answers.get(4), other.answers.get(5)], [true, false])
})

test('a verb that nobody knows is an error', () => {
  const client = join(createLimitKeeper())
  assert.throws(() => client.send(1, 'lend' as 'take', 'pages', 'a'), /no verb "lend"/)
})

test('a slot goes to another process when the first leaves it, ends, or waits no more', async () => {
  const keeper = createLimitKeeper()
  const [one, other, third] = [join(keeper), join(keeper), join(keeper)]
  for (const client of [one, other, third]) client.send(0, 'queue', 'moves', '', 1, 1)
  one.send(1, 'enter', 'moves', 'a', LONG_MS)
  await settled()
  other.send(1, 'enter', 'moves', 'b', LONG_MS)
  third.send(1, 'enter', 'moves', 'c', LONG_MS)
  await settled()
  assert.deepEqual([one.answers.get(1), other.answers.get(1)], [true, undefined])
  one.send(0, 'leave', 'moves', 'a', 1)
  await settled()
  assert.equal(other.answers.get(1), true)
  assert.equal(third.answers.get(1), undefined)
  other.end()
  await settled()
  assert.equal(third.answers.get(1), true)
  // One that waits while it ends takes the slot and gives it back.
  one.send(2, 'enter', 'moves', 'a', LONG_MS)
  await settled()
  one.end()
  third.send(0, 'leave', 'moves', 'c', 1)
  third.send(2, 'enter', 'moves', 'c', LONG_MS)
  await settled()
  assert.equal(third.answers.get(2), true)
})

test('who waits for too long is refused', async () => {
  const keeper = createLimitKeeper()
  const client = join(keeper)
  client.send(0, 'queue', 'moves', '', 1, 1)
  client.send(1, 'enter', 'moves', 'a', LONG_MS)
  const refused = Promise.withResolvers<LimitAnswer>()
  const other = keeper.join(
    ([answer]) => refused.resolve(answer!),
    () => {},
  )
  other.call([[7, 'enter', 'moves', 'b', 1]])
  assert.deepEqual(await refused.promise, [7, false])
})

test('a key that has worked in one process is known to all, those that come later too', () => {
  const keeper = createLimitKeeper()
  const [one, other, gone] = [join(keeper), join(keeper), join(keeper)]
  gone.end()
  one.send(0, 'note', '', 'hash')
  other.send(0, 'note', '', 'hash')
  assert.deepEqual([one.familiar, other.familiar, gone.familiar], [['hash'], ['hash'], []])
  assert.deepEqual(join(keeper).familiar, ['hash'])
})

test('a process with another configuration makes its limits anew, and one with the same does not', () => {
  const keeper = createLimitKeeper()
  const [one, next] = [join(keeper), join(keeper)]
  one.send(0, 'rate', 'keys', '', 0.001, 1)
  one.send(1, 'take', 'keys', 'a')
  next.send(0, 'rate', 'keys', '', 0.001, 1)
  next.send(1, 'take', 'keys', 'a')
  assert.ok(Number(next.answers.get(1)) > 0)
  next.send(0, 'rate', 'keys', '', 0.001, 2)
  next.send(2, 'take', 'keys', 'a')
  assert.equal(next.answers.get(2), 0)
})
