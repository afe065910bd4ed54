import type { Row, Tx } from '../../db/database.ts'
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

type BankRow = Row & {
  company_id: Uuid
  id: Uuid
  profile: string
  sealed: Buffer
  callback_id: Uuid
  payouts: 'manual' | 'bank'
  payout_key: string | null
  certificate_ends_at: Date
  connected_at: Date
}

const toRecord = (row: BankRow): BankRecord => ({
  companyId: row.company_id,
  id: row.id,
  profile: row.profile,
  sealed: row.sealed,
  callbackId: row.callback_id,
  payouts: row.payouts,
  payoutKey: row.payout_key,
  certificateEndsAt: row.certificate_ends_at,
  connectedAt: row.connected_at,
})

export async function findBank(tx: Tx, companyId: Uuid): Promise<BankRecord | null> {
  const rows = await tx.query<BankRow>({
    name: 'find_bank',
    text: 'select * from bank_connections where company_id = $1',
    values: [companyId],
  })
  return rows[0] ? toRecord(rows[0]) : null
}

/** For each company the secret part of the address that its bank calls, or null without a bank. */
export async function findCallbackIds(tx: Tx, companyIds: Uuid[]): Promise<(Uuid | null)[]> {
  const rows = await tx.query<Pick<BankRow, 'company_id' | 'callback_id'>>({
    name: 'find_callback_ids',
    text: `select company_id, callback_id from bank_connections
           where company_id = any($1::uuid[])`,
    values: [companyIds],
  })
  const found = new Map(rows.map((row) => [row.company_id, row.callback_id]))
  return companyIds.map((id) => found.get(id) ?? null)
}

/** Replaces the connection that the company had. Its callback URL stays. */
export async function saveBank(tx: Tx, bank: BankRecord): Promise<void> {
  await tx.query({
    text: `insert into bank_connections
             (company_id, id, profile, sealed, callback_id, payouts, payout_key,
              certificate_ends_at, connected_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
           on conflict (company_id) do update set id = excluded.id, profile = excluded.profile,
             sealed = excluded.sealed, payouts = excluded.payouts, payout_key = excluded.payout_key,
             certificate_ends_at = excluded.certificate_ends_at, certificate_warned_at = null,
             connected_at = excluded.connected_at`,
    values: [
      bank.companyId,
      bank.id,
      bank.profile,
      bank.sealed,
      bank.callbackId,
      bank.payouts,
      bank.payoutKey,
      bank.certificateEndsAt,
      bank.connectedAt,
    ],
  })
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
  const rows = await tx.query<BankRow>({
    text: `select company_id, profile, certificate_ends_at from bank_connections
           order by company_id`,
  })
  return rows.map((row) => ({
    companyId: row.company_id,
    profile: row.profile,
    certificateEndsAt: row.certificate_ends_at,
  }))
}

/** Connections whose certificate expires before a moment, and nobody was warned yet. */
export async function findUnwarned(tx: Tx, endBefore: Date, except: Uuid[]): Promise<BankRecord[]> {
  const rows = await tx.query<BankRow>({
    text: `select * from bank_connections
           where certificate_warned_at is null and certificate_ends_at < $1
             and company_id <> all ($2::uuid[])
           order by certificate_ends_at limit 100`,
    values: [endBefore, except],
  })
  return rows.map(toRecord)
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
