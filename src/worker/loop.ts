import type { FullApp } from '../core/full-app.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'
import { asSpan } from '../lib/tracing.ts'

/** Due work of some companies, and whether more may be due. */
export type Found<T> = { due: Map<Uuid, T>; isFull: boolean }

/** Work that a task does, company by company. */
export type Work<T> = {
  task: string
  /** If a company is named, only its work is done: its clock is being moved. */
  only: Uuid | null
  signal: AbortSignal | undefined
  /** Claims or finds a part of the due work, but nothing of the companies in `except`. */
  find(except: Uuid[]): Promise<Found<T>>
  /** Does the part of one company. Returns how much was done. */
  act(companyId: Uuid, part: T): Promise<number>
  /** What is logged if it fails. */
  failed: string
  /** For how many companies it works at once. Banks that do not answer hold some of them up. */
  atOnce: number
  /** What is found is claimed: all of it begins at once, because its lease runs. */
  isClaimed?: boolean
  /** It cannot be undone, so nothing is begun while the clock of the machine may be wrong. */
  isTimed?: boolean
}

/** How often more work is searched for while some of it lasts. */
const SEARCH_MS = 500
/** How long a company for which nothing could be done is left out, if the run takes so long. */
const IDLE_MS = 5_000

/**
 * Does all due work. Each company gets one part, then each its next, so that a long queue of one
 * delays no other; and while one waits for its bank, the others get part after part. If the work of
 * a company fails, the company is set aside. Ends when nothing is left.
 */
export async function workOff<T>(app: FullApp, work: Work<T>): Promise<void> {
  const { task, only, signal, find, atOnce, isClaimed, isTimed } = work
  const [waiting, busy] = [new Map<Uuid, T>(), new Map<Uuid, Promise<void>>()]
  /** Companies that had a part in this round, and those for which nothing could be done. */
  const [served, idle] = [new Set<Uuid>(), new Set<Uuid>()]
  let [maySearch, hasNextRound, wasFull, idleSince_ms] = [true, false, false, performance.now()]
  // The task of all companies is woken by its own name.
  const alarm = only === null ? task : `${task} of ${only}`
  const mayBegin = async () => !isTimed || only !== null || (await app.clockWatch.agrees())
  const start = async (companyId: Uuid, part: T) => {
    waiting.delete(companyId)
    const isFull = wasFull
    const done = await guarded(app, work, companyId, () => work.act(companyId, part), 0)
    busy.delete(companyId)
    if (done === 0) idle.add(companyId)
    else served.add(companyId)
    hasNextRound ||= done > 0 && isFull
  }
  const startWaiting = () => {
    for (const [companyId, part] of waiting) {
      if (isClaimed || busy.size < atOnce) busy.set(companyId, start(companyId, part))
    }
  }
  try {
    while (!signal?.aborted) {
      startWaiting()
      const isFree = waiting.size === 0 && busy.size < atOnce
      if (isFree && !maySearch && hasNextRound) {
        served.clear()
        maySearch = true
        hasNextRound = false
      }
      if (isFree && maySearch) {
        maySearch = false
        if (!(await mayBegin())) continue
        const aside = only === null ? app.setbacks.companiesOf(task) : []
        const { due, isFull } = await find([...aside, ...idle, ...served, ...busy.keys()])
        for (const [companyId, part] of due) waiting.set(companyId, part)
        wasFull = isFull
        // What was claimed while the signal aborted is done too: until its lease ends, nobody can.
        if (isClaimed) startWaiting()
        maySearch ||= isFull && due.size > 0
        continue
      }
      if (busy.size === 0) return
      if (await untilOneEnds(app, alarm, busy.values(), SEARCH_MS, signal)) continue
      maySearch = true
      // While a bank is waited for, the others get what has become due.
      if (waiting.size === 0 && busy.size < atOnce) served.clear()
      if (performance.now() - idleSince_ms < IDLE_MS) continue
      idle.clear()
      idleSince_ms = performance.now()
    }
  } finally {
    await Promise.all(busy.values())
  }
}

/**
 * Does work for a company. If it fails, logs the error, sets the company aside in this task, and
 * returns `otherwise`.
 */
export async function guarded<T>(
  app: FullApp,
  { task, only, failed }: Pick<Work<unknown>, 'task' | 'only' | 'failed'>,
  companyId: Uuid,
  act: () => Promise<T>,
  otherwise: T,
): Promise<T> {
  try {
    const result = await asSpan(spanOf(task, companyId), act)
    await app.setbacks.worked(task, companyId)
    return result
  } catch (error) {
    app.log.error({ ...describeError(error), company: companyId }, failed)
    if (only === null) await app.setbacks.failed(task, companyId, error)
    return otherwise
  }
}

const spanOf = (name: string, companyId: Uuid) => ({
  name,
  kind: 'internal' as const,
  facts: { 'vintem.company': companyId },
})

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
