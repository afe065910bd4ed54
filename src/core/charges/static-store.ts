import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import type { StaticCode } from './rules.ts'

type StaticCodeRow = Row & {
  company_id: Uuid
  id: Uuid
  amount: number
  dev_mode: boolean
  br_code: string
  created_at: Date
}

const toStaticCode = (row: StaticCodeRow): StaticCode => ({
  companyId: row.company_id,
  id: row.id,
  amount: toCents(row.amount),
  devMode: row.dev_mode,
  brCode: row.br_code,
  createdAt: row.created_at,
})

export async function findStaticCodes(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<StaticCode[]> {
  const rows = await tx.query<StaticCodeRow>({
    text: 'select * from static_codes where company_id = $1 and id = any ($2::uuid[])',
    values: [companyId, ids],
  })
  return rows.map(toStaticCode)
}

/** Finds a code by its contents: the Pix key of its company and its own id. */
export async function findStaticCode(tx: Tx, pixKey: string, id: Uuid): Promise<StaticCode | null> {
  const rows = await tx.query<StaticCodeRow>({
    text: `select s.* from companies c join static_codes s on s.company_id = c.id and s.id = $2
           where c.pix_key = $1`,
    values: [pixKey, id],
  })
  return rows[0] ? toStaticCode(rows[0]) : null
}

/** Newest first. */
export async function listStaticCodes(
  tx: Tx,
  companyId: Uuid,
  limit: number,
): Promise<StaticCode[]> {
  const rows = await tx.query<StaticCodeRow>({
    text: 'select * from static_codes where company_id = $1 order by id desc limit $2',
    values: [companyId, limit],
  })
  return rows.map(toStaticCode)
}

export async function insertStaticCode(tx: Tx, code: StaticCode): Promise<void> {
  await tx.query({
    text: `insert into static_codes (company_id, id, amount, dev_mode, br_code, created_at)
           values ($1, $2, $3, $4, $5, $6)`,
    values: [code.companyId, code.id, code.amount, code.devMode, code.brCode, code.createdAt],
  })
}

/** Cents that static codes have received in a month (yyyy-mm) of São Paulo. */
export async function staticSales(tx: Tx, companyId: Uuid, month: string): Promise<number> {
  const rows = await tx.query<{ sum: number }>({
    text: `select coalesce(sum(amount), 0)::bigint as sum from charges
           where company_id = $1 and kind = 'STATIC' and status = 'COMPLETED' and not dev_mode
             and payment_date >= ($2 || '-01')::timestamp at time zone 'America/Sao_Paulo'
             and payment_date < (($2 || '-01')::timestamp + interval '1 month')
               at time zone 'America/Sao_Paulo'`,
    values: [companyId, month],
  })
  return rows[0]!.sum
}
