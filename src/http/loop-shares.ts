import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout } from 'node:timers/promises'
import { createRecent } from '../lib/memo.ts'

/** The share of the event loop that each company may use without waiting. */
const OWN_SHARE = 0.25
/**
 * The share of all companies together that have used more, while a request of a company that uses
 * little is processed. Otherwise they may use all.
 */
const SHARE = 0.1
/** A company uses little compared with one that uses so many times as much. */
const LESS = 4
/**
 * While other companies send requests too, the running requests of a company should take no longer
 * together. A request that has begun also uses the database, and is not interrupted.
 */
const BEGUN_MS = 2
/** The time that a company may use before its share applies. */
const BURST_MS = 20
/** The most time that a company may owe. */
const MAX_OWED_MS = 100
/** How long a company counts as active, or as one that has used its share. */
const RECENT_MS = 1_000
/** A request that takes longer waits for something else, such as a bank. */
const SHORT_MS = 250
/** A company that waits is checked again after this time, because others may be done by then. */
const RECHECK_MS = 2
const MAX_COMPANIES = 10_000
/** The estimated cost of the first request of a company. */
const FIRST_COST_MS = 0.5
/** How many bytes of a body are parsed and refused in a millisecond, in the worst case. */
const BYTES_PER_MS = 25_000
/** The weight of the last request in the estimated cost of the next. */
const WEIGHT = 0.2

/** Counts the time of the event loop that one request uses. */
export type Spender = {
  /** Its company. */
  name: string
  /** Adds time that the request has used. */
  spend(ms: number): void
  /**
   * Waits until its company may use so much time, after earlier calls of the same company, and then
   * adds that time.
   */
  take(ms: number): Promise<void>
  /** The request has ended. */
  end(): void
}

export type LoopShares = {
  /** How long a company must wait before its next request begins. `waiting` is how many wait. */
  wait_ms(name: string, bodyBytes?: number, waiting?: number): number
  /** Begins a request. Its estimated cost is taken from the share of the company at once. */
  begin(name: string, bodyBytes: number): Spender
}

/** Counts nothing. */
export const FREE: Spender = { name: '', spend() {}, take: async () => {}, end() {} }

/** Limits nothing. */
export const UNLIMITED: LoopShares = { wait_ms: () => 0, begin: () => FREE }

/** The current request, for work that is done in slices. */
export const spending = new AsyncLocalStorage<Spender>()

type Account = {
  left_ms: number
  at_ms: number
  cost_ms: number
  /** When the company had last used more than its share. */
  owed_at_ms: number
  /** Its running requests, what they have cost so far, and when the last one began. */
  running: number
  begun_ms: number
  begun_at_ms: number
  /** How many of its requests wait. */
  waiting: number
  /** Resolves when the earlier calls of `take` have resolved. */
  last: Promise<void>
}

const newAccount = (at_ms: number): Account => ({
  left_ms: BURST_MS,
  at_ms,
  cost_ms: FIRST_COST_MS,
  owed_at_ms: Number.NEGATIVE_INFINITY,
  running: 0,
  begun_ms: 0,
  begun_at_ms: Number.NEGATIVE_INFINITY,
  waiting: 0,
  last: Promise.resolve(),
})

/** Companies that have recently used more than their share. */
function createDebtors() {
  const debtors = new Set<Account>()
  /** Removes companies that have not used more for a while. */
  function forget(at_ms: number): void {
    for (const account of debtors) {
      if (at_ms - account.owed_at_ms > RECENT_MS) debtors.delete(account)
    }
  }
  return {
    add(account: Account, at_ms: number): void {
      account.owed_at_ms = at_ms
      debtors.add(account)
    },
    count: () => Math.max(1, debtors.size),
    /** The share of the event loop that a company has. */
    shareOf(account: Account, at_ms: number): number {
      forget(at_ms)
      return debtors.has(account) ? SHARE / debtors.size : OWN_SHARE
    },
  }
}

