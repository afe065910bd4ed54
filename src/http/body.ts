import { isUtf8 } from 'node:buffer'
import { invalid, problem } from '../lib/problems.ts'

export const BODY_LIMIT_BYTES = 64 * 1024
const DEPTH_LIMIT = 32

/**
 * Reads a JSON body. An empty one counts as an empty object: what is required will be missed later.
 */
export function readBody(raw: Buffer): unknown {
  if (raw.length === 0) return {}
  if (!isUtf8(raw)) throw problem('invalid_json', 'The body is not valid UTF-8.')
  const text = raw.toString('utf8')
  const value = parse(text)
  // Only escapes can smuggle in a NUL or half a character, and only then is it worth walking the
  // body.
  if (text.includes('\\u') || text.includes('__proto__')) requireClean(value, '', 0)
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const where = /position \d+/.exec((error as Error).message)?.[0]
    throw problem('invalid_json', `The body is not valid JSON${where ? ` (at ${where})` : ''}.`)
  }
}

function requireClean(value: unknown, path: string, depth: number): void {
  if (typeof value === 'string') requireText(value, path || 'body')
  if (typeof value !== 'object' || value === null) return
  if (depth > DEPTH_LIMIT) throw invalid(`body: must not nest deeper than ${DEPTH_LIMIT} levels`)
  for (const [name, child] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${name}]` : path ? `${path}.${name}` : name
    if (name === '__proto__') throw invalid(`${at}: this name is not allowed`)
    requireText(name, 'body')
    requireClean(child, at, depth + 1)
  }
}

function requireText(text: string, path: string): void {
  if (text.includes('\0')) throw invalid(`${path}: must not contain a NUL character`)
  if (!text.isWellFormed()) throw invalid(`${path}: must be valid Unicode text`)
}

/** The same text for the same JSON, whatever the order of its names. */
export function canonical(value: unknown, depth = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (depth > DEPTH_LIMIT) throw invalid(`body: must not nest deeper than ${DEPTH_LIMIT} levels`)
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join()}]`
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item, depth + 1)}`).join()}}`
}
