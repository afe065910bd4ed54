/** Token buckets by name. A bucket that is full again is forgotten, so idle names cost nothing. */
export type Buckets = {
  /** Takes a token: 0 when there was one, otherwise the seconds to wait for it. */
  take(name: string, now_ms: number): number
}

const SWEEP_ABOVE = 10_000

export function createBuckets(perSecond: number, burst: number): Buckets {
  const buckets = new Map<string, { tokens: number; at_ms: number }>()

  function sweep(now_ms: number): void {
    const full_ms = (burst / perSecond) * 1000
    for (const [name, { at_ms }] of buckets) if (now_ms - at_ms > full_ms) buckets.delete(name)
  }

  return {
    take(name, now_ms) {
      let bucket = buckets.get(name)
      if (!bucket) {
        if (buckets.size > SWEEP_ABOVE) sweep(now_ms)
        bucket = { tokens: burst, at_ms: now_ms }
        buckets.set(name, bucket)
      }
      const refilled = bucket.tokens + (Math.max(0, now_ms - bucket.at_ms) / 1000) * perSecond
      bucket.tokens = Math.min(burst, refilled)
      bucket.at_ms = now_ms
      if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond
      bucket.tokens -= 1
      return 0
    },
  }
}
