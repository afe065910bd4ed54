import type { Event, Vintem } from '@vintem/client'
import { isAnswer } from './errors.ts'

/** A payment in the feed. */
export type Paid = Pick<Event, 'id' | 'data'>

/** How far the feed is read. What has failed is tried again before it goes on. */
export type Progress = { after?: string; failed: Paid[] }

type Shop = {
  progress: Progress | undefined
  save(progress: Progress): Promise<unknown>
  /** When the shop could have begun to take payments. Asked for the first time only. */
  since_ms(): Promise<number>
  take(event: Paid): Promise<unknown>
  warn(message: string): void
}

const PAGE = 100

/** Gives the shop all payments of the feed since the last time. */
export async function pull(vintem: Vintem, shop: Shop): Promise<void> {
  let progress = shop.progress ?? { ...(await startOf(vintem, await shop.since_ms())), failed: [] }
  const take = async (events: Paid[]): Promise<Paid[]> => {
    const failed = []
    for (const { id, data } of events) {
      try {
        await shop.take({ id, data })
      } catch (error) {
        // It is of another company, whose key the shop had before: nothing is to be done.
        if (isAnswer(error, 404, 'charge_not_found')) continue
        shop.warn(`Vintém: ${id} is tried again: ${error}`)
        failed.push({ id, data })
      }
    }
    return failed
  }
  const save = async (next: Progress) => {
    progress = next
    await shop.save(progress)
  }
  if (progress.failed.length > 0) await save({ ...progress, failed: await take(progress.failed) })
  const readOn = async () => {
    const { after } = progress
    const query = {
      type: 'charge.paid',
      limit: PAGE,
      ...(after !== undefined && { after }),
    } as const
    for await (const page of vintem.events.list(query).pages()) {
      const last = page.at(-1)
      // What is not taken yet stays in the feed.
      if (!last || progress.failed.length >= PAGE) break
      await save({ after: last.id, failed: [...progress.failed, ...(await take(page))] })
    }
  }
  try {
    await readOn()
  } catch (error) {
    if (!isAnswer(error, 400, 'invalid_value')) throw error
    shop.warn(`Vintém: ${error.message}`)
    await save({ ...(await goOn(vintem, shop, error)), failed: progress.failed })
    await readOn()
  }
}

/**
 * Where to go on if the server knows no such event: a backup was restored, and it names another
 * one, or the key is that of another company, and the feed is a new one.
 */
async function goOn(vintem: Vintem, shop: Shop, { message }: Error): Promise<{ after?: string }> {
  const [, after] = /after=(evt_\w+)/.exec(message) ?? []
  return after ? { after } : startOf(vintem, await shop.since_ms())
}

/** After the last payment that is older than what the shop could have made. */
async function startOf(vintem: Vintem, since_ms: number): Promise<{ after?: string }> {
  const newest = { type: 'charge.paid', order: 'newest' } as const
  for await (const { id, createdAt } of vintem.events.list(newest)) {
    if (Date.parse(createdAt) < since_ms) return { after: id }
  }
  return {}
}
