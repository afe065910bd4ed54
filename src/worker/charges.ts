import type { App } from '../core/app.ts'
import { expireCharges } from '../core/charges/commands.ts'
import {
  type DueCharges,
  type FindDue,
  findDue,
  findDueAtBanks,
  findReleasable,
} from '../core/charges/due-store.ts'
import { nowOf } from '../core/companies/clock.ts'
import { matchBeforeExpiry } from '../core/payments/before-expiry.ts'
import { releaseCharges } from '../core/payments/commands.ts'
import type { Tx } from '../db/database.ts'
import { forEachLimited } from '../lib/for-each-limited.ts'
import type { Uuid } from '../lib/ids.ts'
import { guarded, inRounds } from './rounds.ts'

const MOST = 1000
/** Charges that banks are asked about before they are called expired, at a time. */
const MAX_ASKED = 200
const BANKS_AT_ONCE = 8

type Sweep = {
  task: string
  find: FindDue
  /** Changes what is still due of a company's charges, and tells how many that were. */
  change(tx: Tx, companyId: Uuid, ids: Uuid[], now: Date): Promise<number>
  failed: string
}

/**
 * Takes due charges company by company: one company's trouble does not keep others waiting. If the
 * clock of this machine cannot be believed, nothing is taken, because nothing of it can be undone.
 */
function sweep(app: App, sweeping: Sweep, only: Uuid | null, signal?: AbortSignal): Promise<void> {
  const { task, find, change, failed } = sweeping
  return inRounds(app, {
    task,
    only,
    signal,
    async work(but) {
      if (only === null && !(await app.clockWatch.agrees())) {
        return { companies: [], done: 0, isFull: false }
      }
      const { due, isFull } = await find(app.db.light, app.systemClock.now(), MOST, only, but)
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

/**
 * Writes down what every reader already sees: a charge past its deadline is expired, with its
 * event.
 */
export const expireDueCharges = (app: App, signal?: AbortSignal, only: Uuid | null = null) =>
  sweep(app, EXPIRE, only, signal)

/** Makes paid money withdrawable when the company's delay is over. */
export const releaseDueCharges = (app: App, signal?: AbortSignal, only: Uuid | null = null) =>
  sweep(app, RELEASE, only, signal)

const AT_BANKS = { task: 'expire charges at banks', only: null }

/** A bank that did not answer is left alone for so long. */
const SILENCE_MS = 30_000

/**
 * Expires charges of companies with a bank, which is asked first. Apart from all others: a bank
 * that is slow holds up nobody but its own.
 */
export function createExpiringAtBanks(app: App): { run(signal?: AbortSignal): Promise<void> } {
  const silentUntil_ms = new Map<Uuid, number>()
  const expire = async ({ companyId, ids }: DueCharges): Promise<number> => {
    const over = await matchBeforeExpiry(app, companyId, ids)
    if (over.length < ids.length) {
      silentUntil_ms.set(companyId, app.systemClock.now().getTime() + SILENCE_MS)
    }
    const now = app.systemClock.now()
    return app.db.transaction((tx) => expireCharges(tx, companyId, over, now))
  }
  const run = async (signal?: AbortSignal) => {
    for (let found = MAX_ASKED; found >= MAX_ASKED && !signal?.aborted; ) {
      if (!(await app.clockWatch.agrees())) return
      const now = app.systemClock.now()
      for (const [id, until_ms] of silentUntil_ms) {
        if (until_ms <= now.getTime()) silentUntil_ms.delete(id)
      }
      const silent = [...silentUntil_ms.keys(), ...app.setbacks.companiesOf(AT_BANKS.task)]
      const due = await findDueAtBanks(app.db.light, now, MAX_ASKED, silent)
      found = 0
      await forEachLimited(BANKS_AT_ONCE, due, async (charges) => {
        const act = () => expire(charges)
        found += await guarded(app, AT_BANKS, charges.companyId, act, 0, EXPIRE.failed)
      })
    }
  }
  return { run }
}
