import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import type { AgreementStatus, Frequency } from '../port.ts'

/** An agreement in the records of the simulated bank. EXPIRED is computed, not stored. */
export type AgreementRecord = {
  accountId: Uuid
  id: Uuid
  externalId: string
  brCode: string
  value: Cents
  frequency: Frequency
  status: Exclude<AgreementStatus, 'EXPIRED'>
  /** Whether the payer's account has money. */
  funds: boolean
  retries: boolean
  createdAt: Date
  expiresAt: Date
  decidedAt: Date | null
}

type AgreementRow = Row & {
  account_id: Uuid
  id: Uuid
  external_id: string
  br_code: string
  value: number
  frequency: Frequency
  status: AgreementRecord['status']
  funds: boolean
  retries: boolean
  created_at: Date
  expires_at: Date
  decided_at: Date | null
}

const toRecord = (row: AgreementRow): AgreementRecord => ({
  accountId: row.account_id,
  id: row.id,
  externalId: row.external_id,
  brCode: row.br_code,
  value: toCents(row.value),
  frequency: row.frequency,
  status: row.status,
  funds: row.funds,
  retries: row.retries,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  decidedAt: row.decided_at,
})

/** Can be repeated: an agreement that exists stays as it is. Returns whether it is new. */
export async function insertAgreement(tx: Tx, agreement: AgreementRecord): Promise<boolean> {
  const rows = await tx.query({
    text: `insert into simulated_agreements (account_id, id, external_id, br_code, value,
             frequency, status, funds, retries, created_at, expires_at, decided_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
           on conflict (account_id, id) do nothing returning id`,
    values: [
      agreement.accountId,
      agreement.id,
      agreement.externalId,
      agreement.brCode,
      agreement.value,
      agreement.frequency,
      agreement.status,
      agreement.funds,
      agreement.retries,
      agreement.createdAt,
      agreement.expiresAt,
      agreement.decidedAt,
    ],
  })
  return rows.length === 1
}

/**
 * With a lock, no other transaction decides on it or schedules a collection until this one ends.
 */
export async function findAgreement(
  tx: Tx,
  accountId: Uuid,
  id: Uuid,
  lock: '' | 'for update' | 'for share' = '',
): Promise<AgreementRecord | null> {
  const rows = await tx.query<AgreementRow>({
    text: `select * from simulated_agreements where account_id = $1 and id = $2 ${lock}`,
    values: [accountId, id],
  })
  return rows[0] ? toRecord(rows[0]) : null
}

export async function updateDecision(
  tx: Tx,
  { accountId, id, status, funds, decidedAt }: AgreementRecord,
): Promise<void> {
  await tx.query({
    text: `update simulated_agreements set status = $3, funds = $4, decided_at = $5
           where account_id = $1 and id = $2`,
    values: [accountId, id, status, funds, decidedAt],
  })
}
