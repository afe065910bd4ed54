import cluster from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { parseArgs } from 'node:util'
import { createApp } from './app.ts'
import { type Config, ConfigFault, loadConfig } from './config.ts'
import type { FullFront } from './core/full-app.ts'
import { makeSignInLink } from './core/people/commands.ts'
import { SANDBOX_PERSON } from './core/people/sandbox.ts'
import { findPersonByEmail } from './core/people/store.ts'
import { appsOf } from './core/places/front.ts'
import { preparePlaces } from './core/places/prepare.ts'
import { followSecret } from './core/secrets/watch.ts'
import { mostConnections, OF_PARENT } from './db/connection-counts.ts'
import { startEmbedded } from './db/embedded/embedded.ts'
import { systemClock } from './lib/clock.ts'
import { createLog, describeError, type Log } from './lib/log.ts'
import { OperatorFault } from './lib/operator-fault.ts'
import { runUntilEnd, type Undo } from './lifetime.ts'
import { loadRest } from './load-rest.ts'
import { runChild } from './processes/child.ts'
import { type Group, requireFreePort, startGroup } from './processes/group.ts'
import { countRestarts, createMachineMetrics, createMachineReadiness } from './processes/machine.ts'
import { createRestarts, type Restart } from './processes/restarts.ts'
import { noteRestart, writeAddress } from './running.ts'
import { findUnsafe } from './safety.ts'
import { openSandbox, type Sandbox } from './sandbox.ts'
import {
  runWorker,
  sendMetrics,
  sendTraces,
  serveOperator,
  serveRequests,
  undoApp,
} from './serving.ts'
import { describeStartFault, startExitCode } from './start-faults.ts'

export type Role = 'api' | 'worker' | 'both'

/** Connections of the embedded PostgreSQL for commands that run beside the server. */
const SPARE_CONNECTIONS = 20
/** What it has without being asked for more. */
const DEFAULT_CONNECTIONS = 100

/** How often a place that did not answer at the start is tried again. */
const PREPARE_MS = 5_000

const USAGE =
  'The only option is --role, which is api, worker or both; everything else is set by environment ' +
  'variables or a .env file, as .env.example shows.'

function readRole(): Role {
  const role = readRoleOption() ?? 'both'
  if (role === 'api' || role === 'worker' || role === 'both') return role
  throw new OperatorFault(`--role must be api, worker or both. ${USAGE}`)
}

function readRoleOption(): string | undefined {
  try {
    return parseArgs({ options: { role: { type: 'string' } } }).values.role
  } catch (error) {
    // The first sentence of the message names the wrong argument.
    const [reason] = (error as Error).message.split('. ')
    throw new OperatorFault(`${reason!.replace(/\.$/, '')}. ${USAGE}`, { cause: error })
  }
}

async function start(
  config: Config,
  role: Role,
  log: Log,
  undo: Undo[],
  signal: AbortSignal,
): Promise<void> {
  const isParent = hasSeveral(config, role)
  // It loads while PostgreSQL starts. If it cannot, `serveRequests` says why.
  if (!isParent && role !== 'worker') import('./service.ts').catch(() => {})
  const databaseUrl = config.databaseUrl ?? (await openEmbedded(config, log, undo))
  const urls = [databaseUrl, ...config.otherPlaces]
  const { publicUrl } = config
  await sendTraces(config, log, isParent ? 'parent' : role, undo)
  const parts = { config, databaseUrl, clock: systemClock, log, publicUrl }
  const app = createApp(isParent ? { ...parts, connections: OF_PARENT } : parts)
  undo.push(...undoApp(app))
  const missing = await prepare(app, urls, signal)
  if (missing.length > 0) undo.push(prepareLater(app, urls, missing, signal))
  const sandbox = config.local ? await openSandbox(app) : null
  const group = Promise.withResolvers<Group>()
  // Whoever finds this server may ask it at once.
  if (isParent) watchForRestarts(app, group.promise)
  if (config.local || isParent) undo.push(announce(app))
  if (isParent) group.resolve(await serveBySeveral(app, role, databaseUrl, undo))
  else {
    undo.push(await followSecret({ ...app, db: app.db.control }, databaseUrl))
    await serveAlone(app, role, databaseUrl, undo)
  }
  printBanner(app, role, sandbox, sandbox && (await makeDashboardLink(app)))
  if (!isParent && role !== 'worker') await loadRest()
}

/** Returns the places that do not answer. */
async function prepare(app: FullFront, urls: string[], signal: AbortSignal): Promise<number[]> {
  const databases = appsOf(app).map(({ db }) => db)
  const report = (line: string) => app.log.info({}, line)
  const warn = (line: string) => app.log.warn({}, line)
  const { databaseSetting: setting } = app.config
  return preparePlaces(urls, databases, app.vault, { signal, report, warn, setting })
}

