import type { Database } from '../../db/database.ts'
import { type Batcher, createBatcher } from '../../lib/batch.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import { namedPayments } from '../../provider/callback.ts'
import type { Provider } from '../../provider/port.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import {
  claimDue,
  type DueCallback,
  insertCallbacks,
  markProcessed,
  type StoredCallback,
} from './callback-store.ts'
import { isBooked } from './rules.ts'
import { settlePayments } from './settle.ts'

/** How long whoever stored a callback has to settle it before a task takes it up. */
const FIRST_LEASE_MS = 30_000
/** After as many tries, half an hour in all, what the bank does not confirm is left alone. */
const MOST_ATTEMPTS = 7
const MOST_STORED = 256
const MOST_SETTLED = 512
/** Leaves connections for everybody else: two groups may be under way. */
const COMPANIES_AT_ONCE = 3

/** A callback that is stored, with the payments it names. */
type Told = { companyId: Uuid; id: Uuid; provider: string; endToEndIds: string[] }

export type CallbackGroups = {
  /** Stores a callback together with those that arrive at the same time. Resolved means durable. */
  store: Batcher<StoredCallback, null>
  /** Confirms and settles callbacks that arrive together; a company's change its balance once. */
  settle: Batcher<{ app: App; told: Told }, Settling>
}

type Settling = 'settled' | 'unconfirmed' | 'failed'

export function groupCallbacks(db: Database): CallbackGroups {
  return {
    store: createBatcher(
      async (callbacks) => {
        await insertCallbacks(db, callbacks)
        return callbacks.map(() => null)
      },
      { most: MOST_STORED, lanes: 2 },
    ),
    settle: createBatcher(settleTold, { most: MOST_SETTLED, lanes: 2 }),
  }
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
  const endToEndIds = namedPayments(body)
  if (endToEndIds.length === 0) return { settled: Promise.resolve('unconfirmed') }
  const [id, receivedAt] = [newId(), app.clock.now()]
  const sealed = app.vault.seal(JSON.stringify(body), contextOf(companyId, id))
  const nextAttemptAt = new Date(receivedAt.getTime() + FIRST_LEASE_MS)
  await app.callbacks.store({ companyId, id, provider, sealed, receivedAt, nextAttemptAt })
  return { settled: app.callbacks.settle({ app, told: { companyId, id, provider, endToEndIds } }) }
}

/** A few companies at a time: one that fails does not keep the others from their money. */
async function settleTold(items: { app: App; told: Told }[]): Promise<Settling[]> {
  const results = new Map<Uuid, Settling>()
  const { app } = items[0]!
  const byCompany = Map.groupBy(
    items.map(({ told }) => told),
    ({ companyId, provider }) => `${companyId} ${provider}`,
  )
  const groups = [...byCompany.values()]
  const settle = async () => {
    for (let group = groups.pop(); group; group = groups.pop()) {
      for (const [id, result] of await settleGroup(app, group)) results.set(id, result)
    }
  }
  await Promise.all(Array.from({ length: COMPANIES_AT_ONCE }, settle))
  return items.map(({ told }) => results.get(told.id)!)
}

/** A group that fails is tried one by one, so that a bad callback never fails its neighbours. */
async function settleGroup(app: App, group: Told[]): Promise<Map<Uuid, Settling>> {
  try {
    return await settleTogether(app, group)
  } catch (error) {
    if (group.length === 1) {
      const [{ companyId: company, id: callback }] = group as [Told]
      app.log.error({ ...describeError(error), company, callback }, 'a callback was not settled')
      return new Map([[callback, 'failed']])
    }
  }
  const results = new Map<Uuid, Settling>()
  for (const told of group) results.set(told.id, (await settleGroup(app, [told])).get(told.id)!)
  return results
}

async function settleTogether(app: App, group: Told[]): Promise<Map<Uuid, Settling>> {
  const [{ companyId, provider: name }] = group as [Told, ...Told[]]
  const company = await findCompany(app.db, companyId)
  const provider = app.providers.named(name)
  if (!company) return new Map(group.map(({ id }) => [id, 'unconfirmed']))
  const ids = [...new Set(group.flatMap(({ endToEndIds }) => endToEndIds))]
  const { confirmed, done } = await confirm(provider, company, ids, group)
  const now = app.clock.now()
  await app.db.transaction(async (tx) => {
    await settlePayments(tx, company, confirmed, { booked: isBooked(company, name), now })
    await markProcessed(tx, companyId, [...done], now)
  })
  return new Map(group.map(({ id }) => [id, done.has(id) ? 'settled' : 'unconfirmed']))
}

/** Asks the bank what is true of what was told in its name. */
async function confirm(provider: Provider, company: Company, ids: string[], group: Told[]) {
  const outcome = await provider.findReceived(company, ids)
  const confirmed = outcome.kind === 'accepted' ? outcome.value : []
  const known = new Set(confirmed.map(({ endToEndId }) => endToEndId))
  const isDone = ({ endToEndIds }: Told) => endToEndIds.every((id) => known.has(id))
  return { confirmed, done: new Set(group.filter(isDone).map(({ id }) => id)) }
}

/** Takes up callbacks that were stored and never settled. */
export async function settleDueCallbacks(app: App): Promise<void> {
  const due = await claimDue(app.db, app.clock.now(), MOST_SETTLED)
  const told = due.map((callback) => ({ ...callback, endToEndIds: namedIn(app, callback) }))
  const results = await Promise.all(told.map((one) => app.callbacks.settle({ app, told: one })))
  const hopeless = due.filter(
    ({ attempts }, i) => results[i] === 'unconfirmed' && attempts >= MOST_ATTEMPTS,
  )
  for (const { companyId: company, id: callback } of hopeless) {
    app.log.warn({ company, callback }, 'a callback was never confirmed by the bank')
    await markProcessed(app.db, company, [callback], app.clock.now())
  }
}

const namedIn = ({ vault }: App, { companyId, id, sealed }: DueCallback): string[] =>
  namedPayments(JSON.parse(vault.open(sealed, contextOf(companyId, id))))
