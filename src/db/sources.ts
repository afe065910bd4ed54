import type pg from 'pg'
import { createFairQueue, type FairQueue } from '../lib/fair-queue.ts'
import type { Connections, Kind } from './connection-counts.ts'
import { openPool, planOnce } from './pool.ts'

/** All tasks connect at once when a process starts, and nobody waits for them. */
const TASK_CONNECT_MS = 60_000
/** A page of a list is read in the order of an index, however few rows the planner expects. */
const BY_INDEX = '-c enable_bitmapscan=off'
const BY_KEY = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off'

/** Connections of one kind, and how they are divided among companies. */
export type Source = { kind: Kind; pool: pg.Pool; queue: FairQueue }
export type Sources = Record<Kind, Source>

export function mapSources<T>(sources: Sources, of: (source: Source) => T): Record<Kind, T> {
  const entries = Object.entries(sources).map(([kind, source]) => [kind, of(source)])
  return Object.fromEntries(entries) as Record<Kind, T>
}

export function openSources(url: string, most: Connections, name?: string): Sources {
  const named = name === undefined ? {} : { application_name: name }
  const open = (kind: Kind, settings?: string, limits?: pg.PoolConfig): Source => ({
    kind,
    pool: openPool(url, most[kind], settings, { ...named, ...limits }),
    queue: createFairQueue({ size: most[kind] }),
  })
  const patient = { connectionTimeoutMillis: TASK_CONNECT_MS }
  return {
    requests: open('requests'),
    tasks: open('tasks', '', patient),
    // Planned once a connection: planning a group's statement anew takes as long as several rows.
    hot: open('hot', BY_INDEX, { onConnect: planOnce }),
    light: open('light', `${BY_KEY} -c synchronous_commit=off`, {
      ...patient,
      onConnect: planOnce,
    }),
    long: open('long'),
  }
}
