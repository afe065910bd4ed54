import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import { invalid } from '../../lib/problems.ts'
import type { Vault } from '../../lib/vault.ts'
import {
  addDays,
  endOfPeriod,
  localDateOf,
  startOfDay,
  startOfPeriod,
} from '../../pix/local-time.ts'
import { namedBy } from '../../provider/txid.ts'
import { nameWords } from '../customers/rules.ts'
import { indexEmail } from '../customers/sealing.ts'
import { findIdsByName, findIdsByTaxId } from '../customers/store.ts'
import type { AppWithCharges } from './group.ts'
import { CHARGE_STATUSES, type Charge } from './rules.ts'
import * as store from './search-store.ts'
import type { SummaryQuery, SummaryView } from './search-view.ts'
import type { ChargeId } from './store.ts'

/** A query of the API, and the name of a payer, which only pages search for. */
export type Query = Static<typeof SummaryQuery> & { name?: string }

export type Where = { db: Tx; vault: Vault; companyId: Uuid; now: Date }

/** Null if nothing can match, because an id does not have the form of ours. */
async function filterOf(where: Where, query: Query): Promise<store.ChargeFilter | null> {
  const { db, vault, companyId } = where
  const { customerId, txid, taxId, email, paymentStatus } = query
  const customer = customerId === undefined ? null : fromPublic('clnt', customerId)
  const named = txid === undefined ? null : namedBy(txid)
  const isUnknown =
    (customerId !== undefined && customer === null) ||
    (txid !== undefined && named === null) ||
    (query.name !== undefined && nameWords(query.name).length === 0)
  if (isUnknown) return null
  return {
    ...store.ANY_CHARGE,
    ...plainly(query),
    paymentStatus: paymentStatus ?? null,
    customerId: customer,
    chargeId: named && 'charge' in named ? named.charge : null,
    staticCodeId: named && 'code' in named ? named.code : null,
    payer: taxId === undefined ? null : await payerOf(db, vault, companyId, taxId),
    name: await nameOf(where, query.name),
    emailIndex: email === undefined ? null : indexEmail(vault, companyId, email),
    created: spanOf(query.createdFrom, query.createdTo),
    paid: spanOf(query.paidFrom, query.paidTo),
  }
}

const plainly = ({ status, kind, devMode, externalId, endToEndId, amount }: Query) => ({
  status: status ?? null,
  kind: kind ?? null,
  devMode: devMode ?? null,
  externalId: externalId ?? null,
  endToEndId: endToEndId ?? null,
  amount: amount ?? null,
})

const spanOf = (from: string | undefined, to: string | undefined): store.Span => ({
  from: from === undefined ? null : startOfPeriod(from),
  to: to === undefined ? null : endOfPeriod(to),
})

async function payerOf(db: Tx, vault: Vault, companyId: Uuid, taxId: string) {
  const index = vault.index(companyId, taxId)
  return { index, customerIds: await findIdsByTaxId(db, companyId, index) }
}

/** So many customers of a name are looked at. */
const MAX_NAMESAKES = 100

/** If a name has no words of letters or digits, nobody has it. */
async function nameOf({ db, companyId }: Where, name: string | undefined) {
  if (name === undefined) return null
  const words = nameWords(name)
  const customerIds =
    words.length === 0 ? [] : await findIdsByName(db, companyId, words, MAX_NAMESAKES)
  return { words, customerIds }
}

/** How many charges a query asks for, and their amounts together, in cents. */
export type Total = { count: number; sum: number; isMore: boolean }

/** Counts the charges that a query asks for, up to a number, so that it never costs much. */
export async function countCharges(where: Where, query: Query, max: number): Promise<Total> {
  const filter = await filterOf(where, query)
  if (filter === null) return { count: 0, sum: 0, isMore: false }
  const found = await store.count(where.db, where.companyId, filter, max + 1, where.now)
  return { ...found, isMore: found.count > max }
}

/** One page of the charges that a query asks for. */
export async function searchCharges(
  where: Where,
  query: Query,
  page: store.ChargePage,
): Promise<Charge[]> {
  const filter = await filterOf(where, query)
  return filter === null ? [] : store.search(where.db, where.companyId, filter, page, where.now)
}

/** Reads the next part of a list. */
type ReadPart = (part: { limit: number }) => Promise<Charge[]>

/**
 * One page of all charges of a company, and one more charge. What can have changed of them is read
 * at once, with lists that others ask for, and the rest in parts, because a charge may be large.
 */
export async function listCharges(
  { charges }: AppWithCharges,
  companyId: Uuid,
  page: store.ChargePage,
): Promise<ReadPart> {
  const listed = await charges.list({ companyId, after: page.after, limit: page.limit + 1 })
  const load = async (one: Charge | ChargeId) => ('kind' in one ? one : (await charges.find(one))!)
  return ({ limit }) => Promise.all(listed.splice(0, limit).map(load))
}

const DAY_MS = 86_400_000
/** Days that a summary covers by default. */
export const SUMMARY_DAYS = 31
/** Days that a summary may cover, so that its cost does not grow with the company's history. */
export const MAX_SUMMARY_DAYS = 366
/** With daylight saving time a year may be an hour longer. */
const SHIFT_MS = 3_600_000

type Period = { from: Date; to: Date }

/** The period of a summary. By default it ends today and begins 31 days before its end. */
function periodOf({ from, to }: store.Span, now: Date): Period {
  const end = to ?? startOfDay(addDays(localDateOf(now), 1))
  return { from: from ?? new Date(end.getTime() - SUMMARY_DAYS * DAY_MS), to: end }
}

function requireShort({ from, to }: Period, date: 'created' | 'paid'): void {
  if (to.getTime() - from.getTime() <= MAX_SUMMARY_DAYS * DAY_MS + SHIFT_MS) return
  throw invalid(
    `${date}From: a summary covers at most ${MAX_SUMMARY_DAYS} days; send a later ${date}From or an earlier ${date}To`,
  )
}

/** Counts what a query asks for, by the day of its creation or of its payment. */
export async function summarizeCharges(
  where: Where,
  query: Query,
): Promise<Static<typeof SummaryView>> {
  const date = query.paidFrom === undefined && query.paidTo === undefined ? 'created' : 'paid'
  const asked = spanOf(query[`${date}From`], query[`${date}To`])
  const period = periodOf(asked, where.now)
  requireShort(period, date)
  const filter = await filterOf(where, query)
  const days =
    filter === null
      ? []
      : await store.summarize(where.db, where.companyId, { ...filter, [date]: period }, where.now)
  const bounds = { from: period.from.toISOString(), to: period.to.toISOString() }
  return { date, ...bounds, ...total(days), statuses: byStatus(days), days }
}

const total = (rows: store.SummaryRow[]) => ({
  count: rows.reduce((all, { count }) => all + count, 0),
  sum: rows.reduce((all, { sum }) => all + sum, 0),
})

const byStatus = (rows: store.SummaryRow[]) =>
  CHARGE_STATUSES.map((status) => ({
    status,
    ...total(rows.filter((row) => row.status === status)),
  })).filter(({ count }) => count > 0)
