import type { Database, Tx } from '../../db/database.ts'
import { balancesAt } from '../../ledger/statement.ts'
import { findEdges, sumEntries, sumSpans } from '../../ledger/sums.ts'
import type { Uuid } from '../../lib/ids.ts'
import { localDateOf } from '../../pix/local-time.ts'
import type { App, Uses } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { findSold, productOf, readMade, sumMade } from './count-store.ts'
import { countMadeIn, countPostings } from './counting.ts'
import { findSubscriptionFigures, sumOfProducts, sumProducts } from './read-store.ts'
import {
  type Conversion,
  completeUntil,
  type Entries,
  type Figures,
  figuresOf,
  hourOf,
  type Part,
  type Period,
  type ProductSum,
  partsOf,
  type SubscriptionFigures,
} from './rules.ts'

export type {
  Conversion,
  Figures,
  Period,
  ProductSum,
  Source,
  SubscriptionFigures,
  Sum,
} from './rules.ts'
export { SOURCES } from './rules.ts'

type Given = Pick<App, 'db' | 'clock'>

/**
 * The figures of each period, in their order. Periods may have any ends, may overlap, and may reach
 * into the future: then they have what is booked until now. All are of the same moment, so figures
 * of adjacent periods add up. Reads sums of hours and days, so the cost is that of the days, not of
 * the payments in them.
 */
export async function readFigures(
  app: Given,
  company: Company,
  periods: Period[],
): Promise<Figures[]> {
  return (await readPeriods(app, company, periods)).map(figuresOf)
}

/** What was posted in each period, and the balances around it, counted until now. */
export async function readPeriods(
  app: { db: Database },
  company: Company,
  periods: Period[],
): Promise<Entries[]> {
  await countPostings(app, company)
  return inSnapshot(app, (tx) => readEntries(tx, company.id, periods))
}

/** Reads all of the same moment: somebody may count more meanwhile. */
const inSnapshot = <R>({ db }: { db: Database }, read: (tx: Tx) => Promise<R>): Promise<R> =>
  db.transaction(async (tx) => {
    await tx.query({ text: 'set transaction isolation level repeatable read, read only' })
    return read(tx)
  })

/** The same of what is counted. Needs one snapshot, or that nobody else counts. */
export async function readEntries(tx: Tx, companyId: Uuid, periods: Period[]): Promise<Entries[]> {
  const parts = periods.flatMap((period, position) =>
    partsOf(period).map((part) => ({ ...part, position })),
  )
  const edgeAt = await edgesOf(tx, companyId, [...periods, ...parts.filter(isOfEntries)])
  const rangeOf = ({ from, to }: Period) => ({ before: edgeAt(from), last: edgeAt(to) })
  const ranges = parts
    .filter(isOfEntries)
    .map((part) => ({ position: part.position, ...rangeOf(part) }))
    .filter(({ before, last }) => before < last)
  const around = periods.map(rangeOf)
  const balances = await balancesAt(
    tx,
    companyId,
    around.flatMap(({ before, last }) => [before, last]),
  )
  const spans = parts.filter((part) => !isOfEntries(part))
  const moved = [
    ...(spans.length > 0 ? await sumSpans(tx, companyId, spans) : []),
    ...(ranges.length > 0 ? await sumEntries(tx, companyId, ranges) : []),
  ]
  const byPeriod = Map.groupBy(moved, ({ position }) => position)
  return around.map(({ before, last }, position) => ({
    movements: (byPeriod.get(position) ?? []).map(({ position: _, ...movement }) => movement),
    opening: balances.get(before)!,
    closing: balances.get(last)!,
    before,
    last,
  }))
}

const isOfEntries = ({ span }: Part): boolean => span === 'entries'

/** The last entry before each end of these periods. */
async function edgesOf(tx: Tx, companyId: Uuid, periods: Period[]): Promise<(at: Date) => number> {
  const ends = periods.flatMap(({ from, to }) => [from.getTime(), to.getTime()])
  const times = [...new Set(ends)]
  const entries = await findEdges(
    tx,
    companyId,
    times.map((time) => new Date(time)),
  )
  const found = new Map(times.map((time, i) => [time, entries[i]!]))
  return (at) => found.get(at.getTime())!
}

/**
 * The products that brought in most in a period of whole hours, the most first, and what the same
 * products brought in in the period that it is compared with, which may have any ends.
 */
export async function readProducts(
  app: Given,
  company: Company,
  { period, compared }: { period: Period; compared: Period },
  limit: number,
): Promise<ProductSum[]> {
  await countPostings(app, company)
  return inSnapshot(app, async (tx) => {
    const products = await sumProducts(tx, company.id, partsOf(period), limit)
    const before = await readProductsBefore(tx, company.id, compared, products)
    return products.map((one) => ({ ...one, before: before.get(one.productId) ?? 0 }))
  })
}

async function readProductsBefore(
  tx: Tx,
  companyId: Uuid,
  compared: Period,
  products: Pick<ProductSum, 'productId'>[],
): Promise<Map<Uuid, number>> {
  const ids = products.map(({ productId }) => productId)
  const parts = partsOf(compared)
  const spans = parts.filter((part) => !isOfEntries(part))
  const sums = await sumOfProducts(tx, companyId, spans, ids)
  const before = new Map(sums.map(({ productId, sum }) => [productId, sum]))
  const edgeAt = await edgesOf(tx, companyId, parts.filter(isOfEntries))
  for (const { from, to } of parts.filter(isOfEntries)) {
    const range = { after: edgeAt(from), until: edgeAt(to), latest: null }
    for (const one of await findSold(tx, companyId, range)) {
      const id = productOf(one)
      before.set(id, (before.get(id) ?? 0) + one.sum)
    }
  }
  return before
}

const DAY_MS = 24 * 3_600_000

/**
 * How many charges were made in a period, and how many of them are paid until now. Sales of static
 * codes are left out, because they are made by being paid, and trials of a live company are no
 * sales. The period begins with a whole hour, as days do.
 */
export async function readConversion(
  app: Given & Uses<'clockWatch'>,
  company: Company,
  { from, to }: Period,
): Promise<Conversion> {
  const { db, clock, clockWatch } = app
  const withTrials = company.mode === 'sandbox'
  // Clocks of several machines differ a little.
  const end = to > clock.now() ? new Date(to.getTime() + DAY_MS) : to
  // A test clock can jump over a charge that is just being written, so nothing is remembered.
  if (company.clockAhead_ms > 0) return readMade(db, company.id, { from, to: end }, withTrials)
  const complete = completeUntil(await clockWatch.now())
  const until = hourOf(complete < to ? complete : to)
  if (until <= from) return readMade(db, company.id, { from, to: end }, withTrials)
  await countPostings(app, company)
  await countMadeIn(app, company, { from, to: until })
  const [counted, rest] = await Promise.all([
    sumMade(db, company.id, { from, to: until }),
    readMade(db, company.id, { from: until, to: end }, withTrials),
  ])
  return { made: counted.made + rest.made, paid: counted.paid + rest.paid }
}

export const readSubscriptionFigures = (
  { db, clock }: Given,
  company: Company,
  period: Period,
): Promise<SubscriptionFigures> =>
  findSubscriptionFigures(db, company.id, period, localDateOf(clock.now()))
