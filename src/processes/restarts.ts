import { OperatorFault } from '../lib/operator-fault.ts'

/** One replacement of all processes, as `DATA_DIR/server.json` tells it to `vintem restart`. */
export type Restart = {
  /** Which one it is since the server was started. */
  number: number
  isOver: boolean
  /** What has been done so far. */
  said: string[]
  /** Why not all processes were replaced. */
  fault: string | null
}

/**
 * Replaces all processes when somebody asks. Whoever asks meanwhile gets one more afterwards,
 * because the version on the disk may have changed since the first process was replaced.
 */
export function createRestarts(
  replaceAll: (say: (line: string) => void) => Promise<void>,
  note: (restart: Restart) => void,
  warn: (error: unknown) => void,
): { ask(): void } {
  let [number, isRunning, isAskedAgain] = [0, false, false]

  /** On a full disk nothing can be noted. The server goes on, and so does the restart. */
  function tell(now: Restart): void {
    try {
      note(now)
    } catch (error) {
      warn(error)
    }
  }

  async function restart(): Promise<void> {
    number += 1
    const now: Restart = { number, isOver: false, said: [], fault: null }
    tell(now)
    const say = (line: string) => {
      now.said.push(line)
      tell(now)
    }
    now.fault = await replaceAll(say).then(() => null, describe)
    now.isOver = true
    tell(now)
  }
  async function restartAll(): Promise<void> {
    isRunning = true
    do {
      isAskedAgain = false
      await restart()
    } while (isAskedAgain)
    isRunning = false
  }
  return {
    ask() {
      isAskedAgain = true
      if (!isRunning) restartAll()
    },
  }
}

const describe = (error: unknown): string =>
  error instanceof OperatorFault ? error.message : String((error as Error).stack ?? error)
