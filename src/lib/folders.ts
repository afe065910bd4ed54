import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorFault } from './operator-fault.ts'

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

/** Why a data directory cannot be used, and what to do; a bug stays what it is. */
export function folderFault(home: string, fault: unknown): unknown {
  const { code = '', message } = fault as NodeJS.ErrnoException
  if (fault instanceof OperatorFault || !code.startsWith('E')) return fault
  const remedy = FOLDER_REMEDIES[code] ?? 'Choose a folder that Vintém can write to with DATA_DIR.'
  const text = `The data directory ${home} cannot be used (${message}). ${remedy}`
  return new OperatorFault(text, { cause: fault })
}

const OTHER_OWNER =
  'Start Vintém as the user that it belongs to, or give it to this one with chown -R.'

const FOLDER_REMEDIES: Record<string, string> = {
  EACCES: OTHER_OWNER,
  EPERM: OTHER_OWNER,
  EROFS: 'It is on a read-only file system: mount it writable, or choose another with DATA_DIR.',
  ENOSPC: 'The disk is full: make room, or choose another folder with DATA_DIR.',
  EDQUOT: 'The quota is used up: make room, or choose another folder with DATA_DIR.',
}
