import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Step } from '../../src/core/moves/move.ts'
import { appsOf } from '../../src/core/places/front.ts'
import type { TestApi } from '../support/api.ts'
import { inherited } from '../support/process.ts'
import { until } from '../support/until.ts'

const MOVER = join(import.meta.dirname, 'mover.ts')

/** Moves a company from the second place to the first in a process that gets a signal at a step. */
const startMover = ({ places }: TestApi, companyId: string, step: Step, signal: string) =>
  spawn(process.execPath, [MOVER, companyId, '2', '1', step, signal, ...places], {
    env: inherited,
    stdio: ['ignore', 'ignore', 'inherit'],
  })

export async function killMoverAt(api: TestApi, companyId: string, step: Step): Promise<void> {
  const [, signal] = await once(startMover(api, companyId, step, 'SIGKILL'), 'exit')
  assert.equal(signal, 'SIGKILL', `killed at ${step}`)
  await untilForgotten(api)
}

/** The locks of a mover are held until PostgreSQL notices that it has ended. */
async function untilForgotten(api: TestApi): Promise<void> {
  for (const { db } of appsOf(api.app)) {
    await until('the end of its connections', async () => {
      const text = `select from pg_stat_activity
        where application_name = 'vintem move' and datname = current_database()`
      return (await db.query({ text })).length === 0
    })
  }
}

/** From this step on it does nothing, and keeps its connections. */
export async function stopMoverAt(
  api: TestApi,
  companyId: string,
  step: Step,
): Promise<{ kill(): Promise<void> }> {
  const mover: ChildProcess = startMover(api, companyId, step, 'SIGSTOP')
  const isStopped = () => / T /.test(readFileSync(`/proc/${mover.pid}/stat`, 'utf8'))
  await until('a mover that hangs', async () => (isStopped() ? true : null), 60)
  return {
    async kill() {
      mover.kill('SIGKILL')
      await once(mover, 'exit')
      await untilForgotten(api)
    },
  }
}
