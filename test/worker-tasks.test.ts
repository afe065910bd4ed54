import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordWrongSignIns } from '../src/core/people/sign-in.ts'
import { watchCertificates } from '../src/worker/certificates.ts'
import { advanceTestClocks } from '../src/worker/clocks.ts'
import {
  collectDue,
  expireChargesAtBanks,
  removeOrphans,
  watchWebhooks,
} from '../src/worker/due.ts'
import { startWorker, TASKS } from '../src/worker/worker.ts'
import { startApi } from './support/api.ts'
import { makeDueWork, workOnce } from './support/due-work.ts'

const api = await startApi()
const { app, rows } = api

/** How often each task comes round at most, in milliseconds. */
const PERIODS: Record<string, number> = {
  'look for due work': 500,
  'deliver webhooks': 500,
  'watch certificates': 3_600_000,
  'clear the queue': 60_000,
  'play test clocks': 500,
  'index old charges': 1_000,
  'index customers': 1_000,
  audit: 60_000,
  'record wrong sign-ins': 60_000,
  'remove old data': 60_000,
  'finish erasures': 60_000,
}

const one = async (text: string, values: unknown[]) => Object.values((await rows(text, values))[0]!)

test('the worker runs each of its tasks, and each in its period', async () => {
  const waits = await workOnce(app)
  for (const [name, period] of Object.entries(PERIODS)) {
    assert.ok(waits.get(name)! <= period, `${name}: ${waits.get(name)}`)
  }
  const due = new Set(app.due.map(({ name }) => name))
  const unknown = [...waits.keys()].filter((name) => !(name in PERIODS) && !due.has(name))
  assert.deepEqual(unknown, [], 'a new task has its period here and its work below')
})

test('tasks whose work is tested elsewhere do that work', () => {
  const works = new Map<string, unknown>(
    TASKS.map((task) => [task.name, 'run' in task ? task.run : task.open]),
  )
  assert.equal(works.get('watch certificates'), watchCertificates)
  for (const task of [watchWebhooks, removeOrphans, collectDue, expireChargesAtBanks]) {
    assert.equal(works.get(task.name), task.run)
  }
  assert.equal(works.get('play test clocks'), advanceTestClocks)
  assert.equal(works.get('record wrong sign-ins'), recordWrongSignIns)
})

test('what is due of every kind is done by the worker that all tasks are given to', async () => {
  const { client, checks } = await makeDueWork(api)
  await workOnce(app)
  // What one task makes due for another is done when that comes round again.
  await workOnce(app)
  const left = await Promise.all(
    checks.map(async ({ task, done, values }) => {
      const [found] = await one(done, values ?? [client.company.id])
      return found ? [] : [task]
    }),
  )
  assert.deepEqual(left.flat(), [])
})

test('a task that fails is run again', async () => {
  const runs = { failing: 0, stateful: 0, sound: 0, closed: 0 }
  const run = (name: keyof typeof runs) => async () => {
    runs[name] += 1
    if (name !== 'sound') throw new Error('no')
  }
  // Nobody waits for longer than a turn of the event loop.
  const wait = () => new Promise<void>((resolve) => setImmediate(resolve))
  const alarm = { ...app.alarm, wait, waitForWrites: wait }
  const close = async () => {
    runs.closed += 1
  }
  const worker = startWorker({ ...app, alarm }, [
    { name: 'failing', every_ms: 1, run: run('failing') },
    { name: 'stateful', every_ms: 1, open: () => ({ run: run('stateful'), close }) },
    { name: 'sound', every_ms: 1, run: run('sound') },
  ])
  const until = async (...names: (keyof typeof runs)[]) => {
    while (names.some((name) => runs[name] < 5)) await wait()
  }
  await until('sound', 'failing', 'stateful')
  await worker.stop()
  const { sound } = runs
  await wait()
  assert.deepEqual([runs.sound, runs.closed], [sound, 1])
})

test('tasks that fail because the database is newer are logged once, and not each time', async () => {
  const lines: string[] = []
  const error = (_fields: object, text: string) => {
    lines.push(text)
  }
  const log = { ...app.log, error: error as typeof app.log.error }
  /** Runs two tasks that fail until both have failed three times. */
  const fail = async () => {
    lines.length = 0
    const counts = [0, 0]
    const done = counts.map(() => Promise.withResolvers<void>())
    const tasks = counts.map((_, i) => ({
      name: `task ${i}`,
      every_ms: 1,
      async run() {
        counts[i]! += 1
        if (counts[i]! > 3) done[i]!.resolve()
        throw new Error('column x does not exist')
      },
    }))
    const worker = startWorker({ ...app, log }, tasks, 0)
    await Promise.all(done.map(({ promise }) => promise))
    await worker.stop()
  }
  await fail()
  assert.ok(lines.length >= 6, 'otherwise each failure is logged')
  assert.ok(lines.every((text) => text === 'a task failed and will be tried again'))
  await rows(
    `insert into schema_migrations (version, name, checksum, needs)
     values (9999, '9999_later.sql', 'x', 9999)`,
  )
  await fail()
  await rows('delete from schema_migrations where version = 9999')
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /newer than this version of Vintém .*Start the newer version/)
})
