import Type, { type Static } from 'typebox'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { RETURN_REASONS } from '../../provider/port.ts'
import { PAGE, Timestamp, Value } from '../fields.ts'
import {
  FILE_TYPES,
  MAX_FILE_NAME,
  MAX_FILE_TEXT,
  MAX_FILES,
  MAX_TEXT,
  openDefense,
} from './files.ts'
import { DISPUTE_STATES, type Dispute } from './rules.ts'
import type { StoredFile } from './store.ts'

export const DisputeQuery = Type.Object({
  ...PAGE,
  status: Type.Optional(Type.Enum([...DISPUTE_STATES])),
  chargeId: Type.Optional(Type.String({ maxLength: 255 })),
})

const DefenseFile = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: MAX_FILE_NAME,
    pattern: '\\S',
    description: 'As people know it, such as invoice.pdf',
  }),
  content: Type.String({
    minLength: 1,
    maxLength: MAX_FILE_TEXT,
    description: 'A PDF, a PNG or a JPEG, in base64',
  }),
})

export const NewDefense = Type.Object({
  text: Type.String({
    minLength: 1,
    maxLength: MAX_TEXT,
    pattern: '\\S',
    description: 'Why the money is yours: what was sold, how and when it was delivered',
  }),
  files: Type.Optional(
    Type.Array(DefenseFile, {
      maxItems: MAX_FILES,
      description: 'Proof. The whole request has at most 64 KiB; larger files go by the dashboard',
    }),
  ),
})

/** A dispute that the simulated bank opens. */
export const NewDispute = Type.Object({
  value: Type.Optional(Value('Cents; when omitted all that is left of the payment')),
  reason: Type.Optional(
    Type.Enum([...RETURN_REASONS], { description: 'What the payer claims; FRAUD when omitted' }),
  ),
  hours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 720,
      description: 'How long you have to answer; 168 (7 days) when omitted',
    }),
  ),
})

export const DisputeDecision = Type.Object({
  decision: Type.Enum(['won', 'lost', 'canceled'], {
    description:
      'won: the money stays. lost: the bank returns it. canceled: the claim is withdrawn',
  }),
})

export const DisputeView = Type.Object({
  id: Type.String(),
  status: Type.Enum([...DISPUTE_STATES]),
  amount: Type.Integer({ description: 'Cents that the payer claims' }),
  held: Type.Optional(
    Type.Integer({ description: 'Cents that are held for it now; left out if that is nothing' }),
  ),
  reason: Type.Enum([...RETURN_REASONS]),
  endToEndId: Type.String({ description: 'The scheme’s id of the disputed payment' }),
  chargeId: Type.Optional(Type.String({ description: 'The charge that the payment has paid' })),
  deadline: Type.Optional(Timestamp),
  openedAt: Timestamp,
  closedAt: Type.Optional(Timestamp),
  refundId: Type.Optional(
    Type.String({ description: 'The refund, or the return by the bank, that took the money' }),
  ),
  defense: Type.Optional(
    Type.Object({
      text: Type.String(),
      files: Type.Array(
        Type.Object({
          type: Type.Enum([...FILE_TYPES]),
          size: Type.Integer({ description: 'Bytes' }),
        }),
      ),
      sentAt: Type.Optional(Timestamp),
      failureReason: Type.Optional(
        Type.String({ description: 'Why the bank did not take it. It can be sent again' }),
      ),
    }),
  ),
})

type FileShown = Pick<StoredFile, 'type' | 'size'>
type Shown = Static<typeof DisputeView>

export function showDispute(vault: Vault, dispute: Dispute, files: FileShown[]): Shown {
  const { id, status, amount, held, reason, endToEndId, chargeId, refundId } = dispute
  return {
    id: toPublic('dispute', id),
    status,
    amount,
    ...(held === 0 ? {} : { held }),
    reason,
    endToEndId,
    ...(chargeId === null ? {} : { chargeId: toPublic('charge', chargeId) }),
    ...at('deadline', dispute.deadline),
    openedAt: dispute.openedAt.toISOString(),
    ...at('closedAt', dispute.closedAt),
    ...(refundId === null ? {} : { refundId: toPublic('rfnd', refundId) }),
    ...defenseOf(vault, dispute, files),
  }
}

const at = <Name extends string>(name: Name, moment: Date | null) =>
  (moment === null ? {} : { [name]: moment.toISOString() }) as { [key in Name]?: string }

function defenseOf(vault: Vault, dispute: Dispute, files: FileShown[]): Pick<Shown, 'defense'> {
  const text = openDefense(vault, dispute)
  if (text === null) return {}
  const shown = files.map(({ type, size }) => ({ type: type as (typeof FILE_TYPES)[number], size }))
  const { sentAt, failure } = dispute
  const outcome = failure === null ? {} : { failureReason: failure }
  return { defense: { text, files: shown, ...at('sentAt', sentAt), ...outcome } }
}

/** Files by the dispute that they are of. */
export const filesOf = <F extends { disputeId: Uuid }>(files: F[], { id }: Dispute): F[] =>
  files.filter(({ disputeId }) => disputeId === id)
