import type { Database } from '../../db/database.ts'
import { type Batcher, createBatcher } from '../../lib/batch.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import { type Named, namedIn, namesOf } from '../../provider/callback.ts'
import type { Provider, ReceivedPix } from '../../provider/port.ts'
import { namedBy } from '../../provider/txid.ts'
import type { App } from '../app.ts'
import { findNamed } from '../banks/reconcile-store.ts'
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
import { settlePayments } from './settle.ts'

/** How long whoever stored a callback has to settle it before a task takes it up. */
const FIRST_LEASE_MS = 30_000
/** After as many tries, half an hour in all, what the bank does not confirm is left alone. */
const MAX_ATTEMPTS = 7
const MAX_STORED = 256
const MAX_SETTLED = 512
/** Fewer where each payment is asked about by itself. */
const MAX_ASKED = 32
/** Leaves connections for everybody else: two groups may be under way. */
const COMPANIES_AT_ONCE = 3

/** A callback that is stored, with what it names. */
type Told = Named & { companyId: Uuid; id: Uuid; provider: string }

/**
 * Asks the bank about agreements and collections that were told of, and acts on its answer. Gives
 * the names that are dealt with; the others are told again later. The payments of the same
 * callbacks are settled by then.
 */
export type Follow = (
  app: App,
  company: Company,
  provider: Provider,
  told: Pick<Named, 'agreements' | 'collections'>,
) => Promise<Set<string>>

export type CallbackGroups = {
  /** Stores a callback together with those that arrive at the same time. Resolved means durable. */
  store: Batcher<StoredCallback, null>
  /** Confirms and settles callbacks that arrive together; a company's change its balance once. */
  settle: Batcher<Item, Settling>
}

type Item = { app: App; told: Told }

type Settling = 'settled' | 'unconfirmed' | 'failed'

export function groupCallbacks(db: Database, follow: Follow): CallbackGroups {
  return {
    store: createBatcher(
      async (callbacks) => {
        await insertCallbacks(db, callbacks)
        return callbacks.map(() => null)
      },
      { most: MAX_STORED, lanes: 2, ownerOf: ({ companyId }) => companyId },
    ),
    settle: createSettleBatchers(follow),
  }
}

/**
 * The simulated bank answers at once, so that all it tells is settled together. Another may hang,
 * and then keeps nobody but its own company waiting.
 */
function createSettleBatchers(follow: Follow): CallbackGroups['settle'] {
  const run = (items: Item[]) => settleTold(follow, items)
  const simulated = createBatcher(run, {
    ...{ most: MAX_SETTLED, lanes: 2 },
    ownerOf: ({ told }: Item) => told.companyId,
  })
  const banks = new Map<Uuid, { settle: CallbackGroups['settle']; waiting: number }>()

  async function settle(item: Item): Promise<Settling> {
    const { companyId, provider } = item.told
    if (provider === item.app.providers.simulator.name) return simulated(item)
    const bank = banks.get(companyId) ?? {
      ...{ settle: createBatcher(run, { most: MAX_ASKED }), waiting: 0 },
    }
    banks.set(companyId, bank)
    bank.waiting += 1
    return bank.settle(item).finally(() => {
      bank.waiting -= 1
      if (bank.waiting === 0) banks.delete(companyId)
    })
  }
  async function idle(): Promise<void> {
    const own = [...banks.values()].map((bank) => bank.settle.idle())
    await Promise.all([simulated.idle(), ...own])
  }
  return Object.assign(settle, { idle })
}

const contextOf = (companyId: Uuid, id: Uuid) => `${companyId}:callback:${id}`

/**
 * Takes what a bank tells of a company's money: it is stored, and may then be answered. `settled`
 * resolves when it is also confirmed with the bank and settled, or could not be for now; a task
 * goes on from there.
 */
export async function receiveCallback(
  app: App,
  companyId: Uuid,
  provider: string,
  body: unknown,
): Promise<{ settled: Promise<Settling> }> {
  const named = namedIn(body)
  if (namesOf(named).length === 0) return { settled: Promise.resolve('unconfirmed') }
  const [id, receivedAt] = [newId(), app.systemClock.now()]
  const sealed = app.vault.seal(JSON.stringify(body), contextOf(companyId, id))
  const nextAttemptAt = new Date(receivedAt.getTime() + FIRST_LEASE_MS)
  await app.callbacks.store({ companyId, id, provider, sealed, receivedAt, nextAttemptAt })
  return { settled: app.callbacks.settle({ app, told: { companyId, id, provider, ...named } }) }
}

