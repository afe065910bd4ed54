import type { Tx } from '../../db/database.ts'
import { toPublic } from '../../lib/ids.ts'
import type { Agreement } from '../../provider/port.ts'
import { accepted } from '../../provider/providers.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { emit, subscriptionEvent } from '../events.ts'
import { TASK } from '../tasks.ts'
import { stopBilling } from './commands.ts'
import { askAgainAt, cancellation, follow, type Recurrence } from './rules.ts'
import * as store from './store.ts'

/**
 * Asks the bank about an agreement and applies its answer. Returns whether the bank has answered.
 * The app has the company's clock.
 */
export async function followAgreement(
  app: App,
  company: Company,
  recurrence: Recurrence,
): Promise<boolean> {
  const { id, externalId } = recurrence
  const provider = app.providers.of(company, false)
  const outcome = await provider.findAgreement(company, { id, externalId: externalId! })
  if (outcome.kind !== 'accepted' || outcome.value === null) {
    const reason = outcome.kind === 'accepted' ? 'it knows no such agreement' : outcome.reason
    app.log.warn(
      { subscription: toPublic('rec', id), reason },
      'the bank gave no answer about an agreement',
    )
    return false
  }
  const agreement = await cancelOverdue(app, company, recurrence, outcome.value)
  if (!agreement) return false
  await app.db.transaction((tx) => applyAnswer(tx, app, recurrence, agreement))
  return true
}

/**
 * If an undecided agreement is past its deadline, cancels it at the bank: some banks let a payer
 * approve it later. Returns the expired agreement, or null if the bank did not cancel it.
 */
async function cancelOverdue(
  app: App,
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
  app: App,
  { companyId, id }: Recurrence,
  agreement: Agreement,
): Promise<void> {
  const now = app.clock.now()
  const recurrence = await store.find(tx, companyId, id, 'for update')
  const decided = recurrence && follow(recurrence, agreement, now)
  if (!decided) return
  const { recurrence: changed, event, at } = decided
  await store.updateDecision(tx, changed)
  if (event) await emit(tx, [subscriptionEvent(event, changed, at)])
  if (changed.status !== 'OPEN') await stopBilling(tx, changed, now)
  else tx.wake(TASK.generate)
}

/**
 * Asks about an undecided agreement that no callback has named, and writes when it is asked about
 * again. Returns whether the bank has answered.
 */
export async function askAbout(
  app: App,
  company: Company,
  recurrence: Recurrence,
): Promise<boolean> {
  await store.postpone(app.db, recurrence, askAgainAt(recurrence, app.clock.now()))
  return followAgreement(app, company, recurrence)
}

const PAUSE_MS = 60_000

/** Asks about an agreement later, because its bank did not answer about another one. */
export const reschedule = (app: App, recurrence: Recurrence): Promise<void> =>
  store.postpone(app.db, recurrence, new Date(app.clock.now().getTime() + PAUSE_MS))

/**
 * Cancels an agreement at the bank before it is canceled here, because the bank must not collect
 * after that. If the bank rejects this, the agreement may have ended there: then that is applied.
 */
export async function endAtBank(app: App, company: Company, recurrence: Recurrence): Promise<void> {
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
