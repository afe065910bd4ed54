import type { IncomingMessage } from 'node:http'
import type { FullApp } from '../core/full-app.ts'
import type { StoredResponse } from '../core/idempotency.ts'
import * as idempotency from '../core/idempotency.ts'
import { type Act, isLockTimeout, violatedConstraint } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { invalid, Problem, type ProblemCode, problem } from '../lib/problems.ts'
import { warningHeader } from './headers.ts'
import type { Result, Seal } from './route.ts'

/** An answer in its version. `warnings` is the value of a header, which is stored beside the body. */
export type Rendered = { status: number; body: string; warnings: string | null }

/**
 * The answer to a request, ready to be sent. `stored` is whether it is in the database, or never
 * will be.
 */
export type Answer = Rendered & { headers: Record<string, string>; stored: boolean }

export type Guard = idempotency.IdempotencyRef & { companyId: Uuid }

const FORM = /^[\x20-\x7e]{1,255}$/
/** Marks an answer that was given before. */
export const REPLAYED = 'Idempotent-Replayed'
/** Errors that are not stored, so that a corrected or later retry is processed. */
const NOT_STORED = new Set<ProblemCode>([
  'invalid_json',
  'invalid_value',
  'payload_too_large',
  'unsupported_media_type',
  'idempotency_in_progress',
  'rate_limited',
  // The operator may correct what the bank refuses, such as a Pix key.
  'provider_rejected',
])

/** The key of a request. An empty header counts as none, like every optional text. */
export function readKey({ headers, rawHeaders }: IncomingMessage): string | null {
  const header = headers['idempotency-key']
  if (header === undefined || header === '') return null
  // Two such headers arrive as one text.
  const isMany = header.includes(', ') && rawHeaders.filter(isKeyName).length > 1
  if (isMany) throw invalid('Idempotency-Key: send one such header')
  if (typeof header === 'string' && FORM.test(header)) return header
  throw invalid('Idempotency-Key: must have 1 to 255 printable ASCII characters')
}

/** Names and values follow each other. */
const isKeyName = (text: string, i: number) =>
  i % 2 === 0 && text.toLowerCase() === 'idempotency-key'

/** Thrown in a transaction if the key is already used, so that it is rolled back. */
class KeyTaken extends Error {}

function replay(app: FullApp, response: StoredResponse, guard: Guard): Answer {
  if (!app.vault.isSameRequest(response.fingerprint, guard.fingerprint)) {
    throw problem('idempotency_key_reused')
  }
  const body = idempotency.openAnswer(app.vault, guard.companyId, response)
  const { status, warnings } = response
  const headers = { [REPLAYED]: 'true', ...warningHeader(warnings) }
  return { status, body, warnings, headers, stored: true }
}

const { inProgress } = idempotency

/** Whether an insert failed because another process uses or has used the same key. */
const lostRace = (error: unknown): boolean =>
  error instanceof KeyTaken || violatedConstraint(error) === 'idempotency_keys_pkey'

/** The running requests of this process, by company and key. A duplicate waits for the first. */
const running = new Map<string, Promise<unknown>>()

/**
 * Processes a request once. `act` makes the answer. If it commits something, it stores the answer
 * in the same transaction.
 */
async function runIdempotent(
  app: FullApp,
  guard: Guard,
  act: () => Promise<Answer>,
): Promise<Answer> {
  const name = `${guard.companyId} ${guard.key}`
  while (running.has(name)) await running.get(name)
  const work = attempt(app, guard, act)
  const ended = work.catch(() => {}).finally(() => running.delete(name))
  running.set(name, ended)
  return work
}