/** Companies with running requests, and the two that have begun one last. */
function createActivity() {
  const running = new Set<Account>()
  let latest: Account | null = null
  let latestOther: Account | null = null
  return {
    begin(account: Account): void {
      if (latest !== account) [latest, latestOther] = [account, latest]
      account.running += 1
      running.add(account)
    },
    end(account: Account): void {
      account.running -= 1
      if (account.running === 0) running.delete(account)
    },
    /** Whether a company that uses much less has a running request. */
    isLessRunning(account: Account, at_ms: number): boolean {
      const next_ms = account.waiting === 0 ? account.cost_ms : 0
      const demand_ms = demandOf(account) + next_ms
      for (const other of running) {
        const isShort = at_ms - other.begun_at_ms < SHORT_MS
        if (isShort && LESS * demandOf(other) < demand_ms) return true
      }
      return false
    },
    /** Whether another company has recently sent a request. */
    isOtherActive(account: Account, at_ms: number): boolean {
      const other = latest === account ? latestOther : latest
      return other !== null && at_ms - other.begun_at_ms < RECENT_MS
    },
  }
}

export function createLoopShares(now = () => performance.now()): LoopShares {
  const accounts = createRecent<Account>(MAX_COMPANIES)
  const [debtors, activity] = [createDebtors(), createActivity()]

  function accountOf(name: string): Account {
    const known = accounts.get(name)
    if (known) return known
    const account = newAccount(now())
    accounts.set(name, account)
    return account
  }
  /** How long a company must wait before it uses the event loop again. */
  function wait_ms(account: Account): number {
    const at_ms = now()
    const share = debtors.shareOf(account, at_ms)
    const left_ms = Math.max(-MAX_OWED_MS, account.left_ms)
    account.left_ms = Math.min(BURST_MS, left_ms + (at_ms - account.at_ms) * share)
    account.at_ms = at_ms
    if (account.left_ms > 0) return 0
    debtors.add(account, at_ms)
    if (!activity.isLessRunning(account, at_ms)) return 0
    return Math.min(RECHECK_MS, Math.ceil(-account.left_ms / share) + 1)
  }
  return {
    wait_ms(name, bodyBytes = 0, waiting = 0) {
      const account = accountOf(name)
      account.waiting = waiting
      const wait = wait_ms(account)
      if (wait > 0 || account.running === 0) return wait
      const begun_ms = account.begun_ms + costOf(account, bodyBytes)
      const isMuch = begun_ms > BEGUN_MS / debtors.count()
      return isMuch && activity.isOtherActive(account, now()) ? RECHECK_MS : 0
    },
    begin(name, bodyBytes) {
      const account = accountOf(name)
      const estimate_ms = costOf(account, bodyBytes)
      account.left_ms -= estimate_ms
      account.begun_ms += estimate_ms
      account.begun_at_ms = now()
      activity.begin(account)
      return createSpender(name, account, estimate_ms, wait_ms, () => activity.end(account))
    },
  }
}

/** The estimated cost of a request. */
const costOf = ({ cost_ms }: Account, bodyBytes: number): number =>
  Math.max(cost_ms, bodyBytes / BYTES_PER_MS)

/** The cost of the running and waiting requests of a company. */
const demandOf = ({ begun_ms, cost_ms, waiting }: Account): number => begun_ms + waiting * cost_ms

function createSpender(
  name: string,
  account: Account,
  estimate_ms: number,
  wait_ms: (account: Account) => number,
  onEnd: () => void,
): Spender {
  let [spent_ms, taken_ms] = [0, 0]
  /** The time that was taken from the company's share: the estimate, and then what exceeds it. */
  let charged_ms = estimate_ms
  function charge(ms: number): void {
    charged_ms += ms
    account.begun_ms += ms
    account.left_ms -= ms
  }
  async function take(before: Promise<void>, ms: number): Promise<void> {
    await before
    for (let wait = wait_ms(account); wait > 0; wait = wait_ms(account)) await setTimeout(wait)
    taken_ms += ms
    charge(ms)
  }
  return {
    name,
    spend(ms) {
      const before_ms = Math.max(spent_ms, estimate_ms)
      spent_ms += ms
      charge(Math.max(0, spent_ms - before_ms))
    },
    take(ms) {
      account.last = take(account.last, ms)
      return account.last
    },
    end() {
      account.begun_ms -= charged_ms
      onEnd()
      account.left_ms += Math.max(0, estimate_ms - Math.max(spent_ms, FIRST_COST_MS))
      const cost_ms = Math.max(FIRST_COST_MS, spent_ms + taken_ms)
      account.cost_ms += (cost_ms - account.cost_ms) * WEIGHT
    },
  }
}
