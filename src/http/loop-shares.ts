import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout } from 'node:timers/promises'
import { createRecent } from '../lib/memo.ts'

/**
 * Of the time of the event loop, companies that use much get this share together while a request of
 * one that uses little is worked on. Otherwise they get all.
 */
const SHARE = 0.25
/** What a company may use at once before its share applies. */
const BURST_MS = 20
/** The most that a company owes for what it has used. */
const MAX_OWED_MS = 250
/** How long a company counts as one that uses much. */
const REMEMBERED_MS = 1_000
/** A request that takes longer waits for something else than the event loop. */
const SOON_MS = 250
/** Others may be done sooner than the share allows it, so that is looked at again. */
const LOOK_AGAIN_MS = 2
const MAX_COMPANIES = 10_000
/** What a request is taken to cost before anything is known of a company's requests. */
const FIRST_COST_MS = 0.2
/** What a body costs at worst, to parse and to refuse. */
const BYTES_PER_MS = 25_000
/** How much the last request counts in what the next is taken to cost. */
const WEIGHT = 0.2

/** The time that one request has used. */
export type Spender = {
  /** Notes that it has kept the event loop for so long. */
  spend(ms: number): void
  /**
   * Waits until its company may use the event loop for so long, after its requests that have asked
   * before, and notes that it does.
   */
  take(ms: number): Promise<void>
  /** The request is over. */
  end(): void
}

export type LoopShares = {
  /** How long a company has to wait before its next request is begun. */
  wait_ms(name: string): number
  /** Begins a request, which is paid for in advance by what the last ones have cost. */
  begin(name: string, bodyBytes: number): Spender
}

const FREE: Spender = { spend() {}, take: async () => {}, end() {} }

/** For where nothing is limited. */
export const UNLIMITED: LoopShares = { wait_ms: () => 0, begin: () => FREE }

/** The request that is worked on, for work that is done in slices. */
export const spending = new AsyncLocalStorage<Spender>()

type Account = {
  left_ms: number
  at_ms: number
  cost_ms: number
  /** When it was last found to have used more than its share. */
  owed_at_ms: number
  /** Its requests that are worked on, and when the last was begun. */
  running: number
  begun_at_ms: number
  /** Resolves when those that have asked for time before have it. */
  last: Promise<void>
}

export function createLoopShares(now = () => performance.now()): LoopShares {
  const accounts = createRecent<Account>(MAX_COMPANIES)
  /** Those that have used more than their share of late. */
  const inDebt = new Set<Account>()
  /** Those with a request that is worked on. */
  const running = new Set<Account>()

  function accountOf(name: string): Account {
    const known = accounts.get(name)
    if (known) return known
    const account = {
      ...{ left_ms: BURST_MS, at_ms: now(), cost_ms: FIRST_COST_MS, running: 0 },
      ...{ owed_at_ms: Number.NEGATIVE_INFINITY, begun_at_ms: Number.NEGATIVE_INFINITY },
      last: Promise.resolve(),
    }
    accounts.set(name, account)
    return account
  }
  /** Whoever has not used more for a while is left out. */
  function countDebtors(at_ms: number): number {
    for (const account of inDebt) {
      if (at_ms - account.owed_at_ms > REMEMBERED_MS) inDebt.delete(account)
    }
    return Math.max(1, inDebt.size)
  }
  /** Whether a request of a company that uses little is worked on. */
  function isLightRunning(at_ms: number): boolean {
    for (const account of running) {
      if (!inDebt.has(account) && at_ms - account.begun_at_ms < SOON_MS) return true
    }
    return false
  }
  function wait_ms(account: Account): number {
    const at_ms = now()
    const share = SHARE / countDebtors(at_ms)
    const left_ms = Math.max(-MAX_OWED_MS, account.left_ms)
    account.left_ms = Math.min(BURST_MS, left_ms + (at_ms - account.at_ms) * share)
    account.at_ms = at_ms
    if (account.left_ms > 0) return 0
    account.owed_at_ms = at_ms
    inDebt.add(account)
    if (!isLightRunning(at_ms)) return 0
    return Math.min(LOOK_AGAIN_MS, Math.ceil(-account.left_ms / share) + 1)
  }
  return {
    wait_ms: (name) => wait_ms(accountOf(name)),
    begin(name, bodyBytes) {
      const account = accountOf(name)
      const paid_ms = Math.max(account.cost_ms, bodyBytes / BYTES_PER_MS)
      account.left_ms -= paid_ms
      account.running += 1
      account.begun_at_ms = now()
      running.add(account)
      return createSpender(account, paid_ms, wait_ms, () => {
        account.running -= 1
        if (account.running === 0) running.delete(account)
      })
    },
  }
}

function createSpender(
  account: Account,
  paid_ms: number,
  wait_ms: (account: Account) => number,
  onEnd: () => void,
): Spender {
  let spent_ms = 0
  async function take(before: Promise<void>, ms: number): Promise<void> {
    await before
    for (let wait = wait_ms(account); wait > 0; wait = wait_ms(account)) await setTimeout(wait)
    account.left_ms -= ms
  }
  return {
    spend(ms) {
      const before_ms = Math.max(spent_ms, paid_ms)
      spent_ms += ms
      account.left_ms -= Math.max(0, spent_ms - before_ms)
    },
    take(ms) {
      account.last = take(account.last, ms)
      return account.last
    },
    end() {
      onEnd()
      account.left_ms += Math.max(0, paid_ms - Math.max(spent_ms, FIRST_COST_MS))
      const cost_ms = Math.max(FIRST_COST_MS, spent_ms)
      account.cost_ms += (cost_ms - account.cost_ms) * WEIGHT
    },
  }
}
