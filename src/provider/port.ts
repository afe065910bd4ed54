import type { Uuid } from '../lib/ids.ts'
import type { Cents } from '../lib/money.ts'

/**
 * What a bank says of an order. A timeout is `unknown`, never `rejected`: the bank may have carried
 * it out, and only asking can tell.
 */
export type Outcome<T> =
  | { kind: 'accepted'; value: T }
  | { kind: 'rejected'; reason: string }
  | { kind: 'unknown'; reason: string }

/** The company as a bank knows it. */
export type Payee = { id: Uuid; name: string; city: string; pixKey: string }

/**
 * A Pix as the scheme confirms it. `txid` is the one we gave the charge or the static code; a Pix
 * that was sent to the key alone has none.
 */
export type ReceivedPix = {
  endToEndId: string
  txid: string | null
  amount: Cents
  receivedAt: Date
}

/** Money to send back to who paid it. Our id makes it one order, however often it is given. */
export type RefundOrder = { id: Uuid; endToEndId: string; amount: Cents }
/** `returnId` is the scheme's id of the money that went back. */
export type Returned = { returnId: string }

/** Money to send to a Pix key. Our id makes it one order, however often it is given. */
export type SendOrder = { id: Uuid; amount: Cents; pixKey: string }
export type Sent = { endToEndId: string }

/** What a bank has moved on its own account of it, to compare ours with. */
export type BankTransfer = {
  direction: 'received' | 'sent' | 'returned'
  endToEndId: string
  /** Our id of the order, for what was sent or returned. */
  orderId: Uuid | null
  amount: Cents
  at: Date
}

/** From `from` on and before `to`. */
export type Period = { from: Date; to: Date }

/** The port to a bank. Ids are ours, so that every order can be repeated and asked about. */
export type Provider = {
  name: string
  issueCharge(
    payee: Payee,
    charge: { id: Uuid; amount: Cents; expiresAt: Date },
  ): Promise<Outcome<{ brCode: string }>>
  removeCharge(payee: Payee, id: Uuid): Promise<Outcome<null>>
  issueStaticCode(
    payee: Payee,
    code: { id: Uuid; amount: Cents },
  ): Promise<Outcome<{ brCode: string }>>
  /** Those of the payments that the bank knows: what it does not confirm never counts. */
  findReceived(payee: Payee, endToEndIds: string[]): Promise<Outcome<ReceivedPix[]>>
  listReceived(payee: Payee, period: Period): Promise<Outcome<ReceivedPix[]>>
  /** Accepted means done. A bank that is still at it answers `unknown`. */
  refund(payee: Payee, order: RefundOrder): Promise<Outcome<Returned>>
  /** What became of an order that was given before; null when the bank never got it. */
  findRefund(payee: Payee, order: RefundOrder): Promise<Outcome<Returned | null>>
  send(payee: Payee, order: SendOrder): Promise<Outcome<Sent>>
  findSent(payee: Payee, order: SendOrder): Promise<Outcome<Sent | null>>
  listTransfers(payee: Payee, period: Period): Promise<Outcome<BankTransfer[]>>
  /** Null when the bank can be worked with, otherwise what is wrong, in plain words. */
  check(): Promise<string | null>
}
