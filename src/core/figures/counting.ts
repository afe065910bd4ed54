import type { Database, Tx } from '../../db/database.ts'
import { addPostings, readLastEntry } from '../../ledger/sums.ts'
import { assert } from '../../lib/assert.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Company } from '../companies/rules.ts'
import {
  addLate,
  addPaid,
  addProducts,
  type Counted,
  countMade,
  findCounted,
  insertCounted,
  saveCounted,
} from './count-store.ts'
import { hourOf, type Period } from './rules.ts'

/** So many postings, or charges of so long, are counted in one transaction. */
const STEP_ENTRIES = 10_000
const STEP_MS = 7 * 24 * 3_600_000

type Given = { db: Database }

/**
 * Counts all postings that a company has at this moment. Whoever looks at figures calls it, and the
 * audit does, so that nobody waits for a long history.
 */
export async function countPostings({ db }: Given, company: Company): Promise<void> {
  const until = await readLastEntry(db, company.id)
  const counted = await findCounted(db, company.id)
  for (let at = counted?.entries ?? 0; at < until; ) {
    at = await inStep(db, company, async (tx, before) => {
      if (before.entries >= until) return before
      return addRange(tx, company.id, before, Math.min(until, before.entries + STEP_ENTRIES))
    }).then(({ entries }) => entries)
  }
}

async function addRange(tx: Tx, companyId: Uuid, before: Counted, until: number): Promise<Counted> {
  const range = { after: before.entries, until, latest: before.latest }
  const latest = await addPostings(tx, companyId, range)
  await addPaid(tx, companyId, range)
  await addProducts(tx, companyId, range)
  await addLate(tx, companyId, range)
  return { ...before, entries: until, latest }
}

/** Counts the charges that were made in a period of whole hours, if they are not counted yet. */
export async function countMadeIn(
  { db }: Given,
  company: Company,
  { from: since, to }: Period,
): Promise<void> {
  const from = new Date(Math.max(since.getTime(), hourOf(company.createdAt).getTime()))
  const counted = await findCounted(db, company.id)
  if (counted && !stepTo(counted, from, to)) return
  for (let isDone = false; !isDone; ) {
    await inStep(db, company, async (tx, before) => {
      const step = stepTo(before, from, to)
      isDone = step === null
      if (!step) return before
      if (step.made) await countMade(tx, company.id, step.made, company.mode === 'sandbox')
      return { ...before, ...step.counted }
    })
  }
}

/** What to count next, and what is counted then. Null: nothing is missing. */
function stepTo(
  { madeFrom, madeUntil }: Counted,
  from: Date,
  to: Date,
): { made?: Period; counted: Partial<Counted> } | null {
  if (to <= from) return null
  // If nobody has looked for long, what is between is not needed.
  if (madeUntil < from) return { counted: { madeFrom: from, madeUntil: from } }
  if (madeUntil < to) {
    const later = new Date(Math.min(to.getTime(), madeUntil.getTime() + STEP_MS))
    return { made: { from: madeUntil, to: later }, counted: { madeUntil: later } }
  }
  if (madeFrom <= from) return null
  const earlier = new Date(Math.max(from.getTime(), madeFrom.getTime() - STEP_MS))
  return { made: { from: earlier, to: madeFrom }, counted: { madeFrom: earlier } }
}

/** One step, alone of those who count this company. */
export async function inStep(
  db: Database,
  { id, createdAt }: Company,
  step: (tx: Tx, before: Counted) => Promise<Counted>,
): Promise<Counted> {
  return db.transaction(async (tx) => {
    const found = await findCounted(tx, id, 'for update')
    if (!found) await insertCounted(tx, id, hourOf(createdAt))
    const before = found ?? (await findCounted(tx, id, 'for update'))
    assert(before, 'it was inserted')
    const after = await step(tx, before)
    if (after !== before) await saveCounted(tx, id, after)
    return after
  })
}
