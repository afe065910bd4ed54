import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Alarm } from '../lib/alarm.ts'
import type { Clock } from '../lib/clock.ts'
import type { ClockWatch } from '../lib/clock-watch.ts'
import type { FairQueue, Soon } from '../lib/fair-queue.ts'
import type { Sender } from '../lib/http-sender.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Limits, RateLimit } from '../lib/limits.ts'
import type { Log } from '../lib/log.ts'
import type { Lookup } from '../lib/lookup.ts'
import type { Mailer } from '../lib/mailer.ts'
import type { Metrics } from '../lib/metrics.ts'
import type { Vault } from '../lib/vault.ts'
import type { Providers } from '../provider/providers.ts'
import type { Setbacks } from './setbacks.ts'

/**
 * What commands act with. It knows no noun: `FullApp` adds what belongs to one. A command that needs
 * some of that asks for it by name, such as `AppWithCharges`.
 */
export type App = {
  config: Config
  db: Database
  /** The time of whoever something is done for: a sandbox company can move its own. */
  clock: Clock
  /** Real time, whatever a company's: for leases, mails, kept answers and limits. */
  systemClock: Clock
  /** Whether real time can be believed. */
  clockWatch: ClockWatch
  vault: Vault
  log: Log
  providers: Providers
  /** Posts to receivers of webhooks. */
  sender: Sender
  /** Finds the addresses of receivers, as the sender does. */
  lookup: Lookup
  metrics: Metrics
  /** Companies whose work fails in a task. */
  setbacks: Setbacks
  mailer: Mailer
  /** What is counted for all processes of this machine. */
  limits: Limits
  /** Wakes the tasks of this machine when work for them was committed. */
  alarm: Alarm
  /** Where companies move their clocks: each one at a time, and few at once. */
  clockMoves: FairQueue
  passwords: PasswordLimits
  bankPages: BankPageLimits
  /** How often a company changes who can reach its money. Null if rates are off. */
  accessChanges: RateLimit | null
  /** Where payers and integrators reach the service. */
  publicUrl: string
  /** The databases that companies live in, each with an app of its own. */
  places: Places
}

/**
 * Each company lives in one place. The first place also has the people. What is known of no company
 * yet is done with the app of the first place.
 */
export type Places = {
  /** The apps of all places, in the order of PLACES. */
  all: readonly App[]
  /**
   * The app of the place of a company. Null if none has such a company. Those who have shown a key
   * have connections of their own to ask with.
   */
  find(companyId: Uuid, hasKey?: boolean): Soon<App | null>
  /** Called when a company may have changed its place. Null: any of them. */
  forget(companyId: Uuid | null): void
}

/** With one place nothing has to be looked up. */
export const onePlace = (app: App): Places => ({ all: [app], find: () => app, forget() {} })

/** All apps. They are of the same kind as the given one. */
export const appsOf = <A extends App>(app: A): readonly A[] =>
  app.places.all.length === 1 ? [app] : (app.places.all as readonly A[])

/**
 * The app of the place in which a company lives, for somebody of whom nothing but that is known. If
 * there is no such company it is the given one, in which it is not found either.
 */
export async function placeOf<A extends App>(app: A, companyId: Uuid): Promise<A> {
  if (app.places.all.length === 1) return app
  const found = (await app.places.find(companyId)) as A | null
  return found ? { ...found, db: found.db.of('') } : app
}

/** What limits guesses of passwords, and the work that each of them is. */
export type PasswordLimits = {
  /** Where passwords are hashed: few at once, shared by address. */
  hashing: FairQueue
  /** Guesses by address. Null if the operator has switched limits off. */
  byAddress: RateLimit | null
  /** Guesses by the e-mail of the account, wherever they come from. */
  byAccount: RateLimit
}

/** What limits how people connect and check banks in pages. */
type BankPageLimits = {
  /** Where certificates are read, each in a process: few at once, one of a company. */
  certificates: FairQueue
  /** How many certificates a company may upload one after another. Null if rates are off. */
  uploads: RateLimit | null
  /** Banks that are asked for a page: one of a company at a time. */
  checks: FairQueue
}
