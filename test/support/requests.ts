import type { App } from '../../src/core/app.ts'
import type { DueRequest } from '../../src/core/due.ts'
import type { Uuid } from '../../src/lib/ids.ts'

/** A request for what is due now, of all companies or of one. */
export const dueNow = (
  { systemClock }: Pick<App, 'systemClock'>,
  max: number,
  only: Uuid | null = null,
): DueRequest => dueAt(systemClock.now(), max, only)

export const dueAt = (now: Date, max: number, only: Uuid | null = null): DueRequest => ({
  now,
  max,
  only,
  except: [],
})
