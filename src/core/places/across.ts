import type { Database } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type App, appsOf } from '../app.ts'
import { listMoving } from './store.ts'

/** Asks every place. With one place it is one question, as ever. */
export const askAll = <T>(app: App, ask: (db: Database) => Promise<T>): Promise<T[]> =>
  app.places.all.length === 1
    ? Promise.all([ask(app.db)])
    : Promise.all(appsOf(app).map(({ db }) => ask(db.of(''))))

export async function sumOfAll(app: App, count: (db: Database) => Promise<number>) {
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
  app: App,
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
