import Type, { type Static } from 'typebox'
import { toPublic } from '../../lib/ids.ts'
import { maskPixKey } from '../../pix/masks.ts'
import { PAGE, Timestamp, Value } from '../fields.ts'
import { asOf, awaitsApproval, STATUSES, triesLeft, type Withdrawal } from './rules.ts'

export const NewWithdrawal = Type.Object({ value: Value('Cents') })

export const StartedWithdrawal = Type.Object({ withdrawId: Type.String() })

export const Confirmation = Type.Object({
  otp: Type.String({
    pattern: '^[0-9]{6}$',
    description: 'The six digits from the e-mail',
    'x-rule': 'must be the six digits from the e-mail, as text',
  }),
})

/** Only a sandbox company is shown a code. */
export const WithdrawalCode = Type.Object({
  code: Type.String({ description: 'The six digits that confirm the withdrawal' }),
  expiresAt: Timestamp,
})

const Status = Type.Enum([...STATUSES])

export const WithdrawalQuery = Type.Object({ ...PAGE, status: Type.Optional(Status) })

export const WithdrawalView = Type.Object({
  id: Type.String(),
  status: Status,
  value: Type.Integer({ description: 'Cents' }),
  destination: Type.String({ description: 'The Pix key that the money goes to; masked' }),
  recipientId: Type.Optional(Type.String({ description: 'The recipient whose money it is' })),
  createdAt: Timestamp,
  expiresAt: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When it expires; while its code or its approval is awaited',
    }),
  ),
  attemptsLeft: Type.Optional(
    Type.Integer({ description: 'How often a code may still be tried; while it is awaited' }),
  ),
  confirmedAt: Type.Optional(Timestamp),
  approval: Type.Optional(
    Type.Enum(['WAITING', 'APPROVED'], {
      description:
        'Whether a second person has approved it in the dashboard; left out if none has to',
    }),
  ),
  approvedAt: Type.Optional(Timestamp),
  heldUntil: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Until then it waits for that approval, because the bank connection was changed shortly before; after that it is sent without one',
    }),
  ),
  finishedAt: Type.Optional(Timestamp),
  endToEndId: Type.Optional(Type.String({ description: 'The scheme’s id of the payment' })),
  failureReason: Type.Optional(Type.String()),
})

/** That of a recipient is stored masked. */
export const shownDestination = ({
  destination,
  recipientId,
}: Pick<Withdrawal, 'destination' | 'recipientId'>): string =>
  recipientId === null ? maskPixKey(destination) : destination

export function showWithdrawal(stored: Withdrawal, now: Date): Static<typeof WithdrawalView> {
  const withdrawal = asOf(stored, now)
  const { status, value, confirmedAt, approvedAt, finishedAt, endToEndId, failure } = withdrawal
  const shown: Static<typeof WithdrawalView> = {
    id: toPublic('wd', withdrawal.id),
    status,
    value,
    destination: shownDestination(withdrawal),
    createdAt: withdrawal.createdAt.toISOString(),
  }
  const { recipientId } = withdrawal
  if (recipientId !== null) shown.recipientId = toPublic('rcpt', recipientId)
  if (status === 'PENDING_OTP') {
    const { heldUntil, otpExpiresAt } = withdrawal
    if (heldUntil !== null) shown.heldUntil = heldUntil.toISOString()
    if (confirmedAt === null || heldUntil === null) shown.expiresAt = otpExpiresAt.toISOString()
    if (confirmedAt === null) shown.attemptsLeft = triesLeft(withdrawal)
  }
  if (confirmedAt !== null) shown.confirmedAt = confirmedAt.toISOString()
  if (awaitsApproval(withdrawal)) shown.approval = 'WAITING'
  if (approvedAt !== null) {
    shown.approval = 'APPROVED'
    shown.approvedAt = approvedAt.toISOString()
  }
  if (finishedAt !== null) shown.finishedAt = finishedAt.toISOString()
  if (endToEndId !== null) shown.endToEndId = endToEndId
  if (failure !== null) shown.failureReason = failure
  return shown
}
