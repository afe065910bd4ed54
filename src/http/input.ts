import type { FastifyRequest } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import { nearest } from '../lib/nearest.ts'
import { MAX_LISTED } from '../lib/problems.ts'
import { type Body, textFaults } from './body.ts'
import { bodyNormalizer, queryNormalizer } from './normalize.ts'
import type { Unchecked } from './route.ts'
import { type Fields, isObject, type Schema } from './schema.ts'
import { requireNone, validator } from './violations.ts'

/** Bounds of the header: proxies refuse large ones, and a body may hold thousands of names. */
const MAX_NAMED = 20
const MAX_NAME = 64
const MAX_HEADER = 1000

/**
 * The value of X-Ignored-Fields: the paths of the fields that the schema does not have, such as
 * `customer.foo, items[0].bar`. Null if there are none. It has names only, never values. A list
 * that is cut off ends with `...`.
 */
function ignoredFields(schema: Schema | undefined, body: unknown): string | null {
  const paths = unknownFields(schema, body).map(({ path }) => path)
  const shown: string[] = []
  let length = 0
  for (const path of paths.slice(0, MAX_NAMED)) {
    length += path.length + 2
    if (length > MAX_HEADER) break
    shown.push(path)
  }
  if (shown.length < paths.length) shown.push('...')
  return shown.length > 0 ? shown.join(', ') : null
}

/** A field that a schema does not have, and the sentence of a refusal: `what` it is not. */
type Unknown = { path: string; fault(what: string): string }

/** The fields that the schema does not have. It stops after one more than the header lists. */
function unknownFields(schema: Schema | undefined, body: unknown): Unknown[] {
  const found: Unknown[] = []
  find(schema, body, '', found)
  return found
}

/**
 * Says that a name is not known, which one was probably meant, and which ones there are. `others`
 * are other names of known ones.
 */
function unknownFault(
  name: string,
  what: string,
  known: string[],
  others: Record<string, string> = {},
): string {
  const found = nearest(name, [...known, ...Object.keys(others)])
  const meant = found && (others[found] ?? found)
  const guess = meant === null ? '' : ` (did you mean ${meant}?)`
  return `is not ${what}${guess}, which takes ${known.length > 0 ? known.join(', ') : 'none'}`
}

function find(schema: Schema | undefined, value: unknown, path: string, found: Unknown[]): void {
  if (Array.isArray(value)) {
    if (!schema?.items) return
    const most = Math.min(value.length, schema.maxItems ?? value.length)
    for (let i = 0; i < most && found.length <= MAX_NAMED; i++) {
      find(schema.items, value[i], `${path}[${i}]`, found)
    }
  } else if (isObject(value) && (schema?.properties || path === '')) {
    const known = schema?.properties ?? {}
    for (const name of Object.keys(value)) {
      if (found.length > MAX_NAMED) return
      const isKnown = Object.hasOwn(known, name)
      const own = isKnown ? name : encodeName(name)
      const at = path === '' ? own : `${path}.${own}`
      if (isKnown) find(known[name], value[name], at, found)
      else if (!isOtherName(known, name, value))
        found.push({ path: at, fault: faultOf(known, name) })
    }
  }
}

type Known = NonNullable<Schema['properties']>

/** The field that has this other name. */
const namedAlso = (known: Known, name: string): string | undefined =>
  Object.keys(known).find((field) => known[field]!['x-other-name'] === name)

/** Whether a name stands for a field that is not sent under its own. */
function isOtherName(known: Known, name: string, value: Fields): boolean {
  const field = namedAlso(known, name)
  return field !== undefined && !Object.hasOwn(value, field)
}

const faultOf = (known: Known, name: string) => (what: string) => {
  const field = namedAlso(known, name)
  if (field !== undefined) return `is another name of ${field}: send only one of them`
  const fields = Object.keys(known)
  const others = fields.flatMap((one) => {
    const other = known[one]!['x-other-name']
    return other ? [[other, one]] : []
  })
  return unknownFault(name, what, fields, Object.fromEntries(others))
}

/**
 * Makes a client's name safe for a header or a message. It is cut and percent-encoded, so that no
 * character of it ends a line, a path or an item of a list.
 */
