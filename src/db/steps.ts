const STEP_MS = 50

/**
 * Waits for so long, in steps. A process that gets little of the processor is late with each step,
 * so it waits longer for what it has had no time to read.
 */
export async function waitInSteps(ms: number, signal: AbortSignal): Promise<void> {
  for (let left_ms = ms; left_ms > 0 && !signal.aborted; left_ms -= STEP_MS) {
    await new Promise((resolve) => {
      setTimeout(resolve, STEP_MS)
    })
  }
}
