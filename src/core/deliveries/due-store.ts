import type { DueSource } from '../due.ts'
import { TASK } from '../tasks.ts'

/** The first delivery of each active webhook `w`, found webhook by webhook. */
const FIRST = `webhooks w cross join lateral (
    select next_attempt_at from deliveries
    where company_id = w.company_id and webhook_id = w.id
    order by next_attempt_at limit 1) d
  where w.status = 'ACTIVE'`

/**
 * Deliveries that wait. Workers lease webhooks, not deliveries, so nothing is claimed here. A
 * delivery that is being sent is due until its result is stored.
 */
export const DUE_DELIVERIES: DueSource = {
  name: TASK.deliver,
  // A delivery to a paused webhook is due when the pause ends.
  next: `select min(greatest(d.next_attempt_at, w.paused_until)) from ${FIRST}
    and w.company_id = $1`,
  // A delivery to a failing receiver waits because of the receiver, not because of us.
  oldest: `select min(d.next_attempt_at) from ${FIRST} and w.failures = 0
    and d.next_attempt_at <= $1::timestamptz`,
  // Most of those that wait, wait for their receivers.
  count: `select greatest(reltuples, 0)::int8 from pg_class where oid = 'deliveries'::regclass`,
  isEstimate: true,
  isDue: null,
}
