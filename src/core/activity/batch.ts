import { setTimeout as pause } from 'node:timers/promises'
import { Counter, type Registry } from 'prom-client'
import type { Database } from '../../db/database.ts'
import { createBatcher } from '../../lib/batch.ts'
import { describeError, type Log } from '../../lib/log.ts'
import { Problem } from '../../lib/problems.ts'
import type { App } from '../app.ts'
import type { Entry } from './rules.ts'
import { insertEntries } from './store.ts'

/** Writes entries of changes that are committed already, many at once. */
type LateActivity = {
  /** Nobody waits for the entry, unless so many wait that they would take too much memory. */
  add(entry: Entry): Promise<unknown> | undefined
  idle(): Promise<void>
}

export type AppWithActivity = App & { lateActivity: LateActivity }

const MAX_GROUP = 1000
const GATHER_MS = 250
/** About 10 MB. */
const MAX_WAITING = 20_000

/** How often and after how long it is tried again, as long as a failover takes. */
const TRIES = 6
const RETRY_MS = 1_000

/** The changes are committed, so their entries are not lost while the database is away shortly. */
async function patiently(write: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await write()
    } catch (error) {
      const isAway = error instanceof Problem && error.code === 'service_unavailable'
      if (!isAway || tries === TRIES) throw error
      await pause(RETRY_MS)
    }
  }
}

export function createLateActivity(db: Database, registry: Registry, log: Log): LateActivity {
  const lost = new Counter({
    name: 'vintem_activity_lost_total',
    help: 'Entries of the activity log that could not be written after their change',
    registers: [registry],
  })
  let waiting = 0
  async function run(entries: Entry[]): Promise<null[]> {
    try {
      await patiently(() => insertEntries(db.light, entries))
    } catch (error) {
      lost.inc(entries.length)
      log.error(
        { ...describeError(error), count: entries.length },
        'entries of the activity log were lost',
      )
    } finally {
      waiting -= entries.length
    }
    return entries.map(() => null)
  }
  const write = createBatcher(run, {
    max: MAX_GROUP,
    gather_ms: GATHER_MS,
    ownerOf: ({ companyId }) => companyId,
  })
  return {
    add(entry) {
      waiting += 1
      const written = write(entry)
      return waiting > MAX_WAITING ? written : undefined
    },
    idle: write.idle,
  }
}
