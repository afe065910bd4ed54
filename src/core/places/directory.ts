import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../db/database.ts'
import { createBatcher, LOOKUPS } from '../../lib/batch.ts'
import type { Uuid } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import { problem } from '../../lib/problems.ts'
import type { App, Uses } from '../app.ts'
import type { Places } from './front.ts'
import { activate, findKnown, type Known, listKnown, listMoving } from './store.ts'

/** How long the place of a company is remembered, unless a change is announced. */
const REMEMBERED_MS = 10_000
const MAX_REMEMBERED = 10_000
/** How often a worker looks which companies are being moved. Whoever moves one waits for longer. */
const MOVES_MS = 1_000

/**
 * Finds the place of a company by asking all of them, and remembers it. A place that does not
 * answer is missed only by its own companies.
 */
export function createPlaces<A extends App>(
  apps: readonly A[],
  isInformed: (place: number) => boolean,
): Places<A> {
  const remembered = new Map<Uuid, { place: number; until_ms: number }>()
  // Counts announced changes, so that a search that began before a change is not remembered.
  let changes = 0
  const databases = apps.map(({ db }) => db.of('places'))
  // Whoever has a key does not wait for strangers, who may guess ids.
  const [strangers, holders] = ['places', 'keys'].map((share) =>
    apps.map(({ db }) => {
      const own = db.of(share)
      return createBatcher((ids: Uuid[]) => listKnown(own, ids), LOOKUPS)
    }),
  )
  return {
    all: apps,
    async find(companyId, hasKey = false) {
      const known = remembered.get(companyId)
      if (known && known.until_ms > performance.now()) return apps[known.place]!
      // Who leaves a place is announced there.
      const informed = apps.map((_, i) => isInformed(i))
      const before = changes
      const place = await locate(databases, companyId, hasKey ? holders : strangers)
      if (place === null) return null
      if (remembered.size >= MAX_REMEMBERED) remembered.clear()
      if (changes === before && informed[place]) {
        remembered.set(companyId, { place, until_ms: performance.now() + REMEMBERED_MS })
      }
      return apps[place]!
    },
    forget(companyId) {
      changes += 1
      if (companyId === null) remembered.clear()
      else remembered.delete(companyId)
    },
  }
}

type Ask = (companyId: Uuid) => Promise<Known>

/** The index of the place in which a company lives, or null if it lives in none. */
export async function locate(
  databases: Database[],
  companyId: Uuid,
  asks: Ask[] = databases.map((db) => (id) => findKnown(db, id)),
): Promise<number | null> {
  const questions = asks.map((ask) => ask(companyId))
  // Where it lives is one place, so nobody waits for another that does not answer.
  const place = await firstOf(questions, livesHere)
  if (place !== null) return place
  const asked = await Promise.allSettled(questions)
  const known = asked.map((one) => (one.status === 'fulfilled' ? one.value : null))
  const ready = known.findIndex((one) => one?.isHere && one.state === 'ready')
  // Whoever moved it was killed after the old place had let it go.
  if (ready >= 0 && known[known[ready]!.otherPlace! - 1]?.state === 'left') {
    await activate(databases[ready]!, companyId)
    return ready
  }
  const failed = asked.find((one) => one.status === 'rejected')
  if (failed) throw failed.reason
  // The places were not asked at the same moment, and it changed its place in between.
  if (known.some((one) => one?.state)) {
    throw problem('service_unavailable', 'The company is changing its place. Try again.')
  }
  return null
}

/** The index of the first answer that is right. Null: none is, and all are there or have failed. */
export function firstOf<T>(
  questions: Promise<T>[],
  isRight: (answer: T) => boolean,
): Promise<number | null> {
  const right = questions.map(async (question, i) => {
    if (isRight(await question)) return i
    throw new Error('not here')
  })
  return Promise.any(right).catch(() => null)
}

export const livesHere = ({ isHere, state }: Known): boolean =>
  isHere && (state === null || state === 'leaving')

/**
 * Leaves companies alone that arrive in this place, have left it, or are about to. Resolves when it
 * knows them: a task that does not would take what has arrived so far for all there is.
 */
export async function watchMoves(
  app: Uses<'db' | 'log' | 'setbacks'>,
  places: Places,
  signal: AbortSignal,
): Promise<void> {
  const failed = (error: unknown) =>
    app.log.warn(describeError(error), 'the companies that are being moved could not be read')
  const asked = new Set<Uuid>()
  // If whoever moved it was killed after the old place had let it go, it lives here. No look waits
  // for the old place, because that may not answer.
  const ask = async (companyId: Uuid) => {
    if (asked.has(companyId)) return
    asked.add(companyId)
    await Promise.resolve(places.find(companyId)).catch(failed)
    asked.delete(companyId)
  }
  const look = async (): Promise<boolean> => {
    try {
      const moving = await listMoving(app.db.light)
      const alone = moving.filter(({ isLeftAlone }) => isLeftAlone)
      app.setbacks.leaveAlone(alone.map(({ companyId }) => companyId))
      for (const { companyId, state } of moving) if (state === 'ready') ask(companyId)
      return true
    } catch (error) {
      failed(error)
      return false
    }
  }
  const untilNext = () => pause(MOVES_MS, undefined, { signal }).catch(() => {})
  while (!(await look()) && !signal.aborted) await untilNext()
  const repeat = async () => {
    for (await untilNext(); !signal.aborted; await untilNext()) await look()
  }
  repeat()
}
