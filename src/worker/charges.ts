import { releaseCharges } from '../core/balance/release.ts'
import { expireCharges } from '../core/charges/commands.ts'
import {
  type DueCharges,
  type FindDue,
  findDue,
  findDueAtBanks,
  findReleasable,
} from '../core/charges/due-store.ts'
import { nowOf } from '../core/companies/clock.ts'
import type { FullApp } from '../core/full-app.ts'
import { matchBeforeExpiry } from '../core/payments/paid-charges.ts'
import type { Tx } from '../db/database.ts'
import { forEachLimited } from '../lib/for-each-limited.ts'
import type { Uuid } from '../lib/ids.ts'
import { guarded, inRounds } from './rounds.ts'

const MAX_FOUND = 1000
/** How many charges banks are asked about at once before they expire. */
const MAX_ASKED = 200
const BANKS_AT_ONCE = 8

type Sweep = {
  task: string
  find: FindDue
  /** Changes the charges of a company that are still due, and returns their number. */
  change(tx: Tx, companyId: Uuid, ids: Uuid[], now: Date): Promise<number>
  failed: string
}

/**
 * Changes due charges company by company, so that an error of one company does not delay others. If
 * the clock of this machine may be wrong, changes nothing, because nothing can be undone.
 */
function sweep(
  app: FullApp,
  sweeping: Sweep,
  only: Uuid | null,
  signal?: AbortSignal,
): Promise<void> {
  const { task, find, change, failed } = sweeping
  return inRounds(app, {
    task,
    only,
    signal,
    async work(except) {
      if (only === null && !(await app.clockWatch.agrees())) {
        return { companies: [], done: 0, isFull: false }
      }
      const { due, isFull } = await find(
        app.db.light,
        app.systemClock.now(),
        MAX_FOUND,
        only,
        except,
      )
      let done = 0
      for (const { companyId, ids, clockAhead_ms } of due) {
        if (signal?.aborted) break
        const now = nowOf(app, { clockAhead_ms })
        const act = () => app.db.transaction((tx) => change(tx, companyId, ids, now))
        done += await guarded(app, { task, only }, companyId, act, 0, failed)
      }
      return { companies: due.map(({ companyId }) => companyId), done, isFull }
    },
  })
}

const EXPIRE: Sweep = {
  task: 'expire charges',
  find: findDue,
  change: expireCharges,
  failed: 'charges were not expired',
}
const RELEASE: Sweep = {
  task: 'receive charges',
  find: findReleasable,
  change: releaseCharges,
  failed: 'charges were not released',
}

/** Stores that charges have expired, with their events. Readers see them as expired before. */
export const expireDueCharges = (app: FullApp, signal?: AbortSignal, only: Uuid | null = null) =>
  sweep(app, EXPIRE, only, signal)

/** Makes received money withdrawable when the delay of the company is over. */
export const releaseDueCharges = (app: FullApp, signal?: AbortSignal, only: Uuid | null = null) =>
  sweep(app, RELEASE, only, signal)

const AT_BANKS = { task: 'expire charges at banks', only: null }

/** How long a bank that did not answer is not asked again. */
const ASK_AGAIN_MS = 30_000

/**
 * Expires charges of companies with a real bank, which is asked first. This is a task of its own,
 * so that a slow bank delays only the companies that use it.
 */
export function createExpiringAtBanks(app: FullApp): { run(signal?: AbortSignal): Promise<void> } {
  const skippedUntil_ms = new Map<Uuid, number>()
  const expire = async ({ companyId, ids }: DueCharges): Promise<number> => {
    const over = await matchBeforeExpiry(app, companyId, ids)
    if (over.length < ids.length) {
      skippedUntil_ms.set(companyId, app.systemClock.now().getTime() + ASK_AGAIN_MS)
    }
    const now = app.systemClock.now()
    return app.db.transaction((tx) => expireCharges(tx, companyId, over, now))
  }
  const run = async (signal?: AbortSignal) => {
    for (let found = MAX_ASKED; found >= MAX_ASKED && !signal?.aborted; ) {
      if (!(await app.clockWatch.agrees())) return
      const now = app.systemClock.now()
      for (const [id, until_ms] of skippedUntil_ms) {
        if (until_ms <= now.getTime()) skippedUntil_ms.delete(id)
      }
      const skipped = [...skippedUntil_ms.keys(), ...app.setbacks.companiesOf(AT_BANKS.task)]
      const due = await findDueAtBanks(app.db.light, now, MAX_ASKED, skipped)
      found = 0
      await forEachLimited(BANKS_AT_ONCE, due, async (charges) => {
        const act = () => expire(charges)
        found += await guarded(app, AT_BANKS, charges.companyId, act, 0, EXPIRE.failed)
      })
    }
  }
  return { run }
}
