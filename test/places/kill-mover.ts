import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Step } from '../../src/core/places/move.ts'
import { inherited } from '../support/process.ts'

/** Moves a company from the second place to the first, by a process that is killed at a step. */
export async function killMoverAt(places: string[], companyId: string, step: Step): Promise<void> {
  const mover = join(import.meta.dirname, 'mover.ts')
  const child = spawn(process.execPath, [mover, companyId, '2', '1', step, ...places], {
    env: inherited,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [, signal] = await once(child, 'exit')
  assert.equal(signal, 'SIGKILL', `killed at ${step}`)
}
