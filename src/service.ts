import { Server as NetServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import type { App } from './core/app.ts'
import { countDiffering } from './core/audits/store.ts'
import { certificateWarning } from './core/banks/certificates.ts'
import { openConnection } from './core/banks/commands.ts'
import { groupCharges } from './core/charges/group.ts'
import { groupCallbacks } from './core/payments/callbacks.ts'
import { followTold } from './core/recurrences/told.ts'
import { createSetbacks } from './core/setbacks.ts'
import { openDatabase } from './db/database.ts'
import { createKeyRing, type KeyRing } from './http/auth.ts'
import { buildServer } from './http/server.ts'
import { createAlarm } from './lib/alarm.ts'
import type { Clock } from './lib/clock.ts'
import { createSender } from './lib/exchange.ts'
import type { Log } from './lib/log.ts'
import { asMachine, asNameServers, type Lookup } from './lib/lookup.ts'
import { createMailer } from './lib/mailer.ts'
import { createMetrics } from './lib/metrics.ts'
import { createVault } from './lib/vault.ts'
import { createBacen, type Limits } from './provider/bacen/bacen.ts'
import type { Payee } from './provider/port.ts'
import { createProviders } from './provider/providers.ts'
import { createSimulator } from './provider/simulator/simulator.ts'
import { readSandbox, resetSandbox } from './sandbox.ts'
import { createPages } from './web/pages.ts'
import { DUE_SOURCES } from './worker/due.ts'

/** How long a client that keeps a connection open has to notice that it should not. */
const LINGER_MS = 1_000

export type Parts = {
  config: Config
  databaseUrl: string
  clock: Clock
  log: Log
  publicUrl: string
  /** In place of this machine's name servers. */
  lookup?: Lookup
  /** In place of the ordinary limits on what a bank may take. */
  bankLimits?: Partial<Limits>
}

/** Wires what commands act with. */
export function createApp({ config, databaseUrl, clock, log, publicUrl, ...parts }: Parts): App {
  const alarm = createAlarm()
  const db = openDatabase(databaseUrl, config.databasePoolSize, alarm.ring)
  const vault = createVault(config.secretKey)
  const connectionOf = ({ id }: Payee) => openConnection(db, vault, id)
  const bacen = createBacen({ connectionOf, clock, limits: parts.bankLimits ?? {} })
  const providers = createProviders(createSimulator(publicUrl, db, clock, vault), bacen)
  const { smtpUrl, mailFrom: from, dataDir } = config
  const mailer = createMailer({ smtpUrl, from, folder: join(dataDir, 'mail') })
  const lookup = parts.lookup ?? (config.local ? asMachine : asNameServers())
  const sender = createSender({ guarded: !config.local, lookup })
  const [charges, callbacks] = [groupCharges(db), groupCallbacks(db, followTold)]
  const metrics = createMetrics()
  const setbacks = createSetbacks(db, clock, metrics, log)
  const outward = { providers, mailer, sender, lookup, metrics, setbacks }
  const time = { clock, wall: clock, due: DUE_SOURCES }
  return { config, db, ...time, vault, log, ...outward, charges, callbacks, alarm, publicUrl }
}

const differ = (companies: number): string =>
  `The books of ${companies} companies differ, and their payouts are stopped: run vintem ledger audit.`

async function findWarnings(app: App): Promise<string[]> {
  const differing = await countDiffering(app.db)
  const certificates = await certificateWarning(app)
  return [differing > 0 ? differ(differing) : null, certificates].filter((text) => text !== null)
}

export type Service = {
  server: FastifyInstance
  keys: KeyRing
  /** Answers what is in flight and closes; the database stays open. */
  close(): Promise<void>
}

export async function createService(app: App, databaseUrl: string): Promise<Service> {
  const keys = createKeyRing(app.db, app.vault, databaseUrl, app.log)
  const state = { closing: false }
  const isReady = async () => {
    if (state.closing) return { faults: ['The server is shutting down.'], warnings: [] }
    const warnings = await findWarnings(app).catch(() => null)
    if (warnings === null) return { faults: ['The database does not answer.'], warnings: [] }
    return { faults: [], warnings }
  }
  const pages = createPages(app, {
    sandbox: () => readSandbox(app),
    resetSandbox: () => resetSandbox(app),
  })
  const server = await buildServer({ app, keys, isReady, state, pages })
  return {
    server,
    keys,
    async close() {
      state.closing = true
      await drain(server)
      const late = setTimeout(
        () => server.server.closeAllConnections(),
        app.config.shutdownSeconds * 1000,
      )
      await server.close()
      clearTimeout(late)
      const groups = [...Object.values(app.charges), ...Object.values(app.callbacks)]
      await Promise.all(groups.map((group) => group.idle()))
      await keys.flush().catch(() => {})
      await keys.close()
    },
  }
}

/**
 * Stops listening, but goes on answering open connections and asks their clients to close them.
 * Closing an idle connection at once would drop the request that is just on its way to us.
 */
async function drain({ server }: FastifyInstance): Promise<void> {
  if (!server.listening) return
  const closed = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve())
  })
  await Promise.race([closed, pause(LINGER_MS, undefined, { ref: false })])
}