/** Tries again until all places are there. */
function prepareLater(app: FullFront, urls: string[], first: number[], signal: AbortSignal): Undo {
  const { log } = app
  const repeat = async () => {
    for (let missing = first; missing.length > 0 && !signal.aborted; ) {
      log.warn({ places: missing }, 'places do not answer: their companies are refused')
      await pause(PREPARE_MS, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      missing = await prepare(app, urls, signal).catch((error) => {
        if (!signal.aborted) log.error(describeError(error), 'a place cannot be used')
        return missing
      })
    }
  }
  const done = repeat()
  return () => done
}

/** Lets commands on this machine find this server. */
function announce({ config, log }: FullFront): Undo {
  try {
    return writeAddress(config)
  } catch (error) {
    if (config.local) throw error
    const { dataDir } = config
    log.warn({ dataDir, ...describeError(error) }, '"vintem restart" cannot find this server')
    return async () => {}
  }
}

/** An address at which the person of the sandbox signs in once. */
async function makeDashboardLink(app: FullFront): Promise<string> {
  const person = await findPersonByEmail(app.db.control, SANDBOX_PERSON.email)
  return makeSignInLink(app.db.control, app, person!, app.systemClock.now())
}

/** Whether this process starts others, and answers no requests itself. */
const hasSeveral = ({ processes }: Config, role: Role): boolean =>
  processes > 1 && role !== 'worker'

async function openEmbedded(config: Config, log: Log, undo: Undo[]): Promise<string> {
  const { dataDir, databasePoolSize, processes } = config
  const needed = mostConnections(databasePoolSize, processes) + SPARE_CONNECTIONS
  const isMore = processes > 1 && needed > DEFAULT_CONNECTIONS
  const embedded = await startEmbedded({
    dataDir,
    settings: isMore ? { max_connections: String(needed) } : {},
    onRestart: (why) => log.warn({ why }, 'the embedded PostgreSQL was started again'),
  })
  undo.push(() => embedded.stop())
  return embedded.url
}

async function serveAlone(
  app: FullFront,
  role: Role,
  databaseUrl: string,
  undo: Undo[],
): Promise<void> {
  // Undone in reverse: requests are answered to the end before the worker stops.
  if (role !== 'api') undo.push(runWorker(app, role === 'both'))
  if (role === 'worker') return serveOperator(app, databaseUrl, undo)
  const service = await serveRequests(app, databaseUrl, undo)
  await sendMetrics(app, app.metrics, undo)
  if (app.config.operator) await service.operator.listen(app.config.operator)
}

async function serveBySeveral(
  app: FullFront,
  role: Role,
  databaseUrl: string,
  undo: Undo[],
): Promise<Group> {
  const { config, log } = app
  const { host, port } = config
  await requireFreePort({ host, port })
  const group = startGroup({ config, databaseUrl, hasWorker: role === 'both', log })
  const state = { isClosing: false }
  const undoOperator: Undo[] = []
  // Undone in reverse: operators are answered until all processes have ended.
  undo.push(async () => {
    for (const step of undoOperator.reverse()) await step()
  })
  undo.push(() => group.stop())
  undo.push(async () => {
    state.isClosing = true
  })
  countRestarts(app.metrics.registry, group)
  await group.started
  await serveOperator(app, databaseUrl, undoOperator, {
    isClosing: () => state.isClosing,
    isReady: (own) => createMachineReadiness(own, group),
    metrics: createMachineMetrics(app.metrics, group),
  })
  return group
}

/**
 * SIGHUP replaces the processes, unless it means that the terminal is gone. If they are being
 * started, they are replaced afterwards: the version on the disk may be newer than theirs.
 */
function watchForRestarts({ config, log }: FullFront, group: Promise<Group>): void {
  const note = (restart: Restart) => {
    const { number, isOver, fault, said } = restart
    const begun = said.at(-1) ?? 'the version on the disk is asked to prepare itself'
    if (fault) log.error({ restart: number, fault }, 'processes could not be replaced and go on')
    else log.info({ restart: number }, isOver ? 'all processes are replaced' : begun)
    noteRestart(config, restart)
  }
  const { dataDir } = config
  const restarts = createRestarts(
    async (say) => (await group).replaceAll(say),
    note,
    (error) => {
      log.warn({ dataDir, ...describeError(error) }, '"vintem restart" cannot follow this restart')
    },
  )
  process.on('SIGHUP', () => {
    if (!hasLostTerminal()) restarts.ask()
  })
}

const HAD_TERMINAL = isatty(0)
const hasLostTerminal = (): boolean => HAD_TERMINAL && !isatty(0)

function printBanner(
  { publicUrl, log }: FullFront,
  role: Role,
  sandbox: Sandbox | null,
  dashboard: string | null,
): void {
  if (!sandbox) {
    log.info({ role, publicUrl }, 'Vintém is running')
    return
  }
  const line = (label: string, text: string) => `  ${label.padEnd(12)}${text}\n`
  process.stdout.write(
    `\nVintém is running.\n\n${line('API', publicUrl)}${line('Docs', `${publicUrl}/docs`)}` +
      `${line('Guides', `${publicUrl}/guides`)}${line('Pages', `${publicUrl}/`)}${line('Sandbox key', sandbox.apiKey)}` +
      `${line('Dashboard', `${dashboard}`)}\n` +
      'The address of the dashboard signs you in once, within 15 minutes; "npx vintem person link"\n' +
      'prints another one.\n' +
      'Press Ctrl-C to stop.\n\n',
  )
}

function main(role: Role): void {
  const config = loadConfig()
  const unsafe = findUnsafe(config)
  if (unsafe.length > 0) throw new ConfigFault([...unsafe, ...config.warnings])
  const log = createLog(config.logLevel, hasSeveral(config, role) ? 'parent' : undefined)
  for (const warning of config.warnings) log.warn({}, warning)
  const end = runUntilEnd({
    config,
    log,
    start: (undo, signal) => start(config, role, log, undo, signal),
    report: (error) => printFault(error, config),
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => end(0))
  process.on('SIGHUP', () => {
    if (!hasSeveral(config, role) || hasLostTerminal()) end(0)
  })
}

function printFault(error: unknown, config?: Config): void {
  process.stderr.write(`${describeStartFault(error, config)}\n`)
}

/** Runs the service until a signal ends this process, or one of several. */
export function runService(readRole: () => Role): void {
  // If the terminal is closed, ignore that nothing can be printed, because the service continues.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  try {
    if (cluster.isWorker) runChild()
    else main(readRole())
  } catch (error) {
    printFault(error)
    process.exit(startExitCode(error))
  }
}

if (import.meta.main) runService(readRole)
