import { join } from 'node:path'
import type { Config } from './config.ts'
import { createLateActivity } from './core/activity/batch.ts'
import { openConnection } from './core/banks/commands.ts'
import { groupCharges } from './core/charges/group.ts'
import { createAttemptCounter } from './core/deliveries/metrics.ts'
import { askDisputes } from './core/disputes/ask.ts'
import { createFeedWaits } from './core/feed/waits.ts'
import type { FullApp, FullFront } from './core/full-app.ts'
import { groupFinds } from './core/idempotency.ts'
import { createCallbackBatchers } from './core/payments/callbacks.ts'
import { limitPasswords } from './core/people/sign-in.ts'
import { createPlaces } from './core/places/directory.ts'
import { onePlace } from './core/places/front.ts'
import { syncNamed } from './core/recurrences/agreements.ts'
import { recordReturns } from './core/refunds/bank-returns.ts'
import { createRequestLog } from './core/request-log/batch.ts'
import { NEW_SANDBOX_S, NEW_SANDBOXES } from './core/sandboxes/rules.ts'
import { createSetbacks } from './core/setbacks.ts'
import { type Connections, undivided } from './db/connection-counts.ts'
import { type Database, openDatabase } from './db/database.ts'
import { spanPlaces } from './db/spanning.ts'
import { type Alarm, alarmOfPlace, createAlarm } from './lib/alarm.ts'
import { type Clock, systemClock } from './lib/clock.ts'
import { watchClock } from './lib/clock-watch.ts'
import { type Counters, createCounters } from './lib/counters.ts'
import { createSender } from './lib/http-sender.ts'
import { type Limits, ownLimits } from './lib/limits.ts'
import type { Log } from './lib/log.ts'
import { asMachine, asNameServers, type Lookup } from './lib/lookup.ts'
import { createMailer } from './lib/mailer.ts'
import { createMetrics } from './lib/metrics.ts'
import { createVault } from './lib/vault.ts'
import { type Limits as BankLimits, createBacen } from './provider/bacen/bacen.ts'
import type { Payee } from './provider/port.ts'
import { createProviders } from './provider/providers.ts'
import { createSimulator } from './provider/simulator/simulator.ts'
import { serverName } from './server-name.ts'
import { DUE_TASKS } from './worker/due.ts'

/** How many clocks are moved at the same time. Each move reads what is due of its company. */
const CLOCK_MOVES = 2
/** How many certificates are read at once, each in a process of its own. */
const CERTIFICATES = 2
/** A company uploads so many of them at once, and then one in so many seconds. */
const UPLOADS = 5
const UPLOAD_S = 30
/** A company changes who can reach its money so many times at once, and then once in so long. */
const ACCESS_CHANGES = 20
const ACCESS_CHANGE_S = 360

type Parts = {
  config: Config
  databaseUrl: string
  clock: Clock
  log: Log
  publicUrl: string
  /** Replaces this machine's name servers, in tests. */
  lookup?: Lookup
  /** Replaces the clock of the database, in tests. */
  databaseTime?: () => Promise<Date>
  /** Instead of the ordinary limits on what a bank may take. */
  bankLimits?: Partial<BankLimits>
  /** What another process counts, if there are several. */
  limits?: Limits
  /** Instead of one that wakes the tasks of this process. */
  alarm?: Alarm
  /** Connections of each kind, instead of those of a process that does everything. */
  connections?: Connections
}

/** Creates what commands act with: one app for each place, and what is in front of them. */
export function createApp(parts: Parts): FullFront {
  const { otherPlaces } = parts.config
  const shared = createShared(parts)
  const urls = [parts.databaseUrl, ...otherPlaces]
  if (urls.length === 1) {
    const own = withCounters(shared)
    return onePlace(createInPlace(parts, own, openPlace(parts, own, parts.databaseUrl)))
  }
  const apps: FullApp[] = []
  const own = urls.map((_, i) =>
    withCounters({
      ...shared,
      metrics: shared.metrics.ofPlace(i + 1),
      alarm: alarmOfPlace(shared.alarm, i + 1),
    }),
  )
  const opened = urls.map((url, i) => openPlace(parts, own[i]!, url, i + 1))
  const at = async (companyId: string) => ((await places.find(companyId)) ?? apps[0]!).db
  for (const [i, db] of opened.entries()) {
    apps.push(createInPlace(parts, own[i]!, spanPlaces(db, { control: opened[0]!, at })))
  }
  const places = createPlaces(apps, (i) => apps[i]!.feedWaits.isInformed())
  return { ...apps[0]!, places }
}

type Shared = ReturnType<typeof createShared>
type InPlace = Shared & { counters: Counters }

