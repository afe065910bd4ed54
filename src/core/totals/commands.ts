import type { Database } from '../../db/database.ts'
import { lockBooks } from '../../ledger/post.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import {
  CONVERSION_DAYS,
  completeUntil,
  hourOf,
  lastDays,
  type Period,
  sameTimeLastWeek,
} from './rules.ts'
import {
  type Counted,
  countMade,
  countReceived,
  findCounted,
  findWaiting,
  type Made,
  type Received,
  readMade,
  readReceived,
  saveCounted,
  sumMade,
  sumReceived,
  type Waiting,
} from './store.ts'

const DAY_MS = 24 * 3_600_000
/** So much is counted in one transaction, because payments of the company wait for it. */
const STEP_MS = 7 * DAY_MS

type Given = Pick<App, 'db' | 'clock'>

/** What was received today so far, and until this time of the same weekday last week. */
export async function readToday(
  { db, clock }: Given,
  company: Company,
): Promise<{ today: Received; lastWeek: Received }> {
  const now = clock.now()
  const [today] = lastDays(1, now)
  const { from, to } = sameTimeLastWeek(now)
  await countSince(db, company, from, now)
  const hour = hourOf(to)
  const [sums, rest] = await Promise.all([
    sumReceived(db, company.id, [today!, { from, to: hour }]),
    readReceived(db, company.id, { from: hour, to }),
  ])
  const [sinceMidnight, wholeHours] = sums as [Received, Received]
  const lastWeek = { count: wholeHours.count + rest.count, sum: wholeHours.sum + rest.sum }
  return { today: sinceMidnight, lastWeek }
}

/** What was received on each of the last days, oldest first. */
export async function readDays(
  { db, clock }: Given,
  company: Company,
  count: number,
): Promise<(Received & { day: string })[]> {
  const now = clock.now()
  const days = lastDays(count, now)
  await countSince(db, company, days[0]!.from, now)
  const sums = await sumReceived(db, company.id, days)
  return days.map(({ day }, i) => ({ day, ...sums[i]! }))
}

/** How many charges were made in the last 30 days, and how many of those are paid. */
export async function readConversion({ db, clock }: Given, company: Company): Promise<Made> {
  const now = clock.now()
  const { from } = lastDays(CONVERSION_DAYS, now)[0]!
  const withTrials = company.mode === 'sandbox'
  // A test clock can jump over a charge that is just being written, so nothing is remembered.
  if (company.clockAhead_ms > 0) {
    return readMade(db, company.id, { from, to: afterAll(now) }, withTrials)
  }
  const until = completeUntil(now)
  await countMadeIn(db, company, { from, to: until }, now)
  const [complete, rest] = await Promise.all([
    sumMade(db, company.id, { from, to: until }),
    readMade(db, company.id, { from: until, to: afterAll(now) }, withTrials),
  ])
  return { made: complete.made + rest.made, paid: complete.paid + rest.paid }
}

/** Charges of subscriptions that failed before are not shown any more. */
const FAILED_DAYS = 30

/** What waits for the company's people. Every page of the dashboard shows some of it. */
export const readWaiting = ({ db, clock }: Given, { id }: Company): Promise<Waiting> =>
  findWaiting(db, id, new Date(clock.now().getTime() - FAILED_DAYS * DAY_MS))

/** Clocks of several machines differ a little. */
const afterAll = (now: Date): Date => new Date(now.getTime() + DAY_MS)

/** Nothing of a company is older than the company, however much clocks differ. */
const notBefore = ({ createdAt }: Company, from: Date): Date =>
  new Date(Math.max(from.getTime(), hourOf(createdAt).getTime() - DAY_MS))

/** Counts what was received since then, if it is not counted yet. */
async function countSince(db: Database, company: Company, since: Date, now: Date): Promise<void> {
  const from = notBefore(company, since)
  await extend(db, company, now, ({ receivedFrom }) => {
    if (receivedFrom <= from) return null
    const earlier = new Date(Math.max(from.getTime(), receivedFrom.getTime() - STEP_MS))
    return { received: { from: earlier, to: receivedFrom }, counted: { receivedFrom: earlier } }
  })
}

/** Counts the charges that were made in a period, if they are not counted yet. */
async function countMadeIn(
  db: Database,
  company: Company,
  { from: since, to }: Period,
  now: Date,
): Promise<void> {
  const from = notBefore(company, since)
  await extend(db, company, now, ({ madeFrom, madeUntil }) => {
    // If nobody has looked for long, what is between is not needed.
    if (madeUntil < from) return { counted: { madeFrom: from, madeUntil: from } }
    if (madeUntil < to) {
      const later = new Date(Math.min(to.getTime(), madeUntil.getTime() + STEP_MS))
      return { made: { from: madeUntil, to: later }, counted: { madeUntil: later } }
    }
    if (madeFrom <= from) return null
    const earlier = new Date(Math.max(from.getTime(), madeFrom.getTime() - STEP_MS))
    return { made: { from: earlier, to: madeFrom }, counted: { madeFrom: earlier } }
  })
}

/** What to count next, and what is counted then. */
type Step = { received?: Period; made?: Period; counted: Partial<Counted> }

/**
 * Counts step by step until there is no next step. Each step locks the books of the company, as
 * whoever records a payment does, so that a payment is either counted here or by the database.
 */
async function extend(
  db: Database,
  company: Company,
  now: Date,
  nextOf: (counted: Counted) => Step | null,
): Promise<void> {
  let counted = await findCounted(db, company.id)
  while (!counted || nextOf(counted)) {
    counted = await db.transaction(async (tx) => {
      await lockBooks(tx, company.id)
      const here = await findCounted(tx, company.id)
      if (!here) {
        const first = startOf(now)
        await countReceived(tx, company.id, { from: first.receivedFrom, to: null })
        await saveCounted(tx, company.id, first)
        return first
      }
      const step = nextOf(here)
      if (!step) return here
      if (step.received) await countReceived(tx, company.id, step.received)
      if (step.made) await countMade(tx, company.id, step.made, company.mode === 'sandbox')
      const after = { ...here, ...step.counted }
      await saveCounted(tx, company.id, after)
      return after
    })
  }
}

const startOf = (now: Date): Counted => {
  const until = completeUntil(now)
  return { receivedFrom: hourOf(now), madeFrom: until, madeUntil: until }
}
