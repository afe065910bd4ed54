import type { Tx } from '../../db/database.ts'
import { assert } from '../../lib/assert.ts'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import { oneLine } from '../../lib/one-line.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { recordActivity } from '../activity/record.ts'
import type { Author } from '../activity/rules.ts'
import { withCompanyClock } from '../companies/clock.ts'
import { findCompany } from '../companies/store.ts'
import { findRecorded } from '../payments/store.ts'
import { askAll, findInAny } from '../places/across.ts'
import { type Front, placeOf } from '../places/front.ts'
import { findWithdrawal } from './commands.ts'
import { endPayout } from './payouts.ts'
import { afterManualResult, isEndToEndId, type ManualResult, type Withdrawal } from './rules.ts'
import { findCompanyOf, findSentAs } from './store.ts'

const MAX_REASON = 140

/** An operator has sent the money. The proof is the scheme's id of the payment. */
export function completeManually(
  app: Front,
  id: Uuid,
  endToEndId: string,
  author: Author,
): Promise<Withdrawal> {
  if (!isEndToEndId(endToEndId)) {
    throw invalid(
      'endToEndId: must be the 32 characters that begin with E, as on the receipt of the Pix',
    )
  }
  return endManually(app, id, { endToEndId }, author)
}

/** An operator could not send the money. It is released, and the company gets the reason. */
export function failManually(
  app: Front,
  id: Uuid,
  reason: string,
  author: Author,
): Promise<Withdrawal> {
  const failure = oneLine(reason)
  if (failure.length === 0 || failure.length > MAX_REASON) {
    throw invalid(`reason: must have 1 to ${MAX_REASON} characters`)
  }
  return endManually(app, id, { failure }, author)
}

async function endManually(
  front: Front,
  id: Uuid,
  result: ManualResult,
  author: Author,
): Promise<Withdrawal> {
  const companyId = await findInAny(front, (db) => findCompanyOf(db, id))
  if (!companyId) throw problem('withdrawal_not_found', 'There is no withdrawal with this id.')
  const app = await placeOf(front, companyId)
  const company = await findCompany(app.db, companyId)
  assert(company, 'a withdrawal has its company')
  const own = withCompanyClock(app, company)
  if ('endToEndId' in result) await requireUnusedElsewhere(front, id, result.endToEndId)
  return app.db.transaction(async (tx) => {
    const now = own.clock.now()
    const withdrawal = await findWithdrawal(tx, companyId, id, 'for update')
    const next = afterManualResult(withdrawal, result, now)
    if (next === 'already-recorded') return withdrawal
    if ('endToEndId' in result) await requireUnused(tx, companyId, result.endToEndId)
    await endPayout(tx, own, company, next, now)
    await recordActivity(tx, companyId, author, {
      action: 'endToEndId' in result ? 'withdrawal.complete' : 'withdrawal.fail',
      record: { type: 'withdrawal', id: toPublic('wd', id) },
      details: { value: next.value },
    })
    return next
  })
}

/**
 * If the id is of a withdrawal in another place, throws. Two that use it at the same moment in two
 * places are not noticed.
 */
async function requireUnusedElsewhere(front: Front, id: Uuid, endToEndId: string): Promise<void> {
  if (front.places.all.length === 1) return
  const sent = await askAll(front, (db) => findSentAs(db, endToEndId))
  const other = sent.find((one) => one !== null && one !== id)
  if (other) throw usedBy(endToEndId, other)
}

const usedBy = (endToEndId: string, other: Uuid) => {
  const id = toPublic('wd', other)
  return invalid(`endToEndId: ${endToEndId} is the payment of another withdrawal, ${id}`)
}

/** If the id is of another withdrawal or of a received payment, throws. */
async function requireUnused(tx: Tx, companyId: Uuid, endToEndId: string): Promise<void> {
  const other = await findSentAs(tx, endToEndId)
  if (other) throw usedBy(endToEndId, other)
  const [recorded] = await findRecorded(tx, [{ companyId, source: 'bank', endToEndId }])
  if (recorded) {
    throw invalid(`endToEndId: ${endToEndId} is a payment that the company has received`)
  }
}
