import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A disk of its own that can be filled. */
export type SmallDisk = {
  folder: string
  /** Takes all of it but so many bytes. */
  fill(spare_bytes: number): void
  free(): void
  close(): void
}

const SIZE = '768m'

/** Why there can be no such disk here; null if there can. */
export function diskFault(): string | null {
  if (process.platform !== 'linux') return 'it needs Linux, for a small file system in memory'
  if (process.getuid?.() !== 0) return 'it needs root, to mount a small file system'
  try {
    openSmallDisk().close()
    return null
  } catch {
    return 'no file system may be mounted here'
  }
}

/** A file system in memory. Whoever may not mount one gets an error. */
export function openSmallDisk(): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'vintem-disk-'))
  const options = ['-t', 'tmpfs', '-o', `size=${SIZE},mode=755`, 'tmpfs', folder]
  try {
    execFileSync('mount', options, { stdio: 'ignore' })
  } catch (error) {
    rmdirSync(folder)
    throw error
  }
  const filler = join(folder, 'filler')
  const close = () => {
    process.off('exit', close)
    spawnSync('umount', ['-l', folder])
    rmdirSync(folder)
  }
  process.once('exit', close)
  return {
    folder,
    fill(spare_bytes) {
      const { bavail, bsize } = statfsSync(folder)
      const bytes = Math.max(bavail * bsize - spare_bytes, bsize)
      // What was written meanwhile may have made it too much, and then it is full as well.
      spawnSync('fallocate', ['-l', String(bytes), filler])
    },
    free: () => rmSync(filler, { force: true }),
    close,
  }
}
