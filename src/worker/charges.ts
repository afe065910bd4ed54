import type { App } from '../core/app.ts'
import { expireCharges } from '../core/charges/commands.ts'
import { findDue, findSettling } from '../core/charges/store.ts'
import { receiveCharges } from '../core/payments/commands.ts'
import type { Tx } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'

const MOST = 1000

type Sweep = {
  find(tx: Tx, now: Date, most: number): Promise<Map<Uuid, Uuid[]>>
  /** Changes what is still due of a company's charges, and tells how many that were. */
  change(tx: Tx, companyId: Uuid, ids: Uuid[], now: Date): Promise<number>
  failed: string
}

/** Takes due charges company by company: one company's trouble does not keep others waiting. */
async function sweep(app: App, { find, change, failed }: Sweep, signal?: AbortSignal) {
  for (let found = MOST; found === MOST && !signal?.aborted; ) {
    const now = app.clock.now()
    const due = await find(app.db, now, MOST)
    found = 0
    for (const [companyId, ids] of due) {
      if (signal?.aborted) return
      const work = app.db.transaction((tx) => change(tx, companyId, ids, now))
      found += await work.catch((error) => {
        app.log.error({ ...describeError(error), company: companyId }, failed)
        return 0
      })
    }
  }
}

/**
 * Writes down what every reader already sees: a charge past its deadline is expired, with its
 * event.
 */
export const expireDueCharges = (app: App, signal?: AbortSignal): Promise<void> =>
  sweep(app, { find: findDue, change: expireCharges, failed: 'charges were not expired' }, signal)

/** Makes paid money withdrawable when the company's delay is over. */
export const receiveDueCharges = (app: App, signal?: AbortSignal): Promise<void> =>
  sweep(
    app,
    { find: findSettling, change: receiveCharges, failed: 'charges were not settled' },
    signal,
  )
