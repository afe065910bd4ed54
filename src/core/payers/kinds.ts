import * as copies from './copies.ts'
import type { Kind } from './kind.ts'
import * as records from './records.ts'

/** In this order, so that what leads to the others is erased last. */
export const KINDS: readonly Kind[] = [
  copies.answers,
  copies.callbacks,
  copies.events,
  copies.responses,
  copies.requests,
  copies.views,
  copies.mails,
  records.budgets,
  copies.notes,
  records.payments,
  records.defenses,
  records.refunds,
  records.plans,
  records.addresses,
  records.customers,
  records.recurrences,
  records.charges,
]
