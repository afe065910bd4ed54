import { timingSafeEqual } from 'node:crypto'
import type { ControlTx, Tx } from '../../db/database.ts'
import { lockBooks, post } from '../../ledger/post.ts'
import { type Posting, splitTaken } from '../../ledger/recipes.ts'
import { enterParts, heldFor, type RecipientEntry, readAccounts } from '../../ledger/recipients.ts'
import { assert } from '../../lib/assert.ts'
import { newId, toPublic, type Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { Hashes } from '../../lib/vault.ts'
import { localDateOf, startOfDay } from '../../pix/local-time.ts'
import { maskPixKey } from '../../pix/masks.ts'
import type { Uses } from '../app.ts'
import { codeEmailOf } from '../companies/changes.ts'
import { toRealTime } from '../companies/clock.ts'
import { type Company, requireSandbox } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { composeWithdrawalCode } from '../letters/companies.ts'
import { DAY_S, waitOf } from '../mails/rules.ts'
import { listSent, queueMails } from '../mails/store.ts'
import { type Recipient, requireOldKey } from '../recipients/rules.ts'
import { find as findRecipient } from '../recipients/store.ts'
import { TASK } from '../tasks.ts'
import { mailApprovers } from './approval-mails.ts'
import { destinationOf, sealKey } from './destinations.ts'
import type { Withdrawal } from './rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** The hash includes the withdrawal, so that a code confirms no other. */
const hashOf = (by: Hashes, companyId: Uuid, id: Uuid, code: string): Buffer =>
  by.hashCode(code, `${companyId}:${id}`)

/**
 * Starts a withdrawal: records it, holds its money and queues the mail with its code, all in one
 * transaction.
 */
export function startWithdrawal(
  tx: Tx,
  app: Starting,
  company: Company,
  value: Cents,
  requestedBy: Uuid | null = null,
): Promise<Withdrawal> {
  const to = { destination: rules.ownDestination(company), recipient: null }
  return startTo(tx, app, company, to, value, requestedBy)
}

/**
 * Starts a payout: a withdrawal of a recipient's money to its own key. Without a value it is all
 * that the recipient has.
 */
export async function startPayout(
  tx: Tx,
  app: Starting,
  company: Company,
  { recipientId, value }: { recipientId: Uuid; value?: Cents | undefined },
  requestedBy: Uuid | null = null,
): Promise<Withdrawal> {
  // Not locked: whoever books parts refers to its row while it holds the books.
  const recipient = await findRecipient(tx, app.vault, company.id, recipientId)
  if (!recipient) throw problem('recipient_not_found')
  requireOldKey(recipient, company, app.config.destinationWaitHours, app.systemClock.now())
  await requireNonePending(tx, company.id, app.clock.now())
  const accounts = await readAccounts(tx, company.id, [recipientId])
  const available = heldFor(accounts.get(recipientId)?.balance ?? 0)
  if (available === 0) throw rules.recipientLacks(value ?? 0, 0)
  const to = { destination: recipient.pixKey, recipient }
  return startTo(tx, app, company, to, value ?? toCents(available), requestedBy)
}

type Starting = Uses<'clock' | 'config' | 'systemClock' | 'vault'>

/** Where the money of a withdrawal goes. Null: it is the company's own. */
type Destination = { destination: string; recipient: Recipient | null }

async function startTo(
  tx: Tx,
  app: Starting,
  company: Company,
  { destination, recipient }: Destination,
  value: Cents,
  requestedBy: Uuid | null,
): Promise<Withdrawal> {
  const [now, id, code] = [app.clock.now(), newId(), rules.makeCode()]
  const otpHash = hashOf(app.vault, company.id, id, code)
  const order = {
    companyId: company.id,
    id,
    value,
    destination: recipient ? maskPixKey(destination) : destination,
    recipientId: recipient?.id ?? null,
    keySealed: recipient && sealKey(app.vault, company.id, id, destination),
  }
  // A recipient has a key of its own.
  const { destinationChangedAt, destinationChangedBy } = company
  const hours = app.config.destinationWaitHours
  const heldUntil = recipient ? null : rules.holdUntil(destinationChangedAt, hours, now)
  const needsApproval = heldUntil !== null
  const heldFor = needsApproval ? destinationChangedBy : null
  const fields = { ...order, otpHash, requestedBy, needsApproval, heldUntil, heldFor }
  const started = rules.start(fields, now)
  await insertPending(tx, company, started, now)
  const withdrawal = await withApproval(tx, started, now)
  await hold(tx, withdrawal, now)
  await mailCode(tx, app, company, withdrawal, code)
  return withdrawal
}

/**
 * Decides whether a withdrawal needs an approval. No other can be started or paid since it was
 * inserted, so that what has left today is known.
 */
async function withApproval(tx: Tx, withdrawal: Withdrawal, now: Date): Promise<Withdrawal> {
  const { companyId, id, value } = withdrawal
  const limit = await store.findLimit(tx, companyId)
  if (!limit) return withdrawal
  const today = startOfDay(localDateOf(now))
  const without = await store.sumWithoutApproval(tx, companyId, today)
  if (!rules.needsApproval(value, limit.above, without)) return withdrawal
  await store.requireApproval(tx, companyId, id)
  return { ...withdrawal, needsApproval: true, heldUntil: null }
}

/** Inserts the company's one pending withdrawal. If the one before has expired, ends it first. */
async function insertPending(
  tx: Tx,
  company: Company,
  withdrawal: Withdrawal,
  now: Date,
): Promise<void> {
  const { companyId } = withdrawal
  // If another transaction inserts one after the look, the insert fails and the next look finds it.
  for (;;) {
    await requireNonePending(tx, companyId, now)
    const since = new Date(now.getTime() - rules.WRONG_WINDOW_S * 1000)
    if (!rules.showsCodes(company)) {
      rules.requireFewGuesses(await store.listSpent(tx, companyId, since), now)
    }
    if (await store.insert(tx, withdrawal)) return
  }
}

/** If the one before has expired, ends it. */
async function requireNonePending(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  const pending = await store.findPending(tx, companyId)
  if (pending && !rules.isDue(pending, now)) throw rules.alreadyPending(pending)
  if (pending) await expireWithdrawal(tx, companyId, pending.id, now)
}

async function hold(tx: Tx, withdrawal: Withdrawal, now: Date): Promise<void> {
  const { companyId, value, recipientId } = withdrawal
  const books = await lockBooks(tx, companyId)
  const { available } = books.balance
  if (recipientId === null && value > available) throw rules.insufficient(value, available)
  const parts = await partsOf(tx, withdrawal, -value)
  await post(tx, companyId, [rules.postingOf(withdrawal)], now, books, parts.entries)
}

/**
 * What a payout takes from its recipient or gives back to it. If the recipient owes the company
 * something by then, that is repaid. The books are locked before.
 */
async function partsOf(
  tx: Tx,
  { companyId, id, recipientId }: Withdrawal,
  amount: number,
): Promise<{ entries: RecipientEntry[]; repaid: Posting[] }> {
  if (recipientId === null) return { entries: [], repaid: [] }
  const accounts = await readAccounts(tx, companyId, [recipientId])
  const available = heldFor(accounts.get(recipientId)?.balance ?? 0)
  if (available + amount < 0) throw rules.recipientLacks(-amount, available)
  const kind = amount < 0 ? 'WITHDRAWAL_HELD' : 'WITHDRAWAL_RELEASED'
  const of = { kind, ref: toPublic('wd', id), chargeId: null } as const
  const { entries, moved } = enterParts(accounts, of, [{ recipientId, amount }])
  const owed = amount - moved
  return { entries, repaid: owed > 0 ? [splitTaken({ ref: of.ref, amount: toCents(owed) })] : [] }
}

async function mailCode(
  tx: Tx,
  app: Uses<'clock' | 'config' | 'systemClock' | 'vault'>,
  company: Company,
  withdrawal: Withdrawal,
  code: string,
): Promise<void> {
  const { value, otpExpiresAt } = withdrawal
  if (!(await mayMailCode(tx, app, company))) return
  const lifetime_s = rules.CODE_LIFETIME_S
  const to = await destinationOf(tx, app, withdrawal)
  const terms = { code, value, ...to, lifetime_s, expiresAt: otpExpiresAt }
  const email = codeEmailOf(company, app.systemClock.now())
  const letter = composeWithdrawalCode({ ...company, email }, terms)
  const mail = { companyId: company.id, kind: 'withdrawal-code', letter } as const
  const times = { expiresAt: toRealTime(app, otpExpiresAt), createdAt: app.systemClock.now() }
  await queueMails(tx, app.vault, [{ ...mail, ...times }])
}

/**
 * Refuses a code over the limit of mails. If the API shows the code, it is not mailed instead.
 * Counts in real time, because mails are sent in real time.
 */
async function mayMailCode(
  tx: Tx,
  { config, systemClock }: Uses<'config' | 'systemClock'>,
  company: Company,
): Promise<boolean> {
  const { perHour, perDay } = config.codeMails
  const now = systemClock.now()
  const since = new Date(now.getTime() - DAY_S * 1000)
  const max = Math.max(perHour, perDay)
  const sent = await listSent(tx, company.id, 'withdrawal-code', since, max)
  if (rules.showsCodes(company)) return waitOf(sent, config.codeMails, now) === 0
  rules.requireFewCodes(sent, config.codeMails, now)
  return true
}

/** The one way in which a withdrawal ends: writes its state and moves the money that it held. */
export async function endWithdrawal(tx: Tx, withdrawal: Withdrawal, now: Date): Promise<void> {
  const { companyId, status, value } = withdrawal
  await store.update(tx, withdrawal)
  const books = await lockBooks(tx, companyId)
  const released = status === 'COMPLETED' ? 0 : value
  const { entries, repaid } = await partsOf(tx, withdrawal, released)
  await post(tx, companyId, [rules.postingOf(withdrawal), ...repaid], now, books, entries)
}

export async function findWithdrawal(
  tx: Tx,
  companyId: Uuid,
  id: Uuid,
  lock: 'for update' | '' = '',
): Promise<Withdrawal> {
  const withdrawal = await store.find(tx, companyId, id, lock)
  if (!withdrawal) throw problem('withdrawal_not_found')
  return withdrawal
}

/**
 * Counts a try and then compares the code. The count is committed first, so that neither a crash
 * nor many requests at once get more tries. Returns the hash of the right code, or null when no try
 * was left; `confirmWithdrawal` then says why.
 */
export async function tryCode(
  app: Uses<'clock' | 'db' | 'vault'>,
  companyId: Uuid,
  id: Uuid,
  code: string,
): Promise<Buffer | null> {
  const now = app.clock.now()
  const tried = await app.db.transaction((tx) => store.countTry(tx, companyId, id, now))
  if (!tried) {
    await app.db.transaction((tx) => expireWithdrawal(tx, companyId, id, now))
    return null
  }
  // A code may have been made just before the secret was replaced.
  const hashes = app.vault.forms((by) => hashOf(by, companyId, id, code))
  const right = hashes.find((hash) => isSame(hash, tried.otpHash))
  if (right) return right
  if (rules.triesLeft(tried) === 0) {
    await app.db.transaction((tx) => cancelAfterGuesses(tx, companyId, id, now))
  }
  throw rules.wrongCode(tried)
}

const isSame = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other)

