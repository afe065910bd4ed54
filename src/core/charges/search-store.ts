import { bytes } from '../../db/arrays.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import {
  CHARGE_KINDS,
  type Charge,
  type ChargeKind,
  type ChargeStatus,
  type PaymentStatus,
  STORED_STATES,
} from './rules.ts'
import { CHARGE } from './store.ts'

/** From `from` on and before `to`. */
export type Span = { from: Date | null; to: Date | null }

/** The conditions of a search. Null: there is no such condition. */
export type ChargeFilter = {
  status: ChargeStatus | null
  paymentStatus: PaymentStatus | null
  /** Whether all that was paid went back. */
  isReturned: boolean | null
  ids: Uuid[] | null
  kind: ChargeKind | null
  devMode: boolean | null
  externalId: string | null
  /** In any case: the whole, and the beginning. */
  reference: string | null
  referenceStart: string | null
  customerId: Uuid | null
  /**
   * A tax id and every customer who has or had it, because charges are indexed by customer. Without
   * a tax id: the customers alone.
   */
  payer: { indexes: Buffer[] | null; customerIds: Uuid[]; isCut?: boolean } | null
  emailIndexes: Buffer[] | null
  /** The folded words of a payer's name, and customers who have them. */
  name: { words: string[]; customerIds: Uuid[]; isCut?: boolean } | null
  endToEndId: string | null
  chargeId: Uuid | null
  staticCodeId: Uuid | null
  linkId: Uuid | null
  amount: number | null
  amountFrom: number | null
  amountTo: number | null
  created: Span
  paid: Span
}

/** A filter without conditions. */
export const ANY_CHARGE: ChargeFilter = {
  status: null,
  paymentStatus: null,
  isReturned: null,
  ids: null,
  kind: null,
  devMode: null,
  externalId: null,
  reference: null,
  referenceStart: null,
  customerId: null,
  payer: null,
  emailIndexes: null,
  name: null,
  endToEndId: null,
  chargeId: null,
  staticCodeId: null,
  linkId: null,
  amount: null,
  amountFrom: null,
  amountTo: null,
  created: { from: null, to: null },
  paid: { from: null, to: null },
}

export type ChargePage = { limit: number; after: Uuid | null }

/** The column by which charges are ordered and counted, if not by their ids. */
type Moment = 'created_at' | 'payment_date'

const isAnyTime = ({ from, to }: Span): boolean => from === null && to === null

const momentOf = ({ created, paid }: ChargeFilter): Moment | null => {
  if (!isAnyTime(paid)) return 'payment_date'
  return isAnyTime(created) ? null : 'created_at'
}

/** Collects the parameters of a statement. `$1` is always the company. */
type Binder = { values: unknown[]; bind(value: unknown): string }

function binderFor(companyId: Uuid): Binder {
  const values: unknown[] = [companyId]
  return { values, bind: (value) => `$${values.push(value)}` }
}

const isDueBy = (now: string): string =>
  `c.status = 'OPEN' and c.kind <> 'RECURRING' and c.expires_at <= ${now}`

/** A hash has several forms while a secret is replaced. With one it is the usual statement. */
const isOneOf = (hashes: Buffer[], bind: Binder['bind']): string =>
  hashes.length === 1 ? `= ${bind(hashes[0])}` : `= any (${bind(bytes(hashes))}::bytea[])`

/** All conditions except those on the statuses. */
function fieldConditions(filter: ChargeFilter, { bind }: Binder): string[] {
  const conditions = ['c.company_id = $1']
  const where = (condition: string, value: unknown) => {
    if (value !== null) conditions.push(condition.replaceAll('?', bind(value)))
  }
  where('c.kind = ?', filter.kind)
  where('c.dev_mode = ?', filter.devMode)
  // The index has references in small letters.
  where('lower(c.external_id) = lower(?) and c.external_id = ?', filter.externalId)
  where('lower(c.external_id) = lower(?)', filter.reference)
  where('c.customer_id = ?', filter.customerId)
  where('c.end_to_end_id = ?', filter.endToEndId)
  // A sale of a static code is paid by the txid of the code.
  where(`c.id = ? and c.kind <> 'STATIC'`, filter.chargeId)
  where('c.static_code_id = ?', filter.staticCodeId)
  where('c.id = any (?::uuid[])', filter.ids)
  where('c.link_id = ?', filter.linkId)
  where('c.amount = ?', filter.amount)
  where('c.amount >= ?', filter.amountFrom)
  where('c.amount <= ?', filter.amountTo)
  where('c.created_at >= ?', filter.created.from)
  where('c.created_at < ?', filter.created.to)
  where('c.payment_date >= ?', filter.paid.from)
  where('c.payment_date < ?', filter.paid.to)
  const { indexes = null } = filter.payer ?? {}
  if (indexes) conditions.push(`c.payer_index ${isOneOf(indexes, bind)}`)
  return conditions
}

