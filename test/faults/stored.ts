import type { FullApp } from '../../src/core/full-app.ts'
import type { Row } from '../../src/db/database.ts'
import { type Prefix, toPublic, type Uuid } from '../../src/lib/ids.ts'

/** Records as lines of text: lists of them are easily compared, and a difference easily read. */
export type TextLines = string[]

export const line = (...parts: (string | number)[]): string => parts.join(' ')

export const read = <R extends Row>({ db }: FullApp, text: string): Promise<R[]> =>
  db.query<R>({ text })

const PREFIXES: string[] = ['charge', 'qrs', 'rfnd', 'wd', 'dispute', 'rec'] satisfies Prefix[]

/** Rows as lines. A column that is called like a prefix holds an id which is shown with it. */
async function lines(app: FullApp, text: string): Promise<TextLines> {
  const rows = await read<Record<string, string | number>>(app, text)
  return rows.map((row) =>
    Object.entries(row)
      .map(([name, value]) =>
        PREFIXES.includes(name) ? toPublic(name as Prefix, value as Uuid) : value,
      )
      .join(' '),
  )
}

export const storedCharges = (app: FullApp): Promise<TextLines> =>
  lines(app, `select company_id, id as charge, amount from charges where kind = 'PIX'`)

export const storedCodes = (app: FullApp): Promise<TextLines> =>
  lines(app, 'select company_id, id as qrs, amount from static_codes')

/** A payment that a simulation made is called by its charge, of which it is the only one. */
export const storedPayments = (app: FullApp): Promise<TextLines> =>
  lines(
    app,
    `select company_id, coalesce(t.order_id, p.end_to_end_id), p.amount, status from payments p
     left join simulated_transfers t
       on t.account_id = p.company_id and t.end_to_end_id = p.end_to_end_id`,
  )

/** Charges that a static code was paid by, each with the payment that made it. */
export const storedSales = (app: FullApp): Promise<TextLines> =>
  lines(app, `select company_id, end_to_end_id, amount from charges where kind = 'STATIC'`)

export const storedRefunds = (app: FullApp): Promise<TextLines> =>
  lines(app, 'select company_id, id as rfnd, amount, status from refunds')

export const storedWithdrawals = (app: FullApp): Promise<TextLines> =>
  lines(app, 'select company_id, id as wd, value, status from withdrawals')

export const storedDisputes = (app: FullApp): Promise<TextLines> =>
  lines(app, 'select company_id, id as dispute, amount, status from disputes')

/** Each with how many of its cycles were charged, and how many of those are different ones. */
export const storedSubscriptions = (app: FullApp): Promise<TextLines> =>
  lines(
    app,
    `select r.company_id, r.id as rec, r.auth_status, count(c.id)::int as charges,
       count(distinct b.cycle)::int as cycles
     from recurrences r
     left join billings b on b.company_id = r.company_id and b.recurrence_id = r.id
     left join charges c on c.company_id = b.company_id and c.id = b.charge_id
     where not r.is_template group by 1, 2, 3`,
  )

/** What the bank has moved, by its own books. */
export const movedByBank = (app: FullApp): Promise<TextLines> =>
  lines(
    app,
    `select account_id, direction,
       case when reason is null then coalesce(order_id, end_to_end_id) else returns end, amount
     from simulated_transfers`,
  )

export const storedBalances = (app: FullApp): Promise<TextLines> =>
  lines(
    app,
    `select company_id, available, pending, held, unmatched, disputed, recipients from balances`,
  )

/** Codes end within minutes, some of them unsent if the clock was moved. */
export const storedMails = (app: FullApp, mayEnd: boolean): Promise<TextLines> =>
  lines(
    app,
    `select kind, state, count(*) from (
       select kind, case when ${mayEnd} and kind = 'withdrawal-code' and outcome = 'EXPIRED'
         then 'SENT' else outcome end as state from mails) m
     group by kind, state`,
  )

/** One company after the other, because payloads of all are more than fits into memory well. */
export async function storedEvents(app: FullApp): Promise<TextLines> {
  const all: TextLines = []
  for (const { id } of await read<{ id: Uuid }>(app, 'select id from companies'))
    all.push(...(await eventsOf(app, id)))
  return all
}

async function eventsOf(app: FullApp, company: Uuid): Promise<TextLines> {
  const rows = await app.db.query<{ type: string; payload: string }>({
    text: 'select type, payload from events where company_id = $1',
    values: [company],
  })
  return rows.map(({ type, payload }) => {
    const { charge, payment, withdrawal, dispute, subscription } = JSON.parse(payload)
    if (subscription) return line(company, type, subscription.id, subscription.value)
    if (dispute) return line(company, type, dispute.id, dispute.amount)
    if (charge) return line(company, type, charge.id, charge.total)
    if (payment) return line(company, type, payment.endToEndId, payment.amount)
    return line(company, type, withdrawal.id, withdrawal.value)
  })
}

/** Work that somebody still has to do. */
export const leftovers = (app: FullApp): Promise<TextLines> =>
  lines(
    app,
    `select 'charge', id, payment_status from charges
       where kind <> 'RECURRING' and (status = 'OPEN' or payment_status = 'PAID')
     union all select 'callback', id, attempts::text from bank_callbacks
       where processed_at is null
     union all select 'refund', id, status from refunds where status = 'PROCESSING'
     union all select 'dispute', id, status from disputes where closed_at is null
     union all select 'withdrawal', id, status from withdrawals
       where status in ('PENDING_OTP', 'PROCESSING')
     union all select 'delivery', event_id, tries::text from deliveries
     union all select 'subscription', id, auth_status from recurrences r
       where not is_template and (auth_status = 'CREATED' or auth_status = 'APPROVED'
         and not exists (select from billings b
           where b.company_id = r.company_id and b.recurrence_id = r.id))
     union all select 'mail', id, kind from mails where finished_at is null`,
  )

/** `empty` are keys that were taken, but have no answer to give again. */
export async function keptAnswers(app: FullApp): Promise<{ kept: number; empty: number }> {
  const [row] = await read<{ kept: number; empty: number }>(
    app,
    'select count(*) as kept, count(*) filter (where status = 0) as empty from idempotency_keys',
  )
  return row!
}
