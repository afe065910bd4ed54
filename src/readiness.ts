import { setTimeout as pause } from 'node:timers/promises'
import { countDiffering } from './core/audits/store.ts'
import { certificateWarning } from './core/banks/certificates.ts'
import type { FullApp, FullFront } from './core/full-app.ts'
import { appsOf } from './core/places/front.ts'
import { findNewer } from './db/migrate.ts'
import { describeRefusal, NO_ANSWER, openProbe } from './db/probe.ts'

/** Faults stop all work of a process. Warnings name work that is not done. Both are sentences. */
export type Findings = { faults: string[]; warnings: string[] }

export type Readiness = {
  /** Never throws, and answers in time even if the database does not. */
  check(): Promise<Findings>
  close(): Promise<void>
}

/** Clients of /ready wait for 2 seconds at most. */
const TIMEOUT_MS = 1_500

const UNKNOWN = 'The database is too slow: books, certificates and clocks could not be checked.'

/** Finds out whether this process can do its work. */
export function createReadiness(
  app: FullFront,
  databaseUrl: string,
  isClosing: () => boolean,
): Readiness {
  const urls = [databaseUrl, ...app.config.otherPlaces]
  if (urls.length > 1) {
    const all = appsOf(app).map((one, i) => readinessOfPlace(one, urls[i]!, isClosing))
    return readinessOfAll(all, isClosing)
  }
  return readinessOfPlace(app, databaseUrl, isClosing)
}

/** Can work as long as one place can: only the companies of the others have to wait. */
const readinessOfAll = (all: Readiness[], isClosing: () => boolean): Readiness => ({
  async check() {
    const found = await Promise.all(all.map((one) => one.check()))
    const named = found.map(({ faults, warnings }, i) => ({
      faults: faults.map((text) => `Place ${i + 1}: ${text}`),
      warnings: warnings.map((text) => `Place ${i + 1}: ${text}`),
    }))
    if (isClosing()) return found[0]!
    const warnings = named.flatMap((one) => one.warnings)
    const faults = named.flatMap((one) => one.faults)
    if (named.every((one) => one.faults.length > 0)) return { faults, warnings }
    return { faults: [], warnings: [...faults, ...warnings] }
  },
  async close() {
    await Promise.all(all.map((one) => one.close()))
  },
})

function readinessOfPlace(app: FullApp, databaseUrl: string, isClosing: () => boolean): Readiness {
  const probe = openProbe(databaseUrl, TIMEOUT_MS)
  let running: Promise<string[]> | undefined
  // One query at a time, because each would hold a connection while the database hangs.
  const warningsOnce = () => {
    running ??= findWarnings(app).finally(() => {
      running = undefined
    })
    return running
  }
  return {
    async check() {
      if (isClosing()) return { faults: ['The server is shutting down.'], warnings: [] }
      const timeout = pause(TIMEOUT_MS, undefined, { ref: false })
      const fault = await Promise.race([probe.fault(), timeout.then(() => NO_ANSWER)])
      if (fault) return { faults: [fault], warnings: [] }
      const refusal = app.db.refusedWrite()
      if (refusal) return { faults: [describeRefusal(refusal)], warnings: [] }
      const newer = findNewer(app.db).catch(() => null)
      const newerFault = await Promise.race([newer, timeout.then(() => null)])
      if (newerFault) return { faults: [newerFault], warnings: [] }
      const found = warningsOnce().catch(() => [UNKNOWN])
      return { faults: [], warnings: await Promise.race([found, timeout.then(() => [UNKNOWN])]) }
    },
    close: () => probe.close(),
  }
}

const differ = (companies: number): string =>
  `The books of ${companies} companies differ, and their payouts are stopped: run vintem ledger audit.`

async function findWarnings(app: FullApp): Promise<string[]> {
  const differing = await countDiffering(app.db)
  const found = [
    differing > 0 ? differ(differing) : null,
    await certificateWarning(app),
    await app.clockWatch.warning(),
  ]
  return found.filter((text) => text !== null)
}
