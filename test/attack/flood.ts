/** Tries of an attack, by the status that answered them; 0 is a connection that was closed. */
export type Tally = Record<number, number>

export type Flood = {
  /** Tries a second. */
  perSecond: number
  /** Tries that are under way at once. What is more waits, as the next ones do. */
  concurrency: number
  /** So many tries are begun together; one at a time if it is missing. */
  together?: number
  most?: number
  send(n: number, signal: AbortSignal): Promise<number>
}

const TICK_MS = 5

/** Sends at a steady pace until it is stopped or has sent the most, and counts the answers. */
export function startFlood(flood: Flood): {
  tally: Tally
  stop(): Promise<Tally>
  done: Promise<Tally>
} {
  const { perSecond, concurrency, together = 1, most = Number.POSITIVE_INFINITY, send } = flood
  const ending = new AbortController()
  const over = Promise.withResolvers<Tally>()
  const tally: Tally = {}
  const underWay = new Set<Promise<void>>()
  const started = performance.now()
  let sent = 0

  async function one(n: number): Promise<void> {
    const status = await send(n, ending.signal).catch(() => 0)
    tally[status] = (tally[status] ?? 0) + 1
  }
  function begin(): void {
    const attempt = one(sent++).finally(() => underWay.delete(attempt))
    underWay.add(attempt)
  }
  async function end(): Promise<Tally> {
    clearInterval(timer)
    await Promise.all(underWay)
    over.resolve(tally)
    return tally
  }
  /** The first tries are begun at once, so that a flood of a few does not wait for a tick. */
  function tick(): void {
    const passed_s = (performance.now() - started) / 1000
    const due = Math.floor((passed_s * perSecond) / together + 1) * together
    while (sent < Math.min(due, most) && underWay.size < concurrency) begin()
    if (sent >= most) end()
  }
  const timer = setInterval(tick, TICK_MS)
  tick()
  return {
    tally,
    done: over.promise,
    stop() {
      ending.abort()
      return end()
    },
  }
}

export const triesIn = (tally: Tally): number =>
  Object.values(tally).reduce((sum, count) => sum + count, 0)

/** Adds what another part of the same attack has counted. */
export function addTally(sum: Tally, more: Tally): void {
  for (const [status, count] of Object.entries(more)) {
    sum[Number(status)] = (sum[Number(status)] ?? 0) + count
  }
}
