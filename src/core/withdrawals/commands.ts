import { timingSafeEqual } from 'node:crypto'
import type { Tx } from '../../db/database.ts'
import { lockBooks, post } from '../../ledger/post.ts'
import { assert } from '../../lib/assert.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Cents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import type { Vault } from '../../lib/vault.ts'
import type { App } from '../app.ts'
import { codeEmailOf } from '../companies/changes.ts'
import { toRealTime } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { composeWithdrawalCode } from '../mails/letters.ts'
import { DAY_S } from '../mails/rules.ts'
import { listSent, queueMails } from '../mails/store.ts'
import { TASK } from '../tasks.ts'
import type { Withdrawal } from './rules.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** A code confirms the one withdrawal that it was sent for. */
const hashOf = (vault: Vault, companyId: Uuid, id: Uuid, code: string): Buffer =>
  vault.hashCode(code, `${companyId}:${id}`)

/**
 * Starts a withdrawal: its money is held and its code on the way to the company, or nothing of it
 * has happened.
 */
export async function startWithdrawal(
  tx: Tx,
  app: App,
  company: Company,
  value: Cents,
): Promise<Withdrawal> {
  const [now, id, code] = [app.clock.now(), newId(), rules.makeCode()]
  const otpHash = hashOf(app.vault, company.id, id, code)
  const destination = company.payoutKey ?? company.pixKey
  const fields = { companyId: company.id, id, value, destination, otpHash }
  const withdrawal = rules.start(fields, now)
  await becomePending(tx, withdrawal, now)
  await hold(tx, withdrawal, now)
  await mailCode(tx, app, company, withdrawal, code)
  return withdrawal
}

/** Takes the company's one place, which an expired withdrawal makes room in. */
async function becomePending(tx: Tx, withdrawal: Withdrawal, now: Date): Promise<void> {
  const { companyId } = withdrawal
  // What a look finds may be overtaken: then the insert finds the place taken, and the next look
  // finds by whom.
  for (;;) {
    const pending = await store.findPending(tx, companyId)
    if (pending && !rules.isDue(pending, now)) throw rules.alreadyPending(pending)
    if (pending) await expireWithdrawal(tx, companyId, pending.id, now)
    const since = new Date(now.getTime() - rules.WRONG_WINDOW_S * 1000)
    rules.requireNoGuessing(await store.listSpent(tx, companyId, since), now)
    if (await store.insert(tx, withdrawal)) return
  }
}

async function hold(tx: Tx, withdrawal: Withdrawal, now: Date): Promise<void> {
  const { companyId, value } = withdrawal
  const books = await lockBooks(tx, companyId)
  const { available } = books.balance
  if (value > available) throw rules.insufficient(value, available)
  await post(tx, companyId, [rules.postingOf(withdrawal)], now, books)
}

async function mailCode(
  tx: Tx,
  app: App,
  company: Company,
  { value, destination, otpExpiresAt }: Withdrawal,
  code: string,
): Promise<void> {
  await requireFewCodes(tx, app, company.id)
  const lifetime_s = rules.CODE_LIFETIME_S
  const terms = { code, value, destination, lifetime_s, expiresAt: otpExpiresAt }
  const email = codeEmailOf(company, app.systemClock.now())
  const letter = composeWithdrawalCode({ ...company, email }, terms)
  const mail = { companyId: company.id, kind: 'withdrawal-code', letter } as const
  const times = { expiresAt: toRealTime(app, otpExpiresAt), createdAt: app.systemClock.now() }
  await queueMails(tx, app.vault, [{ ...mail, ...times }])
}

/** In real time, whatever the company's: the mails are real. */
async function requireFewCodes(
  tx: Tx,
  { config, systemClock }: App,
  companyId: Uuid,
): Promise<void> {
  const { perHour, perDay } = config.codeMails
  const now = systemClock.now()
  const since = new Date(now.getTime() - DAY_S * 1000)
  const most = Math.max(perHour, perDay)
  const sent = await listSent(tx, companyId, 'withdrawal-code', since, most)
  rules.requireFewCodes(sent, config.codeMails, now)
}

/** The one way a withdrawal ends: its state, and what becomes of the money held for it. */
export async function conclude(tx: Tx, withdrawal: Withdrawal, now: Date): Promise<void> {
  await store.update(tx, withdrawal)
  await post(tx, withdrawal.companyId, [rules.postingOf(withdrawal)], now)
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
 * Spends a try on a code, for good: only when that is committed is the code compared, so that no
 * crash and no crowd of requests gets a try more. Gives the hash of the right code, or null when
 * there was no try to spend; the confirmation then says why.
 */
export async function tryCode(
  app: App,
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
  const hash = hashOf(app.vault, companyId, id, code)
  if (timingSafeEqual(hash, tried.otpHash)) return hash
  if (rules.triesLeft(tried) === 0) {
    await app.db.transaction((tx) => refuseGuesses(tx, companyId, id, now))
  }
  throw rules.wrongCode(tried)
}

async function refuseGuesses(tx: Tx, companyId: Uuid, id: Uuid, now: Date): Promise<void> {
  const refused = rules.refuseGuesses(await findWithdrawal(tx, companyId, id, 'for update'), now)
  if (refused) await conclude(tx, refused, now)
}

/**
 * Goes on to the payout, by the hash of a code whose try was counted. Where no bank sends for the
 * company an operator does.
 */
export async function confirmWithdrawal(
  tx: Tx,
  app: App,
  companyId: Uuid,
  id: Uuid,
  hash: Buffer | null,
): Promise<Withdrawal> {
  const withdrawal = await findWithdrawal(tx, companyId, id, 'for update')
  const company = await findCompany(tx, companyId)
  assert(company, 'a withdrawal has its company')
  const manual = app.providers.payoutsOf(company) === null
  const confirmed = rules.confirm(withdrawal, hash, app.clock.now(), manual)
  await store.update(tx, confirmed)
  if (!manual) tx.wake(TASK.payouts)
  return confirmed
}

export async function cancelWithdrawal(
  tx: Tx,
  app: App,
  companyId: Uuid,
  id: Uuid,
): Promise<Withdrawal> {
  const now = app.clock.now()
  const withdrawal = await findWithdrawal(tx, companyId, id, 'for update')
  const canceled = rules.cancel(withdrawal, now)
  if (canceled === 'already-canceled') return withdrawal
  await conclude(tx, canceled, now)
  return canceled
}

export async function resendCode(
  tx: Tx,
  app: App,
  company: Company,
  id: Uuid,
): Promise<Withdrawal> {
  const code = rules.makeCode()
  const hash = hashOf(app.vault, company.id, id, code)
  const withdrawal = await findWithdrawal(tx, company.id, id, 'for update')
  const renewed = rules.renewCode(withdrawal, hash, app.clock.now())
  await store.update(tx, renewed)
  await mailCode(tx, app, company, renewed, code)
  return renewed
}

/** True when it was due. */
export async function expireWithdrawal(
  tx: Tx,
  companyId: Uuid,
  id: Uuid,
  now: Date,
): Promise<boolean> {
  const withdrawal = await store.find(tx, companyId, id, 'for update')
  if (!withdrawal || !rules.isDue(withdrawal, now)) return false
  await conclude(tx, rules.asOf(withdrawal, now), now)
  return true
}
