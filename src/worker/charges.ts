import type { App } from '../core/app.ts'
import { expireCharges } from '../core/charges/commands.ts'
import { findDue } from '../core/charges/store.ts'
import { describeError } from '../lib/log.ts'

const MOST = 1000

/**
 * Writes down what every reader already sees: a charge past its deadline is expired, with its
 * event. One company's trouble does not keep the others waiting.
 */
export async function expireDueCharges(app: App, signal?: AbortSignal): Promise<void> {
  for (let found = MOST; found === MOST && !signal?.aborted; ) {
    const now = app.clock.now()
    const due = await findDue(app.db, now, MOST)
    let expired = 0
    for (const [companyId, ids] of due) {
      if (signal?.aborted) return
      const work = app.db.transaction((tx) => expireCharges(tx, companyId, ids, now))
      expired += await work.catch((error) => {
        app.log.error({ ...describeError(error), company: companyId }, 'charges were not expired')
        return 0
      })
    }
    found = expired
  }
}