function withCounters(shared: Shared): InPlace {
  const { registry } = shared.metrics
  return { ...shared, counters: createCounters(registry) }
}

/** What all places have in common: what is outside, and what is counted for all companies. */
function createShared({ config, clock, log, publicUrl, ...parts }: Parts) {
  const { limits = ownLimits, alarm = createAlarm() } = parts
  const { smtpUrl, mailFrom: from, dataDir, mailConnections } = config
  const vault = createVault(config.secretKey, config.secretKeyNext)
  const folder = join(dataDir, 'mail')
  const mailer = createMailer({ smtpUrl, from, folder, connections: mailConnections, clock })
  const lookup = parts.lookup ?? (config.local ? asMachine : asNameServers())
  const sender = createSender({ guarded: !config.local, lookup })
  const metrics = createMetrics()
  const clockMoves = limits.queue('clock moves', { size: CLOCK_MOVES, perOwner: 1 })
  const passwords = limitPasswords(limits, config)
  const bankPages = {
    certificates: limits.queue('certificates', { size: CERTIFICATES, perOwner: 1 }),
    uploads: config.rateLimit && limits.rate('uploads of certificates', 1 / UPLOAD_S, UPLOADS),
    checks: limits.queue('bank checks', { perOwner: 1 }),
  }
  const accessChanges =
    config.rateLimit && limits.rate('changes of access', 1 / ACCESS_CHANGE_S, ACCESS_CHANGES)
  const newSandboxesBy = (whom: string) =>
    config.rateLimit && limits.rate(`sandboxes by ${whom}`, 1 / NEW_SANDBOX_S, NEW_SANDBOXES)
  const newSandboxes = {
    byCompany: newSandboxesBy('company'),
    byAddress: newSandboxesBy('address'),
  }
  const time = { clock, systemClock: clock, clockMoves, due: DUE_TASKS }
  const outward = { vault, log, mailer, sender, lookup, metrics, limits, alarm, publicUrl }
  return { config, ...time, ...outward, passwords, bankPages, accessChanges, newSandboxes }
}

function openPlace(
  { config, connections, log }: Parts,
  { alarm, counters }: InPlace,
  url: string,
  place?: number,
): Database {
  const listener = { ...alarm, waited: counters.databaseWait, name: serverName(config) }
  const db = openDatabase(url, connections ?? undivided(config.databasePoolSize), listener)
  db.heartbeat.onUnresponsive((reason) =>
    log.warn(
      { place },
      reason === 'silent'
        ? 'the database does not answer: its connections were closed'
        : 'no standby confirms what is written: requests are refused until one does',
    ),
  )
  return db
}

/** The app of one place. */
function createInPlace(parts: Parts, shared: InPlace, db: Database): FullApp {
  const { clock, log, vault, metrics, limits, publicUrl, counters } = shared
  const connectionOf = ({ id }: Payee) => openConnection(db, vault, id)
  const count = counters.bankRequest
  const bacen = createBacen({ connectionOf, clock, limits: parts.bankLimits ?? {}, count })
  // Anybody can call the simulated bank, so it gets the share of one company of the database.
  const simulator = createSimulator(publicUrl, db.of('simulated bank'), clock, vault)
  const providers = createProviders(simulator, bacen)
  const callbacks = createCallbackBatchers(
    db,
    { syncNamed, recordReturns, askDisputes },
    counters.callback,
  )
  const charges = groupCharges(db)
  const setbacks = createSetbacks(db.tasks, clock, metrics.registry, log)
  const lateActivity = createLateActivity(db, metrics.registry, log)
  const countAttempt = createAttemptCounter(metrics.registry)
  const ask =
    parts.databaseTime ?? (clock === systemClock ? () => timeOf(db) : async () => clock.now())
  const clockWatch = compareClocks(clock, ask, log)
  const requestLog = createRequestLog(db, metrics.registry)
  const feedWaits = createFeedWaits(db, limits, log)
  const findStored = groupFinds(db)
  const batched = { charges, callbacks, findStored, lateActivity, requestLog, feedWaits }
  const own = { providers, countAttempt, setbacks, clockWatch }
  return { ...shared, db, ...own, ...batched }
}

async function timeOf(db: Database): Promise<Date> {
  const [row] = await db.light.query<{ now: Date }>({
    name: 'time',
    text: 'select clock_timestamp() as now',
  })
  return row!.now
}

const compareClocks = (clock: Clock, ask: () => Promise<Date>, log: Log) =>
  watchClock({
    clock,
    ask,
    steady: () => performance.now(),
    onChange: (agrees, ahead_s) => {
      if (agrees) log.info({}, 'the clocks of machine and database agree again')
      else log.warn({ ahead_s }, 'the clocks of machine and database differ: nothing expires')
    },
  })
