import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { createMetrics } from './metrics.ts'

/** The values of `nodejs_eventloop_lag_*`, in seconds. */
async function lagsOf(metrics: ReturnType<typeof createMetrics>): Promise<Map<string, number>> {
  const found = (await metrics.text()).matchAll(/^nodejs_eventloop_lag_(\w+)_seconds (\S+)$/gm)
  return new Map([...found].map(([, name, value]) => [name!, Number(value)]))
}

test('the lag of an idle event loop is near 0, whatever the interval is at which it is measured', async () => {
  const metrics = createMetrics()
  const same = monitorEventLoopDelay({ resolution: 500 })
  same.enable()
  await until('some measurements', () => same.count >= 2)
  same.disable()
  const lags = await lagsOf(metrics)
  // On an idle machine it is 2 ms at most.
  for (const name of ['min', 'mean', 'p50'])
    assert.ok(lags.get(name)! < 0.3, `${name} ${[...lags]}`)
  assert.equal(lags.size, 7)
  for (const [name, lag] of await lagsOf(metrics)) {
    assert.ok(lag >= 0 && lag < 10, `${name} is ${lag} when nothing was measured`)
  }
})

test('a block of the event loop is its lag', async () => {
  const metrics = createMetrics()
  const same = monitorEventLoopDelay({ resolution: 500 })
  same.enable()
  await until('some measurements', () => same.count >= 2)
  const end_ms = performance.now() + 1_500
  while (performance.now() < end_ms);
  const { count } = same
  await until('measurements of the block', () => same.count >= count + 2)
  same.disable()
  const max = (await lagsOf(metrics)).get('max')!
  assert.ok(max >= 0.9, `${max}`)
})
