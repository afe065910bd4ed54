import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConfirming } from './confirming.ts'
import { serversOf } from './servers.ts'

let databases = 0

/** Servers that nobody connects to, and commits that the test confirms or fails. */
function openDoubts({ isReplicated = true } = {}) {
  const servers = serversOf(`postgres://vintem@one.example,two.example/database${databases++}`)
  servers.setReplicated(isReplicated)
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
  return { servers, commits, confirming, watched: () => watched }
}

test('a commit that is lost while another is being confirmed stays in doubt', async () => {
  const { servers, commits, confirming, watched } = openDoubts()
  assert.equal(servers.isInDoubt(), false)
  confirming.lost()
  const first = confirming.confirm()
  confirming.lost()
  commits[0]!.resolve()
  await first
  assert.equal(servers.isInDoubt(), true)
  const second = confirming.confirm()
  commits[1]!.resolve()
  await second
  assert.equal(servers.isInDoubt(), false)
  assert.equal(watched(), 2)
})

test('a commit that fails confirms nothing', async () => {
  const { servers, commits, confirming } = openDoubts()
  confirming.lost()
  const failing = confirming.confirm()
  commits[0]!.reject(new Error('cut'))
  await assert.rejects(failing, /cut/)
  assert.equal(servers.isInDoubt(), true)
})

test('an earlier commit that is confirmed later brings no doubt back', async () => {
  const { servers, commits, confirming } = openDoubts()
  const early = confirming.confirm()
  confirming.lost()
  const late = confirming.confirm()
  commits[1]!.resolve()
  await late
  assert.equal(servers.isInDoubt(), false)
  commits[0]!.resolve()
  await early
  assert.equal(servers.isInDoubt(), false)
})

test('without a standby nothing is in doubt', () => {
  const { servers, confirming } = openDoubts({ isReplicated: false })
  confirming.lost()
  assert.equal(servers.isInDoubt(), false)
})

const LOST = Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' })

test('a write whose answer was lost is over when a commit after it is confirmed; a read at once', async () => {
  for (const [text, commitsNeeded] of [
    ['with new as (INSERT into charges default values) select 1', 1],
    ['update charges set amount = 1', 1],
    ['select 1 from charges', 0],
  ] as const) {
    const { servers, commits, confirming } = openDoubts()
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
    await new Promise(setImmediate)
    assert.deepEqual([commits.length, isOver], [commitsNeeded, commitsNeeded === 0], text)
    commits[0]?.resolve()
    assert.equal(await run, 'done')
    assert.equal(servers.isInDoubt(), false)
  }
})

test('a write that meets its own rows after its answer was lost fails when a commit is confirmed', async () => {
  const { servers, commits, confirming } = openDoubts()
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
  await new Promise(setImmediate)
  assert.deepEqual([commits.length, isOver], [1, false])
  commits[0]!.resolve()
  assert.equal(await run, violated)
  assert.equal(servers.isInDoubt(), false)
})