async function cancelAfterGuesses(tx: Tx, companyId: Uuid, id: Uuid, now: Date): Promise<void> {
  const canceled = rules.cancelAfterGuesses(
    await findWithdrawal(tx, companyId, id, 'for update'),
    now,
  )
  if (canceled) await endWithdrawal(tx, canceled, now)
}

/**
 * Writes what has become of a withdrawal by a code, an approval or the end of its time. If it would
 * now be sent to where the company's money no longer goes, it ends. Returns what is written.
 */
export async function proceed(
  tx: Tx,
  withdrawal: Withdrawal,
  company: Company,
  now: Date,
): Promise<Withdrawal> {
  const moved = rules.cancelMoved(withdrawal, company, now)
  if (moved) await endWithdrawal(tx, moved, now)
  else await store.update(tx, withdrawal)
  const { status, manual } = moved ?? withdrawal
  if (status === 'PROCESSING' && !manual) tx.wake(TASK.payouts)
  return moved ?? withdrawal
}

/**
 * Confirms a withdrawal by the hash of a code whose try was counted. If no bank sends for the
 * company, an operator does. If it has still to be approved, those who can are asked.
 */
export async function confirmWithdrawal(
  tx: Tx,
  control: ControlTx,
  app: Uses<'clock' | 'config' | 'providers' | 'publicUrl' | 'systemClock' | 'vault'>,
  companyId: Uuid,
  id: Uuid,
  hash: Buffer | null,
): Promise<Withdrawal> {
  const withdrawal = await findWithdrawal(tx, companyId, id, 'for update')
  const company = await findCompany(tx, companyId)
  assert(company, 'a withdrawal has its company')
  const manual = app.providers.payoutsOf(company) === null
  const now = app.clock.now()
  const confirmed = await proceed(tx, rules.confirm(withdrawal, hash, now, manual), company, now)
  if (rules.awaitsApproval(confirmed)) await mailApprovers(tx, control, app, company, confirmed)
  return confirmed
}

