import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Step } from '../../src/core/places/move.ts'
import { inherited } from '../support/process.ts'
import { until } from '../support/until.ts'

/** Moves a company from the second place to the first in a process, which gets a signal at a step. */
function startMover(places: string[], companyId: string, step: Step, signal: string): ChildProcess {
  const mover = join(import.meta.dirname, 'mover.ts')
  return spawn(process.execPath, [mover, companyId, '2', '1', step, signal, ...places], {
    env: inherited,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

export async function killMoverAt(places: string[], companyId: string, step: Step): Promise<void> {
  const [, signal] = await once(startMover(places, companyId, step, 'SIGKILL'), 'exit')
  assert.equal(signal, 'SIGKILL', `killed at ${step}`)
}

/** It does nothing from this step on, and keeps its connections. */
export async function stopMoverAt(
  places: string[],
  companyId: string,
  step: Step,
): Promise<ChildProcess> {
  const mover = startMover(places, companyId, step, 'SIGSTOP')
  const isStopped = () => / T /.test(readFileSync(`/proc/${mover.pid}/stat`, 'utf8'))
  await until('a mover that hangs', async () => (isStopped() ? true : null), 60)
  return mover
}
