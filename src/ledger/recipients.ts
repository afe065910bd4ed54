import { uuids } from '../db/arrays.ts'
import { tableOf } from '../db/columns.ts'
import type { Tx } from '../db/database.ts'
import { assert } from '../lib/assert.ts'
import type { Uuid } from '../lib/ids.ts'
import { toCents } from '../lib/money.ts'
import { type Kind, type Posting, splitGiven, splitTaken } from './recipes.ts'

/**
 * The account `recipients` is what a company owes all its recipients. This is what it owes each:
 * a list of entries, which is written under the lock of the company's books.
 */
export type PartKind = Extract<
  Kind,
  'SPLIT_SETTLED' | 'SPLIT_TAKEN' | 'SPLIT_GIVEN' | 'WITHDRAWAL_HELD' | 'WITHDRAWAL_RELEASED'
>

/** What a recipient gets or, below zero, what is taken from it. */
export type Part = { recipientId: Uuid; amount: number }

/** The number of its last entry, and its balance. Below zero it owes the company. */
export type RecipientAccount = { entries: number; balance: number }
export type RecipientAccounts = Map<Uuid, RecipientAccount>

/** The posting that parts belong to. */
type Of = { kind: PartKind; ref: string; chargeId: Uuid | null }

export type RecipientEntry = Part & Of & { entry: number; balance: number }

/** What of a balance is in the account `recipients`: a debt of a recipient is not. */
export const heldFor = (balance: number): number => Math.max(0, balance)

/**
 * Enters parts, and changes `accounts` to what they are after it. `moved` is what the account
 * `recipients` gains. If a recipient has less than is taken from it, the company pays the rest, and
 * the next money of this recipient repays the company.
 */
export function enterParts(
  accounts: RecipientAccounts,
  of: Of,
  parts: Part[],
): { entries: RecipientEntry[]; moved: number } {
  let moved = 0
  const entries = parts
    .filter(({ amount }) => amount !== 0)
    .map(({ recipientId, amount }) => {
      assert(Number.isSafeInteger(amount), 'a part is whole cents')
      const before = accounts.get(recipientId) ?? { entries: 0, balance: 0 }
      const after = { entries: before.entries + 1, balance: before.balance + amount }
      accounts.set(recipientId, after)
      moved += heldFor(after.balance) - heldFor(before.balance)
      return { ...of, recipientId, amount, entry: after.entries, balance: after.balance }
    })
  return { entries, moved }
}

/** What recipients pay of what goes back to a payer, or get again if it did not. */
export type Shift = { entries: RecipientEntry[]; postings: Posting[]; moved: number }

export const NO_SHIFT: Shift = { entries: [], postings: [], moved: 0 }

/**
 * Moves parts between the available money and recipients. The books are locked before. Without
 * parts it asks nothing.
 */
export async function shiftParts(
  tx: Tx,
  companyId: Uuid,
  { ref, chargeId }: Pick<Of, 'ref' | 'chargeId'>,
  parts: Part[],
): Promise<Shift> {
  const first = parts.find(({ amount }) => amount !== 0)
  if (!first) return NO_SHIFT
  const ids = parts.map(({ recipientId }) => recipientId)
  const accounts = await readAccounts(tx, companyId, ids)
  const kind = first.amount < 0 ? 'SPLIT_TAKEN' : 'SPLIT_GIVEN'
  const { entries, moved } = enterParts(accounts, { kind, ref, chargeId }, parts)
  return { entries, moved, postings: shifting({ ref, chargeId }, moved) }
}

function shifting(of: Pick<Of, 'ref' | 'chargeId'>, moved: number): Posting[] {
  const order = { ...of, amount: toCents(Math.abs(moved)) }
  if (moved === 0) return []
  return [moved < 0 ? splitTaken(order) : splitGiven(order)]
}

/** An entry as it is stored. */
export type StoredEntry = RecipientEntry & {
  companyId: Uuid
  /** The company's last posting when it was written. */
  posted: number
  createdAt: Date
}

export const RECIPIENT_ENTRY = tableOf<StoredEntry>({
  companyId: ['company_id', 'uuid'],
  recipientId: ['recipient_id', 'uuid'],
  entry: ['entry', 'int8'],
  kind: ['kind', 'text'],
  ref: ['ref', 'text'],
  chargeId: ['charge_id', 'uuid'],
  amount: ['amount', 'int8'],
  balance: ['balance', 'int8'],
  posted: ['posted', 'int8'],
  createdAt: ['created_at', 'timestamptz'],
})

const INSERT = RECIPIENT_ENTRY.insertInto('recipient_entries')

/** Only `post` calls it, with the postings that the entries belong to. */
export async function insertEntries(tx: Tx, entries: StoredEntry[]): Promise<void> {
  if (entries.length === 0) return
  const values = RECIPIENT_ENTRY.values(entries)
  await tx.query({ name: 'insert_recipient_entries', text: INSERT, values })
}

/** SQL: the last entry of a recipient `r`. */
export const LAST_ENTRY = `select entry, balance from recipient_entries
  where company_id = $1 and recipient_id = r.id order by entry desc limit 1`

/** SQL: whether an entry `e` has a posting of its kind and reference. */
export const HAS_POSTING = `exists (select from postings p
  where p.company_id = e.company_id and p.kind = e.kind and p.ref = e.ref)`

/** What recipients are owed. Takes no lock: whoever changes it has locked the company's books. */
export async function readAccounts(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<RecipientAccounts> {
  if (ids.length === 0) return new Map()
  const rows = await tx.query<{ id: Uuid; entries: number; balance: number }>({
    name: 'read_recipient_accounts',
    text: `select r.id, e.entry as entries, e.balance
           from unnest($2::uuid[]) r (id) cross join lateral (${LAST_ENTRY}) e`,
    values: [companyId, uuids(ids)],
  })
  return new Map(rows.map(({ id, entries, balance }) => [id, { entries, balance }]))
}

/** What recipients have got of a charge until now. */
export async function readGot(tx: Tx, companyId: Uuid, chargeId: Uuid): Promise<Map<Uuid, number>> {
  const rows = await tx.query<{ id: Uuid; sum: number }>({
    text: `select recipient_id as id, sum(amount)::int8 as sum from recipient_entries
           where company_id = $1 and charge_id = $2 group by 1`,
    values: [companyId, chargeId],
  })
  return new Map(rows.map(({ id, sum }) => [id, sum]))
}

/** The entries of a recipient, newest first. */
export async function listEntries(
  tx: Tx,
  companyId: Uuid,
  recipientId: Uuid,
  { limit, after }: { limit: number; after: number | null },
): Promise<StoredEntry[]> {
  const rows = await tx.query({
    text: `select ${RECIPIENT_ENTRY.names} from recipient_entries
           where company_id = $1 and recipient_id = $2 and ($3::int8 is null or entry < $3)
           order by entry desc limit $4`,
    values: [companyId, recipientId, after, limit],
  })
  return rows.map(RECIPIENT_ENTRY.read)
}
