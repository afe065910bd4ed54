import type { App } from '../core/app.ts'
import { expireCharges } from '../core/charges/commands.ts'
import { type FindDue, findDue, findSettling } from '../core/charges/due-store.ts'
import { nowOf } from '../core/companies/clock.ts'
import { receiveCharges } from '../core/payments/commands.ts'
import type { Tx } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'

const MOST = 1000

type Sweep = {
  find: FindDue
  /** Changes what is still due of a company's charges, and tells how many that were. */
  change(tx: Tx, companyId: Uuid, ids: Uuid[], now: Date): Promise<number>
  failed: string
}

/** Takes due charges company by company: one company's trouble does not keep others waiting. */
async function sweep(app: App, work: Sweep, only: Uuid | null, signal?: AbortSignal) {
  const { find, change, failed } = work
  for (let found = MOST; found >= MOST && !signal?.aborted; ) {
    const due = await find(app.db.light, app.wall.now(), MOST, only)
    found = 0
    for (const { companyId, ids, clockAhead_ms } of due) {
      if (signal?.aborted) return
      const now = nowOf(app, { clockAhead_ms })
      const work = app.db.transaction((tx) => change(tx, companyId, ids, now))
      found += await work.catch((error) => {
        app.log.error({ ...describeError(error), company: companyId }, failed)
        return 0
      })
    }
  }
}

const EXPIRE = { find: findDue, change: expireCharges, failed: 'charges were not expired' }
const RECEIVE = { find: findSettling, change: receiveCharges, failed: 'charges were not settled' }

/**
 * Writes down what every reader already sees: a charge past its deadline is expired, with its
 * event.
 */
export const expireDueCharges = (app: App, signal?: AbortSignal, only: Uuid | null = null) =>
  sweep(app, EXPIRE, only, signal)

/** Makes paid money withdrawable when the company's delay is over. */
export const receiveDueCharges = (app: App, signal?: AbortSignal, only: Uuid | null = null) =>
  sweep(app, RECEIVE, only, signal)
