import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout } from 'node:timers/promises'
import { createRecent } from '../lib/memo.ts'

/** Of the time of the event loop, each company may use this share without waiting. */
const OWN_SHARE = 0.25
/**
 * Those that have used more get this share together while a request of a company that asks for
 * little is worked on. Otherwise they get all.
 */
const SHARE = 0.1
/** A company asks for little beside one that asks for so many times as much. */
const LESS = 4
/**
 * While others send something too, the requests of a company that are worked on at once are to take
 * this long together. What is begun uses the database as well, and is not interrupted.
 */
const BEGUN_MS = 4
/** What a company may use at once before its share applies. */
const BURST_MS = 20
/** The most that a company owes for what it has used. */
const MAX_OWED_MS = 100
/** How long it is remembered that a company has sent something, or has used its share. */
const REMEMBERED_MS = 1_000
/** A request that takes longer waits for something else than the event loop. */
const SOON_MS = 250
/** Others may be done sooner than the share allows it, so that is looked at again. */
const LOOK_AGAIN_MS = 2
const MAX_COMPANIES = 10_000
/** What a request is taken to cost before anything is known of a company's requests. */
const FIRST_COST_MS = 0.5
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
  /** How long a company has to wait before its next request is begun, while more of them wait. */
  wait_ms(name: string, bodyBytes?: number, waiting?: number): number
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
  /** Its requests that are worked on, what they cost so far, and when the last was begun. */
  running: number
  begun_ms: number
  begun_at_ms: number
  /** Its requests that wait. */
  waiting: number
  /** Resolves when those that have asked for time before have it. */
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

/** Companies that have used more than their share of late. */
function createDebtors() {
  const debtors = new Set<Account>()
  /** Whoever has not used more for a while is left out. */
  function forget(at_ms: number): void {
    for (const account of debtors) {
      if (at_ms - account.owed_at_ms > REMEMBERED_MS) debtors.delete(account)
    }
  }
  return {
    add(account: Account, at_ms: number): void {
      account.owed_at_ms = at_ms
      debtors.add(account)
    },
    count: () => Math.max(1, debtors.size),
    /** What share of the event loop a company has. */
    shareOf(account: Account, at_ms: number): number {
      forget(at_ms)
      return debtors.has(account) ? SHARE / debtors.size : OWN_SHARE
    },
  }
}

/** Who is there: companies with a request that is worked on, and who has begun one last. */
function createPresence() {
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
    /** Whether a request of a company that asks for much less is worked on. */
    isLessRunning(account: Account, at_ms: number): boolean {
      const next_ms = account.waiting === 0 ? account.cost_ms : 0
      const asked_ms = askedBy(account) + next_ms
      for (const other of running) {
        const isSoon = at_ms - other.begun_at_ms < SOON_MS
        if (isSoon && LESS * askedBy(other) < asked_ms) return true
      }
      return false
    },
    /** Whether another company has sent something of late. */
    isOtherThere(account: Account, at_ms: number): boolean {
      const other = latest === account ? latestOther : latest
      return other !== null && at_ms - other.begun_at_ms < REMEMBERED_MS
    },
  }
}

export function createLoopShares(now = () => performance.now()): LoopShares {
  const accounts = createRecent<Account>(MAX_COMPANIES)
  const [debtors, presence] = [createDebtors(), createPresence()]

  function accountOf(name: string): Account {
    const known = accounts.get(name)
    if (known) return known
    const account = newAccount(now())
    accounts.set(name, account)
    return account
  }
  /** How long a company waits before it uses the event loop again. */
  function wait_ms(account: Account): number {
    const at_ms = now()
    const share = debtors.shareOf(account, at_ms)
    const left_ms = Math.max(-MAX_OWED_MS, account.left_ms)
    account.left_ms = Math.min(BURST_MS, left_ms + (at_ms - account.at_ms) * share)
    account.at_ms = at_ms
    if (account.left_ms > 0) return 0
    debtors.add(account, at_ms)
    if (!presence.isLessRunning(account, at_ms)) return 0
    return Math.min(LOOK_AGAIN_MS, Math.ceil(-account.left_ms / share) + 1)
  }
  return {
    wait_ms(name, bodyBytes = 0, waiting = 0) {
      const account = accountOf(name)
      account.waiting = waiting
      const wait = wait_ms(account)
      if (wait > 0 || account.running === 0) return wait
      const begun_ms = account.begun_ms + costOf(account, bodyBytes)
      const isMuch = begun_ms > BEGUN_MS / debtors.count()
      return isMuch && presence.isOtherThere(account, now()) ? LOOK_AGAIN_MS : 0
    },
    begin(name, bodyBytes) {
      const account = accountOf(name)
      const paid_ms = costOf(account, bodyBytes)
      account.left_ms -= paid_ms
      account.begun_ms += paid_ms
      account.begun_at_ms = now()
      presence.begin(account)
      return createSpender(account, paid_ms, wait_ms, () => presence.end(account))
    },
  }
}

/** What a request of a company is taken to cost. */
const costOf = ({ cost_ms }: Account, bodyBytes: number): number =>
  Math.max(cost_ms, bodyBytes / BYTES_PER_MS)

/** What the requests of a company cost that are worked on or wait. */
const askedBy = ({ begun_ms, cost_ms, waiting }: Account): number => begun_ms + waiting * cost_ms

function createSpender(
  account: Account,
  paid_ms: number,
  wait_ms: (account: Account) => number,
  onEnd: () => void,
): Spender {
  let [spent_ms, taken_ms] = [0, 0]
  /** What is taken from the company's share for this request: what it has paid, and then more. */
  let charged_ms = paid_ms
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
    spend(ms) {
      const before_ms = Math.max(spent_ms, paid_ms)
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
      account.left_ms += Math.max(0, paid_ms - Math.max(spent_ms, FIRST_COST_MS))
      const cost_ms = Math.max(FIRST_COST_MS, spent_ms + taken_ms)
      account.cost_ms += (cost_ms - account.cost_ms) * WEIGHT
    },
  }
}
