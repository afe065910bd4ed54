import type { App } from '../app.ts'
import type { Company } from './rules.ts'

/** Somebody whose time may be ahead of the real one. */
export type InTime = Pick<Company, 'clockAhead_ms'>

/**
 * The app with the company's own clock: what is done with it for the company happens in the
 * company's time. Of an app that is in somebody's time already it makes one in this company's.
 */
export function inTimeOf(app: App, { clockAhead_ms }: InTime): App {
  const { wall } = app
  if (clockAhead_ms === 0) return app.clock === wall ? app : { ...app, clock: wall }
  return { ...app, clock: { now: () => new Date(wall.now().getTime() + clockAhead_ms) } }
}

/** The app for a request of a company, which gets its share of the database. */
export const forCompany = (app: App, { id }: Pick<Company, 'id'>): App => ({
  ...app,
  db: app.db.of(id),
})

/** The company's now. */
export const nowOf = (app: App, company: InTime): Date => inTimeOf(app, company).clock.now()

/** A moment of the app's time as it is on the wall, for what happens in real time: mails. */
export const onTheWall = ({ clock, wall }: App, at: Date): Date =>
  clock === wall ? at : new Date(at.getTime() - clock.now().getTime() + wall.now().getTime())
