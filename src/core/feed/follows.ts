import type { Database } from '../../db/database.ts'
import { createBatcher } from '../../lib/batch.ts'
import type { Uuid } from '../../lib/ids.ts'
import { describeError, type Log } from '../../lib/log.ts'
import { createRecent } from '../../lib/memo.ts'
import { followFeeds } from './follow-store.ts'

/** How long a feed counts as followed, and after how long that is written again. */
const FOLLOWED_S = 3600
const WRITTEN_AGAIN_MS = 1_800_000
const MAX_KNOWN = 10_000
const MAX_GROUP = 500
/**
 * A transaction that began before a feed was followed does not notify. So the feed is looked at
 * again, until no such transaction can be open any more.
 */
const LATE_MS = [250, 1_000, 5_000, 40_000]

/** Notes in the database which feeds are followed. */
export function createFollows(db: Database, log: Log, changed: (companyId: Uuid) => void) {
  let known = createRecent<number>(MAX_KNOWN)
  const has = (id: Uuid) => (known.get(id) ?? Number.NEGATIVE_INFINITY) > performance.now()

  async function follow(ids: Uuid[]): Promise<null[]> {
    const missing = [...new Set(ids)].filter((id) => !has(id))
    try {
      if (missing.length > 0) await followFeeds(db.light, missing, FOLLOWED_S)
      for (const id of missing) {
        known.set(id, performance.now() + WRITTEN_AGAIN_MS)
        for (const late_ms of LATE_MS) setTimeout(changed, late_ms, id).unref()
      }
    } catch (error) {
      // The feed is then looked at regularly, without notifications.
      log.warn(describeError(error), 'followed feeds could not be noted')
    }
    return ids.map(() => null)
  }
  const add = createBatcher(follow, { max: MAX_GROUP })
  return {
    has,
    add: async (id: Uuid) => {
      if (!has(id)) await add(id)
    },
    /** The database may have lost what was noted. */
    forget(): void {
      known = createRecent(MAX_KNOWN)
    },
  }
}
