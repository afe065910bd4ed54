import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, type Registry } from 'prom-client'
import { countDiffering, findOldestAudit } from '../core/audits/store.ts'
import { listCertificates } from '../core/banks/store.ts'
import { readQueues } from '../core/due.ts'
import type { FullApp, FullFront } from '../core/full-app.ts'
import { findBackups } from '../core/installation.ts'
import { appsOf } from '../core/places/front.ts'
import { countMoving } from '../core/places/store.ts'
import { oldestAsked } from '../core/reconciliation-schedule.ts'
import { countSetbacks } from '../core/setbacks.ts'
import { countWaiting } from '../core/withdrawals/store.ts'
import { LAST_KNOWN, lastMigration } from '../db/migrate.ts'
import { VERSION } from '../lib/version.ts'

/** Adds the metrics that are read from this process at each scrape. */
export function watchProcess(app: FullFront): void {
  for (const one of appsOf(app)) {
    watchPool(one.metrics.registry, one)
    watchFeed(one.metrics.registry, one)
  }
  watchLoop(app.metrics.registry)
}

function watchFeed(registry: Registry, { feedWaits }: FullApp): void {
  new Gauge({
    name: 'vintem_waiting_feed_requests',
    help: 'Requests that wait for the next event of the feed',
    registers: [registry],
    collect() {
      this.set(feedWaits.waiting())
    },
  })
}

/** Adds the metrics that are read from the database, which are the same for all processes. */
export function watchInstallation(app: FullFront): void {
  for (const one of appsOf(app)) {
    watchMoney(one.metrics.registry, one)
    watchQueues(one.metrics.registry, one)
    watchSchema(one.metrics.registry, one)
    watchMoves(one.metrics.registry, one)
    watchBanks(one.metrics.registry, one)
    watchSetbacks(one.metrics.registry, one)
    watchClock(one.metrics.registry, one)
    watchBackups(one.metrics.registry, one)
  }
  describeBuild(app.metrics.registry)
}

/** Which code answers, and the last migration that it knows. Of a machine, once. */
function describeBuild(registry: Registry): void {
  const schema = String(LAST_KNOWN)
  new Gauge({
    name: 'vintem_build_info',
    help: 'The version of this code, and the last migration that it knows. Its value is 1',
    labelNames: ['version', 'schema'],
    registers: [registry],
  }).set({ version: VERSION, schema }, 1)
}

/** The last migration of the database, which may be newer than the code that answers. */
function watchSchema(registry: Registry, { db }: FullApp): void {
  readGauge(registry, {
    name: 'vintem_schema_version',
    help: 'The last migration that the database has',
    async read(gauge) {
      gauge.set(await lastMigration(db))
    },
  })
}

function watchMoves(registry: Registry, { db }: FullApp): void {
  readGauge(registry, {
    name: 'vintem_company_moves',
    help: 'Companies that are being moved from or to this place, by how far they are',
    labelNames: ['state'],
    async read(gauge) {
      const counts = await countMoving(db)
      for (const state of ['leaving', 'left', 'arriving', 'ready']) gauge.set({ state }, 0)
      for (const { state, count } of counts) gauge.set({ state }, count)
    },
  })
}

type ReadGauge = {
  name: string
  help: string
  labelNames?: string[]
  read(gauge: Gauge): Promise<void>
}

/** A gauge that is read from a database. While that does not answer, it has no value. */
function readGauge(registry: Registry, { read, ...config }: ReadGauge): void {
  new Gauge({
    ...config,
    registers: [registry],
    async collect() {
      await read(this).catch(() => {
        // To reset a gauge without labels sets it to 0, which would be a value.
        if (config.labelNames) this.reset()
        else this.remove()
      })
    },
  })
}

/** If it is not near 0, nothing expires. */
function watchClock(registry: Registry, { clockWatch }: FullApp): void {
  readGauge(registry, {
    name: 'vintem_clock_ahead_seconds',
    help: 'How far the clock of this machine is ahead of the clock of the database',
    async read(gauge) {
      gauge.set(await clockWatch.ahead_s())
    },
  })
}

/** Without a backup it has no value. */
function watchBackups(registry: Registry, { db }: FullApp): void {
  readGauge(registry, {
    name: 'vintem_backup_last_timestamp_seconds',
    help: 'When the last backup was made, in seconds since 1970',
    async read(gauge) {
      const { backedUpAt } = await findBackups(db)
      if (backedUpAt) gauge.set(backedUpAt.getTime() / 1000)
      else gauge.remove()
    },
  })
}

