import type { Tx } from '../../db/database.ts'
import { assert } from '../../lib/assert.ts'
import { toPublic } from '../../lib/ids.ts'
import type { Letter } from '../../lib/mailer.ts'
import type { Outcome, SendOrder, Sent } from '../../provider/port.ts'
import type { App, Uses } from '../app.ts'
import { findBank } from '../banks/store.ts'
import { withCompanyClock } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { emit, withdrawalEvent } from '../events.ts'
import { composeWithdrawalCompleted, composeWithdrawalFailed } from '../letters/companies.ts'
import { queueMails } from '../mails/store.ts'
import { type Claim, carryOut } from '../orders.ts'
import { endWithdrawal, findWithdrawal } from './commands.ts'
import { destinationOf, keyOf } from './destinations.ts'
import type { Withdrawal } from './rules.ts'
import * as rules from './rules.ts'
import { storeReference, update } from './store.ts'

/** A withdrawal as its bank gets it. */
const orderOf = ({ vault }: Uses<'vault'>, withdrawal: Withdrawal): SendOrder => ({
  id: withdrawal.id,
  amount: withdrawal.value,
  pixKey: keyOf(vault, withdrawal),
  reference: withdrawal.bankReference,
})

/** Orders the bank to send a claimed withdrawal, or asks it, and records the outcome. */
export async function payOut(app: App, claim: Claim<Withdrawal>): Promise<void> {
  const { order: withdrawal, orderedBefore } = claim
  const company = await findCompany(app.db, withdrawal.companyId)
  assert(company, 'a withdrawal has its company')
  const bank = app.providers.payoutsOf(company)
  if (!bank || (await wasOrderedElsewhere(app, claim))) return leaveToOperator(app, claim)
  const { id } = withdrawal
  const order = {
    ...orderOf(app, withdrawal),
    orderedAt: orderedBefore ? withdrawal.orderedAt : null,
  }
  const outcome = await carryOut<Sent>({
    log: app.log,
    orderedBefore,
    find: () => bank.findSent(company, order),
    order: () => bank.send(company, order, (reference) => keep(app, withdrawal, reference)),
  })
  if (outcome.kind === 'unknown') {
    const { reason } = outcome
    app.log.warn({ withdrawal: toPublic('wd', id), reason }, 'a payout has no answer yet')
  }
  const own = withCompanyClock(app, company)
  await app.db.transaction((tx) => recordOutcome(tx, own, company, withdrawal, outcome))
}

/** Throws if another worker has claimed the payout since, because then that one sends it. */
async function keep(app: Uses<'db'>, withdrawal: Withdrawal, reference: string): Promise<void> {
  const isStored = await app.db.transaction((tx) => storeReference(tx, withdrawal, reference))
  if (!isStored) throw new Error('another worker has claimed the payout')
}

/** Whether a bank that the company had before may have sent it: only that bank knows. */
async function wasOrderedElsewhere(
  { db }: Uses<'db'>,
  { order: { companyId, orderedAt }, orderedBefore }: Claim<Withdrawal>,
): Promise<boolean> {
  const bank = orderedBefore ? await findBank(db, companyId) : null
  return bank !== null && orderedAt! < bank.connectedAt
}

/** Leaves a payout to an operator, because the company's bank cannot send it any more. */
async function leaveToOperator(
  app: Uses<'db' | 'log'>,
  { order: withdrawal, orderedBefore }: Claim<Withdrawal>,
): Promise<void> {
  const { companyId, id, attempts } = withdrawal
  await app.db.transaction(async (tx) => {
    const current = await findWithdrawal(tx, companyId, id, 'for update')
    const left = rules.leaveToOperator(current, attempts, orderedBefore)
    if (left) await update(tx, left)
  })
  app.log.warn({ withdrawal: toPublic('wd', id) }, 'a payout is left to an operator')
}

async function recordOutcome(
  tx: Tx,
  app: Uses<'clock' | 'counters' | 'systemClock' | 'vault'>,
  company: Company,
  { id, attempts }: Withdrawal,
  outcome: Outcome<Sent>,
): Promise<void> {
  const now = app.clock.now()
  const current = await findWithdrawal(tx, company.id, id, 'for update')
  const next = rules.afterOutcome(current, attempts, outcome, now)
  if (next?.status === 'PROCESSING') await update(tx, next)
  else if (next) await endPayout(tx, app, company, next, now)
}

/** Ends a payout: writes the books, the event and the mail. */
export async function endPayout(
  tx: Tx,
  { counters, vault, systemClock }: Uses<'counters' | 'systemClock' | 'vault'>,
  company: Company,
  withdrawal: Withdrawal,
  now: Date,
): Promise<void> {
  const completed = withdrawal.status === 'COMPLETED'
  const type = completed ? 'withdrawal.completed' : 'withdrawal.failed'
  const kind = completed ? 'withdrawal-completed' : 'withdrawal-failed'
  const letter = letterOf(company, withdrawal, await destinationOf(tx, { vault }, withdrawal))
  await endWithdrawal(tx, withdrawal, now)
  await emit(tx, [withdrawalEvent(type, withdrawal, now)])
  const mail = { companyId: company.id, kind, letter, expiresAt: null } as const
  await queueMails(tx, vault, [{ ...mail, createdAt: systemClock.now() }])
  if (!completed) return
  tx.afterCommit(() => counters.money('withdrawal', company.mode === 'sandbox', withdrawal.value))
}

function letterOf(
  company: Company,
  { value, endToEndId, finishedAt, failure }: Withdrawal,
  to: { destination: string; recipient?: string },
): Letter {
  if (endToEndId === null) {
    const { recipient } = to
    return composeWithdrawalFailed(company, {
      value,
      reason: failure!,
      ...(recipient && { recipient }),
    })
  }
  return composeWithdrawalCompleted(company, {
    value,
    ...to,
    endToEndId,
    finishedAt: finishedAt!,
  })
}
