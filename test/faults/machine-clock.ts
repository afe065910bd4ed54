import { chmodSync, globSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from '../../src/db/embedded/cluster.ts'

/**
 * The clock of a machine, for the processes that are started with its environment. Linux has no
 * other clock of the day for some processes alone (a time namespace moves only the steady clocks),
 * so it is Debian's libfaketime, which answers what they ask of the system. Steady clocks go on as
 * they do when a real clock is set.
 */
export type MachineClock = {
  environment: Record<string, string>
  /** So many seconds from the right time. Processes see it within a second. */
  set(ahead_s: number): void
  /** Removes what processes that were killed have left of it. */
  close(): void
}

/** The library keeps a file in memory for each process, and removes it at an ordinary end. */
const LEFT = '/dev/shm/{faketime_shm_,sem.faketime_sem_}*'
const LIBRARY = '/usr/lib/*/faketime/libfaketimeMT.so.1'

/** FAKETIME_LIBRARY names it where it is elsewhere. */
const findLibrary = (): string | undefined =>
  process.env.FAKETIME_LIBRARY ?? globSync(LIBRARY).at(0)

/** Why clocks cannot be moved here; null if they can. */
export const clockFault = (): string | null =>
  findLibrary() ? null : 'it needs libfaketime (apt-get install libfaketime)'

export function openMachineClock(folder: string, name: string): MachineClock {
  const file = join(folder, `${name}.clock`)
  const set = (ahead_s: number) => {
    // Nobody reads it half-written.
    writeFileSync(`${file}.new`, `${ahead_s < 0 ? '' : '+'}${ahead_s}\n`)
    chmodSync(`${file}.new`, 0o644)
    renameSync(`${file}.new`, file)
  }
  set(0)
  return {
    set,
    close() {
      for (const path of globSync(LEFT)) {
        if (!isAlive(Number(path.split('_').at(-1)))) rmSync(path, { force: true })
      }
    },
    environment: {
      LD_PRELOAD: findLibrary()!,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    },
  }
}