const storedStates = ({ status, paymentStatus, isReturned }: ChargeFilter) =>
  STORED_STATES.filter(
    ([first, second]) =>
      (status === null || status === first) &&
      (paymentStatus === null || paymentStatus === second) &&
      (isReturned === null || isReturned === (second === 'REFUNDED')),
  )

const isForStatus = ({ status, paymentStatus, isReturned }: ChargeFilter): boolean =>
  status !== null || paymentStatus !== null || isReturned !== null

const mayBeExpired = (filter: ChargeFilter): boolean =>
  storedStates(filter).some(([status]) => status === 'EXPIRED')

/** A charge past its deadline counts as expired, as every reader sees it. */
function statusConditions(filter: ChargeFilter, binder: Binder, now: Date): string[] {
  if (!isForStatus(filter)) return []
  const stored = storedStates(filter)
  const statuses = binder.bind([...new Set(stored.map(([status]) => status))])
  const payments = binder.bind([...new Set(stored.map(([, payment]) => payment))])
  const isStored = `c.status = any (${statuses}) and c.payment_status = any (${payments})`
  const due = isDueBy(binder.bind(now))
  return [mayBeExpired(filter) ? `(${isStored} or (${due}))` : `${isStored} and not (${due})`]
}

/** The rows to search. Old charges have the index of the e-mail address in another table. */
function sourceOf({ emailIndexes }: ChargeFilter, { bind }: Binder): string {
  if (emailIndexes === null) return 'charges c'
  const isSought = isOneOf(emailIndexes, bind)
  return `(select c.* from charges c where c.company_id = $1 and c.email_index ${isSought}
    union all
    select c.* from charge_emails e
    join charges c on c.company_id = e.company_id and c.id = e.charge_id
    where e.company_id = $1 and e.email_index ${isSought}) c`
}

/** The condition for charges that come after the last one of a page. */
function afterCondition(after: Uuid | null, moment: Moment | null, { bind }: Binder): string[] {
  if (after === null) return []
  const id = bind(after)
  if (moment !== null) {
    const last = `select a.${moment}, a.id from charges a where a.company_id = $1 and a.id = ${id}`
    return [`(c.${moment}, c.id) < (${last})`]
  }
  return [`c.id < ${id}`]
}

/**
 * Finds charges, newest first: by payment if the filter has a period of payment, by creation if it
 * has a period of creation, otherwise by id. Each statement reads little more than its page.
 */
export async function search(
  tx: Tx,
  companyId: Uuid,
  filter: ChargeFilter,
  page: ChargePage,
  now: Date,
): Promise<Charge[]> {
  const binder = binderFor(companyId)
  const text = textOf(filter, page, now, binder)
  const rows = await tx.query({ text, values: binder.values })
  return rows.map(CHARGE.read)
}

/** Counts charges and adds up their amounts, the newest `limit` of them. */
export async function count(
  tx: Tx,
  companyId: Uuid,
  filter: ChargeFilter,
  limit: number,
  now: Date,
): Promise<{ count: number; sum: number }> {
  const binder = binderFor(companyId)
  const found = textOf(filter, { limit, after: null }, now, binder)
  const [row] = await tx.query<{ count: number; sum: number }>({
    text: `select count(*)::int8 as count, coalesce(sum(f.amount + f.adjustment - f.shortfall), 0)::int8 as sum
           from (${found}) f`,
    values: binder.values,
  })
  return row!
}

/** Charges of one state among those that were found, and their cents. */
export type StateCount = {
  status: ChargeStatus
  isReturned: boolean
  devMode: boolean
  count: number
  /** What they ask for, or, if they are paid, what has arrived. */
  sum: number
  refunded: number
}

