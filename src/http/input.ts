import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import { nearest } from '../lib/nearest.ts'
import { MAX_LISTED } from '../lib/problems.ts'
import { type Body, textFaults } from './body.ts'
import { encodeName, ignoredFields } from './ignored.ts'
import { bodyNormalizer, queryNormalizer } from './normalize.ts'
import type { Unchecked } from './route.ts'
import { isObject } from './schema.ts'
import { requireNone, validator } from './violations.ts'

export const IGNORED_FIELDS = 'X-Ignored-Fields'

/** What an operation takes beside its path. */
export type Taken = {
  query?: TObject
  body?: TSchema
  /** Rules that a schema cannot say. */
  check?(body: Unchecked, request: FastifyRequest): (string | null)[]
}

export type Input = {
  query: unknown
  /** Normalized and valid: what the core works with. */
  body: unknown
  /**
   * The body as it was sent, by which the same request is known again. Not the normalized one: what
   * a request was recognised by must not change when we learn to accept another way to write it.
   */
  sent: unknown
}

/** What a request without a body says. */
const NOTHING: Body = { value: {}, faults: [] }

/**
 * Makes the reader of an operation's query and body. It gathers every violation before it refuses,
 * and names the fields that it ignores in X-Ignored-Fields, whatever the answer will be.
 */
export function inputReader(taken: Taken) {
  const readQuery = queryReader(taken.query)
  const readBody = bodyReader(taken.body)

  return (request: FastifyRequest, reply: FastifyReply): Input => {
    const { value: sent, faults } = (request.body as Body | undefined) ?? NOTHING
    const found = [...faults]
    const query = readQuery(request.query, found)
    const body = readBody(sent, found)
    if (taken.check && isObject(body)) {
      found.push(...taken.check(body, request).filter((fault) => fault !== null))
    }
    const ignored = request.body === undefined ? null : ignoredFields(taken.body, sent)
    if (ignored !== null) reply.header(IGNORED_FIELDS, ignored)
    requireNone(found)
    return { query, body, sent }
  }
}

/** Gives what was read, and adds what is wrong with it to the faults. */
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
      faults.push(`${encodeName(name)}: ${i < MAX_LISTED ? unknownFault(name, known) : ''}`)
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

function unknownFault(name: string, known: string[]): string {
  const meant = nearest(name, known)
  const guess = meant === null ? '' : ` (did you mean ${meant}?)`
  const list = known.length > 0 ? known.join(', ') : 'none'
  return `is not a query parameter of this operation${guess}, which takes ${list}`
}
