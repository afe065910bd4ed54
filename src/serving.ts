import type { FullFront } from './core/full-app.ts'
import { watchMoves } from './core/places/directory.ts'
import { appsOf } from './core/places/front.ts'
import { watchInstallation, watchProcess } from './http/metrics.ts'
import { buildOperator } from './http/operator.ts'
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
  const options = { host, port, reusePort, ...(listener && { handle: listener }) }
  await service.server.listen(options)
  const flushing = setInterval(() => service.keys.flush(), 30_000)
  flushing.unref()
  return service
}

/** What operators are shown, if it is not what this process alone would show. */
type Shown = {
  isClosing(): boolean
  isReady(own: Readiness): Readiness['check']
  metrics(): Promise<string>
}

/** Answers operators in a process that answers no requests. */
export async function serveOperator(
  app: FullFront,
  databaseUrl: string,
  undo: Undo[],
  shown?: Shown,
): Promise<void> {
  const { operator } = app.config
  if (!operator) return
  const readiness = createReadiness(app, databaseUrl, shown?.isClosing ?? (() => false))
  undo.push(() => readiness.close())
  const isReady = shown?.isReady(readiness) ?? readiness.check
  const server = await buildOperator(shown?.metrics ?? app.metrics.text, isReady)
  watchProcess(app)
  watchInstallation(app)
  undo.push(() => server.close())
  await server.listen(operator)
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
