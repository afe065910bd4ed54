import assert from 'node:assert/strict'
import { TASK } from '../../src/core/tasks.ts'
import { startWorker, TASKS } from '../../src/worker/worker.ts'
import type { Client, Reply, TestApi } from './api.ts'
import { until } from './until.ts'

export const CLOCK = '/sandbox/clock'

/** Plays clocks and delivers webhooks, and does no other task, for as long as a file's tests take. */
export function startPlaying(api: TestApi): void {
  const worker = startWorker(api.app, playing)
  api.atEnd(() => worker.stop())
}

const playing = TASKS.filter(({ name }) => name === TASK.clocks || name === TASK.deliver)

/** Plays clocks for as long as something takes. */
export async function played<T>(api: TestApi, act: () => Promise<T>): Promise<T> {
  const worker = startWorker(
    api.app,
    playing.filter(({ name }) => name === TASK.clocks),
  )
  return act().finally(() => worker.stop())
}

/** Moves a company's clock by so many seconds, however long that takes, and gives its now. */
export async function advance(client: Client, seconds: number): Promise<Date> {
  const reply = await client.post(CLOCK, { advance: seconds })
  assert.equal(reply.status, 200, reply.text)
  return arrived(client)
}

/** Waits until a company's clock is no longer on its way, and gives its now. */
export const arrived = (client: Client): Promise<Date> =>
  until('the clock has arrived', async () => {
    const { body } = await client.get(CLOCK)
    return body.data.status === 'READY' && new Date(body.data.now)
  })

export const statusOf = ({ body }: Reply): string => body.data?.status

/** A moment so many seconds after another, as answers have it. */
export const after = (start: Date, seconds: number): string =>
  new Date(start.getTime() + seconds * 1000).toISOString()
