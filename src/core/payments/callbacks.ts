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
import { findCompany } from '../companies/store.ts'
import {
  type DueCallback,
  insertCallbacks,
  markProcessed,
  type StoredCallback,
} from './callback-store.ts'
import { matchPayments } from './match.ts'
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

export function createCallbackBatchers(db: Database, followers: Followers): CallbackBatchers {
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
    process: createProcessBatchers(followers),
  }
}

/**
 * One batcher serves all callbacks of the simulated bank, because it answers at once. Each company
 * with a real bank has a batcher of its own, because that bank may hang.
 */
function createProcessBatchers(followers: Followers): CallbackBatchers['process'] {
  const run = (items: Item[]) => processBatch(followers, items)
  const simulated = createBatcher(run, {
    max: MAX_PROCESSED,
    concurrency: 2,
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

/** Processes the companies of a batch, a few at a time. If one fails, the others go on. */
async function processBatch(followers: Followers, items: Item[]): Promise<CallbackResult[]> {
  const results = new Map<Uuid, CallbackResult>()
  const { app } = items[0]!
  const byCompany = Map.groupBy(
    items.map(({ callback }) => callback),
    ({ companyId, provider }) => `${companyId} ${provider}`,
  )
  await forEachLimited(COMPANIES_AT_ONCE, [...byCompany.values()], async (group) => {
    for (const [id, result] of await processGroup(app, followers, group)) results.set(id, result)
  })
  return items.map(({ callback }) => results.get(callback.id)!)
}

/** If a group fails, its callbacks are tried one by one, so that a bad one fails alone. */
async function processGroup(
  app: App,
  followers: Followers,
  group: Callback[],
): Promise<Map<Uuid, CallbackResult>> {
  try {
    return await processCompany(app, followers, group)
  } catch (error) {
    if (group.length === 1) {
      const [{ companyId: company, id: callback }] = group as [Callback]
      app.log.error({ ...describeError(error), company, callback }, NOT_PROCESSED)
      return new Map([[callback, 'failed']])
    }
  }
  const results = new Map<Uuid, CallbackResult>()
  for (const callback of group) {
    results.set(callback.id, (await processGroup(app, followers, [callback])).get(callback.id)!)
  }
  return results
}

const NOT_PROCESSED = 'a callback was not processed'

/** Processes callbacks that one bank has sent about one company. */
async function processCompany(
  anyApp: App,
  { syncNamed, recordReturns }: Followers,
  group: Callback[],
): Promise<Map<Uuid, CallbackResult>> {
  const [{ companyId, provider: name }] = group as [Callback, ...Callback[]]
  const app = forCompany(anyApp, { id: companyId })
  const company = await findCompany(app.db, companyId)
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
  await app.db.transaction(async (tx) => {
    await matchPayments(tx, app, company, payments, arrival)
    if (!hasReturns) await markProcessed(tx, companyId, doneIds(group, doneNames), now)
  })
  if (hasReturns) {
    await recordReturns(withCompanyClock(app, company), company, provider.source, payments)
    await markProcessed(app.db, companyId, doneIds(group, doneNames), now)
  }
  const agreements = allOf(group, 'agreements')
  const collections = allOf(group, 'collections')
  const own = withCompanyClock(app, company)
  const isMore = agreements.length + collections.length > 0
  const synced = isMore ? await syncNamed(own, company, provider, { agreements, collections }) : []
  const later = [...synced, ...ofCharges.done]
  for (const one of later) doneNames.add(one)
  if (later.length > 0) await markProcessed(app.db, companyId, doneIds(group, doneNames), now)
  const done = new Set(doneIds(group, doneNames))
  return new Map(group.map(({ id }) => [id, done.has(id) ? 'processed' : 'unconfirmed']))
}

const allOf = (group: Callback[], kind: keyof Named): string[] => [
  ...new Set(group.flatMap((callback) => callback[kind])),
]

/** The callbacks of which every name is done. */
const doneIds = (group: Callback[], doneNames: Set<string>): Uuid[] =>
  group
    .filter((callback) => namesOf(callback).every((name) => doneNames.has(name)))
    .map(({ id }) => id)

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
    await markProcessed(app.db, company, [callback], app.systemClock.now())
  }
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
