import { Server as NetServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { FullApp, FullFront } from './core/full-app.ts'
import { appsOf } from './core/places/front.ts'
import type { Agents } from './http/agent-message.ts'
import { createKeyRing, type KeyRing } from './http/auth.ts'
import { KEEP_ALIVE_MS } from './http/keep-alive.ts'
import { watchInstallation, watchProcess } from './http/metrics.ts'
import { openServerNotifications } from './http/notifications.ts'
import { createActOnce, createOperate, OPERATIONS } from './http/operate.ts'
import { buildOperator } from './http/operator.ts'
import { ROUTES } from './http/routes/all.ts'
import { buildServer } from './http/server.ts'
import { compareVersions, diffVersions } from './http/version-changes.ts'
import { createReadiness } from './readiness.ts'
import { readSandbox, resetSandbox } from './sandbox.ts'
import { createPages } from './web/pages.ts'

/** How long clients have to close the connections that they keep open, when the server stops. */
const DRAIN_MS = 1_000
/** If another process goes on: until connections that nobody uses are closed as ever. */
const LEAVE_MS = KEEP_ALIVE_MS + 2_000

export type Service = {
  server: FastifyInstance
  /** The server for operators, on a port of its own. */
  operator: FastifyInstance
  keys: KeyRing
  /**
   * Takes no more connections, and waits until clients have closed theirs: each is asked to by its
   * next answer. Nothing is closed while a request may be on its way.
   */
  leave(): Promise<void>
  /** Answers the requests in flight and closes. The database stays open. */
  close(): Promise<void>
}

export async function createService(anyApp: FullFront, databaseUrl: string): Promise<Service> {
  const apps = appsOf(anyApp)
  // Queries of requests whose company is not known yet get the share of one company.
  const app = { ...anyApp, db: anyApp.db.of('') }
  const urls = [databaseUrl, ...app.config.otherPlaces]
  const notifications = urls.map((url) => openServerNotifications(url, app.log))
  const keys = createKeyRing(anyApp, notifications)
  for (const [i, one] of apps.entries()) one.feedWaits.attach(notifications[i]!)
  const closing = new AbortController()
  // While it only leaves, the service is as ready as before, because another process goes on.
  let isStopping = false
  const readiness = createReadiness(app, databaseUrl, () => isStopping)
  const pages = createPages(app, {
    operate: createOperate(anyApp, 'pages'),
    operations: OPERATIONS,
    closing: closing.signal,
    compareVersions: (before, after) => compareVersions(ROUTES, before, after),
    diffVersions: (actor, before, after) => diffVersions(ROUTES, actor, before, after),
    sandbox: () => readSandbox(app),
    resetSandbox: () => resetSandbox(app),
  })
  const isReady = readiness.check
  const server = await buildServer({
    app,
    keys,
    isReady,
    closing: closing.signal,
    pages,
    agents: agentsOf(anyApp),
  })
  const operator = await buildOperator(app.metrics.text, readiness.check)
  watchProcess(app)
  // If there are several processes, the parent looks it up for all.
  if (app.config.processes === 1) watchInstallation(app)
  async function leave(patience_ms: number): Promise<void> {
    closing.abort()
    for (const { feedWaits } of apps) feedWaits.close()
    await drain(server, patience_ms)
  }
  return {
    server,
    operator,
    keys,
    leave: () => leave(LEAVE_MS),
    async close() {
      isStopping = true
      await leave(DRAIN_MS)
      const late = setTimeout(
        () => server.server.closeAllConnections(),
        app.config.shutdownSeconds * 1000,
      )
      await server.close()
      await operator.close()
      await readiness.close()
      clearTimeout(late)
      await Promise.all(apps.map(untilIdle))
      await keys.flush()
      await Promise.all(notifications.map((one) => one.close()))
    },
  }
}

/** The protocol takes long to load, so `load-rest.ts` does that after the start. */
function agentsOf(app: FullFront): () => Promise<Agents> {
  let loading: Promise<Agents> | null = null
  const load = async () => {
    const { createAgents } = await import('./mcp/agents.ts')
    return createAgents(app, createOperate(app, 'mcp'), createActOnce('mcp'))
  }
  return () => {
    loading ??= load()
    return loading
  }
}

/** Waits for what is written in groups. */
async function untilIdle(app: FullApp): Promise<void> {
  const groups = [...Object.values(app.charges), ...Object.values(app.callbacks)]
  await Promise.all(groups.map((group) => group.idle()))
  await Promise.all([app.lateActivity.idle(), app.requestLog.idle()])
}

/**
 * Stops listening, but still answers on open connections and asks their clients to close them. An
 * idle connection is not closed at once, because a request may just be arriving on it.
 */
async function drain({ server }: FastifyInstance, patience_ms: number): Promise<void> {
  if (!server.listening) return
  const closed = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve())
  })
  await Promise.race([closed, pause(patience_ms, undefined, { ref: false })])
}
