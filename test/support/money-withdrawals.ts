import {
  carryOut,
  isOpen,
  type Model,
  move,
  netOf,
  SECOND,
  shownAccounts,
  type Withdrawal,
} from './money.ts'

/** What withdrawals and payouts to recipients do to the money, in the plainest account. */
const ranOut = ({ now }: Model, { status, expiresAt }: Withdrawal) =>
  status === 'PENDING_OTP' && expiresAt <= now

/** A withdrawal as it is shown: past its end it is expired before the money is given back. */
export const shownStatus = (model: Model, withdrawal: Withdrawal): string =>
  ranOut(model, withdrawal) ? 'EXPIRED' : withdrawal.status

function returnFunds(model: Model, withdrawal: Withdrawal, status: Withdrawal['status']): void {
  withdrawal.status = status
  withdrawal.endedAt = status === 'EXPIRED' ? withdrawal.expiresAt : model.now
  move(model, 'held', 'available', withdrawal.amount)
}

/** Of the company's money, or a payout to a recipient. */
export function startWithdrawal(
  model: Model,
  amount: number,
  recipient: number | null = null,
): 201 | 409 | 422 | 429 {
  const open = model.withdrawals.find(isOpen)
  if (open && !ranOut(model, open)) return 409
  if (wrongTries(model) >= 25) return 429
  if (amount > couldSend(model, open, recipient)) return 422
  if (open) returnFunds(model, open, 'EXPIRED')
  move(model, 'available', 'held', amount)
  model.withdrawals.push({
    id: '',
    amount,
    recipient,
    status: 'PENDING_OTP',
    tries: 0,
    sends: 1,
    dueAt: 0,
    tellings: 0,
    expiresAt: model.now + 600 * SECOND,
    endedAt: 0,
  })
  return 201
}

/** What could be sent if the one that has run out were ended. */
function couldSend(model: Model, open: Withdrawal | undefined, recipient: number | null): number {
  const ended = open && { ...open, status: 'EXPIRED' as const }
  const withdrawals = model.withdrawals.map((one) => (one === open ? ended! : one))
  const available = model.accounts.available + (open?.amount ?? 0)
  const then = { ...model, withdrawals, accounts: { ...model.accounts, available } }
  if (recipient === null) return shownAccounts(then).available
  return Math.max(0, netOf(then, recipient))
}

/** Codes that were tried within an hour on withdrawals that came to nothing. */
function wrongTries(model: Model): number {
  return model.withdrawals
    .map((one) =>
      ranOut(model, one) ? { ...one, status: 'EXPIRED', endedAt: one.expiresAt } : one,
    )
    .filter(({ status }) => status === 'EXPIRED' || status === 'CANCELED')
    .filter(({ endedAt }) => endedAt > model.now - 3600 * SECOND)
    .reduce((sum, { tries }) => sum + tries, 0)
}

export function confirmWithdrawal(
  model: Model,
  withdrawal: Withdrawal,
  right: boolean,
): 200 | 400 | 409 | 410 {
  if (ranOut(model, withdrawal)) returnFunds(model, withdrawal, 'EXPIRED')
  if (withdrawal.status === 'EXPIRED') return 410
  if (withdrawal.status !== 'PENDING_OTP') return 409
  withdrawal.tries += 1
  if (right) {
    withdrawal.status = 'PROCESSING'
    withdrawal.dueAt = model.now
  } else if (withdrawal.tries === 5) returnFunds(model, withdrawal, 'CANCELED')
  return right ? 200 : 400
}

export function cancelWithdrawal(model: Model, withdrawal: Withdrawal): 200 | 409 {
  if (withdrawal.status === 'CANCELED') return 200
  if (shownStatus(model, withdrawal) !== 'PENDING_OTP') return 409
  returnFunds(model, withdrawal, 'CANCELED')
  return 200
}

export function resendCode(model: Model, withdrawal: Withdrawal): 200 | 409 | 410 | 429 {
  const status = shownStatus(model, withdrawal)
  if (status === 'EXPIRED') return 410
  if (status !== 'PENDING_OTP') return 409
  if (withdrawal.sends === 4) return 429
  withdrawal.sends += 1
  withdrawal.expiresAt = model.now + 600 * SECOND
  return 200
}

export function expireWithdrawals(model: Model): void {
  for (const withdrawal of model.withdrawals) {
    if (ranOut(model, withdrawal)) returnFunds(model, withdrawal, 'EXPIRED')
  }
}

export function payOut(model: Model): void {
  for (const [withdrawal, done] of carryOut(model, model.withdrawals)) {
    if (!done) returnFunds(model, withdrawal, 'FAILED')
    else {
      withdrawal.status = 'COMPLETED'
      move(model, 'held', 'bank', withdrawal.amount)
    }
  }
}
