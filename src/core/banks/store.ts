import { tableOf } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** A company's connection to its bank as the database has it. */
export type BankRecord = {
  companyId: Uuid
  /** The id of this connection. A new connection of the company has another id. */
  id: Uuid
  profile: string
  sealed: Buffer
  callbackId: Uuid
  payouts: 'manual' | 'bank'
  /** The Pix key that withdrawals go to; null when it is the company's own key. */
  payoutKey: string | null
  certificateEndsAt: Date
  connectedAt: Date
}

/** What a connection is sealed for. */
export const bankContext = (companyId: Uuid, id: Uuid): string => `${companyId}:bank:${id}`

const BANK = tableOf<BankRecord>({
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  profile: ['profile', 'text'],
  sealed: ['sealed', 'bytea'],
  callbackId: ['callback_id', 'uuid'],
  payouts: ['payouts', 'text'],
  payoutKey: ['payout_key', 'text'],
  certificateEndsAt: ['certificate_ends_at', 'timestamptz'],
  connectedAt: ['connected_at', 'timestamptz'],
})

const COLUMNS = BANK.select('b')
const CHANGING = BANK.without('companyId', 'callbackId')

const SAVE = `${BANK.insertInto('bank_connections')}
  on conflict (company_id) do update set ${CHANGING.assigned('excluded')}, certificate_warned_at = null`

export async function findBank(tx: Tx, companyId: Uuid): Promise<BankRecord | null> {
  const rows = await tx.query({
    name: 'find_bank',
    text: `select ${COLUMNS} from bank_connections b where company_id = $1`,
    values: [companyId],
  })
  return rows[0] ? BANK.read(rows[0]) : null
}

/** For each company the secret part of the address that its bank calls, or null without a bank. */
export async function findCallbackIds(tx: Tx, companyIds: Uuid[]): Promise<(Uuid | null)[]> {
  const rows = await tx.query<{ company_id: Uuid; callback_id: Uuid }>({
    name: 'find_callback_ids',
    text: `select company_id, callback_id from bank_connections
           where company_id = any($1::uuid[])`,
    values: [companyIds],
  })
  const found = new Map(rows.map((row) => [row.company_id, row.callback_id]))
  return companyIds.map((id) => found.get(id) ?? null)
}

/** Locks the connection of a company until the transaction ends. Null if there is none. */
export async function lockBank(tx: Tx, companyId: Uuid): Promise<Uuid | null> {
  const [row] = await tx.query<{ id: Uuid }>({
    text: 'select id from bank_connections where company_id = $1 for update',
    values: [companyId],
  })
  return row?.id ?? null
}

/** Replaces the connection that the company had. Its callback URL stays. */
export async function saveBank(tx: Tx, bank: BankRecord): Promise<void> {
  await tx.query({ text: SAVE, values: BANK.values([bank]) })
}

export async function deleteBank(tx: Tx, companyId: Uuid): Promise<boolean> {
  const rows = await tx.query({
    text: 'delete from bank_connections where company_id = $1 returning company_id',
    values: [companyId],
  })
  return rows.length === 1
}

/** For the operator: when each certificate expires. */
export async function listCertificates(
  tx: Tx,
): Promise<Pick<BankRecord, 'companyId' | 'profile' | 'certificateEndsAt'>[]> {
  return tx.query<Pick<BankRecord, 'companyId' | 'profile' | 'certificateEndsAt'>>({
    text: `select company_id as "companyId", profile, certificate_ends_at as "certificateEndsAt"
           from bank_connections order by company_id`,
  })
}

/** How many certificates expire before a moment. */
export async function countEndingCertificates(tx: Tx, endBefore: Date): Promise<number> {
  const [row] = await tx.query<{ count: number }>({
    text: 'select count(*) as count from bank_connections where certificate_ends_at < $1',
    values: [endBefore],
  })
  return row!.count
}

/** Connections whose certificate expires before a moment, and nobody was warned yet. */
export async function findUnwarned(tx: Tx, endBefore: Date, except: Uuid[]): Promise<BankRecord[]> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from bank_connections b
           where certificate_warned_at is null and certificate_ends_at < $1
             and company_id <> all ($2::uuid[])
           order by certificate_ends_at limit 100`,
    values: [endBefore, except],
  })
  return rows.map(BANK.read)
}

/** Returns false when somebody has marked it before. */
export async function markWarned(tx: Tx, { companyId, id }: BankRecord, now: Date) {
  const rows = await tx.query({
    text: `update bank_connections set certificate_warned_at = $3
           where company_id = $1 and id = $2 and certificate_warned_at is null
           returning company_id`,
    values: [companyId, id, now],
  })
  return rows.length === 1
}
