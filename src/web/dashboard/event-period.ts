import { findIdAt, type Period } from '../../core/feed/browse-store.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { endOfPeriod, isLocalDate, startOfDay, startOfPeriod } from '../../pix/local-time.ts'

export type Span = { from: Date | null; to: Date | null }

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const LOCAL_MINUTE = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d)$/

/** A moment of São Paulo as a browser sends it, such as 2026-08-20T14:30. */
function readMinute(text: string): Date | null {
  const [, day = '', hours, minutes] = LOCAL_MINUTE.exec(text) ?? []
  if (!isLocalDate(day)) return null
  const sinceMidnight_ms = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS
  return new Date(startOfDay(day).getTime() + sinceMidnight_ms)
}

/** The period of a filter, by days or minutes. The last day belongs to it. Others do not count. */
export function readSpan({ from = '', to = '' }: { from?: string; to?: string }): Span {
  return {
    from: isLocalDate(from) ? startOfPeriod(from) : readMinute(from),
    to: isLocalDate(to) ? endOfPeriod(to) : readMinute(to),
  }
}

/** Requests that run side by side may write events a little out of order. */
const SPARE_MS = 10 * MINUTE_MS

/** The ids between which the events of a period are, so that nobody has to look at all. */
export async function eventPeriod(tx: Tx, companyId: Uuid, { from, to }: Span): Promise<Period> {
  const near = (at: Date | null, spare_ms: number) =>
    at && findIdAt(tx, companyId, new Date(at.getTime() + spare_ms))
  const [firstId, beforeId] = await Promise.all([near(from, -SPARE_MS), near(to, SPARE_MS)])
  return { from, to, firstId, beforeId }
}
