import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder for this user alone, with its parents. Each is made by a call of its own, because
 * Node's recursive call does not end where a parent exists and takes no folder, as in /proc.
 */
export function makeFolder(path: string): void {
  const missing: string[] = []
  for (let folder = path; !existsSync(folder); folder = dirname(folder)) missing.unshift(folder)
  for (const folder of missing) makeOne(folder)
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // If another process was faster, its folder is as good.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
