import { parseArgs } from 'node:util'
import { type Config, ConfigFault, loadConfig } from './config.ts'
import type { App } from './core/app.ts'
import { keepPositions, requireSameSecret } from './core/installation.ts'
import { DataDirectoryInUse, startEmbedded } from './db/embedded.ts'
import { MigrationFault, migrate } from './db/migrate.ts'
import { systemClock } from './lib/clock.ts'
import { createLog, describeError, type Log } from './lib/log.ts'
import { noteAddress } from './running.ts'
import { openSandbox, type Sandbox } from './sandbox.ts'
import { createApp, createService, type Service } from './service.ts'
import { startWorker, type Worker } from './worker/worker.ts'

type Role = 'api' | 'worker' | 'both'

function readRole(): Role {
  const { values } = parseArgs({ options: { role: { type: 'string' } } })
  const role = values.role ?? 'both'
  if (role === 'api' || role === 'worker' || role === 'both') return role
  throw new ConfigFault(['--role must be api, worker or both'])
}

/** What is to be undone at the end, in reverse order. */
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
  if (config.local) undo.push(noteAddress(config))
  // Undone in reverse: requests are answered to the end before the worker stops.
  if (role !== 'api') undo.push(runWorker(app))
  if (role !== 'worker') await serve(app, databaseUrl, undo)
  greet(app, role, sandbox)
}

async function openEmbedded(config: Config, log: Log, undo: Undo[]): Promise<string> {
  const embedded = await startEmbedded({
    dataDir: config.dataDir,
    onRestart: (why) => log.warn({ why }, 'the embedded PostgreSQL was started again'),
  })
  undo.push(() => embedded.stop())
  return embedded.url
}

async function serve(app: App, databaseUrl: string, undo: Undo[]): Promise<void> {
  const service: Service = await createService(app, databaseUrl)
  undo.push(() => service.close())
  await service.server.listen({ host: app.config.host, port: app.config.port })
  const flushing = setInterval(() => service.keys.flush().catch(() => {}), 30_000)
  flushing.unref()
}

function runWorker(app: App): Undo {
  const worker: Worker = startWorker(app)
  return () => worker.stop()
}

function greet({ publicUrl, log }: App, role: Role, sandbox: Sandbox | null): void {
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

/** Undoes the start in reverse order; whatever does not end in time is left behind. */
async function stop(config: Config, undo: Undo[], log: Log): Promise<void> {
  const late = setTimeout(() => process.exit(1), config.shutdownSeconds * 1000 + 15_000)
  late.unref()
  for (const step of undo.splice(0).reverse()) {
    await step().catch((error) => log.error(describeError(error), 'a step of the shutdown failed'))
  }
  log.flush()
}

async function main(): Promise<void> {
  const config = loadConfig()
  const role = readRole()
  const log = createLog(config.logLevel)
  const undo: Undo[] = []
  let stopping: Promise<void> | null = null
  let starting: Promise<void> = Promise.resolve()
  // What has just been begun can only be undone once it stands.
  const end = (code: number) => {
    stopping ??= starting
      .catch(() => {})
      .then(() => stop(config, undo, log))
      .then(() => process.exit(code))
    return stopping
  }
  process.on('SIGINT', () => end(0))
  process.on('SIGTERM', () => end(0))
  process.on('uncaughtException', (error) => {
    log.fatal(describeError(error), 'uncaught exception')
    end(1)
  })
  starting = start(config, role, log, undo)
  await starting.catch((error) => {
    if (stopping) return
    complain(error)
    return end(1)
  })
}

/** Faults an operator can mend are told in a sentence; a bug shows where it is. */
function complain(error: unknown): void {
  const { code, message, stack } = error as NodeJS.ErrnoException
  const known = [ConfigFault, DataDirectoryInUse, MigrationFault].some(
    (kind) => error instanceof kind,
  )
  if (code === 'EADDRINUSE') {
    process.stderr.write('The port is taken. Stop what listens there, or choose another PORT.\n')
  } else {
    process.stderr.write(`${known ? message : (stack ?? message)}\n`)
  }
}

main().catch((error) => {
  complain(error)
  process.exit(1)
})
