import { type Database, isRowError } from '../../db/database.ts'
import { type Batcher, createBatcher, LOOKUPS } from '../../lib/batch.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import { reportsPayments } from '../../lib/tracing.ts'
import type { Vault } from '../../lib/vault.ts'
import { type Named, namedIn, namesOf } from '../../provider/callback.ts'
import type { Provider, ReceivedPix, Source } from '../../provider/port.ts'
import { namedBy } from '../../provider/txid.ts'
import type { App, Uses } from '../app.ts'
import { findBank } from '../banks/store.ts'
import type { WhenLocked } from '../charges/store.ts'
import { forCompany, nowOf, withCompanyClock } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompanies } from '../companies/store.ts'
import { type MatchResult, matchGroups, type PaymentGroup } from './match.ts'
import { findPaidCharges } from './paid-charges.ts'
import { callbackContext } from './sealing.ts'
import {
  type DueCallback,
  findNamed,
  insertCallbacks,
  markProcessed,
  type StoredCallback,
} from './store.ts'

/** A stored callback, with the ids that it names. */
type Callback = Named & { companyId: Uuid; id: Uuid; provider: string }

/**
 * Asks the bank about the agreements and collections that callbacks name, and records its answer.
 * Returns the names that are done; the others are tried again later. The payments that the same
 * callbacks name are matched before.
 */
export type SyncNamed = (
  app: App,
  company: Company,
  provider: Provider,
  named: Pick<Named, 'agreements' | 'collections'>,
) => Promise<Set<string>>

/** Records what a bank has returned of payments by itself. The payments are recorded before. */
type RecordReturns = (
  app: App,
  company: Company,
  source: Source,
  received: ReceivedPix[],
) => Promise<unknown>

/** Asks a bank which disputes there are, and records them. False if it has not answered. */
type AskDisputes = (app: App, company: Company, provider: Provider) => Promise<boolean>

/** What callbacks lead to beside payments. */
type Followers = { syncNamed: SyncNamed; recordReturns: RecordReturns; askDisputes: AskDisputes }

type Item = { app: App; callback: Callback }

type CallbackResult = 'processed' | 'unconfirmed' | 'failed'

/** Payments of a company, and the callbacks that are processed when they are matched. */
type Matching = PaymentGroup & { app: App; processed: Pick<Callback, 'companyId' | 'id'>[] }

type Match = Batcher<Matching, MatchResult[]>

/** What callbacks are processed with. */
type Means = Followers & {
  /** Finds the companies of callbacks that arrive together. */
  findCompany: Batcher<Uuid, Company | null>
  /** Matches payments with those of others if possible, otherwise alone. */
  match: Match
}

const groupsOf = (callbacks: Callback[]): [Callback, ...Callback[]][] =>
  [...Map.groupBy(callbacks, ({ companyId, provider }) => `${companyId} ${provider}`).values()] as [
    Callback,
    ...Callback[],
  ][]

/** Processes callbacks of one company. */
async function processBatch(means: Means, items: Item[]): Promise<CallbackResult[]> {
  const results = new Map<Uuid, CallbackResult>()
  const { app } = items[0]!
  for (const group of groupsOf(items.map(({ callback }) => callback))) {
    for (const [id, result] of await processGroup(app, means, group)) results.set(id, result)
  }
  return items.map(({ callback }) => results.get(callback.id)!)
}

/** If a group fails, its callbacks are tried one by one, so that a bad one fails alone. */
async function processGroup(
  app: App,
  means: Means,
  group: Callback[],
): Promise<Map<Uuid, CallbackResult>> {
  try {
    return await processCompany(app, means, group)
  } catch (error) {
    if (group.length === 1) {
      const [{ companyId: company, id: callback }] = group as [Callback]
      app.log.error({ ...describeError(error), company, callback }, NOT_PROCESSED)
      return new Map([[callback, 'failed']])
    }
  }
  const results = new Map<Uuid, CallbackResult>()
  for (const callback of group) {
    results.set(callback.id, (await processGroup(app, means, [callback])).get(callback.id)!)
  }
  return results
}

const NOT_PROCESSED = 'a callback was not processed'

