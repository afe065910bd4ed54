import { bytes, integers, texts, uuids } from '../../db/arrays.ts'
import { type ColumnGroup, tableOf } from '../../db/columns.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { DueKind } from '../due.ts'
import { BANK_GRACE_MS, type Charge, type Due, type Payer } from './rules.ts'

/** The columns of a payer, who is null or has all of them. */
export const PAYER: ColumnGroup<Payer | null> = {
  columns: [
    ['payer_name', 'text', (payer) => payer?.name ?? null],
    ['payer_index', 'bytea', (payer) => payer?.index ?? null],
    ['payer_sealed', 'bytea', (payer) => payer?.sealed ?? null],
  ],
  read: ({ payer_name: name, payer_index: index, payer_sealed: sealed }) =>
    name === null ? null : ({ name, index, sealed } as Payer),
}

/** The terms of a due date, and what was added to the amount by them or, below zero, taken off. */
const DUE: ColumnGroup<Due | null> = {
  columns: [
    ['due', 'json', (due) => due],
    ['adjustment', 'int8', (due) => (due?.paid ? due.paid.total - due.paid.original : 0)],
  ],
  read: ({ due }) => due as Due | null,
}

/** The columns of a charge. A new field of `Charge` needs a line here and a migration. */
export const CHARGE = tableOf<Charge>({
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  kind: ['kind', 'text'],
  amount: ['amount', 'cents'],
  status: ['status', 'text'],
  paymentStatus: ['payment_status', 'text'],
  devMode: ['dev_mode', 'bool'],
  externalId: ['external_id', 'text'],
  description: ['description', 'text'],
  fingerprint: ['fingerprint', 'bytea'],
  customerId: ['customer_id', 'uuid'],
  payer: PAYER,
  link: ['link', 'json'],
  brCode: ['br_code', 'text'],
  due: DUE,
  noticeAt: ['notice_at', 'timestamptz'],
  split: ['split', 'json'],
  endToEndId: ['end_to_end_id', 'text'],
  createdAt: ['created_at', 'timestamptz'],
  expiresAt: ['expires_at', 'timestamptz'],
  paymentDate: ['payment_date', 'timestamptz'],
  // The moment of release, from which on the money can be withdrawn: what the ledger calls
  // CHARGE_SETTLED and the API RECEIVED, because both are published.
  releaseAt: ['settles_at', 'timestamptz'],
  booked: ['booked', 'bool'],
  refunded: ['refunded', 'cents'],
  shortfall: ['shortfall', 'cents'],
  staticCodeId: ['static_code_id', 'uuid'],
  recurrenceId: ['recurrence_id', 'uuid'],
  shipping: ['shipping_sealed', 'bytea'],
  linkId: ['link_id', 'uuid'],
})

/** What can change in a charge. Everything else is fixed when it is created. */
export const CHANGING = CHARGE.only(
  'status',
  'paymentStatus',
  'brCode',
  'due',
  'noticeAt',
  'endToEndId',
  'expiresAt',
  'paymentDate',
  'releaseAt',
  'booked',
  'refunded',
  'shortfall',
  'shipping',
)

/** What a Pix charge or a link has when it is created. The other columns have their defaults. */
export const CREATED = CHARGE.without(
  'status',
  'endToEndId',
  'paymentDate',
  'releaseAt',
  'booked',
  'refunded',
  'shortfall',
  'staticCodeId',
  'recurrenceId',
  'shipping',
)

export type ChargeId = { companyId: Uuid; id: Uuid }

const keysOf = (wanted: ChargeId[]): Buffer[] => [
  uuids(wanted.map(({ companyId }) => companyId)),
  uuids(wanted.map(({ id }) => id)),
]

/** A charge as it was read, and the version of its row, which every change of it replaces. */
export type ReadCharge = { charge: Charge; version: string }

/** The id of the transaction that has written the row. */
const VERSION = 'c.xmin::text as version'

const FIND = `select k.position::int, ${VERSION}, c.*
  from unnest($1::uuid[], $2::uuid[]) with ordinality k (company_id, id, position)
  join charges c on c.company_id = k.company_id and c.id = k.id`

/** Charges of several companies by id, in the order of the ids. Null if there is none. */
export async function findVersions(tx: Tx, wanted: ChargeId[]): Promise<(ReadCharge | null)[]> {
  const rows = await tx.query<Row & { position: number; version: string }>({
    name: 'find_charges',
    text: FIND,
    values: keysOf(wanted),
  })
  const found = wanted.map((): ReadCharge | null => null)
  for (const row of rows) {
    found[row.position - 1] = { charge: CHARGE.read(row), version: row.version }
  }
  return found
}

