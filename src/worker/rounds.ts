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

/**
 * Does claimed work of companies, all at once. If some of it fails, it is claimed again when its
 * lease is over.
 */
export async function doClaimed<T>(
  app: FullApp,
  rounds: Pick<Rounds, 'task' | 'only'>,
  claims: Iterable<[companyId: Uuid, claims: T[]]>,
  act: (claim: T) => Promise<unknown>,
  failed: string,
): Promise<void> {
  const all = async (ofOne: T[]) => {
    const ends = await Promise.allSettled(ofOne.map(act))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }
  await Promise.all(
    [...claims].map(([companyId, ofOne]) =>
      guarded(app, rounds, companyId, () => all(ofOne), undefined, failed),
    ),
  )
}