/** Counts the newest `limit` charges that a filter finds, by their state. */
export async function countByState(
  tx: Tx,
  companyId: Uuid,
  filter: ChargeFilter,
  limit: number,
  now: Date,
): Promise<StateCount[]> {
  const binder = binderFor(companyId)
  const found = textOf(filter, { limit, after: null }, now, binder)
  return tx.query<StateCount>({
    text: `select case when ${isDueBy(binder.bind(now))} then 'EXPIRED' else c.status end as status,
             c.payment_status = 'REFUNDED' as "isReturned", c.dev_mode as "devMode",
             count(*)::int8 as count, sum(c.amount + c.adjustment - c.shortfall)::int8 as sum,
             sum(c.refunded)::int8 as refunded
           from (${found}) c group by 1, 2, 3`,
    values: binder.values,
  })
}

/** Counts the charges in each state up to a limit, by the index of states. */
export async function countStates(
  tx: Tx,
  companyId: Uuid,
  limit: number,
  now: Date,
): Promise<Pick<StateCount, 'status' | 'isReturned' | 'count'>[]> {
  // As in `unsweptOf`: without `offset 0` the planner would search all charges instead.
  const due = `(select count(*) from (select from charges c
    where c.company_id = $1 and ${isDueBy('$5')} offset 0) d)`
  return tx.query({
    name: 'count_states_of_charges',
    text: `select w.status, w.payment_status = 'REFUNDED' as "isReturned",
             (f.count + case when w.status = 'EXPIRED' then ${due} else 0 end)::int8 as count
           from unnest($2::text[], $3::text[]) w (status, payment_status)
           cross join lateral (select count(*) from (select from charges c
             where c.company_id = $1 and c.status = w.status
               and c.payment_status = w.payment_status and not (${isDueBy('$5')})
             -- The order of the index of states, so that no other one is chosen.
             order by c.kind, c.dev_mode, c.id limit $4) s) f`,
    values: [
      companyId,
      STORED_STATES.map(([status]) => status),
      STORED_STATES.map(([, payment]) => payment),
      limit,
      now,
    ],
  })
}

function textOf(filter: ChargeFilter, page: ChargePage, now: Date, binder: Binder): string {
  if (filter.payer !== null) return byCustomers(filter, filter.payer.customerIds, page, now, binder)
  if (filter.emailIndexes !== null) return byEmail(filter, filter.emailIndexes, page, now, binder)
  if (filter.name !== null) return byName(filter, filter.name, page, now, binder)
  if (filter.referenceStart !== null) {
    return byReferenceStart(filter, filter.referenceStart, page, now, binder)
  }
  if (isByStateOnly(filter)) return byStates(filter, page, now, binder)
  if (isByAmounts(filter)) return byAmounts(filter, page, now, binder)
  const moment = momentOf(filter)
  return `select c.* from charges c
    where ${all(filter, page, now, binder)} order by ${orderBy(moment)}
    limit ${binder.bind(page.limit)}`
}

/** So many of the newest charges of a period are looked through for a range of amounts. */
export const AMOUNTS_READ = 10_000

/** Whether a range of amounts is sought, and nothing that an index leads to in few steps. */
const isByAmounts = (filter: ChargeFilter): boolean => {
  const { amountFrom, amountTo, externalId, endToEndId, chargeId, customerId, amount, ids } = filter
  const isRange = amountFrom !== null || amountTo !== null
  const others = [externalId, endToEndId, chargeId, customerId, amount, ids]
  return isRange && others.every((value) => value === null)
}

/**
 * By the index of amounts a range may be all charges, in another order than that of the page. So
 * the newest charges of the period are looked through.
 */
function byAmounts(filter: ChargeFilter, page: ChargePage, now: Date, binder: Binder): string {
  const { created, paid } = filter
  const order = orderBy(momentOf(filter))
  const conditions = all(filter, page, now, binder)
  const period = all({ ...ANY_CHARGE, created, paid }, page, now, binder)
  return `select c.* from (
      select c.* from charges c where ${period} order by ${order} limit ${AMOUNTS_READ}) c
    where ${conditions} order by ${order} limit ${binder.bind(page.limit)}`
}

