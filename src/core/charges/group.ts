import { bytes, integers, texts, timestamps, uuids } from '../../db/arrays.ts'
import { arrayParameters } from '../../db/columns.ts'
import { type Database, isRowError, type Tx, violatedConstraint } from '../../db/database.ts'
import { type Batcher, createBatcher } from '../../lib/batch.ts'
import { newId } from '../../lib/ids.ts'
import { createRecent } from '../../lib/memo.ts'
import type { App } from '../app.ts'
import { findKnown } from '../customers/store.ts'
import {
  type Event,
  type EventResult,
  emit,
  eventColumns,
  eventInsertSql,
  eventResultSql,
  reportEvents,
} from '../events.ts'
import type { StoredResponse } from '../idempotency.ts'
import type { SealedMail } from '../mails/sealing.ts'
import { mailColumns, mailInsertSql } from '../mails/store.ts'
import { TASK } from '../tasks.ts'
import {
  type Intent,
  insert as insertIntents,
  type NewIntent,
  remove as removeIntents,
} from './intent-store.ts'
import type { Charge } from './rules.ts'
import {
  type ChargeId,
  CREATED,
  findVersions,
  type ListedCharge,
  type ListPart,
  listMany,
  type ReadCharge,
  refreshMany,
} from './store.ts'

/** Reads of charges that are carried out together. */
type ReadGroups = {
  /** Reads a charge with others that are read at the same time. */
  find: Batcher<ChargeId, Charge | null>
  /**
   * Lists the newest charges of a company with other lists that are read at the same time. A charge
   * that is not remembered as it is now is still to be found. None is ever deleted.
   */
  list: Batcher<ListPart, (Charge | ChargeId)[]>
}

const MAX_READS = 64
/** Lists of a group. Each has up to 101 charges. */
const MAX_LISTS = 16
/** How many charges are remembered, for clients that ask again and again about one. */
const MAX_KNOWN = 8_192
/** A link with more items is not remembered, because 100 items may take megabytes. */
const MAX_KNOWN_ITEMS = 1

const isSmall = ({ link }: Charge): boolean => (link?.items.length ?? 0) <= MAX_KNOWN_ITEMS

function groupReads(db: Database): ReadGroups {
  const known = createRecent<ReadCharge>(MAX_KNOWN)
  const shared = {
    isItemError: isRowError,
    ownerOf: ({ companyId }: { companyId: string }) => companyId,
  }

  function recall({ companyId, id }: ChargeId): ReadCharge | undefined {
    const read = known.get(id)
    return read?.charge.companyId === companyId ? read : undefined
  }

  function remember(read: ReadCharge): void {
    if (isSmall(read.charge)) known.set(read.charge.id, read)
  }

  async function findNew(wanted: ChargeId[]): Promise<(ReadCharge | null)[]> {
    const found = wanted.length === 0 ? [] : await findVersions(db.hot, wanted)
    for (const read of found) if (read) remember(read)
    return found
  }

  async function refresh(seen: ReadCharge[]): Promise<ReadCharge[]> {
    const refreshed = seen.length === 0 ? [] : await refreshMany(db.hot, seen)
    for (const [i, read] of refreshed.entries()) if (read !== seen[i]) remember(read)
    return refreshed
  }

  /** Of charges that are remembered it reads only those that have changed. */
  async function findAll(wanted: ChargeId[]): Promise<(Charge | null)[]> {
    const old = wanted.map(recall)
    const [refreshed, found] = await Promise.all([
      refresh(old.filter((read) => read !== undefined)),
      findNew(wanted.filter((_, i) => old[i] === undefined)),
    ])
    const read = old.map((one) => (one ? refreshed.shift()! : found.shift()!))
    return read.map((one) => one?.charge ?? null)
  }

  async function list(parts: ListPart[]): Promise<(Charge | ChargeId)[][]> {
    const lists = await listMany(db.hot, parts)
    const current = (one: ListedCharge) => {
      const read = recall(one)
      return read?.version === one.version ? read.charge : one
    }
    return lists.map((listed) => listed.map(current))
  }

  return {
    find: createBatcher(findAll, { ...shared, max: MAX_READS }),
    list: createBatcher(list, { ...shared, max: MAX_LISTS }),
  }
}

/** Everything that one creation writes, all of it or nothing. */
export type Creation = {
  charge: Charge
  /** Lets the charge be found by its payer's e-mail address. Null if there is none. */
  emailIndex: Buffer | null
  events: Event[]
  response: StoredResponse | null
  mails: SealedMail[]
  /** Real time, by which stored responses expire. */
  at: Date
}

