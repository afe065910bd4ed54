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

/** A Pix as the scheme confirms it. `txid` is the one we gave the charge. */
export type ReceivedPix = { endToEndId: string; txid: string; amount: Cents; receivedAt: Date }

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
  /** Null when the bank can be worked with, otherwise what is wrong, in plain words. */
  check(): Promise<string | null>
}