/** Reads a page of the charges that have the address themselves, and one of the old ones. */
function byEmail(
  filter: ChargeFilter,
  emailIndexes: Buffer[],
  page: ChargePage,
  now: Date,
  binder: Binder,
): string {
  const order = orderBy(momentOf(filter))
  const [isSought, limit] = [isOneOf(emailIndexes, binder.bind), binder.bind(page.limit)]
  const conditions = all(filter, page, now, binder)
  // The order of the other table, by which it is read only as far as the page goes.
  const oldOrder = order.replaceAll('c.id', 'e.charge_id')
  return `select c.* from (
      (select c.* from charges c
       where c.company_id = $1 and ${conditions} and c.email_index ${isSought}
       order by ${order} limit ${limit})
      union all
      (select c.* from charge_emails e
       join charges c on c.company_id = e.company_id and c.id = e.charge_id
       where ${conditions} and e.company_id = $1 and e.email_index ${isSought}
       order by ${oldOrder} limit ${limit})) c
    order by ${order} limit ${limit}`
}

/** Reads charges by their ids. Without `offset 0` the planner may read all charges instead. */
const FOUND_ONE_BY_ONE = `cross join lateral (
  select * from charges a where a.company_id = $1 and a.id = found.id offset 0) c`

/** So many of the newest charges are looked through for a name. */
const NAMES_READ = 2000

/**
 * Names are in no index of charges, so that creating one costs the same. The newest charges are
 * looked through, and beside them all charges of customers who have that name.
 */
function byName(
  filter: ChargeFilter,
  { words, customerIds }: NonNullable<ChargeFilter['name']>,
  page: ChargePage,
  now: Date,
  binder: Binder,
): string {
  const moment = momentOf(filter)
  const { created, paid } = filter
  const [order, limit] = [orderBy(moment), binder.bind(page.limit)]
  const conditions = all(filter, page, now, binder)
  const period = all({ ...ANY_CHARGE, created, paid }, page, now, binder)
  const parts = binder.bind(words.map((word) => `%${word}%`))
  const isNamed = `fold_name(c.payer_name) like all (${parts}::text[])`
  return `select c.* from (
      (select c.id from (
         select c.* from charges c where ${period} order by ${order} limit ${NAMES_READ}) c
       where ${conditions} and ${isNamed} order by ${order} limit ${limit})
      union
      (select c.id from unnest(${binder.bind(customerIds)}::uuid[]) k (id) cross join lateral (
         select c.* from charges c where ${conditions} and c.customer_id = k.id
         order by ${order} limit ${limit}) c)) found
    ${FOUND_ONE_BY_ONE}
    order by ${order} limit ${limit}`
}

/** So many charges whose references begin with a text are looked at. */
const REFERENCES_READ = 300

/**
 * The first references from the text on, the newest charges of them first. The index is read as far
 * as that. With an end of the range the planner would expect few, and read and sort all of them.
 */
function byReferenceStart(
  filter: ChargeFilter,
  start: string,
  page: ChargePage,
  now: Date,
  binder: Binder,
): string {
  const text = `lower(${binder.bind(start)}::text)`
  // The operators compare bytes, as the index does.
  return `select c.* from (
      select id, lower(external_id) as reference from charges
      where company_id = $1 and external_id is not null and lower(external_id) ~>=~ ${text}
      order by lower(external_id) using ~<~, id limit ${REFERENCES_READ}) found
    ${FOUND_ONE_BY_ONE}
    where starts_with(found.reference, ${text}) and ${all(filter, page, now, binder)}
    order by ${orderBy(momentOf(filter))} limit ${binder.bind(page.limit)}`
}

const orderBy = (moment: Moment | null): string =>
  moment === null ? 'c.id desc' : `c.${moment} desc, c.id desc`

const all = (filter: ChargeFilter, { after }: ChargePage, now: Date, binder: Binder): string =>
  [
    // An index begins at the first of these, so a later page would begin at the end of the period.
    ...afterCondition(after, momentOf(filter), binder),
    ...fieldConditions(filter, binder),
    ...statusConditions(filter, binder, now),
  ].join(' and ')

/** A payer may be several customers. Reads a page of each, and takes the newest of all. */
function byCustomers(
  filter: ChargeFilter,
  customerIds: Uuid[],
  page: ChargePage,
  now: Date,
  binder: Binder,
): string {
  const moment = momentOf(filter)
  const [ids, limit] = [binder.bind(customerIds), binder.bind(page.limit)]
  return `select c.* from unnest(${ids}::uuid[]) k (id) cross join lateral (
      select c.* from ${sourceOf(filter, binder)}
      where ${all(filter, page, now, binder)} and c.customer_id = k.id
      order by ${orderBy(moment)} limit ${limit}) c
    order by ${orderBy(moment)} limit ${limit}`
}

