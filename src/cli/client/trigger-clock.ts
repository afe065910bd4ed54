import { setTimeout as pause } from 'node:timers/promises'
import { type Vintem, VintemError } from '../../../packages/client/src/index.ts'
import { ClientFault } from '../command.ts'

const PAUSE_MS = 250
/** A clock stays at a moment until all receivers were asked, which may take their time. */
const PATIENCE_MS = 10 * 60_000

type Moving = { vintem: Vintem; moved_ms: number }

/** Lets the time of the company pass until a moment. If it has passed, does nothing. */
export async function moveTo(moving: Moving, moment: Date): Promise<void> {
  const { vintem } = moving
  const deadline_ms = performance.now() + PATIENCE_MS
  for (;;) {
    const { now } = await untilReady(vintem, deadline_ms)
    const by_ms = moment.getTime() - Date.parse(now)
    if (by_ms <= 0) return
    // Whole seconds, and a moment that has passed meanwhile is no error.
    const advance = Math.ceil(by_ms / 1000)
    if (await move(vintem, advance)) {
      moving.moved_ms += advance * 1000
      await untilReady(vintem, deadline_ms)
      return
    }
  }
}

/** Returns false if somebody else moves the clock at this moment. */
async function move(vintem: Vintem, advance: number): Promise<boolean> {
  try {
    await vintem.sandbox.moveClock({ advance })
    return true
  } catch (error) {
    if (error instanceof VintemError && error.code === 'clock_advancing') return false
    throw error
  }
}

async function untilReady(vintem: Vintem, deadline_ms: number) {
  for (;;) {
    const clock = await vintem.sandbox.clock()
    if (clock.status === 'READY') return clock
    if (performance.now() > deadline_ms) {
      const work = clock.running.join(', ') || 'something'
      throw new ClientFault(`The clock of the company is still moving: ${work} is not done.`)
    }
    await pause(PAUSE_MS)
  }
}