export async function findMany(tx: Tx, wanted: ChargeId[]): Promise<(Charge | null)[]> {
  return (await findVersions(tx, wanted)).map((found) => found?.charge ?? null)
}

const REFRESH = `select k.position::int, ${VERSION}, ${CHARGE.select('c')}
  from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality
    k (company_id, id, version, position)
  join charges c on c.company_id = k.company_id and c.id = k.id and c.xmin <> k.version::xid`

/**
 * Charges that were read before, as they are now. Reads only those that have changed, with all
 * their columns, because a payer may have been erased.
 */
export async function refreshMany(tx: Tx, known: ReadCharge[]): Promise<ReadCharge[]> {
  const keys = keysOf(known.map(({ charge }) => charge))
  const rows = await tx.query<Row & { position: number; version: string }>({
    name: 'refresh_charges',
    text: REFRESH,
    values: [...keys, texts(known.map(({ version }) => version))],
  })
  const now = [...known]
  for (const row of rows) {
    now[row.position - 1] = { charge: CHARGE.read(row), version: row.version }
  }
  return now
}

/** The newest charges of a company, or those that follow one: so many at most. */
export type ListPart = { companyId: Uuid; after: Uuid | null; limit: number }

/** A charge of a list, and the version that its row has. */
export type ListedCharge = ChargeId & { version: string }

const LIST = `select q.position::int, c.id, ${VERSION}
  from unnest($1::uuid[], $2::uuid[], $3::int8[]) with ordinality
    q (company_id, before, size, position)
  cross join lateral (
    select id, xmin from charges where company_id = q.company_id and id < q.before
    order by id desc limit q.size) c
  order by q.position, c.id desc`

/** After the greatest id, in a list of the newest first, come all. */
const GREATEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Lists charges of several companies, newest first. */
export async function listMany(tx: Tx, parts: ListPart[]): Promise<ListedCharge[][]> {
  const rows = await tx.query<{ position: number; id: Uuid; version: string }>({
    name: 'list_charges',
    text: LIST,
    values: [
      uuids(parts.map(({ companyId }) => companyId)),
      uuids(parts.map(({ after }) => after ?? GREATEST_ID)),
      integers(parts.map(({ limit }) => limit)),
    ],
  })
  const lists = parts.map((): ListedCharge[] => [])
  for (const { position, id, version } of rows) {
    const { companyId } = parts[position - 1]!
    lists[position - 1]!.push({ companyId, id, version })
  }
  return lists
}