type ChargeGroups = ReadGroups & {
  /** Commits a charge with others that arrive at the same time. It is durable when resolved. */
  create: Batcher<Creation, null>
  /** Commits an intent with others. Returns false if its key has one already. */
  insertIntent: Batcher<NewIntent, boolean>
  /**
   * Removes an intent whose charge is inserted. Nobody needs to wait for it. If it is lost, the
   * task finds the charge and removes the intent.
   */
  removeIntent: Batcher<Intent, null>
}

/** The app with the batchers of charges. */
export type AppWithCharges = App & { charges: ChargeGroups }

/**
 * While the database writes one group, the next gathers. Two at once would be half as large, and a
 * group costs the database and this process as much as some charges. A disk or a standby that
 * confirms slowly is waited for once for all of them.
 */
export const MAX_WRITES = 64
const MAX_REMOVALS = 500
const REMOVAL_ms = 50

export function groupCharges(db: Database): ChargeGroups {
  return {
    create: createBatcher((group) => insertMany(db, group), {
      max: MAX_WRITES,
      isItemError: isRowError,
      ownerOf: ({ charge }) => charge.companyId,
    }),
    ...groupReads(db),
    insertIntent: createBatcher((group) => insertIntents(db.light, group), {
      max: MAX_WRITES,
      isItemError: isRowError,
      ownerOf: ({ companyId }) => companyId,
    }),
    removeIntent: createBatcher(
      async (group) => {
        await removeIntents(db.light, group)
        return group.map(() => null)
      },
      { max: MAX_REMOVALS, gather_ms: REMOVAL_ms, isItemError: isRowError },
    ),
  }
}

/** Where the parameters of each part of the statement begin. */
const EXTRA = CREATED.count + 1
const EVENTS = EXTRA + 4
const RESPONSES = EVENTS + 7
const MAILS = RESPONSES + 7

const RESPONSE_TYPES = ['uuid', 'text', 'bytea', 'int8', 'bytea', 'timestamptz', 'text'] as const

/**
 * Inserts charges, customers, events, deliveries and stored responses of a whole group with one
 * statement, so with one commit. If a row violates a constraint, the batcher splits the group until
 * that row fails alone. Customers, keys and external ids are inserted in a fixed order, so that two
 * groups cannot deadlock. `skipping` skips rows that exist, which costs a record of the log for
 * each row.
 */
const partsOf = (skipping: boolean): string => `
with input as materialized (
  select * from unnest(${CREATED.parameters(1)}, ${arrayParameters(EXTRA, ['uuid', 'bytea', 'bytea', 'text'])})
    i (${CREATED.names}, new_customer_id, email_index, phone_index, search_tokens)
), payer as materialized (
  select distinct on (i.company_id, i.payer_index)
    i.company_id, i.payer_index, i.new_customer_id, i.payer_name, i.payer_sealed, i.phone_index,
    i.search_tokens, i.created_at,
    (select c.id from customers c where c.company_id = i.company_id
       and c.tax_id_index = i.payer_index order by c.id limit 1) as known_id
  from input i where i.new_customer_id is not null order by i.company_id, i.payer_index
), made as (
  insert into customers
    (company_id, id, name, status, tax_id_index, sealed, phone_index, search_tokens, origin,
      created_at, updated_at)
  select company_id, new_customer_id, payer_name, 'ACTIVE', payer_index, payer_sealed, phone_index,
    search_tokens::int4[], 'charge', created_at, created_at
  from payer where known_id is null
  ${
    skipping
      ? `on conflict (company_id, tax_id_index) where origin = 'charge'
         do update set updated_at = customers.updated_at`
      : ''
  }
  returning company_id, tax_id_index as payer_index, id
), customer as (
  select company_id, payer_index, known_id as id from payer where known_id is not null
  union all select company_id, payer_index, id from made
), charge as (
  insert into charges (${CREATED.names}, status, email_index)
  select ${CREATED.inserted('i', { customer_id: 'coalesce(i.customer_id, c.id)' })}, 'OPEN',
    i.email_index
  from input i left join customer c using (company_id, payer_index)
  ${skipping ? 'on conflict (company_id, id) do nothing' : ''} returning id
), response as (
  insert into idempotency_keys
    (company_id, key, fingerprint, status, sealed_body, created_at, warnings)
  select * from unnest(${arrayParameters(RESPONSES, RESPONSE_TYPES)}) returning key
), ${eventInsertSql(EVENTS, { after: ['charge', 'response'], skipping })}`

/** Most groups have no mails. */
const MAIL_PART = `, mail as (
  ${mailInsertSql(MAILS)}
  on conflict (company_id, id) do nothing
)`

