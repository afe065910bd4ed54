import { createBatcher } from '../lib/batch.ts'
import { texts } from './arrays.ts'

/** How long notifications gather, and how many are sent together. */
const GATHER_MS = 5
const MAX_GROUP = 1_000

type Run = (query: { name: string; text: string; values: unknown[] }) => Promise<unknown>
type Notification = { channel: string; payload: string }

export type Notifier = {
  notify(channel: string, payload: string): void
  /** Resolves when all are sent. */
  idle(): Promise<void>
}

/**
 * Sends notifications of what is committed, many with one statement. They are not part of the
 * transactions that they report, because PostgreSQL lets transactions that notify commit only one
 * after the other. If one cannot be sent it is dropped: nobody may rely on it alone.
 */
export function createNotifier(run: Run): Notifier {
  const send = createBatcher<Notification, null>(
    async (group) => {
      await run({
        name: 'notify',
        text: 'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) n (channel, payload)',
        values: [
          texts(group.map(({ channel }) => channel)),
          texts(group.map(({ payload }) => payload)),
        ],
      })
      return group.map(() => null)
    },
    { max: MAX_GROUP, gather_ms: GATHER_MS, isItemError: () => false },
  )
  return {
    notify(channel, payload) {
      send({ channel, payload }).catch(() => {})
    },
    idle: send.idle,
  }
}
