import { problem } from '../lib/problems.ts'
import type { Pulse } from './probe.ts'
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
  /** Calls `act` each time that begins, with the reason. */
  onUnresponsive(act: (reason: Reason) => void): void
  close(): Promise<void>
}

export type Reason = Exclude<Pulse, 'answers'>

type Parts = {
  ask(): Promise<Pulse>
  /** Whether there are other connections than the one for pings. */
  isConnected(): boolean
  isInDoubt(): boolean
  /** Says that the standby may lack some commits. */
  lost(): void
  /** Commits something, and if that is confirmed, nothing before it is in doubt. */
  settle(): Promise<void>
  /** Nothing is known of the database any more, because it is not asked. */
  forget(): void
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
  const { ask, isConnected, isInDoubt, lost, settle, forget, cutBefore } = parts
  const acts: ((reason: Reason) => void)[] = []
  let pulse: Pulse = 'answers'
  /** Whether commits have waited too long, and there is still doubt. */
  let isUnconfirmed = false
  let timer: NodeJS.Timeout | null = null
  let isClosed = false

  async function beat(): Promise<void> {
    const asked_ms = performance.now()
    const over = new AbortController()
    const late = waitInSteps(ANSWER_MS, over.signal).then(() => 'silent' as const)
    const wasUnresponsive = isUnresponsive()
    pulse = await Promise.race([ask(), late])
    over.abort()
    // At first sight that is only a doubt: a statement that has taken long may have just committed.
    isUnconfirmed = isInDoubt() && (isUnconfirmed || pulse === 'unconfirmed')
    if (pulse === 'unconfirmed') lost()
    // That may take long, and pings go on meanwhile.
    if (isInDoubt() && pulse !== 'silent') settle().catch(() => {})
    if (isClosed) return
    if (pulse === 'silent') cutBefore(asked_ms)
    if (wasUnresponsive || !isUnresponsive()) return
    for (const act of acts) act(pulse === 'silent' ? 'silent' : 'unconfirmed')
  }

  const isUnresponsive = () => pulse === 'silent' || (isUnconfirmed && isInDoubt())
  const isNeeded = () => !isClosed && (isConnected() || pulse === 'silent' || isInDoubt())

  async function look(): Promise<void> {
    if (isNeeded()) await beat()
    timer = isNeeded() ? setTimeout(look, BEAT_MS).unref() : null
    if (timer === null) forget()
  }

  return {
    watch() {
      // The first is sent at once: if there is a standby, it may lack what the server shows.
      timer ??= setTimeout(look, 0).unref()
    },
    isUnresponsive,
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
