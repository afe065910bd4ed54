import { problem } from '../lib/problems.ts'
import { waitInSteps } from './steps.ts'

/** How often a ping is sent while there are connections. */
const BEAT_MS = 1_000
/** How long the database may take to answer a ping. */
const ANSWER_MS = 3_000

export type Heartbeat = {
  /** Starts to ping, for as long as there are connections. */
  watch(): void
  /** Whether the database does not answer at all, or no standby confirms what is written. */
  isUnresponsive(): boolean
  /** Calls `act` each time the database stops answering. */
  onUnresponsive(act: () => void): void
  close(): Promise<void>
}

type Parts = {
  /** Sends a ping. Returns false if it has no answer in time. */
  answers(): Promise<boolean>
  /** Whether there are other connections than the one for pings. */
  isConnected(): boolean
  isInDoubt(): boolean
  /** Commits something, and if that is confirmed, nothing before it is in doubt. */
  confirm(): Promise<void>
  cutBefore(moment_ms: number): void
  close(): Promise<void>
}

/**
 * Detects that a database is unresponsive. A statement without an answer does not show that,
 * because it may just take long. So pings are sent on a connection that stays open beside the
 * others. If a ping has no answer, all connections that are older than the ping are closed, because
 * a network or a machine without power ends them without notice. Their statements fail as with any
 * lost connection.
 */
export function createHeartbeat(parts: Parts): Heartbeat {
  const { answers, isConnected, isInDoubt, confirm, cutBefore } = parts
  const acts: (() => void)[] = []
  let hasMissed = false
  let isConfirming = false
  let timer: NodeJS.Timeout | null = null
  let isClosed = false

  async function beat(): Promise<void> {
    const asked_ms = performance.now()
    const over = new AbortController()
    const late = waitInSteps(ANSWER_MS, over.signal).then(() => false)
    const wasMissing = hasMissed
    hasMissed = !(await Promise.race([answers(), late]))
    over.abort()
    if (isInDoubt() && !hasMissed && !isConfirming) {
      isConfirming = true
      // That may take long, and pings go on meanwhile.
      confirm()
        .catch(() => {})
        .finally(() => {
          isConfirming = false
        })
    }
    if (!hasMissed || isClosed) return
    cutBefore(asked_ms)
    if (!wasMissing) for (const act of acts) act()
  }

  const isNeeded = () => !isClosed && (isConnected() || hasMissed || isInDoubt())

  async function look(): Promise<void> {
    if (isNeeded()) await beat()
    timer = isNeeded() ? setTimeout(look, BEAT_MS).unref() : null
  }

  return {
    watch() {
      timer ??= setTimeout(look, BEAT_MS).unref()
    },
    isUnresponsive: () => hasMissed || isInDoubt(),
    onUnresponsive(act) {
      acts.push(act)
    },
    close() {
      isClosed = true
      if (timer) clearTimeout(timer)
      return parts.close()
    },
  }
}

const notAnswering = () =>
  problem(
    'service_unavailable',
    'The database does not answer. Retry with the same Idempotency-Key.',
    { 'Retry-After': '5' },
  )

/** Does something for a request, unless it is refused. */
export type Refusing = <R>(work: () => Promise<R>) => Promise<R>

/**
 * Refuses what requests ask of a database while it is unresponsive: what is new at once, and what
 * waits as soon as it is detected. What has begun may still be done, as after a lost connection.
 */
export function refuseWhileUnresponsive(
  heartbeat: Pick<Heartbeat, 'isUnresponsive' | 'onUnresponsive'>,
): Refusing {
  const waiting = new Set<(refusal: Error) => void>()
  heartbeat.onUnresponsive(() => {
    for (const refuse of waiting) refuse(notAnswering())
    waiting.clear()
  })
  return (work) => {
    if (heartbeat.isUnresponsive()) return Promise.reject(notAnswering())
    return new Promise((resolve, reject) => {
      waiting.add(reject)
      work()
        .then(resolve, reject)
        .finally(() => waiting.delete(reject))
    })
  }
}