/** Books that differ, and books that nobody has looked at for long. */
function watchMoney(registry: Registry, { db, systemClock }: FullApp): void {
  readGauge(registry, {
    name: 'vintem_audit_oldest_seconds',
    help: 'How long ago the company was audited whose audit is longest ago',
    async read(gauge) {
      const oldest = await findOldestAudit(db)
      const now_ms = systemClock.now().getTime()
      gauge.set(oldest ? Math.max(0, (now_ms - oldest.getTime()) / 1000) : 0)
    },
  })
  readGauge(registry, {
    name: 'vintem_ledger_differing_companies',
    help: 'Companies whose books differ, and whose payouts are stopped for it',
    async read(gauge) {
      gauge.set(await countDiffering(db))
    },
  })
}

/** Due work that is not done: how much, and since when. One statement tells both. */
function watchQueues(registry: Registry, { db, due, clock }: FullApp): void {
  const read = together(() => readQueues(db, due, clock.now()))
  readGauge(registry, {
    name: 'vintem_due_oldest_seconds',
    help: 'How long the oldest piece of due work has been waiting, by kind',
    labelNames: ['work'],
    async read(gauge) {
      const now = clock.now()
      for (const { name, since } of await read()) {
        gauge.set({ work: name }, since ? (now.getTime() - since.getTime()) / 1000 : 0)
      }
    },
  })
  readGauge(registry, {
    name: 'vintem_due_waiting',
    help: 'How many pieces of due work wait, by kind. No more than 1000 are counted',
    labelNames: ['work'],
    async read(gauge) {
      for (const { name, due } of await read()) gauge.set({ work: name }, due)
    },
  })
}

/** What is asked while it is being read gets the same answer. */
function together<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null
  return () => {
    running ??= read().finally(() => {
      running = null
    })
    return running
  }
}

/** Counts companies whose work fails. The work of the others continues. */
function watchSetbacks(registry: Registry, { db, systemClock }: FullApp): void {
  readGauge(registry, {
    name: 'vintem_set_aside_companies',
    help: 'Companies whose work in a task failed, so that it leaves them alone for a while',
    labelNames: ['task'],
    async read(gauge) {
      const counts = await countSetbacks(db, systemClock.now())
      gauge.reset()
      for (const { task, count } of counts) gauge.set({ task }, count)
    },
  })
}

/** What operators must see: banks that do not answer, certificates, payouts that no bank sends. */
function watchBanks(registry: Registry, { db, clock }: FullApp): void {
  readGauge(registry, {
    name: 'vintem_bank_unasked_oldest_seconds',
    help: 'How long ago the bank was last asked what it has received that has answered least',
    async read(gauge) {
      const asked = await oldestAsked(db)
      gauge.set(asked ? Math.max(0, (clock.now().getTime() - asked.getTime()) / 1000) : 0)
    },
  })
  readGauge(registry, {
    name: 'vintem_bank_certificate_end_timestamp_seconds',
    help: 'When the certificate of a bank connection ends, in seconds since 1970',
    labelNames: ['company', 'profile'],
    async read(gauge) {
      const certificates = await listCertificates(db)
      // Remove connections that do not exist any more.
      gauge.reset()
      for (const { companyId: company, profile, certificateEndsAt } of certificates) {
        gauge.set({ company, profile }, certificateEndsAt.getTime() / 1000)
      }
    },
  })
  readGauge(registry, {
    name: 'vintem_withdrawals_by_hand',
    help: 'Withdrawals that wait for an operator to send them',
    async read(gauge) {
      gauge.set(await countWaiting(db))
    },
  })
}

function watchPool(registry: Registry, { db }: FullApp): void {
  new Gauge({
    name: 'vintem_database_connections',
    help: 'Connections of each pool, and how many wait for one',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [pool, { totalCount, idleCount }] of Object.entries(db.pools)) {
        this.set({ pool, state: 'open' }, totalCount)
        this.set({ pool, state: 'idle' }, idleCount)
      }
      for (const [pool, count] of Object.entries(db.waiting())) {
        this.set({ pool, state: 'waiting' }, count)
      }
    },
  })
}

const RESOLUTION_MS = 50
const WINDOW_MS = 60_000

/**
 * The longest time for which the event loop was blocked. Nothing else is served in that time. Old
 * values are removed after one or two minutes, however often the metric is read.
 */
function watchLoop(registry: Registry): void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  let before_ns = 0
  setInterval(() => {
    before_ns = delays.max
    delays.reset()
  }, WINDOW_MS).unref()
  new Gauge({
    name: 'vintem_event_loop_longest_block_seconds',
    help: 'The longest time in the last minute or two for which nothing else was served',
    // Of several processes, the one that was blocked for longest.
    aggregator: 'max',
    registers: [registry],
    collect() {
      const longest_ms = Math.max(before_ns, delays.max) / 1e6 - RESOLUTION_MS
      this.set(Math.max(0, longest_ms / 1000))
    },
  })
}
