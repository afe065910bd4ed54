import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId, type Uuid } from '../src/lib/ids.ts'
import { workOff } from '../src/worker/loop.ts'
import { startApi } from './support/api.ts'
import { stopTime } from './support/stopped-time.ts'

const { app } = await startApi()
const MANNER = { only: null, signal: undefined, failed: '', atOnce: 32 }

/** Work of companies in parts. A search that finds nothing takes until something ends. */
function openWork(parts: Map<Uuid, number>) {
  const ends: (() => void)[] = []
  const done: Uuid[] = []
  return {
    done,
    async find(except: Uuid[]) {
      const free = [...parts].filter(([id, left]) => left > 0 && !except.includes(id))
      const next = free.slice(0, 1)
      for (const [id, left] of next) parts.set(id, left - 1)
      if (next.length === 0 && ends.length > 0) {
        for (const end of ends.splice(0)) end()
        await new Promise((resolve) => setImmediate(resolve))
      }
      return { due: new Map(next), isFull: next.length > 0 }
    },
    async act(companyId: Uuid) {
      await new Promise<void>((resolve) => ends.push(resolve))
      done.push(companyId)
      return 1
    },
  }
}

test('a company that ends while more is searched for gets its next part', async () => {
  const [a, b] = [newId(), newId()]
  const work = openWork(
    new Map([
      [a, 3],
      [b, 2],
    ]),
  )
  await workOff(app, { task: 'parts', ...MANNER, ...work })
  assert.deepEqual(work.done.toSorted(), [a, a, a, b, b].toSorted())
})

test('a company for which nothing can be done is not asked for again in the same run', async () => {
  const id = newId()
  let acts = 0
  await workOff(app, {
    task: 'nothing',
    ...MANNER,
    find: async (except: Uuid[]) => ({
      due: new Map(except.includes(id) ? [] : [[id, 1]]),
      isFull: true,
    }),
    act: async () => {
      acts += 1
      return 0
    },
  })
  assert.equal(acts, 1)
})

test('each company gets one part, then each its next, and no more at once than allowed', async () => {
  const left = new Map([newId(), newId(), newId()].map((id) => [id, 2]))
  const [turns, running]: [Uuid[], Set<Uuid>] = [[], new Set()]
  await workOff(app, {
    task: 'rounds',
    ...MANNER,
    atOnce: 1,
    // The longest queue would always be found first.
    find: async (except) => {
      const due = [...left].filter(([id, n]) => n > 0 && !except.includes(id)).slice(0, 1)
      return { due: new Map(due), isFull: due.length > 0 }
    },
    async act(companyId) {
      running.add(companyId)
      assert.equal(running.size, 1)
      await new Promise((resolve) => setImmediate(resolve))
      turns.push(companyId)
      left.set(companyId, left.get(companyId)! - 1)
      running.delete(companyId)
      return 1
    },
  })
  assert.deepEqual(turns, [...left.keys(), ...left.keys()])
})

test('nothing that cannot be undone is begun while the clock may be wrong', async () => {
  let searches = 0
  const clockWatch = { ...app.clockWatch, agrees: async () => false }
  const work = {
    ...MANNER,
    task: 'timed',
    isTimed: true,
    find: async () => {
      searches += 1
      return { due: new Map(), isFull: false }
    },
    act: async () => 1,
  }
  await workOff({ ...app, clockWatch }, work)
  assert.equal(searches, 0)
  await workOff(app, work)
  assert.equal(searches, 1)
  await workOff({ ...app, clockWatch }, { ...work, only: newId() })
  assert.equal(searches, 2, 'a test clock is not the clock of the machine')
})

test('what is claimed begins at once, because its lease runs', async () => {
  const ids = [newId(), newId(), newId()]
  const begun = new Set<Uuid>()
  const all = Promise.withResolvers<void>()
  let searches = 0
  await workOff(app, {
    ...MANNER,
    task: 'claims',
    atOnce: 1,
    isClaimed: true,
    async find() {
      searches += 1
      return { due: new Map(searches === 1 ? ids.map((id) => [id, 1]) : []), isFull: false }
    },
    async act(companyId) {
      begun.add(companyId)
      if (begun.size === ids.length) all.resolve()
      await all.promise
      return 1
    },
  })
  assert.equal(begun.size, 3)
})

test('what is claimed while the process is told to stop is done before it stops', async () => {
  const [id, stop, done] = [newId(), new AbortController(), new Set<Uuid>()]
  await workOff(app, {
    ...MANNER,
    task: 'stopped',
    signal: stop.signal,
    isClaimed: true,
    async find() {
      stop.abort()
      return { due: new Map([[id, 1]]), isFull: false }
    },
    async act(companyId) {
      done.add(companyId)
      return 1
    },
  })
  assert.deepEqual([...done], [id])
})

test('what has begun when the process is told to stop ends before the task is over', async () => {
  const [id, stop] = [newId(), new AbortController()]
  const [begun, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const ends: string[] = []
  const run = workOff(app, {
    ...MANNER,
    task: 'stopped in the middle',
    signal: stop.signal,
    find: async (except) => ({ due: new Map(except.includes(id) ? [] : [[id, 1]]), isFull: false }),
    async act() {
      begun.resolve()
      await answer.promise
      ends.push('work')
      return 1
    },
  }).then(() => ends.push('task'))
  await begun.promise
  stop.abort()
  await new Promise((resolve) => setImmediate(resolve))
  answer.resolve()
  await run
  assert.deepEqual(ends, ['work', 'task'])
})

test('a company for which nothing could be done is tried again while another takes long', async (t) => {
  const time = stopTime(t)
  const [slow, idle, answer] = [newId(), newId(), Promise.withResolvers<void>()]
  let [searches, tries] = [0, 0]
  await workOff(app, {
    ...MANNER,
    task: 'idle',
    async find(except) {
      searches += 1
      if (searches === 5) answer.resolve()
      else app.alarm.wake('idle')
      time.advance(2)
      const due = (searches === 1 ? [slow, idle] : [idle]).filter((id) => !except.includes(id))
      return { due: new Map(due.map((id) => [id, 1])), isFull: false }
    },
    async act(companyId) {
      if (companyId === slow) await answer.promise
      else tries += 1
      return Number(companyId === slow)
    },
  })
  assert.equal(tries, 2)
})

test('two long queues do not keep a third company waiting, however often the task is woken', async () => {
  const [a, b, c] = [newId(), newId(), newId()]
  const left = new Map([
    [a, 4],
    [b, 4],
    [c, 1],
  ])
  const turns: Uuid[] = []
  await workOff(app, {
    ...MANNER,
    task: 'queues',
    atOnce: 1,
    find: async (except) => {
      const due = [...left].filter(([id, n]) => n > 0 && !except.includes(id)).slice(0, 1)
      return { due: new Map(due), isFull: due.length > 0 }
    },
    async act(companyId) {
      turns.push(companyId)
      left.set(companyId, left.get(companyId)! - 1)
      // Others commit meanwhile, and the loop looks again.
      app.alarm.wake('queues')
      await new Promise((resolve) => setTimeout(resolve, 5))
      return 1
    },
  })
  assert.equal(turns.indexOf(c), 2)
  assert.equal(turns.length, 9)
})
