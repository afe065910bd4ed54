import type { FullApp } from '../core/full-app.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'

/** A part of the due work: its companies, how much was done, and whether more may be due. */
export type Part = { companies: Iterable<Uuid>; done: number; isFull: boolean }

export type Rounds = {
  task: string
  /** If there is one, work only for this company, and do not set it aside after a failure. */
  only: Uuid | null
  signal: AbortSignal | undefined
  /** Does a part of the due work, but nothing for the companies in `except`. */
  work(except: Uuid[]): Promise<Part>
}

/**
 * Does the due work in rounds. In a round, each company gets one part, and companies that are set
 * aside get none. Ends when nothing is left, or when a round has done nothing.
 */
export async function inRounds({ setbacks }: FullApp, rounds: Rounds): Promise<void> {
  const { task, only, signal, work } = rounds
  const served = new Set<Uuid>()
  let [wasFull, isMoving] = [false, false]
  while (!signal?.aborted) {
    const aside = only === null ? setbacks.companiesOf(task) : []
    const before = served.size
    const { companies, done, isFull } = await work([...aside, ...served])
    for (const companyId of companies) served.add(companyId)
    wasFull ||= isFull
    isMoving ||= done > 0
    if (isFull && served.size > before) continue
    // The round is over. If some companies may have more, another one follows.
    if (!wasFull || !isMoving) return
    served.clear()
    wasFull = isMoving = false
  }
}

/**
 * Does work for a company. If it fails, logs the error, sets the company aside in this task, and
 * returns `otherwise`.
 */
export async function guarded<T>(
  app: FullApp,
  { task, only }: Pick<Rounds, 'task' | 'only'>,
  companyId: Uuid,
  act: () => Promise<T>,
  otherwise: T,
  failed: string,
): Promise<T> {
  try {
    const result = await act()
    await app.setbacks.worked(task, companyId)
    return result
  } catch (error) {
    app.log.error({ ...describeError(error), company: companyId }, failed)
    if (only === null) await app.setbacks.failed(task, companyId, error)
    return otherwise
  }
}

/** How many companies are worked for at once. Banks that do not answer hold some of them up. */
const MAX_BUSY = 32
/** How often more work is searched for while a bank is waited for. */
const SEARCH_MS = 500
/** How long a company for which nothing could be done is left out, if the run takes so long. */
const IDLE_MS = 5_000

/** Due work that waits for banks: what is due of some companies, and whether more may be due. */
export type Found<T> = { due: Map<Uuid, T>; isFull: boolean }

export type BankWork<T> = Pick<Rounds, 'task' | 'only' | 'signal'> & {
  /** Claims or finds a part of the due work, but nothing of the companies in `except`. */
  find(except: Uuid[]): Promise<Found<T>>
  /** Does the work of one company. Returns how much was done. */
  act(companyId: Uuid, work: T): Promise<number>
  failed: string
  /** If the clock of this machine may be wrong, nothing more is begun. */
  isTimed?: true
}

/**
 * Does due work that waits for banks, all companies at once, each one part after the other. While
 * the bank of one company hangs, the others get part after part. Ends when nothing is left.
 */
export async function byCompany<T>(app: FullApp, bankWork: BankWork<T>): Promise<void> {
  const { task, only, signal, find, act, failed, isTimed } = bankWork
  const busy = new Map<Uuid, Promise<void>>()
  /** Companies for which nothing could be done. */
  const idle = new Set<Uuid>()
  let [mayBeMore, idleSince_ms] = [true, performance.now()]
  const mayBegin = async () => !isTimed || only !== null || (await app.clockWatch.agrees())
  // The task of all companies is woken by its own name.
  const alarm = only === null ? task : `${task} of ${only}`
  const start = async (companyId: Uuid, work: T, wasFull: boolean) => {
    const done = await guarded(
      app,
      { task, only },
      companyId,
      () => act(companyId, work),
      0,
      failed,
    )
    busy.delete(companyId)
    if (done === 0) idle.add(companyId)
    else mayBeMore ||= wasFull
  }
  try {
    while (!signal?.aborted) {
      if (mayBeMore && busy.size < MAX_BUSY) {
        // While this searches, a company may end that has more.
        mayBeMore = false
        if (!(await mayBegin())) continue
        const aside = only === null ? app.setbacks.companiesOf(task) : []
        const { due, isFull } = await find([...aside, ...idle, ...busy.keys()])
        mayBeMore ||= isFull && due.size > 0
        for (const [id, work] of due) busy.set(id, start(id, work, isFull))
        continue
      }
      if (busy.size === 0) return
      if (await untilOneEnds(app, alarm, busy.values(), SEARCH_MS, signal)) continue
      mayBeMore = true
      if (performance.now() - idleSince_ms < IDLE_MS) continue
      idle.clear()
      idleSince_ms = performance.now()
    }
  } finally {
    await Promise.all(busy.values())
  }
}

/**
 * Resolves with true when one of the promises is over, or with false when the task is woken, when
 * the time is over, or when the signal aborts.
 */
export async function untilOneEnds(
  { alarm }: FullApp,
  task: string,
  promises: Iterable<Promise<unknown>>,
  most_ms: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const enough = new AbortController()
  const either = AbortSignal.any([enough.signal, ...(signal ? [signal] : [])])
  try {
    return await Promise.race([
      ...[...promises].map((promise) => promise.then(() => true)),
      alarm.wait(task, most_ms, either).then(() => false),
    ])
  } finally {
    enough.abort()
  }
}