function encodeName(name: string): string {
  if (name === '') return '""'
  const short = name.length > MAX_NAME ? name.slice(0, MAX_NAME) : name
  return encodeURIComponent(short.toWellFormed()).replaceAll('.', '%2E')
}

export const IGNORED_FIELDS = 'X-Ignored-Fields'

/** The schemas of an operation's query and body. */
type Accepted = {
  query?: TObject
  body?: TSchema
  /** What an unknown field is not, such as a field of this operation; without it, it is ignored. */
  refused?: string
  /** Rules that a schema cannot express. */
  check?(body: Unchecked, given: Given): (string | null)[]
}

/** What is read of a request, or of a form that a page sends. */
type Given = Pick<FastifyRequest, 'query' | 'body' | 'session'>

export type Input = {
  query: unknown
  /** Normalized and valid, for the core. */
  body: unknown
  /**
   * The body as it was sent, by which a repeated request is recognized. The normalized body is not
   * used for that, because a new version may normalize in another way.
   */
  sent: unknown
}

/** Used for a request without a body. */
const NO_BODY: Body = { value: {}, faults: [] }

/**
 * Creates the reader of an operation's query and body. It reports all violations together, and
 * names ignored fields in X-Ignored-Fields of any answer.
 */
export function inputReader(accepted: Accepted) {
  const readQuery = queryReader(accepted.query)
  const readBody = bodyReader(accepted.body)
  const lists = listsOfEach(accepted.body)
  const isOfItem = (fault: string) => lists.some((name) => fault.startsWith(`${name}[`))

  return (given: Given, onIgnored?: (fields: string) => void): Input => {
    const { value: sent, faults } = (given.body as Body | undefined) ?? NO_BODY
    const found = lists.length > 0 ? faults.filter((fault) => !isOfItem(fault)) : [...faults]
    const query = readQuery(given.query, found)
    const body = readBody(sent, found)
    if (accepted.check && isObject(body)) {
      found.push(...accepted.check(body, given).filter((fault) => fault !== null))
    }
    if (accepted.refused) {
      found.push(...refusals(accepted, sent))
    } else if (onIgnored && given.body !== undefined) {
      const ignored = ignoredFields(accepted.body, sent)
      if (ignored !== null) onIgnored(ignored)
    }
    requireNone(found)
    return { query, body, sent }
  }
}

/** The lists of a body whose items the operation checks itself, each by itself. */
const listsOfEach = ({ properties = {} }: Schema = {}): string[] =>
  Object.keys(properties).filter((name) => properties[name]!['x-each'])

/** What is wrong with the names of a body where all must be known. */
function refusals({ body, refused = '' }: Accepted, sent: unknown): string[] {
  // Without a schema nothing else notices what is no object. Some clients send null for nothing.
  if (!body && sent !== null && !isObject(sent)) return ['body: must be an object']
  return unknownFields(body, sent).map(({ path, fault }) => `${path}: ${fault(refused)}`)
}

/** Returns what was read, and adds what is wrong with it to the faults. */
type Reader = (given: unknown, faults: string[]) => unknown

function bodyReader(schema: TSchema | undefined): Reader {
  if (!schema) return (given) => given
  const normalize = bodyNormalizer(schema)
  const check = validator('body', schema)
  return (given, faults) => {
    const body = normalize(given)
    faults.push(...check(body))
    return body
  }
}

function queryReader(schema: TObject | undefined): Reader {
  const known = Object.keys(schema?.properties ?? {})
  const addUnknown = (given: unknown, faults: string[]) => {
    const unknown = Object.keys(given as object).filter((name) => !known.includes(name))
    unknown.forEach((name, i) => {
      // Beyond those that are listed, violations are only counted.
      const fault = () => unknownFault(name, 'a query parameter of this operation', known)
      faults.push(`${encodeName(name)}: ${i < MAX_LISTED ? fault() : ''}`)
    })
  }
  if (!schema) {
    return (given, faults) => {
      addUnknown(given, faults)
      return given
    }
  }
  const normalize = queryNormalizer(schema)
  const check = validator('query', schema)
  return (given, faults) => {
    const query = normalize(given)
    addUnknown(given, faults)
    faults.push(...textFaults(query), ...check(query))
    return query
  }
}
