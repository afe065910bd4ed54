import { createRecent } from './memo.ts'

/**
 * Token buckets by name. Strangers choose names, so every call costs the same however many there
 * are, and only the latest names are remembered. A name is forgotten when `most / 2` others have
 * been used since; it then begins again with a full bucket.
 */
type Buckets = {
  /** Takes a token: 0 when there was one, otherwise the seconds to wait for it. */
  take(name: string, now_ms: number): number
  /** Gives back a token that was taken. */
  giveBack(name: string, now_ms: number): void
}

type Bucket = { tokens: number; at_ms: number }

const MAX_NAMES = 20_000

export function createBuckets(perSecond: number, burst: number, max = MAX_NAMES): Buckets {
  const buckets = createRecent<Bucket>(max)

  /** If the clock goes back, nothing is added, and time that was counted is not counted again. */
  function refill(bucket: Bucket, now_ms: number): void {
    const passed_s = Math.max(0, now_ms - bucket.at_ms) / 1000
    bucket.tokens = Math.min(burst, bucket.tokens + passed_s * perSecond)
    bucket.at_ms = Math.max(bucket.at_ms, now_ms)
  }
  const waitOf = ({ tokens }: Bucket) => (tokens < 1 ? (1 - tokens) / perSecond : 0)

  return {
    take(name, now_ms) {
      let bucket = buckets.get(name)
      if (!bucket) {
        bucket = { tokens: burst, at_ms: now_ms }
        buckets.set(name, bucket)
      }
      refill(bucket, now_ms)
      const wait_s = waitOf(bucket)
      if (wait_s === 0) bucket.tokens -= 1
      return wait_s
    },
    giveBack(name, now_ms) {
      const bucket = buckets.get(name)
      // A name that was forgotten has a full bucket.
      if (!bucket) return
      refill(bucket, now_ms)
      bucket.tokens = Math.min(burst, bucket.tokens + 1)
    },
  }
}
