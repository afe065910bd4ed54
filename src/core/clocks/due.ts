import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'

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
  /** Does all work that is due now. The clock of the app is that of the company. */
  run(app: App, company: Company): Promise<void>
}

/** Work that is due at a moment. */
export type DueWork = { source: DueSource; at: Date }

/**
 * The next due work of a company of every kind, the earliest first. This is read often, so its
 * statements have plans that never search all companies.
 */
export async function dueWorkOf(
  { db, due }: Pick<App, 'db' | 'due'>,
  companyId: Uuid,
  now: Date,
): Promise<DueWork[]> {
  const all = await Promise.all(
    due.map(async (source) => ({ source, at: await source.nextAt(db.light, companyId, now) })),
  )
  return all
    .flatMap(({ source, at }) => (at ? [{ source, at }] : []))
    .sort((a, b) => a.at.getTime() - b.at.getTime())
}
