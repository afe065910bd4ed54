import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problem } from '../lib/problems.ts'
import { createConfirming } from './confirming.ts'
import { serversOf } from './servers.ts'

let databases = 0

/** Servers that nobody connects to, and commits that the test confirms or fails. */
async function openDoubts({ isReplicated = true } = {}) {
  const servers = serversOf(`postgres://vintem@one.example,two.example/database${databases++}`)
  const commits: PromiseWithResolvers<void>[] = []
  let watched = 0
  const confirming = createConfirming(servers, {
    write() {
      commits.push(Promise.withResolvers())
      return commits.at(-1)!.promise
    },
    watch() {
      watched += 1
    },
  })
  servers.setReplicated(isReplicated)
  const doubts = { servers, commits, confirming, watched: () => watched }
  if (isReplicated) {
    assert.equal(servers.isInDoubt(), true, 'what was committed before may be missing')
    await confirmNext(doubts)
  }
  commits.length = 0
  watched = 0
  return doubts
}

type Doubts = Pick<Awaited<ReturnType<typeof openDoubts>>, 'commits'>

const tick = () => new Promise(setImmediate)

async function confirmNext({ commits }: Doubts): Promise<void> {
  commits.at(-1)!.resolve()
  await tick()
}

test('a commit that is lost while another is being confirmed stays in doubt', async () => {
  const doubts = await openDoubts()
  const { servers, commits, confirming, watched } = doubts
  assert.equal(servers.isInDoubt(), false)
  confirming.lost()
  confirming.lost()
  assert.equal(commits.length, 1, 'one commit at a time')
  await confirmNext(doubts)
  assert.deepEqual([servers.isInDoubt(), commits.length], [true, 2], 'the second came later')
  await confirmNext(doubts)
  assert.deepEqual([servers.isInDoubt(), commits.length, watched()], [false, 2, 2])
})

test('a commit that fails confirms nothing, and the next one does', async () => {
  const doubts = await openDoubts()
  const { servers, commits, confirming } = doubts
  confirming.lost()
  commits[0]!.reject(new Error('cut'))
  await tick()
  assert.equal(servers.isInDoubt(), true)
  const again = confirming.settle()
  await confirmNext(doubts)
  await again
  assert.equal(servers.isInDoubt(), false)
})

test('without a standby nothing is in doubt', async () => {
  const { servers, commits, confirming } = await openDoubts({ isReplicated: false })
  confirming.lost()
  assert.equal(servers.isInDoubt(), false)
  assert.equal(await confirming.during(async () => 'answer', 1_000), 'answer')
  assert.equal(commits.length, 0)
})

const HOUR_MS = 3_600_000

test('while there is doubt nothing is read, and what was read when it came is not answered', async () => {
  const doubts = await openDoubts()
  const { servers, confirming } = doubts
  servers.lost()
  let hasRead = false
  const late = confirming.during(async () => {
    hasRead = true
    servers.lost()
    return 'answer'
  }, HOUR_MS)
  let isAnswered = false
  late.then(() => {
    isAnswered = true
  })
  await tick()
  assert.equal(hasRead, false)
  await confirmNext(doubts)
  assert.deepEqual([hasRead, isAnswered], [true, false])
  await confirmNext(doubts)
  assert.equal(await late, 'answer')
})

test('an error that says what was read waits too, and one that says nothing does not', async () => {
  const doubts = await openDoubts()
  const { servers, confirming } = doubts
  const failing = (error: Error) =>
    confirming.during(async () => {
      servers.lost()
      throw error
    }, HOUR_MS)
  await assert.rejects(failing(problem('service_unavailable')), { code: 'service_unavailable' })
  await confirmNext(doubts)
  const found = failing(problem('charge_not_found')).catch(({ code }) => code)
  let isTold = false
  found.then(() => {
    isTold = true
  })
  await tick()
  assert.equal(isTold, false)
  await confirmNext(doubts)
  assert.equal(await found, 'charge_not_found')
})

test('a doubt that does not end is answered that the service is not available', async () => {
  const { servers, confirming } = await openDoubts()
  servers.lost()
  const reading = confirming.during(async () => assert.fail('nothing is read'), 1)
  await assert.rejects(reading, { code: 'service_unavailable' })
})

const LOST = Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' })

test('a write whose answer was lost is over when a commit after it is confirmed; a read at once', async () => {
  for (const [text, isWrite] of [
    ['with new as (INSERT into charges default values) select 1', true],
    ['update charges set amount = 1', true],
    ['select 1 from charges', false],
  ] as const) {
    const doubts = await openDoubts()
    const { servers, commits, confirming } = doubts
    let isOver = false
    const run = confirming
      .confirmed({ text }, async (attempt) => {
        await assert.rejects(attempt(Promise.reject(LOST)))
        return attempt(Promise.resolve('done'))
      })
      .then((result) => {
        isOver = true
        return result
      })
    await tick()
    assert.deepEqual([commits.length, isOver], isWrite ? [1, false] : [0, true], text)
    if (isWrite) {
      await confirmNext(doubts)
      assert.equal(isOver, false, 'that commit had begun before its own rows were found')
      await confirmNext(doubts)
    }
    assert.equal(await run, 'done')
    assert.equal(servers.isInDoubt(), false)
  }
})

test('a write that meets its own rows after its answer was lost fails when a commit is confirmed', async () => {
  const doubts = await openDoubts()
  const { servers, confirming } = doubts
  const violated = Object.assign(new Error('duplicate key'), { code: '23505' })
  let isOver = false
  const run = confirming
    .confirmed({ text: 'insert into charges default values' }, async (attempt) => {
      await assert.rejects(attempt(Promise.reject(LOST)))
      return attempt(Promise.reject(violated))
    })
    .catch((error) => {
      isOver = true
      return error
    })
  await tick()
  await confirmNext(doubts)
  assert.equal(isOver, false)
  await confirmNext(doubts)
  assert.equal(await run, violated)
  assert.equal(servers.isInDoubt(), false)
})
