import type { Database } from '../../db/database.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { recordActivity } from '../activity/record.ts'
import type { Author } from '../activity/rules.ts'
import type { Uses } from '../app.ts'
import { findFormerSecrets } from '../installation.ts'
import { livesHere } from '../places/directory.ts'
import { findKnown } from '../places/store.ts'
import type { Job, Kind } from './kind.ts'
import { KINDS } from './kinds.ts'
import { customers } from './records.ts'
import * as store from './store.ts'
import { type Blockers, isBlocked, type Survey, surveyPayer } from './survey.ts'
import { noTraits, type Traits } from './traits.ts'

type App = Uses<'systemClock' | 'vault'> & { db: Database }

/** Which payer, and in which company. */
export type Wanted = {
  companyId: Uuid
  /** Without punctuation. */
  taxId: string
  /** Whether it is for all companies. */
  isEverywhere: boolean
}

/** What a company has of a payer. */
export type Look = {
  survey: Survey
  counts: store.Counts
  /** An erasure that was interrupted. */
  underWay: Uuid | null
}

export const totalOf = (counts: store.Counts): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0)

/** The records of a payer, and an erasure of them that was interrupted. */
type Found = Omit<Look, 'counts'>

/** What is found without reading all that an index does not find. */
export async function findPayer(app: App, { companyId, taxId }: Wanted): Promise<Found> {
  const { db, vault } = app
  const before = await store.findUnderWay(db, vault, companyId, taxId)
  const until = before && new Date(before.beganAt.getTime() + SETTLE_MS)
  const now = await store.findSubject(db, vault, companyId, { taxId, until })
  const survey = await surveyPayer(app, companyId, ...joined(taxId, now, before))
  return { survey, underWay: before?.id ?? null }
}

/** Looks for all that a company has of a payer, in all places, and changes nothing. */
export async function lookAtPayer(app: App, wanted: Wanted): Promise<Look> {
  const found = await findPayer(app, wanted)
  const counts = await runKinds(jobOf(app, wanted, found.survey, null))
  return { ...found, counts }
}

/**
 * What is known now, and what an erasure has known that was interrupted. Customers that were made
 * later than requests of before last are not in it: whoever buys again is a new customer.
 */
function joined(
  taxId: string,
  now: store.Subject,
  before: store.Memory | null,
): [store.Subject, Traits] {
  const owned = [...new Set([...now.owned, ...(before?.owned ?? [])])]
  const shared = [...now.shared, ...(before?.shared ?? [])].filter((id) => !owned.includes(id))
  const traits = before?.traits ?? { ...noTraits(), taxIds: [taxId] }
  return [{ indexes: now.indexes, owned, shared: [...new Set(shared)] }, traits]
}

const jobOf = (
  { db, vault, systemClock }: App,
  { companyId, isEverywhere }: Wanted,
  survey: Survey,
  erasureId: Uuid | null,
): Job => {
  const now = systemClock.now()
  return { db, control: db.control, vault, companyId, isEverywhere, survey, erasureId, now }
}

/** Counts what there is of each kind, and erases it if there is an erasure. */
async function runKinds(job: Job, kinds: readonly Kind[] = KINDS): Promise<store.Counts> {
  const counts: store.Counts = {}
  for (const { name, run } of kinds) {
    const count = await run(job)
    if (count > 0) counts[name] = count
  }
  return counts
}

export type Erased =
  /** Nothing is known of such a payer. */
  | { kind: 'unknown' }
  /** Something has to end before. */
  | { kind: 'blocked'; blockers: Blockers }
  | { kind: 'erased'; erasureId: Uuid; counts: store.Counts }
  /** Something came in meanwhile, or waits for a bank: the same command goes on. */
  | { kind: 'unfinished'; erasureId: Uuid; left: store.Counts; blockers: Blockers }

/**
 * How long a request may take that has read a customer before it was deleted, and makes a charge of
 * it then. A bank may be asked in between.
 */
