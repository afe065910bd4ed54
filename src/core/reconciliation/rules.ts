import type { Cents } from '../../lib/money.ts'
import type { ReceivedPix } from '../../provider/port.ts'

/** Periods overlap by so much, because banks list a payment a little later than they book it. */
export const OVERLAP_MS = 600_000

/** Whether the bank has made a return of its own of a payment, as it shows the payment now. */
export const hasReturned = (
  pix: ReceivedPix | undefined,
  { returnId, amount }: { returnId: string | null; amount: Cents },
): boolean =>
  pix?.returns?.some((one) => one.returnId === returnId && one.amount === amount) ?? false
