import Type, { type Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { fromPublic, type Uuid, unpackPair } from '../../lib/ids.ts'
import { EMAIL_FORM } from '../../lib/mailbox.ts'
import { readReais } from '../../lib/money.ts'
import { invalid } from '../../lib/problems.ts'
import type { Vault } from '../../lib/vault.ts'
import { MAX_AMOUNT } from '../../pix/amounts.ts'
import {
  addDays,
  endOfPeriod,
  localDateOf,
  startOfDay,
  startOfPeriod,
} from '../../pix/local-time.ts'
import { isTaxIdShape, isValidTaxId, plainTaxId } from '../../pix/tax-id.ts'
import { cleanTyped, plainPhone } from '../../pix/written.ts'
import { chargeTxid, namedBy } from '../../provider/txid.ts'
import { nameWords } from '../customers/rules.ts'
import { indexEmail } from '../customers/sealing.ts'
import { findIdsByName, findIdsByPart, mayBePart } from '../customers/search.ts'
import { findByPhone, findIdsByTaxId } from '../customers/store.ts'
import { Amount, DayOrTime, Email, ExternalId, PAGE, TaxId, Timestamp } from '../fields.ts'
import type { AppWithCharges } from './group.ts'
import { CHARGE_KINDS, CHARGE_STATUSES, type Charge, PAYMENT_STATUSES } from './rules.ts'
import * as store from './search-store.ts'
import type { ChargeId } from './store.ts'

/** What a text in the search box may be. */
export const SOUGHT = [
  'charge',
  'txid',
  'endToEndId',
  'taxId',
  'email',
  'amount',
  'phone',
  'externalId',
  'name',
  'part',
  'referenceStart',
] as const
export type Sought = (typeof SOUGHT)[number]

/** One meaning of a text, in the form that a search takes. */
export type Meaning =
  | { kind: 'charge'; value: Uuid }
  | { kind: 'amount'; value: number }
  | { kind: Exclude<Sought, 'charge' | 'amount'>; value: string }

const END_TO_END_ID = /^E\d{20}[A-Za-z0-9]{11}$/
const TAX_ID_AS_TYPED = /^[A-Za-z0-9.\-/\s]+$/
/** Without a comma or "R$" a number may as well be somebody's own reference. */
const AMOUNT_FOR_SURE = /^R\$|,\d{1,2}$|\.\d{2}$/i
const TWO_LETTERS = /\p{L}.*\p{L}/u

/**
 * What a text in the search box may mean, the most probable first. They are tried in this order
 * until one finds something.
 */
export function meaningsOf(typed: string): Meaning[] {
  const text = cleanTyped(typed)
  if (text === '') return []
  const charge = chargeIn(text)
  if (charge !== null) return [{ kind: 'charge', value: charge }]
  if (EMAIL_FORM.test(text)) {
    return [{ kind: 'email', value: text }, ownReference(text), partIn(text)!]
  }
  const amount = amountIn(text)
  const isAmount = amount !== null && AMOUNT_FOR_SURE.test(text)
  return [
    isAmount && amount,
    txidIn(text),
    endToEndIdIn(text),
    taxIdIn(text),
    phoneIn(text),
    ownReference(text),
    !isAmount && amount,
    nameIn(text),
    !isAmount && partIn(text),
    referenceStartIn(text),
  ].filter((meaning) => meaning !== null && meaning !== false)
}

const ownReference = (value: string): Meaning => ({ kind: 'externalId', value })

/** The id of a charge, or the address of its page. */
function chargeIn(text: string): Uuid | null {
  const id = /charge_[0-9a-z]{26}/i.exec(text)?.[0].toLowerCase()
  if (id && (id.length === text.length || text.includes('://'))) return fromPublic('charge', id)
  const token = /:\/\/[^/]+\/pay\/([^/?#]+)/.exec(text)?.[1]
  return token ? (unpackPair(token.slice(0, 43))?.id ?? null) : null
}

const txidIn = (text: string): Meaning | null =>
  namedBy(text) === null ? null : { kind: 'txid', value: text }

function endToEndIdIn(text: string): Meaning | null {
  const id = text.replace(/^e/, 'E')
  return END_TO_END_ID.test(id) ? { kind: 'endToEndId', value: id } : null
}

/** A CNPJ may have letters. Then it counts only with right check digits. */
function taxIdIn(text: string): Meaning | null {
  if (!TAX_ID_AS_TYPED.test(text)) return null
  const value = plainTaxId(text)
  const isTaxId = isTaxIdShape(value) && (/^\d+$/.test(value) || isValidTaxId(value))
  return isTaxId ? { kind: 'taxId', value } : null
}

function amountIn(text: string): Meaning | null {
  const value = readReais(text)
  const isPayable = value !== null && value >= 1 && value <= MAX_AMOUNT
  return isPayable ? { kind: 'amount', value } : null
}

function phoneIn(text: string): Meaning | null {
  const value = plainPhone(text)
  return value === null ? null : { kind: 'phone', value }
}

/** What may be a part of a phone, a tax id or an e-mail address of the payer. */
const partIn = (text: string): Meaning | null =>
  mayBePart(text) ? { kind: 'part', value: text } : null

/** Fewer characters begin too many references, and few have spaces. */
const referenceStartIn = (text: string): Meaning | null =>
  /^\S{3,}$/.test(text) ? { kind: 'referenceStart', value: text } : null

const nameIn = (text: string): Meaning | null =>
  TWO_LETTERS.test(text) ? { kind: 'name', value: text } : null

const FROM = 'at or after this moment, or on or after this day in São Paulo'
const TO = 'before this moment, or up to the end of this day in São Paulo'
const AnyText = (description: string) => Type.String({ maxLength: 255, description })

const FILTERS = {
  status: Type.Optional(Type.Enum(CHARGE_STATUSES)),
  paymentStatus: Type.Optional(Type.Enum(PAYMENT_STATUSES)),
  kind: Type.Optional(
    Type.Enum(CHARGE_KINDS, {
      description: 'PIX, LINK, STATIC (a sale of a static code) or RECURRING (of a subscription)',
    }),
  ),
  externalId: Type.Optional(ExternalId),
  customerId: Type.Optional(AnyText('The customer that the payer was found as')),
  linkId: Type.Optional(AnyText('The reusable link that sold it')),
  taxId: Type.Optional(TaxId),
  email: Type.Optional({ ...Email, description: 'The payer’s address, in upper or lower case' }),
  endToEndId: Type.Optional(AnyText('The scheme’s id of the payment')),
  txid: Type.Optional(
    AnyText('The id in the code: of one charge, or of a static code and all its sales'),
  ),
  amount: Type.Optional(Amount(1, 'Cents, exactly')),
  devMode: Type.Optional(Type.Boolean()),
  createdFrom: Type.Optional(DayOrTime(`Created ${FROM}`)),
  createdTo: Type.Optional(DayOrTime(`Created ${TO}`)),
  paidFrom: Type.Optional(DayOrTime(`Paid ${FROM}`)),
  paidTo: Type.Optional(DayOrTime(`Paid ${TO}`)),
}

export const ChargeQuery = Type.Object({
  ...PAGE,
  ...FILTERS,
  include: Type.Optional(
    Type.Enum(['qr'], { description: 'Show the QR image of each charge, brCodeBase64' }),
  ),
})
export const SummaryQuery = Type.Object(FILTERS)

const FIGURES = {
  count: Type.Integer({ description: 'How many charges' }),
  sum: Type.Integer({ description: 'Their amounts together, in cents' }),
}
const Status = Type.Enum(CHARGE_STATUSES)

export const SummaryView = Type.Object({
  date: Type.Enum(['created', 'paid'], {
    description: 'Which day of a charge counts: paid when paidFrom or paidTo is sent',
  }),
  from: Timestamp,
  to: Timestamp,
  ...FIGURES,
  statuses: Type.Array(Type.Object({ status: Status, ...FIGURES })),
  days: Type.Array(
    Type.Object({
      day: Type.String({ description: 'YYYY-MM-DD in São Paulo, oldest first' }),
      status: Status,
      ...FIGURES,
    }),
  ),
})

export type Summary = Static<typeof SummaryView>

/**
 * A query of the API, and what only pages search for: the name or the phone of a payer, a part of
 * the phone, tax id or e-mail address, and references in any case.
 */
export type Query = Static<typeof SummaryQuery> & {
  name?: string
  phone?: string
  part?: string
  reference?: string
  referenceStart?: string
  /** Cents. Both belong to the range. */
  amountFrom?: number
  amountTo?: number
  /** Whether all that was paid went back. */
  isReturned?: boolean
  ids?: Uuid[]
}

/** `isMasked`: whoever searches sees what tells who a payer is only in part. */
export type Where = { db: Tx; vault: Vault; companyId: Uuid; now: Date; isMasked: boolean }

/** Null if nothing can match, because an id does not have the form of ours. */
async function filterOf(where: Where, query: Query): Promise<store.ChargeFilter | null> {
  const { vault, companyId } = where
  const { customerId, linkId, txid, taxId, email, paymentStatus } = query
  const customer = customerId === undefined ? null : fromPublic('clnt', customerId)
  const link = linkId === undefined ? null : fromPublic('link', linkId)
  const named = txid === undefined ? null : namedBy(txid)
  const isUnknown =
    (customerId !== undefined && customer === null) ||
    (linkId !== undefined && link === null) ||
    (txid !== undefined && named === null) ||
    (query.name !== undefined && nameWords(query.name).length === 0)
  if (isUnknown) return null
  return {
    ...store.ANY_CHARGE,
    ...plainly(query),
    paymentStatus: paymentStatus ?? null,
    customerId: customer,
    linkId: link,
    chargeId: named && 'charge' in named ? named.charge : null,
    staticCodeId: named && 'code' in named ? named.code : null,
    reference: query.reference ?? null,
    referenceStart: query.referenceStart ?? null,
    payer: taxId === undefined ? await peopleOf(where, query) : await payerOf(where, taxId),
    name: await nameOf(where, query.name),
    emailIndexes:
      email === undefined ? null : vault.forms((by) => indexEmail(by, companyId, email)),
    created: spanOf(query.createdFrom, query.createdTo),
    paid: spanOf(query.paidFrom, query.paidTo),
  }
}

const plainly = (query: Query) => ({
  status: query.status ?? null,
  isReturned: query.isReturned ?? null,
  kind: query.kind ?? null,
  devMode: query.devMode ?? null,
  externalId: query.externalId ?? null,
  endToEndId: query.endToEndId ?? null,
  amount: query.amount ?? null,
  amountFrom: query.amountFrom ?? null,
  amountTo: query.amountTo ?? null,
  ids: query.ids ?? null,
})

const spanOf = (from: string | undefined, to: string | undefined): store.Span => ({
  from: from === undefined ? null : startOfPeriod(from),
  to: to === undefined ? null : endOfPeriod(to),
})

async function payerOf({ db, vault, companyId }: Where, taxId: string) {
  const indexes = vault.forms((by) => by.index(companyId, taxId))
  return { indexes, customerIds: await findIdsByTaxId(db, companyId, indexes) }
}

/** So many customers of a name, a phone or a part of them are looked at. */
export const MAX_NAMESAKES = 100

/** Whether more customers are meant than are looked at. */
const isCut = ({ payer, name }: store.ChargeFilter): boolean =>
  payer?.isCut === true || name?.isCut === true

/** Charges are found by the customers who have the phone or the part, whatever each charge says. */
async function peopleOf(where: Where, { phone, part }: Query) {
  const { db, vault, companyId } = where
  if (phone !== undefined) {
    const found = await findByPhone(db, vault, companyId, phone, MAX_NAMESAKES + 1)
    const customerIds = found.slice(0, MAX_NAMESAKES).map(({ id }) => id)
    return { indexes: null, customerIds, isCut: found.length > MAX_NAMESAKES }
  }
  if (part === undefined) return null
  const { ids, isCut } = await findIdsByPart(where, part, MAX_NAMESAKES)
  return { indexes: null, customerIds: ids, isCut }
}

/** If a name has no words of letters or digits, nobody has it. */
async function nameOf(where: Where, name: string | undefined) {
  if (name === undefined) return null
  const { ids, isCut } = await findIdsByName(where, name, MAX_NAMESAKES)
  return { words: nameWords(name), customerIds: ids, isCut }
}

/** How many charges a query asks for, and their amounts together, in cents. */
type Total = { count: number; sum: number; isMore: boolean; isCut: boolean }

/** Counts the charges that a query asks for, up to a number, so that it never costs much. */
export async function countCharges(where: Where, query: Query, max: number): Promise<Total> {
  const filter = await filterOf(where, query)
  if (filter === null) return { count: 0, sum: 0, isMore: false, isCut: false }
  const found = await store.count(where.db, where.companyId, filter, max + 1, where.now)
  return { ...found, isMore: found.count > max, isCut: isCut(filter) }
}

/**
 * The newest charges that a query asks for, up to a number, counted by their state. `isCut`: there
 * may be more, because more customers are meant than are looked at.
 */
export type StateCounts = {
  states: store.StateCount[]
  count: number
  isMore: boolean
  isCut: boolean
}

export async function countByState(where: Where, query: Query, max: number): Promise<StateCounts> {
  const filter = await filterOf(where, query)
  if (filter === null) return { states: [], count: 0, isMore: false, isCut: false }
  const { db, companyId, now } = where
  const states = await store.countByState(db, companyId, filter, max, now)
  const count = states.reduce((sum, state) => sum + state.count, 0)
  // One more than the newest tells whether there are others.
  const isMore = count === max && (await hasMore(where, filter, max))
  return { states, count, isMore, isCut: isCut(filter) }
}

/** All charges of a company, counted in each state up to a number. */
export const countStates = ({ db, companyId, now }: Where, max: number) =>
  store.countStates(db, companyId, max, now)

async function hasMore({ db, companyId, now }: Where, filter: store.ChargeFilter, max: number) {
  return (await store.count(db, companyId, filter, max + 1, now)).count > max
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
const SUMMARY_DAYS = 31
/** Days that a summary may cover, so that its cost does not grow with the company's history. */
const MAX_SUMMARY_DAYS = 366
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

/** A text that somebody searches for, and what they have chosen that it means. */
export type SoughtText = { text: string; as?: string | undefined }

/** A search: what the text is taken for, if there is one. */
export type Found = { meaning: Meaning | null; query: Query; charges: Charge[] }

/** The meanings of a text, or the only one that was chosen. */
export function meaningsIn({ text, as }: SoughtText): Meaning[] {
  const meanings = meaningsOf(text)
  const chosen = meanings.filter(({ kind }) => kind === as)
  return chosen.length > 0 ? chosen : meanings
}

/** The conditions of a meaning, beside those of the filters. Null: another amount is asked for. */
export function queryOf(filters: Query, meaning: Meaning | null): Query | null {
  if (meaning === null) return filters
  if (meaning.kind === 'charge') return { ...filters, txid: chargeTxid(meaning.value) }
  const { kind, value } = meaning
  // People write references in any case. Programs, which ask the API, do not.
  if (kind === 'externalId') return { ...filters, reference: value }
  if (kind === 'amount' && filters.amount !== undefined && filters.amount !== value) return null
  return { ...filters, [kind]: value }
}

/** One page of charges: of the first meaning that finds any, if something is searched for. */
export async function findCharges(
  where: Where,
  sought: SoughtText,
  filters: Query,
  part: { limit: number; after: Uuid | null },
): Promise<Found> {
  const meanings = meaningsIn(sought)
  for (const meaning of meanings.length > 0 ? meanings : [null]) {
    const query = queryOf(filters, meaning)
    if (query === null) continue
    const charges = await searchCharges(where, query, part)
    if (charges.length > 0 || meanings.length === 0) return { meaning, query, charges }
  }
  return { meaning: null, query: filters, charges: [] }
}