const RESULT = eventResultSql(EVENTS)
const INSERT = { name: 'create_charges', parts: partsOf(false) }
const INSERT_AGAIN = { name: 'create_charges_again', parts: partsOf(true) }

/** Unique indexes that a group may violate by rows that are right. */
const MAY_EXIST = ['charges_pkey', 'events_pkey', 'customers_one_per_payer']

function chargeColumns(group: Creation[]): Buffer[] {
  const charges = group.map(({ charge }) => charge)
  return [
    ...CREATED.values(charges),
    // A payer without a customer is found by tax id. If there is none, this is the new one's id.
    uuids(charges.map(({ customerId, payer }) => (customerId === null && payer ? newId() : null))),
    bytes(group.map(({ emailIndex }) => emailIndex)),
    bytes(charges.map(({ payer }) => payer?.phoneIndex ?? null)),
    texts(charges.map(({ payer }) => payer?.tokens ?? null)),
  ]
}

function responseColumns(group: Creation[]): Buffer[] {
  const responses = group
    .flatMap(({ charge: { companyId }, response, at }) =>
      response ? [{ ...response, companyId, at }] : [],
    )
    .sort((a, b) => (a.companyId + a.key < b.companyId + b.key ? -1 : 1))
  return [
    uuids(responses.map(({ companyId }) => companyId)),
    texts(responses.map(({ key }) => key)),
    bytes(responses.map(({ fingerprint }) => fingerprint)),
    integers(responses.map(({ status }) => status)),
    bytes(responses.map(({ sealedBody }) => sealedBody)),
    timestamps(responses.map(({ at }) => at)),
    texts(responses.map(({ warnings }) => warnings)),
  ]
}

/** While a secret is replaced a payer may be known by the other one. Else nothing is asked. */
async function withKnownCustomers<C extends Pick<Creation, 'charge'>>(
  tx: Tx,
  group: C[],
): Promise<C[]> {
  const isAsked = ({ charge: { customerId, payer } }: C) =>
    customerId === null && payer?.otherIndexes !== undefined
  if (!group.some(isAsked)) return group
  const asked = group.filter(isAsked)
  const known = await findKnown(
    tx,
    asked.map(({ charge: { companyId, payer } }) => ({ companyId, payer: payer! })),
  )
  const customers = new Map(asked.map((creation, i) => [creation, known[i]!]))
  return group.map((creation) => {
    const customerId = customers.get(creation) ?? creation.charge.customerId
    return { ...creation, charge: { ...creation.charge, customerId } }
  })
}

/**
 * Inserts charges in a transaction, all of them or none, with their customers. Their events are
 * written at its end.
 */
export async function insertTogether(tx: Tx, group: Omit<Creation, 'response' | 'mails'>[]) {
  const known = await withKnownCustomers(tx, group)
  const all = known.map((creation) => ({ ...creation, response: null, mails: [] }))
  const values = [...chargeColumns(all), ...eventColumns([]), ...responseColumns([])]
  await tx.query({ name: INSERT_AGAIN.name, text: INSERT_AGAIN.parts + RESULT, values })
  await emit(
    tx,
    group.flatMap(({ events }) => events),
  )
}

const orderOf = ({ companyId, externalId }: Charge) => `${companyId} ${externalId ?? ''}`
const byExternalId = (a: Creation, b: Creation) => (orderOf(a.charge) < orderOf(b.charge) ? -1 : 1)

async function insertMany(db: Database, group: Creation[]): Promise<null[]> {
  const events = group.flatMap((creation) => creation.events)
  const mails = group.flatMap((creation) => creation.mails)
  const columns = chargeColumns((await withKnownCustomers(db.hot, group)).toSorted(byExternalId))
  const values = [...columns, ...eventColumns(events), ...responseColumns(group)]
  if (mails.length > 0) values.push(...mailColumns(mails))
  const run = ({ name, parts }: typeof INSERT) =>
    db.hot.query<EventResult>(
      mails.length === 0
        ? { name, text: parts + RESULT, values }
        : { name: `${name}_with_mails`, text: parts + MAIL_PART + RESULT, values },
    )
  // If a connection is lost, the statement is sent again and meets its own rows, which have our own
  // ids. Another process may have made the same customer at the same time.
  const [written] = await run(INSERT).catch((error) => {
    if (!MAY_EXIST.includes(violatedConstraint(error) ?? '')) throw error
    return run(INSERT_AGAIN)
  })
  reportEvents(db.hot, written!)
  if (mails.length > 0) db.hot.wake(TASK.mail)
  return group.map(() => null)
}
