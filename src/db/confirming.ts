import { setTimeout as pause } from 'node:timers/promises'
import { problem } from '../lib/problems.ts'
import { codeOf, isLostAnswer } from './away.ts'
import type { Servers } from './servers.ts'

const UNIQUE_VIOLATION = '23505'
const WRITES = /\b(?:insert|update|delete)\b/i

type Means = {
  /** Commits something, by a connection that nobody keeps while they wait for this commit. */
  write(): Promise<unknown>
  /** Keeps the heartbeat going. */
  watch(): void
}

/** Watches one attempt to run a statement. */
type Attempt = <R>(work: Promise<R>) => Promise<R>

const notConfirmed = () =>
  problem(
    'service_unavailable',
    'No standby confirms what is written. Retry with the same Idempotency-Key.',
    { 'Retry-After': '5' },
  )

/** Has a commit confirmed whenever something is in doubt, one at a time. */
function createSettling(servers: Servers, write: Means['write']) {
  let settling: Promise<void> | undefined
  async function settleAll(): Promise<void> {
    while (servers.isInDoubt()) {
      const confirmed = servers.beginConfirming()
      await write()
      confirmed()
    }
  }
  function settle(): Promise<void> {
    settling ??= settleAll().finally(() => {
      settling = undefined
    })
    return settling
  }
  async function untilSettled(most_ms: number): Promise<void> {
    const over = new AbortController()
    const late = pause(most_ms, undefined, { signal: over.signal })
    late.catch(() => {})
    try {
      await Promise.race([settle(), late])
    } finally {
      over.abort()
    }
    if (servers.isInDoubt()) throw notConfirmed()
  }
  return { settle, untilSettled }
}

/**
 * PostgreSQL hides what a commit has written until the standby has confirmed it, except after a
 * crash, a restart, or a wait that was canceled. Then the server shows rows that would be missing
 * after a failover. A commit that is confirmed shows that the standby has everything before it, so
 * until then nobody is given an answer.
 */
export function createConfirming(servers: Servers, { write, watch }: Means) {
  const { settle, untilSettled } = createSettling(servers, write)
  const stopListening = servers.onDoubt(() => {
    // Requests wait, and connect no more: the heartbeat goes on, and tries again if this fails.
    watch()
    settle().catch(() => {})
  })

  return {
    /** The answer to a commit was lost. */
    lost: servers.lost,
    /** Has a commit confirmed, so that nothing before it is in doubt. */
    settle,
    close: stopListening,
    /** Does something when nothing is in doubt, and answers when nothing is. */
    async during<R>(work: () => Promise<R>, most_ms: number): Promise<R> {
      if (servers.isInDoubt()) await untilSettled(most_ms)
      try {
        const result = await work()
        if (servers.isInDoubt()) await untilSettled(most_ms)
        return result
      } catch (error) {
        const isAnswer = codeOf(error) !== 'service_unavailable'
        if (isAnswer && servers.isInDoubt()) await untilSettled(most_ms)
        throw error
      }
    },
    /**
     * Runs a statement, perhaps several times. If the answer to a write was lost, it finds its own
     * rows when it is sent again, skips them or violates their keys, and does not wait for the
     * standby: another commit does, which begins after that.
     */
    async confirmed<R>(
      { text }: { text: string },
      run: (attempt: Attempt) => Promise<R>,
    ): Promise<R> {
      let wasLost = false
      const confirmLost = async () => {
        if (!wasLost) return
        servers.lost()
        await settle()
      }
      try {
        const result = await run((work) =>
          work.catch((error) => {
            if (isLostAnswer(error) && WRITES.test(text)) {
              wasLost = true
              servers.lost()
            }
            throw error
          }),
        )
        await confirmLost()
        return result
      } catch (error) {
        if (codeOf(error) === UNIQUE_VIOLATION) await confirmLost()
        throw error
      }
    },
  }
}