/** Processes callbacks that one bank has sent about one company. */
async function processCompany(
  anyApp: App,
  { findCompany, syncNamed, recordReturns, askDisputes, match }: Means,
  group: Callback[],
): Promise<Map<Uuid, CallbackResult>> {
  const [{ companyId, provider: name }] = group as [Callback, ...Callback[]]
  const app = forCompany(anyApp, { id: companyId })
  const company = await findCompany(companyId)
  const provider = app.providers.named(name)
  if (!company) return new Map(group.map(({ id }) => [id, 'unconfirmed']))
  const confirmed = await confirm(provider, company, allOf(group, 'endToEndIds'))
  const doneNames = new Set(confirmed.map(({ endToEndId }) => endToEndId))
  const ofCharges = await findPaidCharges(app, provider, company, allOf(group, 'txids'))
  const found = [...confirmed, ...ofCharges.payments]
  const payments =
    provider === app.providers.simulator ? found : await withoutPreConnection(app, company, found)
  const now = app.systemClock.now()
  const arrival = { source: provider.source, now: nowOf(app, company) }
  const hasReturns = payments.some(({ returns }) => returns !== undefined)
  const processed = hasReturns ? [] : doneOf(group, doneNames)
  const matching = { app, company, payments, arrival, processed }
  if (payments.length > 0 || processed.length > 0) await match(matching)
  if (hasReturns) {
    await recordReturns(withCompanyClock(app, company), company, provider.source, payments)
    await markProcessed(app.db, doneOf(group, doneNames), now)
  }
  const agreements = allOf(group, 'agreements')
  const collections = allOf(group, 'collections')
  const own = withCompanyClock(app, company)
  const isMore = agreements.length + collections.length > 0
  const synced = isMore ? await syncNamed(own, company, provider, { agreements, collections }) : []
  const disputes = allOf(group, 'disputes')
  const isAsked = disputes.length > 0 && (await askDisputes(own, company, provider))
  const later = [...synced, ...ofCharges.done, ...(isAsked ? disputes : [])]
  for (const one of later) doneNames.add(one)
  if (later.length > 0) await markProcessed(app.db, doneOf(group, doneNames), now)
  const done = new Set(doneOf(group, doneNames))
  const resultOf = (callback: Callback) => (done.has(callback) ? 'processed' : 'unconfirmed')
  return new Map(group.map((callback) => [callback.id, resultOf(callback)]))
}

/**
 * Matches payments in one transaction, and marks their callbacks as processed. With 'skip', the
 * result of a company of which something is locked is null. So is that of a company's payments from
 * a second source.
 */
function matchAll(
  db: Database,
  all: Matching[],
  whenLocked: WhenLocked,
): Promise<(MatchResult[] | null)[]> {
  const { app } = all[0]!
  const merged = [...Map.groupBy(all, ({ company }) => company.id).values()].map((own) => {
    const [first] = own as [Matching]
    const same = own.filter(({ arrival }) => arrival.source === first.arrival.source)
    return { ...first, same, payments: same.flatMap(({ payments }) => payments) }
  })
  return db.transaction(async (tx) => {
    const matched = await matchGroups(tx, app, merged, whenLocked)
    const results = new Map<Matching, MatchResult[]>()
    for (const [i, { same }] of merged.entries()) {
      const own = matched[i] ? divide(matched[i], same) : []
      for (const [n, one] of own.entries()) results.set(same[n]!, one)
    }
    const processed = [...results.keys()].flatMap((one) => one.processed)
    await markProcessed(tx, processed, app.systemClock.now())
    return all.map((one) => results.get(one) ?? null)
  })
}

/** The results of each of several groups. A payment that two of them name is known to the 2nd. */
function divide(results: MatchResult[], groups: Matching[]): MatchResult[][] {
  const left = [...results]
  const seen = new Set<string>()
  return groups.map(({ payments }) => {
    const own = left.splice(0, payments.length)
    const isKnown = payments.map(({ endToEndId }) => seen.has(endToEndId))
    for (const { endToEndId } of payments) seen.add(endToEndId)
    return own.map((result, n) => (isKnown[n] ? { kind: 'known' } : result))
  })
}

const allOf = (group: Callback[], kind: keyof Named): string[] => [
  ...new Set(group.flatMap((callback) => callback[kind])),
]

