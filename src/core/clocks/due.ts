import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { App } from '../app.ts'

/**
 * A kind of work that is due at a moment of a company's time. A clock that advances stops at each
 * such moment until this work is done.
 */
export type DueSource = {
  /** Shown as running. It is the name of the task that does this work for all companies. */
  name: string
  /**
   * When work of the company is due next. In the past if it is due and not done, null if nothing
   * waits for a time. Work that is never done must not count, because the clock would stop there
   * without end.
   */
  nextAt(tx: Tx, companyId: Uuid, now: Date): Promise<Date | null>
}

/** The app with the kinds of work that are due at a company's time. */
export type AppWithDue<S extends DueSource = DueSource> = App & { due: readonly S[] }

/** Work that is due at a moment. */
export type DueWork<S extends DueSource = DueSource> = { source: S; at: Date }

/**
 * The next due work of a company of every kind, the earliest first. This is read often, so its
 * statements have plans that never search all companies.
 */
export async function dueWorkOf<S extends DueSource>(
  { db, due }: Pick<AppWithDue<S>, 'db' | 'due'>,
  companyId: Uuid,
  now: Date,
): Promise<DueWork<S>[]> {
  const all = await Promise.all(
    due.map(async (source) => ({ source, at: await source.nextAt(db.light, companyId, now) })),
  )
  return all
    .flatMap(({ source, at }) => (at ? [{ source, at }] : []))
    .sort((a, b) => a.at.getTime() - b.at.getTime())
}
