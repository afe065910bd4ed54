/** Token buckets by name. A bucket that is full again is forgotten, so idle names cost nothing. */
export type Buckets = {
  /** Takes a token: 0 when there was one, otherwise the seconds to wait for it. */
  take(name: string, now_ms: number): number
  /** The seconds to wait for a token, without taking one. */
  wait(name: string, now_ms: number): number
}

type Bucket = { tokens: number; at_ms: number }

const SWEEP_ABOVE = 10_000

export function createBuckets(perSecond: number, burst: number): Buckets {
  const buckets = new Map<string, Bucket>()

  function sweep(now_ms: number): void {
    const full_ms = (burst / perSecond) * 1000
    for (const [name, { at_ms }] of buckets) if (now_ms - at_ms > full_ms) buckets.delete(name)
  }

  function refill(bucket: Bucket, now_ms: number): void {
    const refilled = bucket.tokens + (Math.max(0, now_ms - bucket.at_ms) / 1000) * perSecond
    bucket.tokens = Math.min(burst, refilled)
    bucket.at_ms = now_ms
  }
  const waitOf = ({ tokens }: Bucket) => (tokens < 1 ? (1 - tokens) / perSecond : 0)

  return {
    take(name, now_ms) {
      let bucket = buckets.get(name)
      if (!bucket) {
        if (buckets.size > SWEEP_ABOVE) sweep(now_ms)
        bucket = { tokens: burst, at_ms: now_ms }
        buckets.set(name, bucket)
      }
      refill(bucket, now_ms)
      const wait_s = waitOf(bucket)
      if (wait_s === 0) bucket.tokens -= 1
      return wait_s
    },
    wait(name, now_ms) {
      const bucket = buckets.get(name)
      if (!bucket) return 0
      refill(bucket, now_ms)
      return waitOf(bucket)
    },
  }
}