export async function cancelWithdrawal(
  tx: Tx,
  app: Uses<'clock'>,
  companyId: Uuid,
  id: Uuid,
): Promise<{ withdrawal: Withdrawal; changed: boolean }> {
  const now = app.clock.now()
  const withdrawal = await findWithdrawal(tx, companyId, id, 'for update')
  const canceled = rules.cancel(withdrawal, now)
  if (canceled === 'already-canceled') return { withdrawal, changed: false }
  await endWithdrawal(tx, canceled, now)
  return { withdrawal: canceled, changed: true }
}

export async function resendCode(
  tx: Tx,
  app: Uses<'clock' | 'config' | 'systemClock' | 'vault'>,
  company: Company,
  id: Uuid,
): Promise<Withdrawal> {
  const { withdrawal, code } = await renewCode(tx, app, company, id)
  await mailCode(tx, app, company, withdrawal, code)
  return withdrawal
}

/**
 * Gives a withdrawal of a sandbox company a new code, and returns it instead of mailing it: nobody
 * has to open a mailbox to try a withdrawal.
 */
export function showNewCode(
  tx: Tx,
  app: Uses<'clock' | 'vault'>,
  company: Company,
  id: Uuid,
): Promise<{ withdrawal: Withdrawal; code: string }> {
  requireSandbox(company)
  return renewCode(tx, app, company, id)
}

