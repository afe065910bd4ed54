import { tableOf } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { StaticCode } from './rules.ts'

const STATIC_CODE = tableOf<StaticCode>({
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  amount: ['amount', 'cents'],
  devMode: ['dev_mode', 'bool'],
  brCode: ['br_code', 'text'],
  createdAt: ['created_at', 'timestamptz'],
})

const COLUMNS = STATIC_CODE.select('s')
const INSERT = STATIC_CODE.insertInto('static_codes')

export async function findStaticCodes(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<StaticCode[]> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from static_codes s where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })
  return rows.map(STATIC_CODE.read)
}

/** Finds a code by its contents: the Pix key of its company and its own id. */
export async function findStaticCode(tx: Tx, pixKey: string, id: Uuid): Promise<StaticCode | null> {
  const rows = await tx.query({
    text: `select ${COLUMNS}
           from companies c join static_codes s on s.company_id = c.id and s.id = $2
           where c.pix_key = $1`,
    values: [pixKey, id],
  })
  return rows[0] ? STATIC_CODE.read(rows[0]) : null
}

/** Newest first. */
export async function listStaticCodes(
  tx: Tx,
  companyId: Uuid,
  limit: number,
  after: Uuid | null = null,
): Promise<StaticCode[]> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from static_codes s
           where company_id = $1 and ($3::uuid is null or id < $3) order by id desc limit $2`,
    values: [companyId, limit, after],
  })
  return rows.map(STATIC_CODE.read)
}

export async function insertStaticCode(tx: Tx, code: StaticCode): Promise<void> {
  await tx.query({ text: INSERT, values: STATIC_CODE.values([code]) })
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
