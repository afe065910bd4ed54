import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Alarm } from '../lib/alarm.ts'
import type { Clock } from '../lib/clock.ts'
import type { ClockWatch } from '../lib/clock-watch.ts'
import type { Counters } from '../lib/counters.ts'
import type { FairQueue } from '../lib/fair-queue.ts'
import type { Sender } from '../lib/http-sender.ts'
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
  /** What is counted for the metrics while this process works. */
  counters: Counters
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
  /** How often sandboxes are made. Null if rates are off. */
  newSandboxes: { byCompany: RateLimit | null; byAddress: RateLimit | null }
  /** Where payers and integrators reach the service. */
  publicUrl: string
}

/** What a function uses of the app: it names the few things that it needs. */
export type Uses<Part extends keyof App> = Pick<App, Part>

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
