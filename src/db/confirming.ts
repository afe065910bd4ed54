import { codeOf, isLostAnswer } from './away.ts'
import type { Servers } from './servers.ts'

const UNIQUE_VIOLATION = '23505'
const WRITES = /\b(?:insert|update|delete)\b/i

type Means = {
  /** Commits something. */
  write(): Promise<unknown>
  /** Keeps the heartbeat going. */
  watch(): void
}

/** Watches one attempt to run a statement. */
type Attempt = <R>(work: Promise<R>) => Promise<R>

/**
 * What was committed when its answer was lost is perhaps not at the standby, from which a failover
 * would go on. A commit that is confirmed shows that the standby has everything before it.
 */
export function createConfirming(servers: Servers, { write, watch }: Means) {
  function lost(): void {
    servers.lost()
    // While they are in doubt requests are refused, and connect no more: the heartbeat goes on.
    watch()
  }
  async function confirm(): Promise<void> {
    const confirmed = servers.beginConfirming()
    await write()
    confirmed()
  }
  return {
    /** The answer to a commit was lost. */
    lost,
    confirm,
    /**
     * Runs a statement, perhaps several times. If the answer to a write was lost, it finds its own
     * rows when it is sent again, skips them or violates their keys, and does not wait for the
     * standby: another commit does.
     */
    async confirmed<R>(
      { text }: { text: string },
      run: (attempt: Attempt) => Promise<R>,
    ): Promise<R> {
      let wasLost = false
      const confirmLost = async () => {
        if (wasLost && servers.isInDoubt()) await confirm()
      }
      try {
        const result = await run((work) =>
          work.catch((error) => {
            if (isLostAnswer(error) && WRITES.test(text)) {
              wasLost = true
              lost()
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