/** A few companies at a time: one that fails does not keep the others from their money. */
async function settleTold(follow: Follow, items: Item[]): Promise<Settling[]> {
  const results = new Map<Uuid, Settling>()
  const { app } = items[0]!
  const byCompany = Map.groupBy(
    items.map(({ told }) => told),
    ({ companyId, provider }) => `${companyId} ${provider}`,
  )
  const groups = [...byCompany.values()]
  const settle = async () => {
    for (let group = groups.pop(); group; group = groups.pop()) {
      for (const [id, result] of await settleGroup(app, follow, group)) results.set(id, result)
    }
  }
  await Promise.all(Array.from({ length: COMPANIES_AT_ONCE }, settle))
  return items.map(({ told }) => results.get(told.id)!)
}

/** A group that fails is tried one by one, so that a bad callback never fails its neighbours. */
async function settleGroup(app: App, follow: Follow, group: Told[]): Promise<Map<Uuid, Settling>> {
  try {
    return await settleCompany(app, follow, group)
  } catch (error) {
    if (group.length === 1) {
      const [{ companyId: company, id: callback }] = group as [Told]
      app.log.error({ ...describeError(error), company, callback }, 'a callback was not settled')
      return new Map([[callback, 'failed']])
    }
  }
  const results = new Map<Uuid, Settling>()
  for (const told of group) {
    results.set(told.id, (await settleGroup(app, follow, [told])).get(told.id)!)
  }
  return results
}

async function settleCompany(
  anyApp: App,
  follow: Follow,
  group: Told[],
): Promise<Map<Uuid, Settling>> {
  const [{ companyId, provider: name }] = group as [Told, ...Told[]]
  const app = forCompany(anyApp, { id: companyId })
  const company = await findCompany(app.db, companyId)
  const provider = app.providers.named(name)
  if (!company) return new Map(group.map(({ id }) => [id, 'unconfirmed']))
  const confirmed = await confirm(provider, company, allOf(group, 'endToEndIds'))
  const known = new Set(confirmed.map(({ endToEndId }) => endToEndId))
  const ours =
    provider === app.providers.simulator ? confirmed : await since(app, company, confirmed)
  const now = app.systemClock.now()
  const arrival = { source: provider.source, now: nowOf(app, company) }
  await app.db.transaction(async (tx) => {
    await settlePayments(tx, app, company, ours, arrival)
    await markProcessed(tx, companyId, doneOf(group, known), now)
  })
  const told = {
    agreements: allOf(group, 'agreements'),
    collections: allOf(group, 'collections'),
  }
  if (told.agreements.length + told.collections.length > 0) {
    const own = withCompanyClock(app, company)
    for (const one of await follow(own, company, provider, told)) known.add(one)
    await markProcessed(app.db, companyId, doneOf(group, known), now)
  }
  const done = new Set(doneOf(group, known))
  return new Map(group.map(({ id }) => [id, done.has(id) ? 'settled' : 'unconfirmed']))
}

const allOf = (group: Told[], kind: keyof Named): string[] => [
  ...new Set(group.flatMap((told) => told[kind])),
]

/** The callbacks of which every name is dealt with. */
const doneOf = (group: Told[], known: Set<string>): Uuid[] =>
  group.filter((told) => namesOf(told).every((name) => known.has(name))).map(({ id }) => id)

/** Asks the bank what is true of what was told in its name. */
async function confirm(
  provider: Provider,
  company: Company,
  endToEndIds: string[],
): Promise<ReceivedPix[]> {
  if (endToEndIds.length === 0) return []
  const outcome = await provider.findReceived(company, endToEndIds)
  return outcome.kind === 'accepted' ? outcome.value : []
}

/** Leaves out what arrived before the bank was connected, and pays nothing of ours. */
async function since(
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
 * Settles callbacks of a company that were stored and never settled. All are tried; throws if one
 * of them failed.
 */
export async function settleStored(app: App, callbacks: DueCallback[]): Promise<void> {
  const results = await Promise.all(callbacks.map((callback) => settleAgain(app, callback)))
  const hopeless = callbacks.filter(
    ({ attempts }, i) => results[i] === 'unconfirmed' && attempts >= MAX_ATTEMPTS,
  )
  for (const { companyId: company, id: callback } of hopeless) {
    app.log.warn({ company, callback }, 'a callback was never confirmed by the bank')
    await markProcessed(app.db, company, [callback], app.systemClock.now())
  }
  if (results.includes('failed')) throw new Error('callbacks were not settled')
}

/** One that cannot be opened fails alone. */
async function settleAgain(app: App, callback: DueCallback): Promise<Settling> {
  const { companyId: company, id } = callback
  try {
    return await app.callbacks.settle({ app, told: { ...callback, ...reopen(app, callback) } })
  } catch (error) {
    app.log.error({ ...describeError(error), company, callback: id }, 'a callback was not settled')
    return 'failed'
  }
}

const reopen = ({ vault }: App, { companyId, id, sealed }: DueCallback): Named =>
  namedIn(JSON.parse(vault.open(sealed, contextOf(companyId, id))))