export const SETTLE_MS = 60_000

/**
 * Erases all that tells who a payer of one company is. What it looks for is remembered, sealed,
 * until it is over, so that the same command goes on if this process is killed. Books, amounts,
 * dates and the scheme's ids stay.
 *
 * It erases twice: requests that began before may have written in between.
 */
export async function erasePayer(
  app: App,
  wanted: Wanted,
  author: Author,
  settle: () => Promise<void>,
): Promise<Erased> {
  const found = await lookAtPayer(app, wanted)
  const { survey, underWay } = found
  if (totalOf(found.counts) === 0 && underWay === null) return { kind: 'unknown' }
  if (isBlocked(survey.blockers)) return { kind: 'blocked', blockers: survey.blockers }
  const { erasureId, counts: begun } = await begin(app, wanted, survey, underWay, author)
  const first = await runKinds(jobOf(app, wanted, survey, erasureId))
  // Without a customer nothing can have been made for the payer meanwhile.
  if (survey.subject.owned.length + survey.subject.shared.length > 0) await settle()
  const late = await surveyPayer(app, wanted.companyId, survey.subject, survey.traits)
  const second = await runKinds(jobOf(app, wanted, late, erasureId))
  const left = await runKinds(jobOf(app, wanted, late, null))
  if (totalOf(left) > 0) return { kind: 'unfinished', erasureId, left, blockers: late.blockers }
  await requireHere(app.db, wanted.companyId)
  const counts = sumOf(begun, first, second)
  await store.finish(app.db, wanted.companyId, erasureId, counts, app.systemClock.now())
  return { kind: 'erased', erasureId, counts }
}

/**
 * Begins an erasure that a worker goes on with: from then on nobody finds the customer any more.
 * Returns what holds it up. Null: it has begun.
 */
export async function beginErasure(
  app: App,
  wanted: Wanted,
  author: Author,
): Promise<Blockers | null> {
  const { survey, underWay } = await findPayer(app, wanted)
  if (isBlocked(survey.blockers)) return survey.blockers
  await begin(app, wanted, survey, underWay, author)
  return null
}

/** If the company has moved to another place meanwhile, its rows there are still to be erased. */
async function requireHere(db: Database, companyId: Uuid): Promise<void> {
  if (livesHere(await findKnown(db, companyId))) return
  throw problem('service_unavailable', 'The company was moved meanwhile. Run the command again.')
}

/** What is found by hashes could be missed while they are made again. */
async function requireOneSecret({ control }: Database): Promise<void> {
  const formers = await findFormerSecrets(control)
  if (formers.every(({ gone_at }) => gone_at !== null)) return
  throw problem('service_unavailable', 'The secret is being replaced. Try again when that is over.')
}

/** Deletes the customers and writes down what is to be erased, in one transaction. */
async function begin(
  app: App,
  wanted: Wanted,
  survey: Survey,
  underWay: Uuid | null,
  author: Author,
): Promise<{ erasureId: Uuid; counts: store.Counts }> {
  const { companyId } = wanted
  const { indexes, owned, shared } = survey.subject
  const now = app.systemClock.now()
  await requireOneSecret(app.db)
  return app.db.transaction(async (tx) => {
    const memory = { index: indexes[0]!, traits: survey.traits, owned, shared, now }
    const id = underWay ?? newId()
    await store.remember(tx, app.vault, companyId, { ...memory, id })
    const counts = await runKinds({ ...jobOf(app, wanted, survey, id), db: tx }, [customers])
    const change = { action: 'payer.erase', details: { erasure: id } }
    if (underWay === null) await recordActivity(tx, companyId, author, change)
    return { erasureId: id, counts }
  })
}

function sumOf(...all: store.Counts[]): store.Counts {
  const sum: store.Counts = {}
  for (const [name, count] of all.flatMap((one) => Object.entries(one))) {
    sum[name] = (sum[name] ?? 0) + count
  }
  return sum
}