async function attempt(
  app: FullApp,
  guard: Guard,
  act: () => Promise<Answer>,
  mayRepeat = true,
): Promise<Answer> {
  const { companyId, key } = guard
  const now = await app.clockWatch.now()
  const stored = await app.findStored({ companyId, key, now })
  if (stored) return replay(app, stored, guard)
  try {
    const answer = await act()
    return answer.stored ? answer : await storeAfter(app, guard, answer)
  } catch (error) {
    if (isLockTimeout(error)) throw inProgress()
    if (!lostRace(error)) throw error
    if (!mayRepeat) throw inProgress()
    // Either another process was first, or a key older than a day is still stored.
    await idempotency.forgetOld(app.db, companyId, key, now)
    return attempt(app, guard, act, false)
  }
}

/**
 * Stores the answer of a request that has changed nothing, so a crash before this loses nothing. If
 * another process has stored an answer in the meantime, that one is used.
 */
async function storeAfter(app: FullApp, guard: Guard, answer: Answer): Promise<Answer> {
  const response = idempotency.sealAnswer(app.vault, guard, answer)
  const now = await app.clockWatch.now()
  const mine = await idempotency.store(app.db, guard.companyId, response, now)
  if (!mine) throw new KeyTaken()
  return { ...answer, stored: true }
}

/** Runs a command and stores its key in one transaction. */
async function commitOnce(
  app: FullApp,
  guard: Guard,
  act: Act<Result>,
  render: (data: unknown) => Rendered,
): Promise<Result> {
  const now = await app.clockWatch.now()
  return app.db.transaction(async (tx, control) => {
    const { companyId, key, fingerprint } = guard
    const claiming = idempotency.claim(tx, companyId, key, fingerprint, now)
    const mine = await claiming.catch((error) => {
      throw isLockTimeout(error) ? inProgress() : error
    })
    if (!mine) throw new KeyTaken()
    const result = await act(tx, control)
    const response = idempotency.sealAnswer(app.vault, guard, render(result.data))
    await idempotency.complete(tx, companyId, response)
    return result
  })
}

/** A request with an Idempotency-Key. */
export type Idempotency = {
  guard: Guard
  /** Returns the stored answer. If there is none, calls `act`, and stores what it returns. */
  run(act: () => Promise<Answer>): Promise<Answer>
  /** Runs a command, and stores its answer in the same transaction. */
  commit(act: Act<Result>): Promise<Result>
  /**
   * Runs a command that stores the answer that it is given. If it does not, the answer is stored
   * after it, so it must be a command that can be repeated.
   */
  commitInGroup(act: (seal: Seal<unknown>) => Promise<Result>): Promise<Result>
  /** The answer to a result. If it is not the one that was committed, it replaces that. */
  answerTo(result: Result): Promise<Rendered & Pick<Answer, 'stored'>>
}

export function createIdempotency(
  app: FullApp,
  guard: Guard,
  render: (data: unknown) => Rendered,
): Idempotency {
  let made: Rendered | null = null
  let committed: Result | null = null
  const make = (data: unknown): Rendered => {
    made = render(data)
    return made
  }
  const seal = (data: unknown) => idempotency.sealAnswer(app.vault, guard, make(data))
  return {
    guard,
    run: (act) =>
      runIdempotent(app, guard, () => {
        // If the first run lost the key to another process, what it committed was rolled back.
        committed = null
        return act()
      }),
    async commit(act) {
      committed = await commitOnce(app, guard, act, make)
      return committed
    },
    async commitInGroup(act) {
      let isSealed = false
      const result = await act((data) => {
        isSealed = true
        return seal(data)
      })
      // The answer to the first request is stored under the key of that one.
      if (isSealed && !result.repeated) committed = result
      return result
    },
    async answerTo({ data, isFinal = true }) {
      if (committed === null) return { ...render(data), stored: !isFinal }
      if (data !== committed.data) {
        await idempotency.complete(app.db, guard.companyId, seal(data))
      }
      return { ...made!, stored: true }
    },
  }
}

/** Errors that follow from the state of records are stored like a success. */
export const isStorable = (error: unknown): error is Problem =>
  error instanceof Problem && error.status < 500 && !NOT_STORED.has(error.code)
