import { parseArgs } from 'node:util'
import { type Config, ConfigFault, loadConfig } from './config.ts'
import type { FullApp } from './core/full-app.ts'
import { keepPositions, requireSameSecret } from './core/installation.ts'
import { startEmbedded } from './db/embedded/embedded.ts'
import { migrate } from './db/migrate.ts'
import { buildOperator } from './http/operator.ts'
import { systemClock } from './lib/clock.ts'
import { createLog, describeError, type Log } from './lib/log.ts'
import { OperatorFault } from './lib/operator-fault.ts'
import { createReadiness } from './readiness.ts'
import { writeAddress } from './running.ts'
import { findUnsafe } from './safety.ts'
import { openSandbox, type Sandbox } from './sandbox.ts'
import { createApp, createService, type Service } from './service.ts'
import { describeStartFault } from './start-faults.ts'
import { startWorker, TASKS, type Worker } from './worker/worker.ts'

type Role = 'api' | 'worker' | 'both'

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

/** Undoes one step of the start. The steps are undone in reverse order. */
type Undo = () => Promise<unknown>

async function start(config: Config, role: Role, log: Log, undo: Undo[]): Promise<void> {
  const databaseUrl = config.databaseUrl ?? (await openEmbedded(config, log, undo))
  await migrate(databaseUrl)
  const { publicUrl } = config
  const app = createApp({ config, databaseUrl, clock: systemClock, log, publicUrl })
  undo.push(() => app.db.end())
  undo.push(async () => app.mailer.close())
  undo.push(() => app.sender.close())
  undo.push(() => app.providers.bacen.close())
  await requireSameSecret(app.db, app.vault)
  await keepPositions(app.db)
  const sandbox = config.local ? await openSandbox(app) : null
  if (config.local) undo.push(writeAddress(config))
  // Undone in reverse: requests are answered to the end before the worker stops.
  if (role !== 'api') undo.push(runWorker(app, role))
  if (role === 'worker') await serveOperator(app, databaseUrl, undo)
  else await serve(app, databaseUrl, undo)
  printBanner(app, role, sandbox)
}

async function openEmbedded(config: Config, log: Log, undo: Undo[]): Promise<string> {
  const embedded = await startEmbedded({
    dataDir: config.dataDir,
    onRestart: (why) => log.warn({ why }, 'the embedded PostgreSQL was started again'),
  })
  undo.push(() => embedded.stop())
  return embedded.url
}

async function serve(app: FullApp, databaseUrl: string, undo: Undo[]): Promise<void> {
  const service: Service = await createService(app, databaseUrl)
  undo.push(() => service.close())
  const { host, port, operator } = app.config
  await service.server.listen({ host, port })
  if (operator) await service.operator.listen(operator)
  const flushing = setInterval(() => service.keys.flush().catch(() => {}), 30_000)
  flushing.unref()
}

/** A process that is only a worker listens on no other port. */
async function serveOperator(app: FullApp, databaseUrl: string, undo: Undo[]): Promise<void> {
  const { operator } = app.config
  if (!operator) return
  const readiness = createReadiness(app, databaseUrl, () => false)
  undo.push(() => readiness.close())
  const server = await buildOperator(app, readiness.check)
  undo.push(() => server.close())
  await server.listen(operator)
}

function runWorker(app: FullApp, role: Role): Undo {
  const worker: Worker = role === 'worker' ? startWorker(app, TASKS, 0) : startWorker(app)
  return () => worker.stop()
}

function printBanner({ publicUrl, log }: FullApp, role: Role, sandbox: Sandbox | null): void {
  if (!sandbox) {
    log.info({ role, publicUrl }, 'Vintém is running')
    return
  }
  const line = (label: string, text: string) => `  ${label.padEnd(12)}${text}\n`
  process.stdout.write(
    `\nVintém is running.\n\n${line('API', publicUrl)}${line('Docs', `${publicUrl}/docs`)}` +
      `${line('Pages', `${publicUrl}/`)}${line('Sandbox key', sandbox.apiKey)}\n` +
      'Press Ctrl-C to stop.\n\n',
  )
}

/** Undoes the start in reverse order. If that takes too long, the process ends without it. */
async function stop(config: Config, undo: Undo[], log: Log): Promise<void> {
  // This timer also keeps Node running. A connection that is waited for below may not do that, and
  // Node would then end by itself with exit code 0.
  setTimeout(() => process.exit(1), config.shutdownSeconds * 1000 + 15_000)
  for (const step of undo.splice(0).reverse()) {
    await step().catch((error) => log.error(describeError(error), 'a step of the shutdown failed'))
  }
}

/** How long writing the last lines of the log may take. */
const LAST_LINES_MS = 1_000

/** Ends the process. If a write to the log hangs, kills it, because Node would wait. */
async function exit(code: number, log: Log): Promise<never> {
  if (!(await log.flush(LAST_LINES_MS))) process.kill(process.pid, 'SIGKILL')
  process.exit(code)
}

async function main(): Promise<void> {
  const role = readRole()
  const config = loadConfig()
  const unsafe = findUnsafe(config)
  if (unsafe.length > 0) throw new ConfigFault(unsafe)
  const log = createLog(config.logLevel)
  const undo: Undo[] = []
  let stopping: Promise<void> | null = null
  let starting: Promise<void> = Promise.resolve()
  // If the start is still running, wait for its end, because only then all of it can be undone.
  const end = (code: number) => {
    stopping ??= starting
      .catch(() => {})
      .then(() => stop(config, undo, log))
      .then(() => exit(code, log))
    return stopping
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(0))
  process.on('uncaughtException', (error) => {
    log.fatal(describeError(error), 'uncaught exception')
    end(1)
  })
  starting = start(config, role, log, undo)
  await starting.catch((error) => {
    if (stopping) return
    printFault(error, config)
    return end(1)
  })
}

function printFault(error: unknown, config?: Config): void {
  process.stderr.write(`${describeStartFault(error, config)}\n`)
}

// If the terminal is closed, ignore that nothing can be printed, because the service continues.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
main().catch((error) => {
  printFault(error)
  process.exit(1)
})
