import { integers, texts, timestamps, uuids } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { EventType } from '../events.ts'
import type { Attempt, Verdict } from './rules.ts'

export type WebhookKey = { companyId: Uuid; webhookId: Uuid }

type KeyRow = { company_id: Uuid; webhook_id: Uuid }

/**
 * Webhooks that have something due. Hops through the index from one webhook to the next, so that a
 * backlog of a hundred thousand deliveries costs as much as a single one.
 */
export async function findDueWebhooks(tx: Tx, now: Date): Promise<WebhookKey[]> {
  const rows = await tx.query<KeyRow>({
    name: 'find_due_webhooks',
    text: `with recursive hop as (
             (select company_id, webhook_id, next_attempt_at from deliveries
              order by company_id, webhook_id, next_attempt_at limit 1)
             union all
             select n.company_id, n.webhook_id, n.next_attempt_at from hop h cross join lateral (
               select company_id, webhook_id, next_attempt_at from deliveries d
               where (d.company_id, d.webhook_id) > (h.company_id, h.webhook_id)
               order by company_id, webhook_id, next_attempt_at limit 1) n
           )
           select company_id, webhook_id from hop where next_attempt_at <= $1`,
    values: [now],
  })
  return rows.map((row) => ({ companyId: row.company_id, webhookId: row.webhook_id }))
}

/** A delivery that this worker has, with all that sending it needs. */
export type Claimed = WebhookKey & {
  eventId: Uuid
  claim: number
  tries: number
  url: string
  secretSealed: Buffer
  previousSecretSealed: Buffer | null
  /** Whether its webhook has failed last time. */
  failing: boolean
  type: EventType
  payload: string
}

type ClaimedRow = Row &
  KeyRow & {
    event_id: Uuid
    tries: number
    url: string
    secret_sealed: Buffer
    previous_secret_sealed: Buffer | null
    failing: boolean
    type: EventType
    payload: string
  }

/** How this worker claims: its number, the number of the claim, and until when it is believed. */
export type Claim = { worker: number; claim: number; now: Date; until: Date }

/** Takes due deliveries of the webhooks asked for, at most `room` of each, the longest due first. */
export async function claim(
  tx: Tx,
  wanted: (WebhookKey & { room: number })[],
  { worker, claim, now, until }: Claim,
): Promise<Claimed[]> {
  const rows = await tx.query<ClaimedRow>({
    name: 'claim_deliveries',
    text: `with due as materialized (
             select d.company_id, d.webhook_id, d.event_id, w.url, w.secret_sealed,
               case when w.previous_secret_until > $4 then w.previous_secret_sealed end
                 as previous_secret_sealed, w.failures > 0 as failing
             from unnest($1::uuid[], $2::uuid[], $3::int8[]) wanted (company_id, webhook_id, room)
             join webhooks w on w.company_id = wanted.company_id and w.id = wanted.webhook_id
             cross join lateral (
               select company_id, webhook_id, event_id from deliveries
               where company_id = wanted.company_id and webhook_id = wanted.webhook_id
                 and next_attempt_at <= $4
               order by next_attempt_at limit wanted.room for update skip locked) d
             where w.status = 'ACTIVE' and (w.paused_until is null or w.paused_until <= $4)
           ), claimed as (
             update deliveries d set worker = $5, claim = $6, next_attempt_at = $7 from due
             where d.company_id = due.company_id and d.webhook_id = due.webhook_id
               and d.event_id = due.event_id
             returning d.company_id, d.webhook_id, d.event_id, d.tries
           )
           select c.*, due.url, due.secret_sealed, due.previous_secret_sealed, due.failing,
             e.type, e.payload
           from claimed c join due using (company_id, webhook_id, event_id)
           join events e on e.company_id = c.company_id and e.id = c.event_id
           order by e.id`,
    values: [
      uuids(wanted.map(({ companyId }) => companyId)),
      uuids(wanted.map(({ webhookId }) => webhookId)),
      integers(wanted.map(({ room }) => room)),
      ...[now, worker, claim, until],
    ],
  })
  return rows.map((row) => ({
    companyId: row.company_id,
    webhookId: row.webhook_id,
    eventId: row.event_id,
    claim,
    tries: row.tries,
    url: row.url,
    secretSealed: row.secret_sealed,
    previousSecretSealed: row.previous_secret_sealed,
    failing: row.failing,
    type: row.type,
    payload: row.payload,
  }))
}

/** What became of a claimed delivery. */
export type Result = { delivery: Claimed; attempt: Attempt; verdict: Verdict }

const keyColumns = (results: { delivery: Claimed }[]): Buffer[] => [
  uuids(results.map(({ delivery }) => delivery.companyId)),
  uuids(results.map(({ delivery }) => delivery.webhookId)),
  uuids(results.map(({ delivery }) => delivery.eventId)),
  integers(results.map(({ delivery }) => delivery.claim)),
]

/**
 * Writes down what became of deliveries, where this worker still has them: what has ended moves to
 * the log, the rest waits for its next try.
 */
export async function record(tx: Tx, worker: number, results: Result[], now: Date): Promise<void> {
  await tx.query({
    name: 'record_deliveries',
    text: `with result as materialized (
             select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int8[], $5::text[],
               $6::text[], $7::timestamptz[])
               r (company_id, webhook_id, event_id, claim, outcome, attempt, next_attempt_at)
           ), ended as (
             delete from deliveries d using result r
             where d.company_id = r.company_id and d.webhook_id = r.webhook_id
               and d.event_id = r.event_id and d.worker = $8 and d.claim = r.claim
               and r.outcome <> 'RETRY'
             returning d.company_id, d.webhook_id, d.event_id, r.outcome,
               d.attempts || r.attempt::jsonb as attempts, d.created_at
           ), logged as (
             insert into delivery_log
               (company_id, webhook_id, event_id, status, attempts, created_at, finished_at)
             select *, $9 from ended
             on conflict (company_id, webhook_id, event_id) do update set
               status = excluded.status, attempts = excluded.attempts,
               finished_at = excluded.finished_at
           )
           update deliveries d set tries = d.tries + 1, attempts = d.attempts || r.attempt::jsonb,
             next_attempt_at = r.next_attempt_at, worker = null, claim = null
           from result r
           where d.company_id = r.company_id and d.webhook_id = r.webhook_id
             and d.event_id = r.event_id and d.worker = $8 and d.claim = r.claim
             and r.outcome = 'RETRY'`,
    values: [
      ...keyColumns(results),
      texts(results.map(({ verdict }) => verdict.outcome)),
      texts(results.map(({ attempt }) => JSON.stringify([attempt]))),
      timestamps(results.map(({ verdict }) => (verdict.outcome === 'RETRY' ? verdict.at : null))),
      ...[worker, now],
    ],
  })
}

/** Gives back what was claimed and not tried. */
export async function release(
  tx: Tx,
  worker: number,
  deliveries: Claimed[],
  now: Date,
): Promise<void> {
  if (deliveries.length === 0) return
  await tx.query({
    text: `update deliveries d set next_attempt_at = $6, worker = null, claim = null
           from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int8[])
             r (company_id, webhook_id, event_id, claim)
           where d.company_id = r.company_id and d.webhook_id = r.webhook_id
             and d.event_id = r.event_id and d.worker = $5 and d.claim = r.claim`,
    values: [...keyColumns(deliveries.map((delivery) => ({ delivery }))), worker, now],
  })
}
