import type { ITriggerFunctions } from 'n8n-workflow'
import { ask, orNull, type VintemEvent } from './api'
import { placeOf } from './followers'

const PAGE = 100

type Caller = Parameters<typeof ask>[0]

/** A page of the feed: what came after an event. Null if there is no such event. */
export const readFeed = (
  caller: Caller,
  after: string,
  options: { limit?: number; wait?: number; abortSignal?: AbortSignal } = {},
): Promise<VintemEvent[] | null> => {
  const { limit = PAGE, wait = 0, abortSignal } = options
  const qs = { limit, wait, ...(after !== '' && { after }) }
  return ask<VintemEvent[]>(caller, {
    path: '/event',
    qs,
    ...(abortSignal && { abortSignal }),
  }).catch(orNull(400))
}

/** Where to begin: after the newest event that there is. */
export async function newestEvent(caller: Caller): Promise<string> {
  const [newest] = await ask<VintemEvent[]>(caller, {
    path: '/event',
    qs: { order: 'newest', limit: 1 },
  })
  return newest?.id ?? ''
}

type Cursor = { cursor?: string }

/**
 * Reads the feed and starts a workflow for each event, one reader at a time. The cursor moves
 * before an event is emitted, because n8n stores it when it is told to emit, and at no other time.
 */
export class FeedReader {
  #isReading = false
  #isAskedAgain = false
  readonly #stop = new AbortController()

  constructor(
    private readonly trigger: ITriggerFunctions,
    private readonly kept: Cursor,
    private readonly types: ReadonlySet<string>,
    private readonly wait: number,
  ) {}

  /** Reads all that is new. While it reads, it is enough to ask for one more look. */
  async read(): Promise<void> {
    this.#isAskedAgain = true
    if (this.#isReading) return
    this.#isReading = true
    try {
      while (this.#isAskedAgain && !this.#stop.signal.aborted) {
        this.#isAskedAgain = false
        await this.#readPages()
      }
    } catch (fault) {
      if (this.#stop.signal.aborted) return
      const { message } = fault as Error
      this.trigger.logger.error(`The feed of Vintém cannot be read: ${message}`)
    } finally {
      this.#isReading = false
    }
  }

  async #readPages(): Promise<void> {
    for (;;) {
      const events = await readFeed(this.trigger, this.kept.cursor ?? '', {
        wait: this.wait,
        abortSignal: this.#stop.signal,
      })
      if (events === null)
        throw new Error(`It has no event ${this.kept.cursor}. Activate the workflow again.`)
      if (events.length === 0) return
      for (const event of events) {
        if (this.#stop.signal.aborted) return
        this.kept.cursor = event.id
        if (this.types.has(event.type)) this.#emit(event)
      }
    }
  }

  /** n8n starts nothing twice for the same key, whatever else reads the feed. */
  #emit(event: VintemEvent): void {
    const key = `${placeOf(this.trigger)} ${event.id}`
    this.trigger.emit([[{ json: event }]], undefined, undefined, key)
  }

  stop(): void {
    this.#stop.abort()
  }
}
