import type { Delivery } from '../../../packages/client/src/index.ts'
import { cell, localTime, tableOf } from './output.ts'

/** What the receiver answered last, in a few words. */
export function outcomeOf({ attempts }: Delivery): string {
  const last = attempts.at(-1)
  if (!last) return '-'
  return `${last.status ?? cell(last.error)} in ${last.latencyMs} ms`
}

const HEADING = ['DELIVERY ID', 'EVENT', 'STATUS', 'TRIES', 'LAST ANSWER', 'CREATED', 'NEXT TRY']

export function deliveryTable(deliveries: Delivery[], none: string): string {
  const rows = deliveries.map((delivery) => [
    delivery.id,
    delivery.event,
    delivery.status,
    String(delivery.attempts.length),
    outcomeOf(delivery),
    localTime(delivery.createdAt),
    localTime(delivery.nextAttemptAt),
  ])
  return tableOf(HEADING, rows, none)
}
