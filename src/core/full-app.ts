import type { AppWithActivity } from './activity/batch.ts'
import type { AppWithCharges } from './charges/group.ts'
import type { AppWithDue, DueSource } from './clocks/due.ts'
import type { Company } from './companies/rules.ts'
import type { AppWithDeliveries } from './deliveries/metrics.ts'
import type { AppWithFeed } from './feed/waits.ts'
import type { FindStored } from './idempotency.ts'
import type { AppWithCallbacks } from './payments/callbacks.ts'
import type { Front } from './places/front.ts'
import type { AppWithRequestLog } from './request-log/batch.ts'

/** A kind of due work, and the task that does it. */
export type DueTask = DueSource & {
  /** Does all work that is due now. The clock of the app is that of the company. */
  run(app: FullApp, company: Company): Promise<void>
}

/**
 * The app with all that nouns add to it, for http, web, worker and cli. Created in `service.ts`, or
 * by a test with a clock of its own.
 */
export type FullApp = AppWithActivity &
  AppWithCharges &
  AppWithCallbacks &
  AppWithDeliveries &
  AppWithFeed &
  AppWithRequestLog &
  AppWithDue<DueTask> & { findStored: FindStored }

/** The app in front of all places. */
export type FullFront = Front<FullApp>
