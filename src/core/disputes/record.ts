import type { Tx } from '../../db/database.ts'
import { disputeHeld } from '../../ledger/recipes.ts'
import { newId } from '../../lib/ids.ts'
import type { BankDispute, Source } from '../../provider/port.ts'
import type { Uses } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { lockPaid, type Paid } from '../payments/lock.ts'
import { announce, type DisputeApp, refOf, releaseOf, setStatus, standingOf } from './holds.ts'
import { postOfCharge } from './parts.ts'
import type { Dispute } from './rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/**
 * Records what a bank tells of disputes: new ones are opened, and those that it has decided end.
 * Can be repeated. Those of payments that are not ours are left alone. Returns how many changed.
 */
export async function recordDisputes(
  app: DisputeApp & Uses<'db'>,
  company: Company,
  source: Source,
  told: BankDispute[],
): Promise<number> {
  if (told.length === 0) return 0
  const ids = told.map(({ id }) => id)
  const known = await store.findByBankIds(app.db, company.id, source, ids)
  const byId = new Map(known.map((dispute) => [dispute.bankId, dispute]))
  let count = 0
  for (const claim of told) {
    if (!isNews(byId.get(claim.id), claim, app.clock.now())) continue
    const isChanged = await app.db.transaction((tx) =>
      recordDispute(tx, app, company, source, claim),
    )
    count += Number(isChanged)
  }
  return count
}

/** Whether something is to be done. What ended before we heard of it never concerned us. */
function isNews(known: Dispute | undefined, claim: BankDispute, now: Date): boolean {
  if (known) return rules.afterDecision(known, claim, now) !== known
  return claim.status !== 'WON' && claim.status !== 'CANCELED'
}

export async function recordDispute(
  tx: Tx,
  app: DisputeApp,
  company: Company,
  source: Source,
  claim: BankDispute,
): Promise<boolean> {
  const paid = await lockPaid(tx, company.id, source, claim.endToEndId)
  if (!paid) return false
  const ofPayment = await store.lockOfPayment(tx, company.id, source, claim.endToEndId)
  const known = ofPayment.find(({ bankId }) => bankId === claim.id)
  if (known) return decide(tx, app, company, paid, known, claim)
  // The bank has returned the money before it told why.
  const returned = ofPayment.find(({ bankId, status }) => bankId === null && status === 'LOST')
  if (returned && claim.status === 'LOST') {
    await store.update(tx, { ...returned, bankId: claim.id })
    return true
  }
  // Another claim for the same payment waits until this one is over, and returned if it is lost.
  if (ofPayment.some(rules.isUnsettled)) return false
  const opened = await open(tx, app, company, paid, claim)
  await decide(tx, app, company, paid, opened, claim)
  return true
}

/** What waits for a decision is money of no charge. */
const chargeOf = ({ charge }: Paid, { chargeId }: Dispute) => (chargeId === null ? null : charge)

/** Opens a dispute and holds its money. Changes `paid` to the payment after it. */
async function open(
  tx: Tx,
  app: DisputeApp,
  company: Company,
  paid: Paid,
  claim: BankDispute,
): Promise<Dispute> {
  const now = app.clock.now()
  const standing = await standingOf(tx, paid, claim.amount)
  const dispute = rules.open(paid, newId(), claim, standing, now)
  await store.insert(tx, dispute)
  if (dispute.heldFrom === 'unmatched') await setStatus(tx, paid, 'DISPUTED')
  const { hold: amount, chargeId } = dispute
  const held = { ref: refOf(dispute), amount, chargeId }
  const postings = amount > 0 ? [disputeHeld(held, standing.account)] : []
  await postOfCharge(
    tx,
    company.id,
    { charge: chargeOf(paid, dispute), ref: held.ref },
    postings,
    now,
  )
  await announce(tx, app, company, paid, dispute, { news: 'opened' })
  return dispute
}

/** Records what the bank has decided. Returns whether that changes anything. */
async function decide(
  tx: Tx,
  app: DisputeApp,
  company: Company,
  paid: Paid,
  before: Dispute,
  claim: BankDispute,
): Promise<boolean> {
  const now = app.clock.now()
  const dispute = rules.afterDecision(before, claim, now)
  if (dispute === before) return false
  await store.update(tx, dispute)
  await release(tx, paid, before, dispute, now)
  if (dispute.status === 'WON' || dispute.status === 'LOST' || dispute.status === 'CANCELED') {
    const news = dispute.status.toLowerCase() as 'won' | 'lost' | 'canceled'
    await announce(tx, app, company, paid, dispute, { news })
  }
  return true
}

/** Gives back what a dispute had held that has ended without a return. */
async function release(
  tx: Tx,
  paid: Paid,
  before: Dispute,
  dispute: Dispute,
  now: Date,
): Promise<void> {
  if (before.held === 0 || dispute.held > 0) return
  const posting = releaseOf(dispute, paid.charge)
  if (paid.payment.status === 'DISPUTED') await setStatus(tx, paid, 'UNMATCHED')
  const of = { charge: chargeOf(paid, dispute), ref: refOf(dispute) }
  await postOfCharge(tx, dispute.companyId, of, posting, now)
}
