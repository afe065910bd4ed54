import type { Tx } from '../../db/database.ts'
import { lockBooks, post } from '../../ledger/post.ts'
import { disputeHeld, disputeReleased, type Posting } from '../../ledger/recipes.ts'
import { newId, toPublic, type Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { BankDispute, Source } from '../../provider/port.ts'
import type { Uses } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { disputeEvent, emit } from '../events.ts'
import { composeDispute, type DisputeNews } from '../letters/disputes.ts'
import { queueMails } from '../mails/store.ts'
import { lockPaid, type Paid } from '../payments/lock.ts'
import { updateStatus } from '../payments/store.ts'
import { TASK } from '../tasks.ts'
import { type NewFile, sealDefense, sealFile } from './files.ts'
import type { Dispute } from './rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

type DisputeApp = Uses<'clock' | 'vault'>

export const refOf = ({ id }: Pick<Dispute, 'id'>): string => toPublic('dispute', id)

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
  // Another claim for the same payment waits until this one is over.
  if (ofPayment.some(rules.isOpen)) return false
  const opened = await open(tx, app, company, paid, claim)
  await decide(tx, app, company, paid, opened, claim)
  return true
}

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
  await post(tx, company.id, amount > 0 ? [disputeHeld(held, standing.account)] : [], now)
  await announce(tx, app, company, paid, dispute, { news: 'opened' })
  return dispute
}

/** Where the money of a locked payment is. */
export async function standingOf(tx: Tx, paid: Paid, claimed: number): Promise<rules.Standing> {
  const { companyId, source, endToEndId, status } = paid.payment
  const isKept = paid.charge === null && status === 'ACCEPTED'
  const returned = isKept ? await store.sumOfKept(tx, companyId, source, endToEndId) : 0
  return rules.standingOf(paid, claimed, returned)
}

export async function setStatus(
  tx: Tx,
  paid: Paid,
  status: Paid['payment']['status'],
): Promise<void> {
  paid.payment = { ...paid.payment, status }
  await updateStatus(tx, paid.payment)
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
  await post(tx, dispute.companyId, posting, now)
}

/** The posting of what a dispute gives back at its end, if that is anything. */
export function releaseOf(dispute: Dispute, charge: Paid['charge']): Posting[] {
  const { released: amount, chargeId } = dispute
  const order = { ref: refOf(dispute), amount, chargeId }
  return amount > 0 ? [disputeReleased(order, rules.accountNow(dispute, charge))] : []
}

/** The event of what has happened to a dispute, and the mail to the company. */
async function announce(
  tx: Tx,
  app: DisputeApp,
  company: Company,
  { charge }: Pick<Paid, 'charge'>,
  dispute: Dispute,
  said: DisputeNews,
): Promise<void> {
  const now = app.clock.now()
  const { chargeId, amount, reason, endToEndId, deadline } = dispute
  const hours = said.news === 'deadline' ? said.hours : undefined
  const externalId = charge?.externalId ?? null
  await emit(tx, [disputeEvent(`dispute.${said.news}`, dispute, externalId, now, hours)])
  const { balance } = await lockBooks(tx, company.id)
  const about = { dispute: refOf(dispute), amount, reason, endToEndId, deadline }
  const ofCharge = chargeId === null ? null : toPublic('charge', chargeId)
  const letter = composeDispute(
    company,
    { ...about, charge: ofCharge, available: balance.available },
    said,
  )
  const mail = { companyId: company.id, kind: 'dispute' as const, letter, expiresAt: null }
  await queueMails(tx, app.vault, [{ ...mail, createdAt: now }])
}

/** Writes a dispute that a refund or a return has changed, and the event if it ended by that. */
export async function recordEnd(
  tx: Tx,
  before: Dispute,
  dispute: Dispute,
  externalId: string | null,
  now: Date,
): Promise<void> {
  await store.update(tx, dispute)
  const type = dispute.status === 'ACCEPTED' ? 'dispute.accepted' : 'dispute.lost'
  const isEnd = before.status !== dispute.status && !rules.isOpen(dispute)
  if (isEnd) await emit(tx, [disputeEvent(type, dispute, externalId, now)])
}

/**
 * Holds again what a failed refund has given back. The refund has released its money to where it
 * would be now. Tells the company if the dispute is open again.
 */
export async function holdAgain(
  tx: Tx,
  app: Uses<'vault'>,
  paid: Paid,
  refund: { id: Uuid; amount: number },
  now: Date,
): Promise<void> {
  const { companyId, source, endToEndId } = paid.payment
  const ofPayment = await store.lockOfPayment(tx, companyId, source, endToEndId)
  const before = rules.activeOf(ofPayment, [refund.id])
  if (!before) return
  const standing = await standingOf(tx, paid, before.amount)
  const { dispute, missing } = rules.afterFailure(before, standing, now)
  if (missing === 0) return
  await store.update(tx, dispute)
  if (standing.account === 'unmatched') await setStatus(tx, paid, 'DISPUTED')
  const { chargeId } = dispute
  const held = { ref: toPublic('rfnd', refund.id), amount: toCents(missing), chargeId }
  await post(tx, companyId, [disputeHeld(held, standing.account)], now)
  if (before.status === dispute.status) return
  const company = await findCompany(tx, companyId)
  const own = { vault: app.vault, clock: { now: () => now } }
  await announce(tx, own, company!, paid, dispute, { news: 'opened' })
}

/** Tells companies of deadlines. Returns how many disputes were done. */
export async function noticeDeadlines(
  tx: Tx,
  app: DisputeApp,
  companyId: Uuid,
  ids: Uuid[],
): Promise<number> {
  const company = (await findCompany(tx, companyId))!
  for (const id of ids) {
    const seen = await store.find(tx, company.id, id)
    const { paymentSource: source, endToEndId } = seen!
    const paid = await lockPaid(tx, company.id, source, endToEndId)
    const before = await store.find(tx, company.id, id, 'for update')
    const { dispute, hours } = rules.notice(before!, app.clock.now())
    await store.update(tx, dispute)
    if (hours !== null)
      await announce(tx, app, company, paid!, dispute, { news: 'deadline', hours })
  }
  return ids.length
}

/** The defense of a company: what it says, and its files. */
export type NewDefense = { text: string; files: NewFile[] }

/** Records the defense of a dispute. A task sends it to the bank afterwards. */
export async function defend(
  tx: Tx,
  app: DisputeApp,
  company: Company,
  id: Uuid,
  { text, files }: NewDefense,
): Promise<Dispute> {
  const now = app.clock.now()
  const before = await store.find(tx, company.id, id, 'for update')
  if (!before) throw problem('dispute_not_found')
  rules.requireDefensible(before, now)
  const dispute = rules.defended(before, sealDefense(app.vault, before, text), now)
  await store.update(tx, dispute)
  const sealed = files.map((file, i) => sealFile(app.vault, dispute, i + 1, file))
  await store.saveFiles(tx, dispute, sealed)
  tx.wake(TASK.defenses)
  return dispute
}
