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
   * A statement that says when work of the company `$1` is due next. In the past if it is due and
   * not done, null if nothing waits for a time. Work that is never done must not count, because the
   * clock would stop there without end.
   */
  nextSql: string
  /** If the statement finds something, but cannot say when it is due, this says it. */
  nextAt?(tx: Tx, companyId: Uuid, now: Date): Promise<Date | null>
}

/** The app with the kinds of work that are due at a company's time. */
export type AppWithDue<S extends DueSource = DueSource> = App & { due: readonly S[] }

/** Work that is due at a moment. */
export type DueWork<S extends DueSource = DueSource> = { source: S; at: Date }

/**
 * The next due work of a company of every kind, the earliest first. This is read often, so it is
 * one statement, with a plan that never searches all companies.
 */
export async function dueWorkOf<S extends DueSource>(
  { db, due }: Pick<AppWithDue<S>, 'db' | 'due'>,
  companyId: Uuid,
  now: Date,
): Promise<DueWork<S>[]> {
  const parts = due.map(({ nextSql }, n) => `(${nextSql}) as "${n}"`)
  const [row] = await db.light.query<Record<string, Date | null>>({
    name: 'due_work',
    text: `select ${parts.join()}`,
    values: [companyId],
  })
  const all: DueWork<S>[] = []
  for (const [n, source] of due.entries()) {
    const found = row![n]
    const at = found && source.nextAt ? await source.nextAt(db.light, companyId, now) : found
    if (at) all.push({ source, at })
  }
  return all.sort((a, b) => a.at.getTime() - b.at.getTime())
}
