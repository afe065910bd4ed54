import type { Tx } from '../../db/database.ts'
import { assert } from '../../lib/assert.ts'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import type { Agreement } from '../../provider/port.ts'
import { accepted } from '../../provider/providers.ts'
import { namedBy } from '../../provider/txid.ts'
import type { App, Uses } from '../app.ts'
import { findBank } from '../banks/store.ts'
import { makeDueNow as makeBillingsDueNow } from '../billings/store.ts'
import { withCompanyClock } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import type { SyncNamed } from '../payments/callbacks.ts'
import { TASK } from '../tasks.ts'
import { announce, stopBilling } from './commands.ts'
import { askAgainAt, cancellation, follow, isNew, type Recurrence, stop } from './rules.ts'
import * as store from './store.ts'

/**
 * Asks the bank about an agreement and applies its answer. Returns whether the bank has answered.
 * The app has the company's clock.
 */
export async function followAgreement(
  app: Uses<'clock' | 'db' | 'log' | 'providers'>,
  company: Company,
  recurrence: Recurrence,
): Promise<boolean> {
  const { id, externalId } = recurrence
  const provider = app.providers.of(company, false)
  const outcome = await provider.findAgreement(company, { id, externalId: externalId! })
  const isMissing = outcome.kind === 'accepted' && outcome.value === null
  if (outcome.kind !== 'accepted' || (isMissing && isNew(recurrence, app.clock.now()))) {
    const reason = outcome.kind === 'accepted' ? 'it knows no such agreement' : outcome.reason
    app.log.warn(
      { subscription: toPublic('rec', id), reason },
      'the bank gave no answer about an agreement',
    )
    return false
  }
  if (outcome.value === null) {
    app.log.warn({ subscription: toPublic('rec', id) }, 'the bank knows no such agreement')
    await app.db.transaction((tx) => applyAnswer(tx, app, recurrence, null))
    return true
  }
  const agreement = await cancelOverdue(app, company, recurrence, outcome.value)
  if (!agreement) return false
  await app.db.transaction((tx) => applyAnswer(tx, app, recurrence, agreement))
  return true
}

/**
 * Leaves out agreements that may not be generated for. If an agreement is older than the connection
 * to the bank, it may have been made at another bank, so this bank is asked. If it does not know
 * the agreement, the agreement ends. If it does not answer, the agreement is asked about later.
 */
export async function withoutLost(app: App, companyId: Uuid, ids: Uuid[]): Promise<Uuid[]> {
  const connectedAt = (await findBank(app.db, companyId))?.connectedAt
  if (!connectedAt) return ids
  const company = await findCompany(app.db, companyId)
  assert(company, 'a bank is connected to a company')
  const own = withCompanyClock(app, company)
  const found = await store.findMany(app.db, companyId, ids)
  const kept: Uuid[] = []
  let answers = true
  for (const [id, recurrence] of found) {
    const isOlder = recurrence.createdAt < connectedAt
    if (isOlder) answers = answers && (await followAgreement(own, company, recurrence))
    if (isOlder && !answers) await reschedule(own, recurrence)
    else kept.push(id)
  }
  return kept
}

/**
 * If an undecided agreement is past its deadline, cancels it at the bank: some banks let a payer
 * approve it later. Returns the expired agreement, or null if the bank did not cancel it.
 */
async function cancelOverdue(
  app: Uses<'clock' | 'providers'>,
  company: Company,
  { id, externalId, expiresAt }: Recurrence,
  agreement: Agreement,
): Promise<Agreement | null> {
  if (agreement.status !== 'CREATED' || expiresAt! > app.clock.now()) return agreement
  const provider = app.providers.of(company, false)
  const ended = await provider.cancelAgreement(company, { id, externalId: externalId! })
  if (ended.kind !== 'accepted') return null
  return { ...agreement, status: 'EXPIRED', decidedAt: expiresAt }
}

async function applyAnswer(
  tx: Tx,
  app: Uses<'clock'>,
  { companyId, id }: Recurrence,
  agreement: Agreement | null,
): Promise<void> {
  const now = app.clock.now()
  const recurrence = await store.find(tx, companyId, id, 'for update')
  if (!recurrence) return
  const decided = agreement ? follow(recurrence, agreement, now) : stop(recurrence, now)
  if (!decided) return
  const { recurrence: changed, event, at, ...why } = decided
  await store.updateDecision(tx, changed)
  if (event) await announce(tx, event, { ...changed, ...why }, at)
  if (changed.status !== 'OPEN') await stopBilling(tx, changed, now)
  else tx.wake(TASK.generate)
}

/**
 * Asks about an undecided agreement that no callback has named, and writes when it is asked about
 * again. Returns whether the bank has answered.
 */
export async function askAbout(
  app: Uses<'clock' | 'db' | 'log' | 'providers'>,
  company: Company,
  recurrence: Recurrence,
): Promise<boolean> {
  const now = app.clock.now()
  await store.postpone(app.db, recurrence, askAgainAt(recurrence, now), now)
  return followAgreement(app, company, recurrence)
}

const PAUSE_MS = 60_000

/** Asks about an agreement later, because its bank did not answer about another one. */
export function reschedule(app: Uses<'clock' | 'db'>, recurrence: Recurrence): Promise<void> {
  const now = app.clock.now()
  return store.postpone(app.db, recurrence, new Date(now.getTime() + PAUSE_MS), now)
}

/**
 * Cancels an agreement at the bank before it is canceled here, because the bank must not collect
 * after that. If the bank rejects this, the agreement may have ended there: then that is applied.
 */
export async function endAtBank(
  app: Uses<'clock' | 'db' | 'log' | 'providers'>,
  company: Company,
  recurrence: Recurrence,
): Promise<void> {
  if (cancellation(recurrence, app.clock.now()) === 'already-canceled') return
  const { id, externalId } = recurrence
  if (externalId === null) return
  const provider = app.providers.of(company, false)
  const outcome = await provider.cancelAgreement(company, { id, externalId })
  if (outcome.kind === 'rejected') {
    await followAgreement(app, company, recurrence)
    const current = await store.find(app.db, company.id, id)
    if (current?.status !== 'OPEN') return
  }
  accepted(outcome, provider)
}

/**
 * Asks the bank about the agreements that a callback names, and makes the billings that it names
 * due now. A task asks about those: a callback with many of them must not delay the payments of
 * others.
 */
export const syncNamed: SyncNamed = async (
  app,
  company,
  _provider,
  { agreements, collections },
) => {
  const done = new Set<string>()
  for (const name of agreements) if (await syncAgreement(app, company, name)) done.add(name)
  for (const txid of await makeDueNow(app, company, collections)) done.add(txid)
  return done
}

async function syncAgreement(
  app: Uses<'clock' | 'db' | 'log' | 'providers'>,
  company: Company,
  externalId: string,
): Promise<boolean> {
  const recurrence = await store.findByExternalId(app.db, company.id, externalId)
  return recurrence !== null && followAgreement(app, company, recurrence)
}

async function makeDueNow(
  app: Uses<'alarm' | 'clock' | 'db'>,
  company: Company,
  txids: string[],
): Promise<string[]> {
  if (txids.length === 0) return []
  const named = txids.flatMap((txid) => {
    const name = namedBy(txid)
    return name && 'charge' in name ? [{ txid, chargeId: name.charge }] : []
  })
  const ids = named.map(({ chargeId }) => chargeId)
  const known = await makeBillingsDueNow(app.db, company.id, ids, app.clock.now())
  app.alarm.wake(TASK.bill)
  return named.filter(({ chargeId }) => known.has(chargeId)).map(({ txid }) => txid)
}
