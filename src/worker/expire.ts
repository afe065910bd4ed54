import type { App } from '../core/app.ts'
import { expireCharges } from '../core/charges/commands.ts'
import { findDue } from '../core/charges/store.ts'

const MOST = 1000

/**
 * Writes down what every reader already sees: a charge past its deadline is expired, with its
 * event.
 */
export async function expireDueCharges(app: App): Promise<void> {
  for (;;) {
    const now = app.clock.now()
    const due = await findDue(app.db, now, MOST)
    for (const [companyId, ids] of due) {
      await app.db.transaction((tx) => expireCharges(tx, companyId, ids, now))
    }
    const found = [...due.values()].reduce((sum, ids) => sum + ids.length, 0)
    if (found < MOST) return
  }
}
