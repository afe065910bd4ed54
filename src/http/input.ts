import type { FastifyRequest } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import { MAX_LISTED } from '../lib/problems.ts'
import { type Body, textFaults } from './body.ts'
import { encodeName, ignoredFields, unknownFault, unknownFields } from './ignored.ts'
import { bodyNormalizer, queryNormalizer } from './normalize.ts'
import type { Unchecked } from './route.ts'
import { isObject } from './schema.ts'
import { requireNone, validator } from './violations.ts'

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

  return (given: Given, onIgnored?: (fields: string) => void): Input => {
    const { value: sent, faults } = (given.body as Body | undefined) ?? NO_BODY
    const found = [...faults]
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
