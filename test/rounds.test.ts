import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId, type Uuid } from '../src/lib/ids.ts'
import { byCompany } from '../src/worker/rounds.ts'
import { startApi } from './support/api.ts'

const { app } = await startApi()

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
  await byCompany(app, { task: 'parts', only: null, signal: undefined, failed: '', ...work })
  assert.deepEqual(work.done.toSorted(), [a, a, a, b, b].toSorted())
})

test('a company for which nothing can be done is not asked for again in the same run', async () => {
  const id = newId()
  let acts = 0
  await byCompany(app, {
    task: 'nothing',
    only: null,
    signal: undefined,
    failed: '',
    find: async (except) => ({
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
