import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'

/**
 * A kind of work that falls due at a moment of a company's time. The clock of a company that is
 * moved stops at each such moment, until none of this work is left to do then.
 */
export type DueSource = {
  /** What is told to be running, the same as the name of the task that does it for everybody. */
  name: string
  /**
   * When something of the company's falls due next; the past while it is due and not done, null
   * when nothing waits for any time. What will never be done must not be named: the clock would
   * stand still before it.
   */
  nextAt(tx: Tx, companyId: Uuid, now: Date): Promise<Date | null>
  /** Does all that is due at the company's now. The app is in the company's time. */
  run(app: App, company: Company): Promise<void>
}

/** Something that falls due at a moment. */
export type Appointment = { source: DueSource; at: Date }

/**
 * What falls due for a company next, of every kind, the earliest first. It is asked for again and
 * again, by statements whose plans never search all companies.
 */
export async function agendaOf(
  { db, due }: Pick<App, 'db' | 'due'>,
  companyId: Uuid,
  now: Date,
): Promise<Appointment[]> {
  const agenda = await Promise.all(
    due.map(async (source) => ({ source, at: await source.nextAt(db.light, companyId, now) })),
  )
  return agenda
    .flatMap(({ source, at }) => (at ? [{ source, at }] : []))
    .sort((a, b) => a.at.getTime() - b.at.getTime())
}