/** The callbacks of which every name is done. */
const doneOf = (group: Callback[], doneNames: Set<string>): Callback[] =>
  group.filter((callback) => namesOf(callback).every((name) => doneNames.has(name)))

/** Asks the bank for the payments that were named: only what it confirms counts. */
async function confirm(
  provider: Provider,
  company: Company,
  endToEndIds: string[],
): Promise<ReceivedPix[]> {
  if (endToEndIds.length === 0) return []
  const outcome = await provider.findReceived(company, endToEndIds)
  return outcome.kind === 'accepted' ? outcome.value : []
}

/**
 * Leaves out payments that arrived before the company connected its bank, unless they name a charge
 * or a static code of ours.
 */
async function withoutPreConnection(
  { db }: Uses<'db'>,
  { id: companyId }: Company,
  confirmed: ReceivedPix[],
): Promise<ReceivedPix[]> {
  const connectedAt = (await findBank(db, companyId))?.connectedAt
  const isEarly = ({ receivedAt }: ReceivedPix) => connectedAt && receivedAt < connectedAt
  const idOf = ({ txid }: ReceivedPix) => Object.values<Uuid>(namedBy(txid) ?? {})[0]
  const ids = confirmed.filter(isEarly).flatMap((pix) => idOf(pix) ?? [])
  const named = await findNamed(db, companyId, ids)
  return confirmed.filter((pix) => !isEarly(pix) || named.has(idOf(pix) ?? ''))
}

/** The process that stored a callback has so long to process it, before a task takes it up. */
const FIRST_LEASE_MS = 30_000
/** After so many attempts, half an hour in all, an unconfirmed callback is given up. */
const MAX_ATTEMPTS = 7
const MAX_STORED = 256
/** How many callbacks of a company are processed together. */
const MAX_ASKED = 64
/** How many callbacks of a company wait here for its bank. More of them wait for the task. */
const MAX_WAITING = 1024
/** How many groups of payments are matched in one transaction. */
const MAX_MATCHED_TOGETHER = 64

type CallbackBatchers = {
  /** Stores callbacks that arrive together in one statement. When it resolves they are durable. */
  store: Batcher<StoredCallback, null>
  /** Confirms and matches what callbacks name. Those of one company change its balance once. */
  process: Batcher<Item, CallbackResult> & {
    /** Whether so many of a company wait that another one should not. */
    isFull(companyId: Uuid): boolean
  }
  /** Matches payments that a bank has confirmed, with those of others if possible. */
  match: Match
}

/** The app with the batchers of callbacks. */
export type AppWithCallbacks = App & { callbacks: CallbackBatchers }

export function createCallbackBatchers(
  db: Database,
  followers: Followers,
  count: (result: CallbackResult) => void = () => {},
): CallbackBatchers {
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
    process: createProcessing({ ...followers, findCompany, match }, count),
    match,
  }
}

/**
 * Each company has a batcher of its own, because its bank may hang. What all of them ask the
 * database and the simulated bank, and the matching of payments, is done together again.
 */
function createProcessing(
  means: Means,
  count: (result: CallbackResult) => void,
): CallbackBatchers['process'] {
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
    result.then(count, () => count('failed'))
    return result
  }
  async function idle(): Promise<void> {
    while (running.size > 0) await Promise.allSettled(running)
  }
  const isFull = (companyId: Uuid) => (own.get(companyId)?.waiting ?? 0) >= MAX_WAITING
  return Object.assign(start, { idle, isFull })
}

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
  // While a bank hangs, its callbacks must not fill the memory. They are stored.
  if (!callback || app.callbacks.process.isFull(companyId)) {
    return { processed: Promise.resolve('unconfirmed') }
  }
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
  reportsPayments(named.endToEndIds)
  const [id, receivedAt] = [newId(), app.systemClock.now()]
  const sealed = app.vault.seal(JSON.stringify(body), callbackContext(companyId, id))
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

/** What a bank has reported, as it was stored. */
export const openCallback = (
  vault: Vault,
  { companyId, id, sealed }: Pick<DueCallback, 'companyId' | 'id' | 'sealed'>,
): string => vault.open(sealed, callbackContext(companyId, id))

const openNamed = ({ vault }: Uses<'vault'>, due: DueCallback): Named =>
  namedIn(JSON.parse(openCallback(vault, due)))