const isByStateOnly = (filter: ChargeFilter): boolean => {
  const { status, paymentStatus, isReturned, kind, devMode, created, paid, ...others } = filter
  const isForState = [status, paymentStatus, isReturned, kind, devMode].some((one) => one !== null)
  const isForOthers = Object.values(others).some((value) => value !== null)
  return isForState && !isForOthers && isAnyTime(created) && isAnyTime(paid)
}

/**
 * The index of states has the statuses, kind and dev mode before the id. So the newest charges of
 * each wanted combination are read from it, and the newest of all are taken.
 */
function byStates(filter: ChargeFilter, page: ChargePage, now: Date, binder: Binder): string {
  const { bind } = binder
  const states = storedStates(filter).flatMap(([status, payment]) =>
    CHARGE_KINDS.filter((kind) => filter.kind === null || filter.kind === kind).flatMap((kind) =>
      [true, false]
        .filter((devMode) => filter.devMode === null || filter.devMode === devMode)
        .map((devMode) => ({ status, payment, kind, devMode })),
    ),
  )
  const column = (of: (state: (typeof states)[number]) => unknown) => bind(states.map(of))
  const after = afterCondition(page.after, null, binder)
  const due = isForStatus(filter) ? isDueBy(bind(now)) : null
  const limit = bind(page.limit)
  const conditions = [
    'c.company_id = $1',
    'c.status = w.status',
    'c.payment_status = w.payment_status',
    'c.kind = w.kind',
    'c.dev_mode = w.dev_mode',
    ...after,
    ...(due === null ? [] : [`not (${due})`]),
  ]
  const stored = `select s.id from unnest(${column(({ status }) => status)}::text[],
      ${column(({ payment }) => payment)}::text[], ${column(({ kind }) => kind)}::text[],
      ${column(({ devMode }) => devMode)}::bool[]) w (status, payment_status, kind, dev_mode)
    cross join lateral (select c.id from charges c
      where ${conditions.join(' and ')} order by c.id desc limit ${limit}) s`
  const unswept = unsweptOf(filter, due, after, binder)
  return `select c.* from (${stored} ${unswept} order by id desc limit ${limit}) found
    ${FOUND_ONE_BY_ONE} order by c.id desc`
}

/**
 * Charges past their deadline that no worker has expired yet. They are few and found by their
 * deadline. Without `offset 0` the planner would search all charges instead.
 */
function unsweptOf(
  { kind, devMode, ...filter }: ChargeFilter,
  due: string | null,
  after: string[],
  { bind }: Binder,
): string {
  if (due === null || !mayBeExpired({ kind, devMode, ...filter })) return ''
  const conditions = ['c.company_id = $1', due, ...after]
  if (kind !== null) conditions.push(`c.kind = ${bind(kind)}`)
  if (devMode !== null) conditions.push(`c.dev_mode = ${bind(devMode)}`)
  return `union all select d.id from (select c.id from charges c
    where ${conditions.join(' and ')} offset 0) d`
}

export type SummaryRow = { day: string; status: ChargeStatus; count: number; sum: number }

/** Counts charges and their cents by day of São Paulo and status. The period has both ends. */
export async function summarize(
  tx: Tx,
  companyId: Uuid,
  filter: ChargeFilter,
  now: Date,
): Promise<SummaryRow[]> {
  const binder = binderFor(companyId)
  const conditions = [
    ...fieldConditions(filter, binder),
    ...statusConditions(filter, binder, now),
    ...(filter.payer ? [`c.customer_id = any (${binder.bind(filter.payer.customerIds)})`] : []),
  ]
  const due = isDueBy(binder.bind(now))
  return tx.query<SummaryRow>({
    text: `select to_char(c.${momentOf(filter)!} at time zone 'America/Sao_Paulo', 'YYYY-MM-DD')
             as day,
             case when ${due} then 'EXPIRED' else c.status end as status,
             count(*)::int8 as count,
             least(sum(c.amount + c.adjustment - c.shortfall),
               ${Number.MAX_SAFE_INTEGER})::int8 as sum
           from ${sourceOf(filter, binder)} where ${conditions.join(' and ')}
           group by 1, 2 order by 1, 2`,
    values: binder.values,
  })
}
