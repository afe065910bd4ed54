import { type Database, isRowError } from '../../db/database.ts'
import { type Batcher, createBatcher } from '../../lib/batch.ts'
import { forEachLimited } from '../../lib/for-each-limited.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import { type Named, namedIn, namesOf } from '../../provider/callback.ts'
import type { Provider, ReceivedPix, Source } from '../../provider/port.ts'
import { namedBy } from '../../provider/txid.ts'
import type { App } from '../app.ts'
import { findBank } from '../banks/store.ts'
import { forCompany, nowOf, withCompanyClock } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompanies, findCompany } from '../companies/store.ts'
import {
  type DueCallback,
  insertCallbacks,
  markProcessed,
  type StoredCallback,
} from './callback-store.ts'
import { matchGroups, type PaymentGroup } from './match.ts'
import { findPaidCharges } from './paid-charges.ts'
import { findNamed } from './store.ts'

/** The process that stored a callback has so long to process it, before a task takes it up. */
const FIRST_LEASE_MS = 30_000
/** After so many attempts, half an hour in all, an unconfirmed callback is given up. */
const MAX_ATTEMPTS = 7
const MAX_STORED = 256
const MAX_PROCESSED = 512
/** Fewer at a real bank, which is asked about each payment by itself. */
const MAX_ASKED = 32
/** Few, because two groups may run at once and others need connections too. */
const COMPANIES_AT_ONCE = 3
/** How many companies are matched in one transaction. */
const MAX_MATCHED_TOGETHER = 64

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
export type RecordReturns = (
  app: App,
  company: Company,
  source: Source,
  received: ReceivedPix[],
) => Promise<unknown>

/** What callbacks lead to beside payments. */
type Followers = { syncNamed: SyncNamed; recordReturns: RecordReturns }

export type CallbackBatchers = {
  /** Stores callbacks that arrive together in one statement. When it resolves they are durable. */
  store: Batcher<StoredCallback, null>
  /** Confirms and matches what callbacks name. Those of one company change its balance once. */
  process: Batcher<Item, CallbackResult>
}

/** The app with the batchers of callbacks. */
export type AppWithCallbacks = App & { callbacks: CallbackBatchers }

type Item = { app: App; callback: Callback }

type CallbackResult = 'processed' | 'unconfirmed' | 'failed'

/** Payments of a company, and the callbacks that are processed when they are matched. */
type Matching = PaymentGroup & { app: App; processed: Pick<Callback, 'companyId' | 'id'>[] }

/** What callbacks are processed with. */
type Means = Followers & {
  /** Matches payments with those of other companies. If false, they have to be matched alone. */
  matchTogether: Batcher<Matching, boolean>
}

export function createCallbackBatchers(db: Database, followers: Followers): CallbackBatchers {
  const matchTogether = createBatcher((group: Matching[]) => matchAll(db, group), {
    max: MAX_MATCHED_TOGETHER,
    // Whoever was in a group that failed is matched alone.
    isItemError: () => false,
  })
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
    process: createProcessBatchers({ ...followers, matchTogether }),
  }
}

/**
 * One batcher serves all callbacks of the simulated bank, because it answers at once. Each company
 * with a real bank has a batcher of its own, because that bank may hang.
 */
function createProcessBatchers(means: Means): CallbackBatchers['process'] {
  const run = (items: Item[]) => processBatch(means, items)
  const simulated = createBatcher(run, {
    max: MAX_PROCESSED,
    ownerOf: ({ callback }: Item) => callback.companyId,
  })
  const banks = new Map<Uuid, { batcher: Batcher<Item, CallbackResult>; waiting: number }>()

  async function process(item: Item): Promise<CallbackResult> {
    const { companyId, provider } = item.callback
    if (provider === item.app.providers.simulator.name) return simulated(item)
    const bank = banks.get(companyId) ?? {
      batcher: createBatcher(run, { max: MAX_ASKED }),
      waiting: 0,
    }
    banks.set(companyId, bank)
    bank.waiting += 1
    return bank.batcher(item).finally(() => {
      bank.waiting -= 1
      if (bank.waiting === 0) banks.delete(companyId)
    })
  }
  async function idle(): Promise<void> {
    const ofBanks = [...banks.values()].map(({ batcher }) => batcher.idle())
    await Promise.all([simulated.idle(), ...ofBanks])
  }
  return Object.assign(process, { idle })
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
  const named = namedIn(body)
  if (namesOf(named).length === 0) return { processed: Promise.resolve('unconfirmed') }
  const [id, receivedAt] = [newId(), app.systemClock.now()]
  const sealed = app.vault.seal(JSON.stringify(body), contextOf(companyId, id))
  const nextAttemptAt = new Date(receivedAt.getTime() + FIRST_LEASE_MS)
  await app.callbacks.store({ companyId, id, provider, sealed, receivedAt, nextAttemptAt })
  const callback = { companyId, id, provider, ...named }
  return { processed: app.callbacks.process({ app, callback }) }
}

/**
 * Processes the companies of a batch. If one fails, the others go on. Those that need no more than
 * to be matched are matched together; the others are processed a few at a time.
 */
