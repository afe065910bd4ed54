import { Counter, Histogram, type Registry } from 'prom-client'
import type { App } from '../app.ts'
import type { NextState } from './rules.ts'

type Outcome = NextState['outcome']

/** Counts an attempt by its outcome, and how long the receiver took to answer. */
type CountAttempt = (outcome: Outcome, seconds: number) => void

export type AppWithDeliveries = App & { countAttempt: CountAttempt }

export function createAttemptCounter(registry: Registry): CountAttempt {
  const outcomes = new Counter({
    name: 'vintem_deliveries_total',
    help: 'Attempts to deliver an event, by what they came to',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const latency = new Histogram({
    name: 'vintem_delivery_seconds',
    help: 'How long receivers took to answer',
    buckets: [0.01, 0.05, 0.1, 0.25, 1, 5, 15, 30],
    registers: [registry],
  })
  // Finding a series by its labels costs more than counting in it.
  const series = {
    DELIVERED: outcomes.labels({ outcome: 'DELIVERED' }),
    FAILED: outcomes.labels({ outcome: 'FAILED' }),
    RETRY: outcomes.labels({ outcome: 'RETRY' }),
  }
  // An increase is only seen of what was there before.
  for (const one of Object.values(series)) one.inc(0)
  const answered = latency.labels({})
  return (outcome, seconds) => {
    series[outcome].inc()
    answered.observe(seconds)
  }
}