/** Locks charges of one company in the order of their ids, so that nobody deadlocks. */
export async function lock(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<Charge[]> {
  const rows = await tx.query({
    name: 'lock_charges',
    text: `select * from charges where company_id = $1 and id = any ($2::uuid[])
           order by id for update`,
    values: [companyId, ids],
  })
  return rows.map(CHARGE.read)
}

/** What happens if a row is locked by another transaction: wait for it, or leave the row out. */
export type WhenLocked = 'wait' | 'skip'

/** Locks charges of several companies in the order of their ids, so that nobody deadlocks. */
export async function lockMany(
  tx: Tx,
  wanted: ChargeId[],
  whenLocked: WhenLocked,
): Promise<Charge[]> {
  const orderOf = ({ companyId, id }: ChargeId) => companyId + id
  const sorted = wanted.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
  const skip = whenLocked === 'skip' ? 'skip locked' : ''
  const rows = await tx.query({
    name: `lock_charges_of_many${skip && '_free'}`,
    text: `select c.* from unnest($1::uuid[], $2::uuid[]) k (company_id, id)
           cross join lateral (
             select * from charges where company_id = k.company_id and id = k.id
             for update ${skip}) c`,
    values: keysOf(sorted),
  })
  return rows.map(CHARGE.read)
}

const LOCK_STATES = `select ${CHARGE.without('link').select('c')}, null as link
  from charges c where company_id = $1 and id = any ($2::uuid[]) order by id for update`

/**
 * Locks charges without their links, for tasks that change many at once. A link may have 2 MB of
 * items, and no state depends on it.
 */
export async function lockStates(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<Charge[]> {
  const values = [companyId, ids]
  const rows = await tx.query({ name: 'lock_states', text: LOCK_STATES, values })
  return rows.map(CHARGE.read)
}

const INSERT = `insert into charges (${CHARGE.names}, email_index)
  select ${CHARGE.inserted('i')}, i.email_index
  from unnest(${CHARGE.parameters(1)}, $${CHARGE.count + 1}::bytea[])
    i (${CHARGE.names}, email_index)`

/**
 * Inserts charges in a transaction: sales by static codes, and charges of agreements. The indexes
 * of their payers' e-mail addresses let them be found by those.
 */
export async function insert(
  tx: Tx,
  charges: Charge[],
  emailIndexes: (Buffer | null)[],
): Promise<void> {
  if (charges.length === 0) return
  const values = [...CHARGE.values(charges), bytes(emailIndexes)]
  await tx.query({ name: 'insert_charges', text: INSERT, values })
}

/** What a line about a charge calls it: its payer, or else what it is for. */
export type ChargeName = Pick<Charge, 'id' | 'kind'> & { name: string | null }

export async function findNames(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<ChargeName[]> {
  if (ids.length === 0) return []
  return tx.query<ChargeName>({
    text: `select id, kind, coalesce(payer_name, description) as name from charges
           where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })
}

/** The charges of an agreement, newest first. */
export async function listOfRecurrence(
  tx: Tx,
  companyId: Uuid,
  recurrenceId: Uuid,
  max: number,
): Promise<Charge[]> {
  const rows = await tx.query({
    text: `select c.* from billings b
           join charges c on c.company_id = b.company_id and c.id = b.charge_id
           where b.company_id = $1 and b.recurrence_id = $2 order by b.cycle desc limit $3`,
    values: [companyId, recurrenceId, max],
  })
  return rows.map(CHARGE.read)
}

/** A request by all forms of its fingerprint. */
type ChargeRequest = { companyId: Uuid; externalId: string; fingerprints: Buffer[] }

/** The open charge that the same request has created before. */
export async function findOpenByRequest(tx: Tx, request: ChargeRequest): Promise<Charge | null> {
  const rows = await tx.query({
    name: 'find_open_by_request',
    text: `select * from charges where company_id = $1 and external_id = $2
             and fingerprint = any ($3::bytea[]) and status = 'OPEN'`,
    values: [request.companyId, request.externalId, bytes(request.fingerprints)],
  })
  return rows[0] ? CHARGE.read(rows[0]) : null
}

type MadeFilter = { from: Date; to: Date; after: Uuid | null; limit: number }

/** Charges created from `from` on and before `to`, oldest first. */
export async function listMade(tx: Tx, companyId: Uuid, filter: MadeFilter): Promise<Charge[]> {
  const rows = await tx.query({
    text: `select * from charges where company_id = $1 and created_at >= $2 and created_at < $3
             and ($4::uuid is null or id > $4)
           order by id limit $5`,
    values: [companyId, filter.from, filter.to, filter.after, filter.limit],
  })
  return rows.map(CHARGE.read)
}

const HAS_BANK = 'exists (select from bank_connections b where b.company_id = d.company_id)'

/** Charges with a deadline. A charge of an agreement ends with its last retry instead. */
export const EXPIRING: DueKind = {
  name: 'expire charges',
  table: 'charges',
  key: 'id',
  dueAt: 'expires_at',
  where: `d.status = 'OPEN' and d.kind <> 'RECURRING'`,
  whereOfOne: `d.status = (select 'OPEN') and d.kind <> 'RECURRING'`,
  except: () => HAS_BANK,
}

/**
 * Charges with a deadline of companies with a real bank, which is asked first. A charge that the
 * bank does not know, because it has no code or is a trial, needs no grace.
 */
export const EXPIRING_AT_BANKS: DueKind = {
  ...EXPIRING,
  name: 'expire charges at banks',
  label: EXPIRING.name,
  moment: `(d.expires_at + case when d.br_code is null or d.dev_mode then interval '0'
    else interval '${BANK_GRACE_MS} milliseconds' end)`,
  except: () => `not ${HAS_BANK}`,
  waitsForBank: true,
}

/** Open charges with a due date of which something is to be said. */
export const NOTICES: DueKind = {
  name: 'due dates',
  table: 'charges',
  key: 'id',
  dueAt: 'notice_at',
  where: `d.status = 'OPEN' and d.notice_at is not null`,
}

/** Paid charges whose money becomes withdrawable. */
export const RELEASING: DueKind = {
  name: 'receive charges',
  table: 'charges',
  key: 'id',
  dueAt: 'settles_at',
  where: `d.payment_status = 'PAID'`,
  whereOfOne: `d.payment_date is not null and d.payment_status not in ('RECEIVED', 'REFUNDED')`,
}
