import type { Config } from './config.ts'
import type { FullFront } from './core/full-app.ts'
import { watchMoves } from './core/places/directory.ts'
import { appsOf } from './core/places/front.ts'
import { watchInstallation, watchProcess } from './http/metrics.ts'
import { buildOperator } from './http/operator.ts'
import { BACKLOG } from './lib/backlog.ts'
import type { Log } from './lib/log.ts'
import type { Metrics } from './lib/metrics.ts'
import type { Undo } from './lifetime.ts'
import { CAN_SHARE_PORT, type Listener } from './processes/listener.ts'
import { createReadiness, type Readiness } from './readiness.ts'
import type { Service } from './service.ts'
import { type Begin, startWorker, TASKS } from './worker/worker.ts'

/** Closes what an app has opened. */
export const undoApp = (app: FullFront): Undo[] => [
  ...appsOf(app).map(
    ({ db }): Undo =>
      () =>
        db.end(),
  ),
  async () => app.mailer.close(),
  () => app.sender.close(),
  ...appsOf(app).map(
    ({ providers }): Undo =>
      () =>
        providers.bacen.close(),
  ),
]

/** Answers requests on the public port, or on the socket of the process whose place it takes. */
export async function serveRequests(
  app: FullFront,
  databaseUrl: string,
  undo: Undo[],
  listener: Listener | null = null,
): Promise<Service> {
  // Loaded here, because a process that answers no requests starts faster without it.
  const { createService } = await import('./service.ts')
  const service = await createService(app, databaseUrl)
  undo.push(() => service.close())
  const { host, port, processes } = app.config
  const reusePort = processes > 1 && CAN_SHARE_PORT
  const options = { host, port, reusePort, backlog: BACKLOG, ...(listener && { handle: listener }) }
  await service.server.listen(options)
  // Node gives a socket that is there already its own default.
  listener?.listen(BACKLOG)
  const flushing = setInterval(() => service.keys.flush(), 30_000)
  flushing.unref()
  return service
}

/** What operators are shown, if it is not what this process alone would show. */
type Shown = {
  isClosing(): boolean
  isReady(own: Readiness): Readiness['check']
  metrics: ReadMetrics
}

type ReadMetrics = Pick<Metrics, 'text' | 'json'>

/** Shows operators how a process works that answers no requests. */
export async function serveOperator(
  app: FullFront,
  databaseUrl: string,
  undo: Undo[],
  shown?: Shown,
): Promise<void> {
  const { operator, telemetry } = app.config
  if (!operator && !telemetry?.metrics) return
  watchProcess(app)
  watchInstallation(app)
  const metrics = shown?.metrics ?? app.metrics
  await sendMetrics(app, metrics, undo)
  if (!operator) return
  const readiness = createReadiness(app, databaseUrl, shown?.isClosing ?? (() => false))
  undo.push(() => readiness.close())
  const isReady = shown?.isReady(readiness) ?? readiness.check
  const server = await buildOperator(metrics.text, isReady)
  undo.push(() => server.close())
  await server.listen(operator)
}

/** Sends the metrics of this machine to a collector, if there is one. Loads nothing otherwise. */
export async function sendMetrics(
  { config, log }: FullFront,
  metrics: ReadMetrics,
  undo: Undo[],
): Promise<void> {
  if (!config.telemetry?.metrics) return
  const { openMetrics } = await import('./telemetry/telemetry.ts')
  undo.push(openMetrics(config, log, metrics))
}

/** Traces this process, if an operator asks for it. Loads nothing otherwise. */
export async function sendTraces(
  { telemetry }: Config,
  log: Log,
  processName: string,
  undo: Undo[],
): Promise<void> {
  if (!telemetry?.traces) return
  const { openTraces } = await import('./telemetry/telemetry.ts')
  undo.push(openTraces(telemetry, log, processName))
}

/** With several places, tasks begin when it is known which companies they leave alone. */
export const beginOf = ({ places }: FullFront): Begin | undefined =>
  places.all.length === 1 ? undefined : (one, signal) => watchMoves(one, places, signal)

/** Runs the tasks. If nobody says what others write, it looks for work as often as ever. */
export function runWorker(app: FullFront, isInformed = true): Undo {
  const idle_ms = isInformed ? undefined : 0
  const workers = appsOf(app).map((one) => startWorker(one, TASKS, idle_ms, beginOf(app)))
  return async () => {
    await Promise.all(workers.map((worker) => worker.stop()))
  }
}
