import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { nextNotice } from '../charges/notices.ts'
import { record } from '../charges/record.ts'
import { lockStates, NOTICES } from '../charges/store.ts'
import type { Attempt } from '../deliveries/rules.ts'
import { notice } from '../disputes/rules.ts'
import * as disputes from '../disputes/store.ts'
import { type DueKind, type DueOfCompany, findDue } from '../due.ts'
import type { MailReason } from '../mails/rules.ts'
import { LEASE_S } from '../mails/store.ts'
import { leaveOut } from '../recurrences/rules.ts'
import { GENERATING, lockOpen, updateCycles } from '../recurrences/store.ts'
import { daysOf } from '../reminders/rules.ts'
import { listRules } from '../reminders/store.ts'

/**
 * A database that is restored to an earlier moment believes that everything which was due then is
 * still to be done. The service that ran on until later has done it, and the database cannot know.
 * So it is not done again: what was due until that service stopped is ended or left out, in a way
 * that people can see and repeat. What is under way at a bank is asked about.
 */

/** How much was held of each kind, as operators read it. */
export type Held = Record<string, number>

/** How many rows are read at once. */
const AT_ONCE = 500

const WHY: Pick<Attempt, 'status' | 'error' | 'latencyMs' | 'response'> = {
  status: null,
  error: 'not sent: the database was restored, and this may have been delivered before',
  latencyMs: 0,
  response: '',
}
const REASON: MailReason = 'RESTORED'

/** How far the clock of the company of a row is ahead. */
const AHEAD = `coalesce((select t.ahead_ms from test_clocks t where t.company_id = d.company_id), 0)
  * interval '1 millisecond'`

/** Whether the bank of a company can be asked about a withdrawal by our id. */
type Askable = (companyId: Uuid) => Promise<boolean>

/** What must never be done twice, whatever is asked for. `to` is the moment of the data. */
export async function secureOrders(tx: Tx, to: Date, isAskable: Askable): Promise<Held> {
  return {
    'withdrawals that expire, because they were not sent yet': await endWaiting(tx, to),
    'withdrawals left to an operator': await leaveToOperators(tx, isAskable),
    'orders at banks to be asked about': await markOrdered(tx, to),
  }
}

/**
 * What waits for its code, an approval or the end of its time may have been sent after the moment:
 * typed, approved or released again it would be sent again. It expires, and is begun anew.
 */
const endWaiting = (tx: Tx, to: Date): Promise<number> =>
  count(
    tx,
    `update withdrawals d
     set otp_expires_at = least(d.otp_expires_at, $1::timestamptz + ${AHEAD}), held_until = null
     where d.status = 'PENDING_OTP' returning 1`,
    [to],
  )

/** Nobody but a person can find out whether such a bank has sent the money. */
async function leaveToOperators(tx: Tx, isAskable: Askable): Promise<number> {
  const rows = await tx.query<{ company_id: Uuid }>({
    text: `select distinct d.company_id from withdrawals d join bank_connections b using (company_id)
           where d.status = 'PROCESSING' and not d.manual and d.bank_reference is null`,
  })
  const left: Uuid[] = []
  for (const { company_id: id } of rows) if (!(await isAskable(id))) left.push(id)
  return count(
    tx,
    `update withdrawals d set manual = true, next_attempt_at = null,
       ordered_at = coalesce(d.ordered_at, d.confirmed_at)
     where d.company_id = any ($1::uuid[]) and d.status = 'PROCESSING' and not d.manual
       and d.bank_reference is null returning 1`,
    [left],
  )
}

/** Whoever takes them up asks the bank first: it may have got the order after this moment. */
async function markOrdered(tx: Tx, to: Date): Promise<number> {
  const ordered = `ordered_at = coalesce(d.ordered_at, $1::timestamptz + ${AHEAD})`
  const counts = [
    await count(
      tx,
      `update withdrawals d set ${ordered} where d.status = 'PROCESSING' and not d.manual returning 1`,
      [to],
    ),
    await count(tx, `update refunds d set ${ordered} where d.status = 'PROCESSING' returning 1`, [
      to,
    ]),
    await count(
      tx,
      `update disputes d set ${ordered} where d.next_attempt_at is not null returning 1`,
      [to],
    ),
    await count(
      tx,
      `update billings d set ordered = true where d.next_at is not null returning 1`,
      [],
    ),
  ]
  return counts.reduce((sum, one) => sum + one, 0)
}

/**
 * Holds what was due until the former service stopped, in the time of each company. `to` is the
 * moment of the data.
 */
