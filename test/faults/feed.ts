import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../support/until.ts'
import type { Shop } from './journal.ts'

/** Clients that follow the feeds of all companies while a server is struck. */
export type Feed = {
  /** The ids of events by company, in the order in which they came. */
  seen: Map<string, string[]>
  /** Resolves when each client has once more found nothing new. */
  caughtUp(): Promise<void>
  stop(): Promise<void>
}

const LOOK_AGAIN_MS = 50

export function followFeed(url: string, shops: Shop[]): Feed {
  const seen = new Map<string, string[]>(shops.map(({ company }) => [company, []]))
  const ends = new Map<string, number>(shops.map(({ company }) => [company, 0]))
  let isStopped = false

  async function follow({ company, apiKey }: Shop): Promise<void> {
    const ids = seen.get(company)!
    while (!isStopped) {
      const events = await read(url, apiKey, ids.at(-1))
      ids.push(...(events ?? []))
      if (events?.length === 0) ends.set(company, ends.get(company)! + 1)
      if (!events?.length) await pause(LOOK_AGAIN_MS)
    }
  }

  const following = Promise.all(shops.map(follow))
  return {
    seen,
    async caughtUp() {
      const before = new Map(ends)
      await until('the feeds are read to their ends', async () =>
        [...ends].every(([company, count]) => count > before.get(company)!) ? true : null,
      )
    },
    async stop() {
      isStopped = true
      await following
    },
  }
}

/** The ids of the next events, or null if there was no answer. */
async function read(url: string, apiKey: string, after?: string): Promise<string[] | null> {
  const query = after === undefined ? '' : `&after=${after}`
  try {
    const reply = await fetch(`${url}/event?limit=100${query}`, {
      headers: { 'X-API-KEY': apiKey },
    })
    const { data, errors } = (await reply.json()) as { data: { id: string }[]; errors: unknown }
    if (reply.status === 503) return null
    if (reply.status !== 200) throw new Error(`the feed was answered ${JSON.stringify(errors)}`)
    return data.map(({ id }) => id)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}
