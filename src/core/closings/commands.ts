import type { Database, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { App, Uses } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { countPostings, inStep } from '../figures/counting.ts'
import { readEntries } from '../figures/figures.ts'
import {
  type Closing,
  isOver,
  type Listed,
  type Month,
  monthOf,
  monthsFrom,
  periodOf,
} from './rules.ts'
import {
  findClosings,
  findLastClosed,
  findLateReceipts,
  insertClosing,
  type LateReceipt,
  sumLateReceipts,
} from './store.ts'
import { disputesAt, unmatchedAt } from './waiting.ts'

type Given = Pick<App, 'db' | 'clock' | 'clockWatch'>

/** Payments that are listed as later corrections. Their total is of all. */
const MAX_LATE = 500

/** A month, and what was booked after its end although the bank has received it before. */
export type ShownMonth = {
  month: Month
  isClosed: boolean
  closing: Closing
  late: Listed<LateReceipt>
}

/** The months of a company until now, newest first. */
export const monthsOf = ({ clock }: Uses<'clock'>, { createdAt }: Company): Month[] =>
  monthsFrom(monthOf(createdAt), monthOf(clock.now())).toReversed()

/** A month as it was closed, or as it is now. If it is over, whoever looks first closes it. */
export async function readMonth(app: Given, company: Company, month: Month): Promise<ShownMonth> {
  const closed = (await closeMonths(app, company, [month])).get(month)
  const isClosed = closed !== undefined
  const closing = closed ?? (await readOpen(app.db, company, month))
  // They are found when postings are counted, which was done just now.
  if (isClosed) await countPostings(app, company)
  const late = isClosed ? await readLate(app.db, company.id, month) : NOTHING
  return { month, isClosed, closing, late }
}

const NOTHING: Listed<never> = { count: 0, sum: 0, first: [] }

async function readLate(tx: Tx, companyId: Uuid, month: Month): Promise<Listed<LateReceipt>> {
  const first = await findLateReceipts(tx, companyId, month, MAX_LATE)
  if (first.length === 0) return NOTHING
  return { ...(await sumLateReceipts(tx, companyId, month)), first }
}

async function readOpen(db: Database, company: Company, month: Month): Promise<Closing> {
  await countPostings({ db }, company)
  return db.transaction(async (tx) => {
    await tx.query({ text: 'set transaction isolation level repeatable read, read only' })
    return closingOf(tx, company.id, month)
  })
}

async function closingOf(tx: Tx, companyId: Uuid, month: Month): Promise<Closing> {
  const period = periodOf(month)
  const [entries] = await readEntries(tx, companyId, [period])
  const { last, closing } = entries!
  return {
    ...entries!,
    // Who decides about all of them has very many, of which none waits.
    unmatched: closing.unmatched === 0 ? NOTHING : await unmatchedAt(tx, companyId, last),
    disputes: await disputesAt(tx, companyId, last, period.to),
  }
}

/**
 * Closes a month that is over, once. What is booked from now on belongs to a later month, also if
 * the clock of its machine is far behind.
 */
export async function closeMonth(app: Given, company: Company, month: Month): Promise<Closing> {
  const found = (await findClosings(app.db, company.id, [month])).get(month)
  if (found) return found
  await countPostings(app, company)
  await inStep(app.db, company, async (tx, before) => {
    const closed = await findClosings(tx, company.id, [month])
    if (closed.size > 0) return before
    await insertClosing(
      tx,
      company.id,
      month,
      await closingOf(tx, company.id, month),
      app.clock.now(),
    )
    const { to } = periodOf(month)
    return before.latest && before.latest > to ? before : { ...before, latest: to }
  })
  return (await findClosings(app.db, company.id, [month])).get(month)!
}

/**
 * The closings of months. Those that are over are closed first, if the time can be believed: what
 * is closed early stays closed.
 */
export async function closeMonths(
  app: Given,
  company: Company,
  months: Month[],
): Promise<Map<Month, Closing>> {
  const found = await findClosings(app.db, company.id, months)
  const due = months.filter((month) => !found.has(month) && isOver(month, app.clock.now()))
  if (due.length === 0 || !(await app.clockWatch.agrees())) return found
  for (const month of due) found.set(month, await closeMonth(app, company, month))
  return found
}

/** A test clock may be moved by a century. The other months are closed by the next audit. */
const MAX_CLOSED = 24

/** Counts what is new and closes months, so that nobody waits for it who looks at figures. */
export async function prepareFigures(app: Given, company: Company): Promise<void> {
  await countPostings(app, company)
  if (!(await app.clockWatch.agrees())) return
  const last = await findLastClosed(app.db, company.id)
  const now = app.clock.now()
  const months = monthsFrom(last ?? monthOf(company.createdAt), monthOf(now))
  const due = months.filter((month) => month !== last && isOver(month, now))
  for (const month of due.slice(0, MAX_CLOSED)) await closeMonth(app, company, month)
}