export async function holdDue(
  tx: Tx,
  { to, stoppedAt: until }: { to: Date; stoppedAt: Date },
): Promise<Held> {
  return {
    'webhook deliveries': await holdDeliveries(tx, until),
    mails: await holdMails(tx, to, until),
    'notices of due dates': await inParts(tx, NOTICES, until, passNotices),
    'notices of disputes': await inParts(tx, disputes.NOTICES, until, passDeadlines),
    'charges of subscriptions': await inParts(tx, CYCLES, until, passCycles),
  }
}

/** Of how many rows a statement returns something. `before` has what it begins with. */
async function count(tx: Tx, text: string, values: unknown[], before = ''): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    text: `with ${before} done as (${text}) select count(*) as count from done`,
    values,
  })
  return row!.count
}

/** They end as failed, from where companies can replay them. */
async function holdDeliveries(tx: Tx, until: Date): Promise<number> {
  const attempt: Attempt = { at: until.toISOString(), ...WHY }
  const held = await count(
    tx,
    `insert into delivery_log
       (company_id, webhook_id, event_id, status, attempts, created_at, finished_at)
     select d.company_id, d.webhook_id, d.event_id, 'FAILED', d.attempts || $2::jsonb,
       d.created_at, greatest(d.created_at, $1::timestamptz + ${AHEAD})
     from held d
     on conflict (company_id, webhook_id, event_id) do update set
       status = excluded.status, attempts = excluded.attempts, finished_at = excluded.finished_at
     returning 1`,
    [until, JSON.stringify([attempt])],
    `held as (
       delete from deliveries d where d.next_attempt_at <= $1::timestamptz + ${AHEAD} returning *
     ),`,
  )
  // While nothing was sent, no receiver has failed.
  await tx.query({
    text: `update webhooks set failing_since = null, failures = 0, failed_at = null,
             paused_until = null, warned_at = null
           where failing_since is not null`,
  })
  return held
}

/** Also those that were being sent at the moment of the data: they are due when that lease ends. */
const holdMails = (tx: Tx, to: Date, until: Date): Promise<number> =>
  count(
    tx,
    `update mails set outcome = 'FAILED', reason = $2, finished_at = now(), sealed = null
     where finished_at is null and (next_attempt_at <= $1
       or (attempts > 0 and next_attempt_at <= $3::timestamptz + $4 * interval '1 second'))
     returning 1`,
    [until, REASON, to, LEASE_S],
  )

/** Also those of suspended companies: they may have been admitted again since. */
const { except: _, ...CYCLES } = GENERATING

/** Does something with all rows that are due. `pass` must move each beyond the moment. */
async function inParts(
  tx: Tx,
  kind: DueKind,
  until: Date,
  pass: (tx: Tx, due: DueOfCompany, until: Date) => Promise<number>,
): Promise<number> {
  let done = 0
  for (;;) {
    const request = { now: until, max: AT_ONCE, only: null, except: [] }
    const { due } = await findDue(tx, kind, request)
    if (due.size === 0) return done
    for (const own of due.values()) {
      done += await pass(tx, own, new Date(until.getTime() + own.clockAhead_ms))
    }
  }
}

/** The next thing to say about a charge is what comes after the moment. */
async function passNotices(tx: Tx, { companyId, ids }: DueOfCompany, until: Date): Promise<number> {
  const charges = await lockStates(tx, companyId, ids)
  const days = daysOf(await listRules(tx, companyId))
  await record(
    tx,
    charges.map((charge) => ({
      charge: { ...charge, noticeAt: nextNotice(charge.due, days, until) },
      event: null,
      at: until,
    })),
  )
  return charges.length
}

async function passDeadlines(
  tx: Tx,
  { companyId, ids }: DueOfCompany,
  until: Date,
): Promise<number> {
  for (const id of ids) {
    const dispute = await disputes.find(tx, companyId, id, 'for update')
    await disputes.update(tx, notice(dispute!, until).dispute)
  }
  return ids.length
}

/**
 * The charge of a cycle has another id each time it is generated, so its bank would collect it
 * again. It is left out.
 */
async function passCycles(tx: Tx, { companyId, ids }: DueOfCompany): Promise<number> {
  const agreements = await lockOpen(tx, companyId, ids)
  await updateCycles(tx, companyId, agreements.map(leaveOut))
  return agreements.length
}

/** What would let people in who were signed out, or by a link that was used since. */
export async function closeDoors(tx: Tx): Promise<void> {
  await tx.query({ text: 'delete from sessions' })
  await tx.query({ text: `delete from person_links where kind in ('sign-in', 'password')` })
}
