import type { Uuid } from '../lib/ids.ts'
import type { Language } from '../lib/language.ts'
import type { AppWithActivity } from './activity/batch.ts'
import type { AppWithCharges } from './charges/group.ts'
import type { AppWithDue } from './clocks/commands.ts'
import type { AppWithDeliveries } from './deliveries/metrics.ts'
import type { DueSource } from './due.ts'
import type { AppWithFeed } from './feed/waits.ts'
import type { FindStored } from './idempotency.ts'
import type { AppWithCallbacks } from './payments/callbacks.ts'
import type { Front } from './places/front.ts'
import type { AppWithRequestLog } from './request-log/batch.ts'

/** A kind of due work, and the task that does it. */
export type DueTask = {
  name: string
  /** What operators read. */
  title: Record<Language, string>
  /** It waits while the clock of the machine may be wrong, because it cannot be undone. */
  isTimed: boolean
  source: DueSource
  /** Does all work that is due now, of all companies, or of one whose clock is being moved. */
  run(app: FullApp, signal?: AbortSignal, only?: Uuid | null): Promise<void>
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
