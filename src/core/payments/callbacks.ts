import { type Database, isRowError } from '../../db/database.ts'
import { type Batcher, createBatcher, LOOKUPS } from '../../lib/batch.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import { type Named, namedIn, namesOf } from '../../provider/callback.ts'
import type { App } from '../app.ts'
import { findCompanies } from '../companies/store.ts'
import {
  type DueCallback,
  insertCallbacks,
  markProcessed,
  type StoredCallback,
} from './callback-store.ts'
import {
  type Callback,
  type CallbackResult,
  type Followers,
  type Item,
  type Match,
  type Matching,
  type Means,
  matchAll,
  NOT_PROCESSED,
  processBatch,
} from './process-callbacks.ts'

/** The process that stored a callback has so long to process it, before a task takes it up. */
const FIRST_LEASE_MS = 30_000
/** After so many attempts, half an hour in all, an unconfirmed callback is given up. */
const MAX_ATTEMPTS = 7
const MAX_STORED = 256
/** How many callbacks of a company are processed together. */
const MAX_ASKED = 32
/** How many groups of payments are matched in one transaction. */
const MAX_MATCHED_TOGETHER = 64

export type CallbackBatchers = {
  /** Stores callbacks that arrive together in one statement. When it resolves they are durable. */
  store: Batcher<StoredCallback, null>
  /** Confirms and matches what callbacks name. Those of one company change its balance once. */
  process: Batcher<Item, CallbackResult>
  /** Matches payments that a bank has confirmed, with those of others if possible. */
  match: Match
}

/** The app with the batchers of callbacks. */
export type AppWithCallbacks = App & { callbacks: CallbackBatchers }

export function createCallbackBatchers(db: Database, followers: Followers): CallbackBatchers {
  const matchGroup = async (group: Matching[]) => {
    try {
      return await matchAll(db, group, 'skip')
    } catch (error) {
      group[0]!.app.log.warn(describeError(error), 'payments were not matched together')
      throw error
    }
  }
  const matchTogether = createBatcher(matchGroup, {
    max: MAX_MATCHED_TOGETHER,
    ownerOf: ({ company }) => company.id,
    // Whoever was in a group that failed is matched alone.
    isItemError: () => false,
  })
  const matchOne = async (matching: Matching) => {
    const together = await matchTogether(matching).catch(() => null)
    if (together) return together
    const [alone] = await matchAll(matching.app.db, [matching], 'wait')
    return alone!
  }
  const findCompany = createBatcher(async (ids: Uuid[]) => {
    const found = await findCompanies(db, ids)
    return ids.map((id) => found.get(id) ?? null)
  }, LOOKUPS)
  const match: Match = Object.assign(matchOne, { idle: matchTogether.idle })
  return {
    store: createBatcher(
      async (callbacks) => {
        await insertCallbacks(db, callbacks)
        return callbacks.map(() => null)
      },
      {
        max: MAX_STORED,
        concurrency: 2,
        isItemError: isRowError,
        ownerOf: ({ companyId }) => companyId,
      },
    ),
    process: createProcessing({ ...followers, findCompany, match }),
    match,
  }
}

/**
 * Each company has a batcher of its own, because its bank may hang. What all of them ask the
 * database and the simulated bank, and the matching of payments, is done together again.
 */
function createProcessing(means: Means): CallbackBatchers['process'] {
  const own = new Map<Uuid, { batcher: Batcher<Item, CallbackResult>; waiting: number }>()
  const running = new Set<Promise<unknown>>()

  async function process(item: Item): Promise<CallbackResult> {
    const { companyId } = item.callback
    const batcher = createBatcher((items: Item[]) => processBatch(means, items), { max: MAX_ASKED })
    const company = own.get(companyId) ?? { batcher, waiting: 0 }
    own.set(companyId, company)
    company.waiting += 1
    return company.batcher(item).finally(() => {
      company.waiting -= 1
      if (company.waiting === 0) own.delete(companyId)
    })
  }
  function start(item: Item): Promise<CallbackResult> {
    const result = process(item)
    running.add(result)
    const end = () => running.delete(result)
    result.then(end, end)
    return result
  }
  async function idle(): Promise<void> {
    while (running.size > 0) await Promise.allSettled(running)
  }
  return Object.assign(start, { idle })
}

const contextOf = (companyId: Uuid, id: Uuid) => `${companyId}:callback:${id}`

/**
 * Receives a bank's callback: when this resolves it is stored, and the bank may be answered.
 * `processed` resolves when the bank has confirmed what the callback names and it is recorded, or
 * when that is not possible now; then a task tries it again.
 */
export async function receiveCallback(
  app: AppWithCallbacks,
  companyId: Uuid,
  provider: string,
  body: unknown,
): Promise<{ processed: Promise<CallbackResult> }> {
  const callback = await storeCallback(app, companyId, provider, body)
  if (!callback) return { processed: Promise.resolve('unconfirmed') }
  return { processed: app.callbacks.process({ app, callback }) }
}

/** Stores a callback that a task processes after a while. Null if it names nothing. */
export async function storeCallback(
  app: AppWithCallbacks,
  companyId: Uuid,
  provider: string,
  body: unknown,
): Promise<Callback | null> {
  const named = namedIn(body)
  if (namesOf(named).length === 0) return null
  const [id, receivedAt] = [newId(), app.systemClock.now()]
  const sealed = app.vault.seal(JSON.stringify(body), contextOf(companyId, id))
  const nextAttemptAt = new Date(receivedAt.getTime() + FIRST_LEASE_MS)
  await app.callbacks.store({ companyId, id, provider, sealed, receivedAt, nextAttemptAt })
  return { companyId, id, provider, ...named }
}

/**
 * Processes stored callbacks of one company that are not processed yet. All are tried. Throws if
 * one of them fails.
 */
export async function processStored(
  app: AppWithCallbacks,
  callbacks: DueCallback[],
): Promise<void> {
  const results = await Promise.all(callbacks.map((callback) => processAgain(app, callback)))
  const givenUp = callbacks.filter(
    ({ attempts }, i) => results[i] === 'unconfirmed' && attempts >= MAX_ATTEMPTS,
  )
  for (const { companyId: company, id: callback } of givenUp) {
    app.log.warn({ company, callback }, 'a callback was never confirmed by the bank')
  }
  await markProcessed(app.db, givenUp, app.systemClock.now())
  if (results.includes('failed')) throw new Error('callbacks were not processed')
}

/** If a callback cannot be opened, it fails alone. */
async function processAgain(app: AppWithCallbacks, due: DueCallback): Promise<CallbackResult> {
  const { companyId, id, provider } = due
  try {
    const callback = { companyId, id, provider, ...openNamed(app, due) }
    return await app.callbacks.process({ app, callback })
  } catch (error) {
    app.log.error({ ...describeError(error), company: companyId, callback: id }, NOT_PROCESSED)
    return 'failed'
  }
}

const openNamed = ({ vault }: App, { companyId, id, sealed }: DueCallback): Named =>
  namedIn(JSON.parse(vault.open(sealed, contextOf(companyId, id))))
