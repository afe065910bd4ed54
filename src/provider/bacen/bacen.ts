import type { Clock } from '../../lib/clock.ts'
import type { Payee, Payouts, Provider } from '../port.ts'
import { agreeing } from './agreements.ts'
import { charging } from './charges.ts'
import { createClient } from './client.ts'
import { collecting } from './collections.ts'
import type { Connection } from './connection.ts'
import { disputing } from './disputes.ts'
import { findClockGap, type Inspection, inspect } from './inspect.ts'
import { payouts } from './payouts.ts'
import { reading } from './received.ts'
import { refunding } from './refunds.ts'
import { type CountRequest, LIMITS, type Limits } from './transport.ts'
import { type Callbacks, callbacks } from './webhooks.ts'

export type { Dates, Inspection } from './inspect.ts'
export type { Limits } from './transport.ts'
export type { CallbackState } from './webhooks.ts'

/** Any bank with the Central Bank's API Pix. Each company has its own. */
export type Bacen = Provider &
  Callbacks & {
    payouts: Payouts
    /** Whether a company's connection works, in plain words about what to fix. */
    inspect(payee: Payee): Promise<Inspection>
    /** How far the bank's clock is ahead of ours, at least; null when the bank does not say. */
    findClockGap(payee: Payee): Promise<number | null>
    /** Waits for requests in progress. */
    close(): Promise<void>
  }

type BacenParts = {
  /** A company's connection; null when no bank is connected. */
  connectionOf(payee: Payee): Promise<Connection | null>
  clock: Clock
  limits?: Partial<Limits>
  count?: CountRequest
}

export function createBacen({ connectionOf, clock, limits = {}, count }: BacenParts): Bacen {
  const client = createClient({ connectionOf, clock, limits: { ...LIMITS, ...limits }, count })
  const { at } = client
  return {
    name: 'bacen',
    source: 'bank',
    ...charging(at),
    ...reading(at),
    ...refunding(at),
    ...disputing(at),
    ...agreeing(at),
    ...collecting(at),
    ...callbacks(client),
    payouts: payouts(at),
    inspect: (payee) => inspect(client, payee),
    findClockGap: (payee) => findClockGap(client, payee),
    close: client.close,
  }
}
