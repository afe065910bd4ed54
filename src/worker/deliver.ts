import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../core/app.ts'
import { recordResults, resultOf, send } from '../core/deliveries/commands.ts'
import { claim, findDueWebhooks, type Result, release } from '../core/deliveries/store.ts'
import { buryDead, type Enlisted, enlist } from '../core/deliveries/workers.ts'
import { TASK } from '../core/tasks.ts'
import { createBatcher } from '../lib/batch.ts'
import { describeError } from '../lib/log.ts'
import { createLines, type Landing, type Lines } from './lines.ts'

/** Longer than an exchange may take together with the wait before it. */
const LEASE_MS = 45_000
/** How often webhooks with something due are looked for while others are busy. */
const LOOK_AGAIN_MS = 250
const LOOK_SOONEST_MS = 20
const BURY_EVERY_MS = 5_000
const MOST_RECORDED = 128
/** How long receivers may still answer when the worker is to stop. */
const FAREWELL_MS = 3_000

export type Delivering = {
  /** Delivers until nothing is due and nothing under way. */
  run(signal?: AbortSignal): Promise<void>
  close(): Promise<void>
}

/**
 * The delivery worker. It looks for webhooks with something due, claims a few deliveries of each,
 * sends them outside of any transaction, and writes down what became of them in groups.
 */
export function createDelivering(app: App): Delivering {
  let self: Enlisted | null = null
  let claims = 0
  let buried_ms = Number.NEGATIVE_INFINITY
  const results = createBatcher<Result, null>(
    async (group) => {
      await recordResults(app, self!.id, group)
      return group.map(() => null)
    },
    { most: MOST_RECORDED, lanes: 2 },
  )

  async function fill(lines: Lines): Promise<void> {
    const wanted = lines.wanted()
    if (wanted.length === 0) return
    const now = app.clock.now()
    const until = new Date(now.getTime() + LEASE_MS)
    claims += 1
    const by = { worker: self!.id, claim: claims, now, until }
    lines.give(wanted, await claim(app.db.hot, wanted, by))
  }

  async function look(lines: Lines): Promise<void> {
    const now_ms = performance.now()
    if (now_ms - buried_ms > BURY_EVERY_MS) {
      buried_ms = now_ms
      const dead = await buryDead(app.db, self!.id, app.clock.now())
      if (dead > 0) app.log.warn({ workers: dead }, 'took over from workers that died')
    }
    lines.due(await findDueWebhooks(app.db.hot, app.clock.now()))
  }

  async function attempt(delivery: Result['delivery'], cut: AbortSignal): Promise<Landing> {
    try {
      const exchange = await send(app, delivery, cut)
      const result = resultOf(delivery, exchange, app.clock.now())
      app.metrics.delivery(result.verdict.outcome, exchange.latency_ms / 1000)
      results(result).catch((error) => tell(error, 'a delivery was not written down'))
      const kind = exchange.outcome === 'delivered' ? 'delivered' : 'failed'
      return { kind, latency_ms: exchange.latency_ms }
    } catch (error) {
      if (!cut.aborted) tell(error, 'a delivery could not be sent')
      return { kind: 'cut', latency_ms: 0 }
    }
  }
  const tell = (error: unknown, what: string) => app.log.error(describeError(error), what)

  async function work(lines: Lines, signal: AbortSignal): Promise<void> {
    await look(lines)
    for (let looked_ms = performance.now(); !signal.aborted; ) {
      await fill(lines)
      await release(app.db, self!.id, lines.leavings(), app.clock.now())
      if (lines.isIdle()) return
      const rung = await waitForWork(app, lines, signal)
      const since_ms = performance.now() - looked_ms
      if (since_ms < (rung ? LOOK_SOONEST_MS : LOOK_AGAIN_MS)) continue
      await look(lines)
      looked_ms = performance.now()
    }
  }

  return {
    async run(signal = new AbortController().signal) {
      self ??= await enlist(app.db)
      const cut = new AbortController()
      const lines = createLines((delivery) => attempt(delivery, cut.signal))
      try {
        await work(lines, signal)
      } finally {
        const landed = lines.stop()
        await Promise.race([landed, pause(FAREWELL_MS, undefined, { ref: false })])
        cut.abort()
        await landed
        await release(app.db, self.id, lines.leavings(), app.clock.now())
        await results.idle()
      }
    },
    close: async () => self?.close(),
  }
}

/** Until a line has room or somebody rings; true when it was rung. */
async function waitForWork(app: App, lines: Lines, signal: AbortSignal): Promise<boolean> {
  const enough = new AbortController()
  const either = AbortSignal.any([signal, enough.signal])
  let rung = true
  await Promise.race([
    app.alarm.wait(TASK.deliver, LOOK_AGAIN_MS, either),
    lines.room().then(() => {
      rung = false
    }),
  ])
  enough.abort()
  return rung
}
