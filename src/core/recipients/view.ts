import Type, { type Static } from 'typebox'
import { heldFor, type StoredEntry } from '../../ledger/recipients.ts'
import { toPublic } from '../../lib/ids.ts'
import { maskPixKey } from '../../pix/masks.ts'
import { MAX_KEY } from '../../pix/pix-key.ts'
import { maskTaxId } from '../../pix/tax-id.ts'
import { PAGE, ShortText, TaxId, Timestamp, Value } from '../fields.ts'
import { type Recipient, STATUSES } from './rules.ts'

const Status = Type.Enum([...STATUSES])

const PixKey = Type.String({
  maxLength: MAX_KEY,
  // For who reads only the document. The format decides.
  pattern: '@.+\\.|^[ ]*\\+55[ ().\\d-]{10,}$|^[0-9A-Za-z ./-]{11,}$',
  format: 'pix-key',
  description: 'Where its money is sent: CPF, CNPJ, phone with +55, e-mail or random key',
  'x-rule': 'must be a CPF, a CNPJ, a phone such as +5511988887777, an e-mail or a random key',
})

export const NewRecipient = Type.Object({ name: ShortText, taxId: TaxId, pixKey: PixKey })

export const RecipientChange = Type.Object({
  name: Type.Optional(ShortText),
  pixKey: Type.Optional(PixKey),
  status: Type.Optional(Status),
})

export const RecipientQuery = Type.Object({
  ...PAGE,
  status: Type.Optional(Status),
  taxId: Type.Optional(TaxId),
})

export const RecipientView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  taxId: Type.String({ description: 'Masked' }),
  pixKey: Type.String({ description: 'Masked' }),
  status: Status,
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

export const showRecipient = (recipient: Recipient): Static<typeof RecipientView> => ({
  id: toPublic('rcpt', recipient.id),
  name: recipient.name,
  taxId: maskTaxId(recipient.taxId),
  pixKey: maskPixKey(recipient.pixKey),
  status: recipient.status,
  createdAt: recipient.createdAt.toISOString(),
  updatedAt: recipient.updatedAt.toISOString(),
})

export const RecipientBalance = Type.Object({
  available: Type.Integer({ description: 'Cents that can be paid to the recipient' }),
  held: Type.Integer({ description: 'Cents of payouts to it that are under way' }),
  owed: Type.Integer({
    description:
      'Cents that the recipient owes you: its parts of refunds that you have paid. Its next money repays them',
  }),
})

/** `balance` is below zero if the recipient owes the company. */
export const showBalance = (balance: number, held: number): Static<typeof RecipientBalance> => ({
  available: heldFor(balance),
  held,
  owed: heldFor(-balance),
})

export const RecipientStatementQuery = Type.Object({
  limit: PAGE.limit,
  after: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The entry after which the page starts, from the Link header',
    }),
  ),
})

export const RecipientEntryView = Type.Object({
  entry: Type.Integer({ description: 'Counts the entries of the recipient, without a gap' }),
  createdAt: Timestamp,
  type: Type.Enum([
    'SPLIT_SETTLED',
    'SPLIT_TAKEN',
    'SPLIT_GIVEN',
    'WITHDRAWAL_HELD',
    'WITHDRAWAL_RELEASED',
  ]),
  amount: Type.Integer({ description: 'Cents; below zero if they were taken from it' }),
  balance: Type.Integer({ description: 'Cents after it; below zero if the recipient owes you' }),
  reference: Type.String({ description: 'The endToEndId of a payment, or the id of an order' }),
  chargeId: Type.Optional(Type.String()),
})

export const showEntry = (entry: StoredEntry): Static<typeof RecipientEntryView> => ({
  entry: entry.entry,
  createdAt: entry.createdAt.toISOString(),
  type: entry.kind,
  amount: entry.amount,
  balance: entry.balance,
  reference: entry.ref,
  ...(entry.chargeId === null ? {} : { chargeId: toPublic('charge', entry.chargeId) }),
})

export const NewPayout = Type.Object({
  value: Type.Optional(Value('Cents; when omitted all that the recipient has')),
})