async function renewCode(tx: Tx, app: Uses<'clock' | 'vault'>, company: Company, id: Uuid) {
  const code = rules.makeCode()
  const hash = hashOf(app.vault, company.id, id, code)
  const current = await findWithdrawal(tx, company.id, id, 'for update')
  const isLimited = !rules.showsCodes(company)
  const withdrawal = rules.renewCode(current, hash, app.clock.now(), isLimited)
  await store.update(tx, withdrawal)
  return { withdrawal, code }
}

/**
 * What happens to a withdrawal when its time is over: one that was held is paid out, another one
 * expires. Returns whether it was over.
 */
export async function endWait(
  tx: Tx,
  app: Uses<'providers'>,
  companyId: Uuid,
  id: Uuid,
  now: Date,
): Promise<boolean> {
  const [withdrawal, company] = [
    await store.find(tx, companyId, id, 'for update'),
    await findCompany(tx, companyId),
  ]
  assert(company, 'a withdrawal has its company')
  const manual = app.providers.payoutsOf(company) === null
  const released = withdrawal && rules.release(withdrawal, now, manual)
  if (!released) return expireWithdrawal(tx, companyId, id, now)
  await proceed(tx, released, company, now)
  return true
}

/** Returns whether it was due. */
export async function expireWithdrawal(
  tx: Tx,
  companyId: Uuid,
  id: Uuid,
  now: Date,
): Promise<boolean> {
  const withdrawal = await store.find(tx, companyId, id, 'for update')
  if (!withdrawal || !rules.isDue(withdrawal, now)) return false
  await endWithdrawal(tx, rules.asOf(withdrawal, now), now)
  return true
}
