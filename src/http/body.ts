import { isUtf8 } from 'node:buffer'
import { invalid, problem } from '../lib/problems.ts'
import { forEachInTurns } from '../lib/turns.ts'

export const BODY_LIMIT_BYTES = 64 * 1024
const DEPTH_LIMIT = 32
/** No operation takes so many values. Parsing more of them would block other requests. */
export const VALUES_LIMIT = 4_000

/** A parsed body, and the faults of its text that a schema cannot find. */
export type Body = { value: unknown; faults: string[] }

/**
 * Reads a JSON body. An empty one counts as an empty object, and validation finds what is missing.
 */
export function readBody(raw: Buffer, valuesLimit = Number.POSITIVE_INFINITY): Body {
  if (raw.length === 0) return { value: {}, faults: [] }
  if (!isUtf8(raw)) throw problem('invalid_json', 'The body is not valid UTF-8.')
  const text = raw.toString('utf8')
  const { depth, values } = sizeOf(text)
  if (depth > DEPTH_LIMIT) {
    throw invalid(`body: must not nest deeper than ${DEPTH_LIMIT} levels`)
  }
  if (values > valuesLimit) {
    throw invalid(`body: must not have more than ${valuesLimit} values`)
  }
  const value = parse(text)
  // Only an escape can give a NUL or half a character. If there is none, nothing is checked.
  const suspicious = text.includes('\\u') || text.includes('__proto__')
  return { value, faults: suspicious ? textFaults(value) : [] }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const where = /position \d+/.exec((error as Error).message)?.[0]
    throw problem('invalid_json', `The body is not valid JSON${where ? ` (at ${where})` : ''}.`)
  }
}

/** How deep brackets are nested, and how many values they have, except those in strings. */
function sizeOf(text: string): { depth: number; values: number } {
  let depth = 0
  let deepest = 0
  let values = 1
  for (let i = 0; i < text.length; i++) {
    const letter = text.charCodeAt(i)
    if (letter === QUOTE) i = endOfString(text, i)
    else if (letter === BRACKET || letter === BRACE) deepest = Math.max(deepest, ++depth)
    else if (letter === BRACKET + 2 || letter === BRACE + 2) depth--
    else if (letter === COMMA) values++
  }
  return { depth: deepest, values }
}

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const BRACKET = 91
const BRACE = 123

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
  return slashes % 2 === 1
}

/** Names in a path are cut to this length, because a path is repeated for each field below it. */
const MAX_NAME = 64
/** How many faults are collected. More are not needed, because an answer lists only some. */
const MAX_FAULTS = 100

/** Finds texts that no column can hold, and names that are an attack. */
export function textFaults(value: unknown): string[] {
  const found: string[] = []
  collectFaults(value, '', found)
  return found
}

function collectFaults(value: unknown, path: string, found: string[]): void {
  if (typeof value === 'string') found.push(...charactersFault(value, path || 'body'))
  if (typeof value !== 'object' || value === null) return
  for (const [name, child] of Object.entries(value)) {
    if (found.length >= MAX_FAULTS) return
    const short = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME).toWellFormed()}…` : name
    const at = Array.isArray(value) ? `${path}[${name}]` : path ? `${path}.${short}` : short
    if (name === '__proto__') found.push(`${at}: this name is not allowed`)
    else {
      found.push(...charactersFault(name, path || 'body'))
      collectFaults(child, at, found)
    }
  }
}

function charactersFault(text: string, path: string): string[] {
  if (text.includes('\0')) return [`${path}: must not contain a NUL character`]
  return text.isWellFormed() ? [] : [`${path}: must be valid Unicode text`]
}

/** The same text for the same JSON, whatever the order of its names. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  return `{${sorted(value)
    .map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`)
    .join()}}`
}

const sorted = (value: object) => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))

/** The same for a body whose lists may be long, in turns of the event loop. */
export async function canonicalInTurns(owner: string, body: unknown): Promise<string> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return canonical(body)
  const fields: string[] = []
  for (const [name, value] of sorted(body)) {
    const items: string[] = []
    if (Array.isArray(value)) {
      await forEachInTurns(owner, value, (item) => items.push(canonical(item)))
    }
    const text = Array.isArray(value) ? `[${items.join()}]` : canonical(value)
    fields.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${fields.join()}}`
}
