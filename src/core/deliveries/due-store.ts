/**
 * When a delivery of the company `$1` is tried next. A delivery that is being sent is due until its
 * result is stored. A delivery to a paused webhook is due when the pause ends.
 */
export const NEXT_ATTEMPT = `select min(greatest(d.next_attempt_at, w.paused_until))
  from webhooks w cross join lateral (
    select next_attempt_at from deliveries
    where company_id = w.company_id and webhook_id = w.id
    order by next_attempt_at limit 1) d
  where w.company_id = $1 and w.status = 'ACTIVE'`
