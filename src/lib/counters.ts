import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** What happens to money: charges are made, and money moves. */
const MONEY = ['charge', 'payment', 'unmatched payment', 'refund', 'return', 'withdrawal'] as const
export type MoneyKind = (typeof MONEY)[number]

/**
 * What a process counts in memory while it works, in one place. No label names a company, a payer
 * or a record, so there are few series however many there are of those.
 */
export type Counters = {
  /** Of a sandbox, or a trial of a live company, it is play money. */
  money(kind: MoneyKind, isPlay: boolean, cents: number): void
  /** A request to a bank. `status`: null if it has not answered. */
  bankRequest(profile: string, status: number | null, seconds: number): void
  callback(result: 'processed' | 'unconfirmed' | 'failed'): void
  mail(outcome: 'SENT' | 'FAILED' | 'EXPIRED'): void
  /** How long was waited for a connection to the database, if it was not free at once. */
  databaseWait(pool: string, seconds: number): void
  /** A task has done its work, at this moment. */
  taskDone(task: string, at: Date): void
}

export function createCounters(registry: Registry): Counters {
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers: [registry] })
  const histogram = (name: string, help: string, labelNames: string[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers: [registry] })
  const callbacks = counter(
    'vintem_callbacks_total',
    'Callbacks of banks that were processed, by what they came to',
    ['result'],
  )
  for (const result of ['processed', 'unconfirmed', 'failed']) callbacks.inc({ result }, 0)
  const mails = counter('vintem_mails_total', 'Mails that have ended, by how', ['outcome'])
  // An increase is only seen of what was there before.
  for (const outcome of ['SENT', 'FAILED', 'EXPIRED']) mails.inc({ outcome }, 0)
  const banks = histogram(
    'vintem_bank_request_seconds',
    'How long banks took to answer, by profile and HTTP status',
    ['profile', 'status'],
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
  )
  const waits = histogram(
    'vintem_database_wait_seconds',
    'How long was waited for a connection that was not free, by pool',
    ['pool'],
    [0.005, 0.025, 0.1, 0.5, 2.5, 10, 20],
  )
  const tasks = new Gauge({
    name: 'vintem_task_last_success_timestamp_seconds',
    help: 'When a task last did its work, or looked and found none, in seconds since 1970',
    labelNames: ['task'],
    // Of several processes, the one that did it last.
    aggregator: 'max',
    registers: [registry],
  })
  const profiles = new Set<string>()
  return {
    money: createMoney(registry),
    bankRequest(profile, status, seconds) {
      if (!profiles.has(profile)) banks.zero({ profile, status: 'none' })
      profiles.add(profile)
      banks.observe({ profile, status: String(status ?? 'none') }, seconds)
    },
    callback: (result) => callbacks.inc({ result }),
    mail: (outcome) => mails.inc({ outcome }),
    databaseWait: (pool, seconds) => waits.observe({ pool }, seconds),
    taskDone: (task, at) => tasks.set({ task }, at.getTime() / 1000),
  }
}

/** Finding a series by its labels costs more than counting in it. */
function createMoney(registry: Registry): Counters['money'] {
  const config = { labelNames: ['kind', 'money'], registers: [registry] }
  const records = new Counter({
    ...config,
    name: 'vintem_money_records_total',
    help: 'Charges, payments, refunds, returns by banks, and withdrawals that are complete, by kind',
  })
  const amounts = new Counter({
    ...config,
    name: 'vintem_money_cents_total',
    help: 'The amounts of what is counted in vintem_money_records_total',
  })
  const seriesOf = (money: 'real' | 'play') =>
    new Map(
      MONEY.map((kind) => [
        kind,
        [records.labels({ kind, money }), amounts.labels({ kind, money })] as const,
      ]),
    )
  const [real, play] = [seriesOf('real'), seriesOf('play')]
  for (const series of [...real.values(), ...play.values()]) for (const one of series) one.inc(0)
  return (kind, isPlay, cents) => {
    const [count, amount] = (isPlay ? play : real).get(kind)!
    count.inc()
    amount.inc(cents)
  }
}
