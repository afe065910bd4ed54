import type { FullApp } from '../core/full-app.ts'
import type { StoredResponse } from '../core/idempotency.ts'
import * as idempotency from '../core/idempotency.ts'
import { isLockTimeout, type Tx, violatedConstraint } from '../db/database.ts'
import type { Uuid } from '../lib/ids.ts'
import { invalid, Problem, type ProblemCode, problem } from '../lib/problems.ts'

/**
 * The answer to a request, ready to be sent. If `kept` is true, it is stored, or was
 * when it was made.
 */
export type Answer = {
  status: number
  body: string
  headers: Record<string, string>
  kept: boolean
}

export type Guard = idempotency.IdempotencyRef & { companyId: Uuid }

const FORM = /^[\x20-\x7e]{1,255}$/
const REPLAYED = { 'Idempotent-Replayed': 'true' }
/** Answers that a corrected or later retry should not meet again. */
const NOT_KEPT = new Set<ProblemCode>([
  'invalid_json',
  'invalid_value',
  'payload_too_large',
  'unsupported_media_type',
  'idempotency_in_progress',
  'rate_limited',
])

/** The key of a request. An empty header counts as none, like every optional text. */
export function readKey(header: string | string[] | undefined): string | null {
  if (header === undefined || header === '') return null
  if (typeof header === 'string' && FORM.test(header)) return header
  throw invalid('Idempotency-Key: must have 1 to 255 printable ASCII characters')
}

/**
 * Thrown inside a transaction when the key is already taken, so that nothing of it remains.
 */
export class KeyTaken extends Error {}

function replay(app: FullApp, kept: StoredResponse, guard: Guard): Answer {
  if (!kept.fingerprint.equals(guard.fingerprint)) throw problem('idempotency_key_reused')
  const body = idempotency.openAnswer(app.vault, guard.companyId, kept)
  return { status: kept.status, body, headers: REPLAYED, kept: true }
}

const { inProgress } = idempotency

/** Whether an insert failed because the same key is being, or has been, used elsewhere. */
const lostRace = (error: unknown): boolean =>
  error instanceof KeyTaken || violatedConstraint(error) === 'idempotency_keys_pkey'

/**
 * Requests of this process that are under way, by company and key: a duplicate waits for the first.
 */
const underWay = new Map<string, Promise<unknown>>()

/**
 * Gives a request its effect once. `act` makes the answer and, where it commits something, keeps
 * the answer in that same transaction.
 */
export async function runIdempotent(
  app: FullApp,
  guard: Guard,
  act: () => Promise<Answer>,
): Promise<Answer> {
  const name = `${guard.companyId} ${guard.key}`
  while (underWay.has(name)) await underWay.get(name)
  const work = attempt(app, guard, act)
  const settled = work.catch(() => {}).finally(() => underWay.delete(name))
  underWay.set(name, settled)
  return work
}

async function attempt(
  app: FullApp,
  guard: Guard,
  act: () => Promise<Answer>,
  mayRepeat = true,
): Promise<Answer> {
  const { companyId, key } = guard
  const now = app.clock.now()
  const kept = await idempotency.findKept(app.db, companyId, key, now)
  if (kept) return replay(app, kept, guard)
  try {
    const answer = await act()
    return answer.kept ? answer : await keepAfter(app, guard, answer)
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
 * Keeps an answer that had no effect of its own: nothing is lost if a crash comes first. Where
 * another process has kept one meanwhile, that is the answer.
 */
async function keepAfter(app: FullApp, guard: Guard, answer: Answer): Promise<Answer> {
  const kept = idempotency.sealAnswer(app.vault, guard, answer)
  const mine = await idempotency.keep(app.db, guard.companyId, kept, app.clock.now())
  if (!mine) throw new KeyTaken()
  return { ...answer, kept: true }
}

/** Runs a command with its key in one transaction: both are there, or neither. */
export async function commitOnce<T>(
  app: FullApp,
  guard: Guard,
  act: (tx: Tx) => Promise<T>,
  render: (data: T) => { status: number; body: string },
): Promise<T> {
  return app.db.transaction(async (tx) => {
    const { companyId, key, fingerprint } = guard
    const claiming = idempotency.claim(tx, companyId, key, fingerprint, app.clock.now())
    const mine = await claiming.catch((error) => {
      throw isLockTimeout(error) ? inProgress() : error
    })
    if (!mine) throw new KeyTaken()
    const data = await act(tx)
    const kept = idempotency.sealAnswer(app.vault, guard, render(data))
    await idempotency.complete(tx, companyId, kept)
    return data
  })
}

/** Replaces the answer that is kept with its effect. */
export async function amend(
  app: FullApp,
  guard: Guard,
  answer: { status: number; body: string },
): Promise<void> {
  const kept = idempotency.sealAnswer(app.vault, guard, answer)
  await idempotency.complete(app.db, guard.companyId, kept)
}

/** A refusal that came of the state of things is as good an answer as a success. */
export const isKept = (error: unknown): error is Problem =>
  error instanceof Problem && error.status < 500 && !NOT_KEPT.has(error.code)
