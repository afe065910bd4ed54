import { integers, timestamps, uuids } from '../../db/arrays.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { DueKind } from '../due.ts'
import { TASK } from '../tasks.ts'
import {
  DEACTIVATE_AFTER_MS,
  FAILURE_COUNTS_MS,
  FAILURES_BEFORE_PAUSE,
  type Failing,
  WARN_AFTER_MS,
} from './health-rules.ts'
import type { WebhookKey } from './rules.ts'

const keyColumns = (webhooks: WebhookKey[]): Buffer[] => [
  uuids(webhooks.map(({ companyId }) => companyId)),
  uuids(webhooks.map(({ webhookId }) => webhookId)),
]

/** Resets the failures of webhooks that work again. */
export async function markWorking(tx: Tx, webhooks: WebhookKey[]): Promise<void> {
  if (webhooks.length === 0) return
  await tx.query({
    name: 'mark_working',
    text: `update webhooks w set failing_since = null, failures = 0, failed_at = null,
             paused_until = null, warned_at = null
           from unnest($1::uuid[], $2::uuid[]) r (company_id, id)
           where w.company_id = r.company_id and w.id = r.id and w.failures > 0`,
    values: keyColumns(webhooks),
  })
}

/** How many times in a row a webhook has failed, and when it failed last. */
export type Failures = WebhookKey & { failures: number; at: Date }

/**
 * Adds to the failures in a row and returns the new count. Failures of requests that were sent at
 * the same time count at most up to the first pause, because a busy receiver may just be
 * restarting.
 */
export async function addFailures(tx: Tx, failed: Failures[]): Promise<Failures[]> {
  if (failed.length === 0) return []
  const rows = await tx.query<{ company_id: Uuid; id: Uuid; failures: number; at: Date }>({
    name: 'add_failures',
    text: `update webhooks w set failing_since = coalesce(w.failing_since, r.at), failed_at = r.at,
             failures = greatest(w.failures + 1, least(w.failures + r.failures, $5))
           from unnest($1::uuid[], $2::uuid[], $3::int8[], $4::timestamptz[])
             r (company_id, id, failures, at)
           where w.company_id = r.company_id and w.id = r.id
           returning w.company_id, w.id, w.failures, w.failed_at as at`,
    values: [
      ...keyColumns(failed),
      integers(failed.map(({ failures }) => failures)),
      timestamps(failed.map(({ at }) => at)),
      FAILURES_BEFORE_PAUSE,
    ],
  })
  return rows.map(({ company_id, id, failures, at }) => ({
    companyId: company_id,
    webhookId: id,
    failures,
    at,
  }))
}

export async function pause(tx: Tx, paused: (WebhookKey & { until: Date })[]): Promise<void> {
  if (paused.length === 0) return
  await tx.query({
    name: 'pause_webhooks',
    text: `update webhooks w set paused_until = r.until
           from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) r (company_id, id, until)
           where w.company_id = r.company_id and w.id = r.id`,
    values: [...keyColumns(paused), timestamps(paused.map(({ until }) => until))],
  })
}

export async function liftPause(tx: Tx, { companyId, webhookId }: WebhookKey): Promise<void> {
  await tx.query({
    text: `update webhooks set paused_until = null
           where company_id = $1 and id = $2 and paused_until is not null`,
    values: [companyId, webhookId],
  })
}

type FailingRow = Row & {
  company_id: Uuid
  id: Uuid
  failing_since: Date
  failed_at: Date
  warned_at: Date | null
}

const toFailing = (row: FailingRow): FailingWebhook => ({
  companyId: row.company_id,
  webhookId: row.id,
  failingSince: row.failing_since,
  failedAt: row.failed_at,
  warnedAt: row.warned_at,
})

export type FailingWebhook = WebhookKey & Failing

const COLUMNS = `w.company_id, w.id, w.failing_since, w.failed_at, w.warned_at`

const ms = (time_ms: number): string => `interval '${time_ms} milliseconds'`

/** When something is done about a failing webhook `d`, as `failureAction` decides. */
const ACTION_AT = `(case when d.warned_at is null then d.failing_since + ${ms(WARN_AFTER_MS)}
  else greatest(d.failing_since + ${ms(DEACTIVATE_AFTER_MS)},
    d.warned_at + ${ms(DEACTIVATE_AFTER_MS - WARN_AFTER_MS)}) end)`

/**
 * Active webhooks that only fail. Their companies are warned, and later they are deactivated. If
 * the last failure is old by then, nothing is done.
 */
export const FAILING: DueKind = {
  name: TASK.webhooks,
  table: 'webhooks',
  key: 'id',
  dueAt: 'failing_since',
  moment: ACTION_AT,
  where: `d.status = 'ACTIVE' and d.failing_since is not null`,
  except: (now) => `greatest(${now}, ${ACTION_AT}) - d.failed_at > ${ms(FAILURE_COUNTS_MS)}`,
}

/** The active webhooks of a company that fail, no matter for how long. */
export async function listFailing(tx: Tx, companyId: Uuid): Promise<FailingWebhook[]> {
  const rows = await tx.query<FailingRow>({
    text: `select ${COLUMNS} from webhooks w
           where w.company_id = $1 and w.status = 'ACTIVE' and w.failing_since is not null`,
    values: [companyId],
  })
  return rows.map(toFailing)
}

/** False if its company was warned before, or if it works again or is inactive. */
export async function markWarned(
  tx: Tx,
  { companyId, webhookId }: WebhookKey,
  now: Date,
): Promise<boolean> {
  const rows = await tx.query({
    text: `update webhooks set warned_at = $3 where company_id = $1 and id = $2
             and status = 'ACTIVE' and failing_since is not null and warned_at is null
           returning id`,
    values: [companyId, webhookId, now],
  })
  return rows.length === 1
}

export type Deactivation = 'GONE' | 'FAILING'

/**
 * Makes a webhook inactive although its company did not ask for it. False if the reason is no
 * longer true: the webhook has another address than the one that is gone, or it works again.
 */
export async function deactivate(
  tx: Tx,
  { companyId, webhookId, url }: WebhookKey & { url: string | null },
  reason: Deactivation,
  now: Date,
): Promise<boolean> {
  const rows = await tx.query({
    text: `update webhooks set status = 'INACTIVE', deactivated = $3, updated_at = $4
           where company_id = $1 and id = $2 and status = 'ACTIVE'
             and ($5::text is null or url = $5) and ($3 = 'GONE' or warned_at is not null)
           returning id`,
    values: [companyId, webhookId, reason, now, url],
  })
  return rows.length === 1
}
