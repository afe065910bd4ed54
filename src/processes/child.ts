import cluster from 'node:cluster'
import { createApp } from '../app.ts'
import type { Config } from '../config.ts'
import { appsOf } from '../core/places/front.ts'
import { followSecret } from '../core/secrets/watch.ts'
import { ofRequests, ofTasks } from '../db/connection-counts.ts'
import { describeRefusal } from '../db/probe.ts'
import { watchProcess } from '../http/metrics.ts'
import { createAlarm } from '../lib/alarm.ts'
import { systemClock } from '../lib/clock.ts'
import { createLog, type Log } from '../lib/log.ts'
import { runUntilEnd, type Undo } from '../lifetime.ts'
import { loadRest } from '../load-rest.ts'
import type { Service } from '../service.ts'
import { runWorker, sendTraces, serveRequests, undoApp } from '../serving.ts'
import { describeStartFault } from '../start-faults.ts'
import { type Channel, openChannel } from './channel.ts'
import { type Listener, listenerOf } from './listener.ts'
import { type PrepareOrder, type Question, receiveConfig, type StartOrder } from './messages.ts'
import { prepareVersion } from './prepare-version.ts'
import { createFamiliarKeys, createRemoteLimits } from './remote-limits.ts'

type App = ReturnType<typeof createApp>

/** One of several processes. The parent says what it is for, and when it ends. */
export function runChild(): void {
  // A terminal and a supervisor signal all processes at once. The parent ends them in their order.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
  // If the parent is killed nobody is left who ends this process. A write to the log may hang.
  cluster.worker!.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  const alarm = createAlarm()
  const familiar = createFamiliarKeys()
  let app: App | null = null
  let service: Service | null = null
  let end = (code: number): void => process.exit(code)
  const channel: Channel = openChannel({
    start(order, listener) {
      const config = receiveConfig(order.config)
      const log = createLog(config.logLevel, order.name)
      app = open(order, config, log)
      end = runUntilEnd({
        config,
        log,
        start: (undo) => start(order, app!, undo, listener),
        report: (error) => channel.send({ fault: describeStartFault(error, config) }),
      })
    },
    async stop(isReplaced) {
      if (isReplaced) await service?.leave()
      end(0)
    },
    handOver() {
      const server = service?.server.server
      channel.sendListener(server ? listenerOf(server, app!.config.host) : null)
    },
    prepare: (order) => prepare(channel, order),
    wake: alarm.wake,
    wrote: alarm.wrote,
    know: familiar.know,
    answer: async (about) => (app ? answerFor(app, about) : null),
  })

  function open({ kind, databaseUrl }: StartOrder, config: Config, log: Log): App {
    const isApi = kind === 'api'
    const { databasePoolSize: size, processes, publicUrl } = config
    const parts = { config, databaseUrl, clock: systemClock, log, publicUrl }
    return createApp({
      ...parts,
      limits: createRemoteLimits(channel, familiar),
      alarm: isApi ? { ...alarm, wake: channel.wake, wrote: channel.wrote } : alarm,
      connections: isApi ? ofRequests(size, processes) : ofTasks(size),
    })
  }
  async function start(
    order: StartOrder,
    app: App,
    undo: Undo[],
    listener: Listener | null,
  ): Promise<void> {
    await sendTraces(app.config, app.log, order.name, undo)
    undo.push(...undoApp(app))
    undo.push(await followSecret({ ...app, db: app.db.control }, order.databaseUrl))
    if (order.kind === 'worker') {
      watchProcess(app)
      undo.push(runWorker(app))
    } else service = await serveRequests(app, order.databaseUrl, undo, listener)
    // The process whose place it takes goes on until then.
    if (service) await loadRest()
    channel.send({ isServing: true })
  }
}

async function prepare({ send }: Pick<Channel, 'send'>, order: PrepareOrder): Promise<void> {
  try {
    send({ prepared: await prepareVersion(order, (said) => send({ said })) })
  } catch (error) {
    send({ fault: describeStartFault(error) })
  }
}

/** What the parent asks of each process, because no other knows it. */
async function answerFor(app: App, about: Question): Promise<unknown> {
  if (about === 'metrics') return app.metrics.json()
  const refusals = appsOf(app).map(({ db }) => db.refusedWrite())
  return refusals.filter((refusal) => refusal !== null).map(describeRefusal)
}
