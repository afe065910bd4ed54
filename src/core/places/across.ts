import type { Database } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { Problem } from '../../lib/problems.ts'
import { hasSandbox } from '../companies/store.ts'
import { firstOf } from './directory.ts'
import { appsOf, type Front } from './front.ts'
import { listMoving } from './store.ts'

/** If `unreached` is given, places that do not answer are left out, and their numbers added. */
export type Asker = Front & { unreached?: Set<number> }

/** Asks every place, from the number 1 on. With one place it is one question, as ever. */
export async function askAll<T>(
  app: Asker,
  ask: (db: Database, place: number) => Promise<T>,
): Promise<T[]> {
  if (app.places.all.length === 1) return [await ask(app.db, 1)]
  const { unreached } = app
  const asked = appsOf(app).map(async ({ db }, i) => {
    if (unreached?.has(i + 1)) return []
    try {
      return [await ask(db.of(''), i + 1)]
    } catch (error) {
      if (!unreached || !isUnavailable(error)) throw error
      unreached.add(i + 1)
      return []
    }
  })
  return (await Promise.all(asked)).flat()
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof Problem && error.code === 'service_unavailable'

/** Whether a company is a sandbox, of whatever place. */
export const hasAnySandbox = async (app: Front): Promise<boolean> =>
  (await findInAny(app, async (db) => (await hasSandbox(db)) || null)) !== null

/**
 * The first answer that is not null, so that nobody waits for a place that has no other. If there
 * is none and a place does not answer, throws, because it may be there.
 */
export async function findInAny<T>(
  app: Front,
  find: (db: Database) => Promise<T | null>,
): Promise<T | null> {
  if (app.places.all.length === 1) return find(app.db)
  const questions = appsOf(app).map(({ db }) => find(db.of('')))
  const place = await firstOf(questions, (found) => found !== null)
  if (place !== null) return questions[place]!
  await Promise.all(questions)
  return null
}

export async function sumOfAll(app: Asker, count: (db: Database) => Promise<number>) {
  const counts = await askAll(app, count)
  return counts.reduce((sum, one) => sum + one, 0)
}

type List<T> = {
  companyOf(row: T): Uuid
  compare(one: T, other: T): number
  limit?: number
}

/**
 * A part of a list over the companies of all places. Each place gives its part of the same length.
 * A company that is being moved is listed where it lives.
 */
export async function listOfAll<T>(
  app: Asker,
  read: (db: Database) => Promise<T[]>,
  { companyOf, compare, limit }: List<T>,
): Promise<T[]> {
  if (app.places.all.length === 1) return read(app.db)
  const parts = await askAll(app, async (db) => {
    const [rows, away] = await Promise.all([read(db), listMoving(db)])
    const gone = new Set(
      away.filter(({ state }) => state !== 'leaving').map((one) => one.companyId),
    )
    return rows.filter((row) => !gone.has(companyOf(row)))
  })
  return parts.flat().sort(compare).slice(0, limit)
}

type Comparable = string | number | Date
export const ascending =
  <T>(of: (row: T) => Comparable) =>
  (one: T, other: T): number =>
    Number(of(one) > of(other)) - Number(of(one) < of(other))
export const descending =
  <T>(of: (row: T) => Comparable) =>
  (one: T, other: T): number =>
    ascending(of)(other, one)
