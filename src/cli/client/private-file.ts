import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ClientFault } from '../command.ts'

/** Whoever has a key or a secret can use it, so no other user may read its file. */
export function requirePrivate(path: string, what: string): void {
  if (process.platform === 'win32' || (statSync(path).mode & 0o077) === 0) return
  throw new ClientFault(`Other users can read the ${what} in ${path}: run chmod 600 on it.`)
}

/** Replaces a file at once, so that a command that is killed leaves the former one. */
export function writePrivate(path: string, text: string, what: string): void {
  const part = `${path}.${process.pid}.new`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    rmSync(part, { force: true })
    writeFileSync(part, text, { mode: 0o600, flag: 'wx' })
    renameSync(part, path)
  } catch (error) {
    rmSync(part, { force: true })
    throw new ClientFault(`The ${what} cannot be saved: ${(error as Error).message}.`)
  }
}
