import { setTimeout as pause } from 'node:timers/promises'
import { countDiffering } from './core/audits/store.ts'
import { certificateWarning } from './core/banks/certificates.ts'
import type { FullApp } from './core/full-app.ts'
import { describeRefusal, NO_ANSWER, openProbe } from './db/probe.ts'

/** What keeps a process from doing its work, and what it does not do, in sentences. */
export type Findings = { faults: string[]; warnings: string[] }

export type Readiness = {
  /** Never throws, and answers in time whatever the database does. */
  check(): Promise<Findings>
  close(): Promise<void>
}

/** Whoever asks waits two seconds at most. */
const PATIENCE_MS = 1_500

const UNKNOWN = 'The database is too slow to say how books, certificates and clocks are.'

/** Finds out whether this process can do its work. */
export function createReadiness(
  app: FullApp,
  databaseUrl: string,
  isClosing: () => boolean,
): Readiness {
  const probe = openProbe(databaseUrl, PATIENCE_MS)
  let looking: Promise<string[]> | undefined
  // One look at a time: with a database that hangs, each would hold a connection.
  const look = () => {
    looking ??= findWarnings(app).finally(() => {
      looking = undefined
    })
    return looking
  }
  return {
    async check() {
      if (isClosing()) return { faults: ['The server is shutting down.'], warnings: [] }
      const late = pause(PATIENCE_MS, undefined, { ref: false })
      const fault = await Promise.race([probe.fault(), late.then(() => NO_ANSWER)])
      if (fault) return { faults: [fault], warnings: [] }
      const refusal = app.db.refusedWrite()
      if (refusal) return { faults: [describeRefusal(refusal)], warnings: [] }
      const found = look().catch(() => [UNKNOWN])
      return { faults: [], warnings: await Promise.race([found, late.then(() => [UNKNOWN])]) }
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
