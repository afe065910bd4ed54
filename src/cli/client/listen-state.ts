import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { requirePrivate, writePrivate } from './private-file.ts'

/** Where a listener has come to: after an event, or before the first if that is null. */
export type Position = { after: string | null }

export type PositionFile = {
  /** Null if no such listener was started before. */
  read(): Position | null
  write(position: Position): void
}

export type SecretFile = { read(): string | null; write(secret: string): void }

/** The file with this content, of all listeners for whom these words are the same. */
const pathOf = (folder: string, content: string, words: unknown[]): string => {
  const name = createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 32)
  return join(folder, 'listen', `${name}.${content}.json`)
}

/**
 * Listeners that leave out other events, or send them elsewhere, have a position each: what one
 * has passed, another has not.
 */
export function positionFile(folder: string, words: unknown[]): PositionFile {
  const path = pathOf(folder, 'position', words)
  return {
    read() {
      const stored = parse(path)
      return stored && { after: textOf(stored.after) }
    },
    write: (position) => writePrivate(path, `${JSON.stringify(position)}\n`, 'position'),
  }
}

/** The secret for an application is the same whatever is forwarded to it. */
export function secretFile(folder: string, words: unknown[]): SecretFile {
  const path = pathOf(folder, 'secret', words)
  return {
    read() {
      if (existsSync(path)) requirePrivate(path, 'secret')
      return textOf(parse(path)?.secret)
    },
    write: (secret) => writePrivate(path, `${JSON.stringify({ secret })}\n`, 'secret'),
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** A damaged file counts as missing: the listener begins with what comes next. */
function parse(path: string): Record<string, unknown> | null {
  try {
    const stored = JSON.parse(readFileSync(path, 'utf8'))
    return typeof stored === 'object' ? stored : null
  } catch {
    return null
  }
}
