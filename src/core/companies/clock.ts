import type { App, Uses } from '../app.ts'
import type { Company } from './rules.ts'

/** Somebody whose time may be ahead of the real one. */
export type InTime = Pick<Company, 'clockAhead_ms'>

/**
 * The app with the company's own clock: what is done with it for the company happens in the
 * company's time. Of an app that is in somebody's time already it makes one in this company's.
 */
export function withCompanyClock<A extends App>(app: A, { clockAhead_ms }: InTime): A {
  const { systemClock } = app
  if (clockAhead_ms === 0) return app.clock === systemClock ? app : { ...app, clock: systemClock }
  return { ...app, clock: { now: () => nowOf(app, { clockAhead_ms }) } }
}

/** The app for a request of a company, which gets its share of the database. */
export const forCompany = <A extends App>(app: A, { id }: Pick<Company, 'id'>): A => ({
  ...app,
  db: app.db.of(id),
})

/** The company's now. */
export const nowOf = ({ systemClock }: Pick<App, 'systemClock'>, { clockAhead_ms }: InTime): Date =>
  new Date(systemClock.now().getTime() + clockAhead_ms)

/** A moment of the app's time as it is in real time, for what happens in real time: mails. */
export const toRealTime = (
  { clock, systemClock }: Uses<'clock' | 'systemClock'>,
  at: Date,
): Date =>
  clock === systemClock
    ? at
    : new Date(at.getTime() - clock.now().getTime() + systemClock.now().getTime())
