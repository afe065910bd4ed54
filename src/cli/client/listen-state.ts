import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ClientFault } from '../command.ts'
import type { Target } from './target.ts'

/** What a listener keeps: the last event that it has forwarded, and its secret. */
export type ListenState = { after: string | null; secret: string | null }

export type ListenFile = { read(): ListenState; write(state: ListenState): void }

const EMPTY: ListenState = { after: null, secret: null }

/** The file of the listener that forwards events of this key to this address. */
export function listenFile(folder: string, { url, key }: Target, forwardTo: string): ListenFile {
  const name = createHash('sha256').update(`${url}\n${key}\n${forwardTo}`).digest('hex')
  const own = join(folder, 'listen')
  const path = join(own, `${name.slice(0, 32)}.json`)
  return {
    read: () => parse(path),
    write(state) {
      const part = `${path}.${process.pid}.new`
      try {
        mkdirSync(own, { recursive: true, mode: 0o700 })
        writeFileSync(part, `${JSON.stringify(state)}\n`, { mode: 0o600 })
        // Replaced at once, so that a listener that is killed leaves a whole file.
        renameSync(part, path)
      } catch (error) {
        rmSync(part, { force: true })
        throw new ClientFault(`The position cannot be saved: ${(error as Error).message}.`)
      }
    },
  }
}

/** If it is missing or damaged, the listener begins with what comes next. */
function parse(path: string): ListenState {
  try {
    const { after, secret } = JSON.parse(readFileSync(path, 'utf8'))
    const text = (value: unknown) => (typeof value === 'string' ? value : null)
    return { after: text(after), secret: text(secret) }
  } catch {
    return EMPTY
  }
}
