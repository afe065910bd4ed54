import type { TestContext } from 'node:test'

/** The time by which limits are measured, which passes only when a test lets it. */
export function stopTime(t: TestContext): { advance(seconds: number): void } {
  let now_ms = performance.now()
  t.mock.method(performance, 'now', () => now_ms)
  return {
    advance(seconds) {
      now_ms += seconds * 1000
    },
  }
}