async function processBatch(means: Means, items: Item[]): Promise<CallbackResult[]> {
  const results = new Map<Uuid, CallbackResult>()
  const { app } = items[0]!
  const callbacks = items.map(({ callback }) => callback)
  const nameOf = ({ companyId, provider }: Callback) => `${companyId} ${provider}`
  const groups = [...Map.groupBy(callbacks, nameOf).values()]
  const load = groups.length > 1 ? await loadTogether(app, callbacks) : loadOf(app)
  const process = async (group: Callback[]) => {
    for (const [id, result] of await processGroup(app, means, group, load)) results.set(id, result)
  }
  const isSimple = (group: Callback[]) =>
    [...allOf(group, 'txids'), ...allOf(group, 'agreements'), ...allOf(group, 'collections')]
      .length === 0
  const rest = groups.filter((group) => !isSimple(group))
  await Promise.all([
    ...groups.filter(isSimple).map(process),
    forEachLimited(COMPANIES_AT_ONCE, rest, process),
  ])
  return items.map(({ callback }) => results.get(callback.id)!)
}

/** Loads the company of callbacks, and of the payments that they name those that its bank has. */
type Load = (group: Callback[]) => Promise<{ company: Company | null; confirmed: ReceivedPix[] }>

const loadOf =
  (app: App): Load =>
  async (group) => {
    const [{ companyId, provider }] = group as [Callback, ...Callback[]]
    const company = await findCompany(app.db.of(companyId), companyId)
    if (!company) return { company, confirmed: [] }
    const ids = allOf(group, 'endToEndIds')
    return { company, confirmed: await confirm(app.providers.named(provider), company, ids) }
  }

/** The same for callbacks of the simulated bank about several companies, with two statements. */
async function loadTogether(app: App, callbacks: Callback[]): Promise<Load> {
  const byCompany = Map.groupBy(callbacks, ({ companyId }) => companyId)
  const wanted = [...byCompany].flatMap(([accountId, own]) =>
    allOf(own, 'endToEndIds').map((endToEndId) => ({ accountId, endToEndId })),
  )
  const [companies, received] = await Promise.all([
    findCompanies(app.db, [...byCompany.keys()]),
    app.providers.simulator.findReceivedOfMany(wanted),
  ])
  return async (group) => {
    const [{ companyId }] = group as [Callback]
    const ids = new Set(allOf(group, 'endToEndIds'))
    const confirmed = (received.get(companyId) ?? []).filter(({ endToEndId }) =>
      ids.has(endToEndId),
    )
    return { company: companies.get(companyId) ?? null, confirmed }
  }
}

/** If a group fails, its callbacks are tried one by one, so that a bad one fails alone. */
async function processGroup(
  app: App,
  means: Means,
  group: Callback[],
  load: Load,
): Promise<Map<Uuid, CallbackResult>> {
  try {
    return await processCompany(app, means, group, load)
  } catch (error) {
    if (group.length === 1) {
      const [{ companyId: company, id: callback }] = group as [Callback]
      app.log.error({ ...describeError(error), company, callback }, NOT_PROCESSED)
      return new Map([[callback, 'failed']])
    }
  }
  const results = new Map<Uuid, CallbackResult>()
  for (const callback of group) {
    results.set(callback.id, (await processGroup(app, means, [callback], load)).get(callback.id)!)
  }
  return results
}

const NOT_PROCESSED = 'a callback was not processed'

/** Processes callbacks that one bank has sent about one company. */
async function processCompany(
  anyApp: App,
  { syncNamed, recordReturns, matchTogether }: Means,
  group: Callback[],
  load: Load,
): Promise<Map<Uuid, CallbackResult>> {
  const [{ companyId, provider: name }] = group as [Callback, ...Callback[]]
  const app = forCompany(anyApp, { id: companyId })
  const provider = app.providers.named(name)
  const { company, confirmed } = await load(group)
  if (!company) return new Map(group.map(({ id }) => [id, 'unconfirmed']))
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
  const isMatched = await matchTogether(matching).catch(() => false)
  if (!isMatched) await matchAll(app.db, [matching])
  if (hasReturns) {
    await recordReturns(withCompanyClock(app, company), company, provider.source, payments)
    await markProcessed(app.db, doneOf(group, doneNames), now)
  }
  const agreements = allOf(group, 'agreements')
  const collections = allOf(group, 'collections')
  const own = withCompanyClock(app, company)
  const isMore = agreements.length + collections.length > 0
  const synced = isMore ? await syncNamed(own, company, provider, { agreements, collections }) : []
  const later = [...synced, ...ofCharges.done]
  for (const one of later) doneNames.add(one)
  if (later.length > 0) await markProcessed(app.db, doneOf(group, doneNames), now)
  const done = new Set(doneOf(group, doneNames))
  const resultOf = (callback: Callback) => (done.has(callback) ? 'processed' : 'unconfirmed')
  return new Map(group.map((callback) => [callback.id, resultOf(callback)]))
}

/**
 * Matches payments in one transaction, and marks their callbacks as processed. Returns for each
 * whether that is done. If there are several companies, one of which something is locked is left
 * out, and so is the second group of a company.
 */
function matchAll(db: Database, all: Matching[]): Promise<boolean[]> {
  const { app } = all[0]!
  const byCompany = Map.groupBy(all, ({ company }) => company.id)
  const first = [...byCompany.values()].map(([one]) => one!)
  return db.transaction(async (tx) => {
    const results = await matchGroups(tx, app, first, all.length === 1 ? 'wait' : 'skip')
    const done = new Set(first.filter((_, i) => results[i] !== null))
    const processed = [...done].flatMap((one) => one.processed)
    await markProcessed(tx, processed, app.systemClock.now())
    return all.map((one) => done.has(one))
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
  { db }: App,
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
