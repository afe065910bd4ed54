import {
  type Account,
  activeOf,
  bankLeft,
  type Charge,
  cameOf,
  type Dispute,
  endCharge,
  isOpenDispute,
  type Model,
  move,
  placeOf,
  type Refund,
  refundCharge,
  sumOf,
  tooOld,
  unreleased,
} from './money.ts'

/** What disputes do to the money of charges, in the plainest account. */
const NEW = { isDefended: false, refund: null, decision: null } as const

export function openDispute(
  model: Model,
  charge: Charge,
  value: number | undefined,
  id: string,
): 201 | 409 {
  const left = bankLeft(model, charge)
  const isDisputed = model.disputes.some((one) => one.charge === charge && one.decision === null)
  if (isDisputed || left === 0 || (value ?? 0) > left) return 409
  const amount = value ?? left
  const held = Math.min(amount, cameOf(charge) - charge.refunded)
  const deadline = model.now + 168 * 3_600_000
  move(model, placeOf(charge), 'disputed', held)
  model.disputes.push({ id, charge, amount, held, status: 'OPEN', ...NEW, deadline })
  return 201
}

export function acceptDispute(model: Model, dispute: Dispute): 200 | 409 {
  if (dispute.status === 'ACCEPTED') return 200
  if (!isOpenDispute(dispute) || tooOld(model, dispute.charge.paidAt)) return 409
  if (dispute.held > 0) refundCharge(model, dispute.charge, dispute.held)
  else dispute.status = 'ACCEPTED'
  return 200
}

export function defendDispute(dispute: Dispute): 200 | 409 {
  if (dispute.status !== 'OPEN') return 409
  dispute.status = 'DEFENDED'
  dispute.isDefended = true
  return 200
}

export function decideDispute(
  model: Model,
  dispute: Dispute,
  decision: 'won' | 'lost' | 'canceled',
): 200 | 409 {
  if (dispute.decision !== null) return dispute.decision === decision ? 200 : 409
  dispute.decision = decision
  const { charge } = dispute
  const returned = Math.min(dispute.amount, bankLeft(model, charge))
  if (decision === 'lost' && returned > 0) returnMoney(model, charge, returned)
  if (!isOpenDispute(dispute)) return 200
  dispute.status = decision.toUpperCase() as Dispute['status']
  if (decision !== 'lost') giveBack(model, dispute)
  return 200
}

function giveBack(model: Model, dispute: Dispute): void {
  move(model, 'disputed', placeOf(dispute.charge), dispute.held)
  dispute.held = 0
}

/** Whether no refund is under way, of which the callback of a return would tell as well. */
export const isAnswered = ({ refunds }: Model, charge: Charge): boolean =>
  !refunds.some((one) => one.charge === charge && one.status === 'PROCESSING')

/** The bank returns money of a charge of which nobody has told before. */
export function returnAtBank(model: Model, charge: Charge, value: number | undefined): 201 | 409 {
  const left = bankLeft(model, charge)
  if (left === 0 || (value ?? 0) > left) return 409
  returnMoney(model, charge, value ?? left)
  return 201
}

/** The bank returns money of a charge by itself, after a claim. */
function returnMoney(model: Model, charge: Charge, amount: number): void {
  const dispute = activeOf(model, charge, null)
  const wasPaid = charge.paymentStatus === 'PAID'
  let taken = Math.min(amount, dispute?.held ?? 0)
  let pending = wasPaid ? unreleased(model, charge) : 0
  let source = wasPaid && amount - taken <= pending ? 'pending' : ('available' as const)
  if (taken > 0 && taken < amount && source !== placeOf(charge)) {
    pending += dispute!.held
    taken = 0
    source = wasPaid && amount <= pending ? 'pending' : 'available'
  }
  move(model, 'disputed', 'bank', taken)
  if (dispute) {
    dispute.held -= taken
    giveBack(model, dispute)
  }
  move(model, source as Account, 'bank', amount - taken)
  model.refunds.push({
    charge,
    payment: null,
    amount,
    source: source as Refund['source'],
    status: 'COMPLETED',
    endedIn: 'bank',
    dueAt: 0,
    tellings: 0,
  })
  const refund = model.refunds.at(-1)!
  const own = model.refunds.filter((one) => one.charge === charge && one.status !== 'FAILED')
  charge.refunded = Math.min(cameOf(charge), sumOf(own))
  if (sumOf(own.filter(({ status }) => status === 'COMPLETED')) >= cameOf(charge)) {
    endCharge(model, charge)
  }
  if (dispute) Object.assign(dispute, { status: 'LOST', refund })
  else {
    const ended = { ...NEW, deadline: 0, refund, decision: 'lost' } as const
    model.disputes.push({ id: '', charge, amount, held: 0, status: 'LOST', ...ended })
  }
}
