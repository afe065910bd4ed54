import type { Static } from 'typebox'
import { tableOf } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { accepted } from '../../provider/providers.ts'
import type { Uses } from '../app.ts'
import { type Company, salesLimitOf } from '../companies/rules.ts'
import type { StaticCode } from './rules.ts'
import type { NewStaticCode } from './static-view.ts'
import type { SalesLimits } from './view.ts'

const STATIC_CODE = tableOf<StaticCode>({
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  amount: ['amount', 'cents'],
  devMode: ['dev_mode', 'bool'],
  brCode: ['br_code', 'text'],
  externalId: ['external_id', 'text'],
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

async function insertStaticCode(tx: Tx, code: StaticCode): Promise<void> {
  await tx.query({ text: INSERT, values: STATIC_CODE.values([code]) })
}

/** Cents that static codes have received in a month (yyyy-mm) of São Paulo. */
async function staticSales(tx: Tx, companyId: Uuid, month: string): Promise<number> {
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

const MONTH = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/Sao_Paulo',
  year: 'numeric',
  month: '2-digit',
})

/** What a limited company has sold by static codes this month, and what it may still sell. */
export async function salesLimits(
  app: Uses<'clock' | 'config' | 'db'>,
  company: Company,
): Promise<Static<typeof SalesLimits>> {
  const period = MONTH.format(app.clock.now())
  const limit = salesLimitOf(company, app.config.staticSalesLimit)
  if (limit === null) return { limited: false, limit, used: null, remaining: null, period }
  const used = await staticSales(app.db, company.id, period)
  return { limited: true, limit, used, remaining: Math.max(0, limit - used), period }
}

/** Asks the bank for the code. The caller saves it in its transaction. */
export async function createStaticCode(
  app: Uses<'clock' | 'config' | 'db' | 'providers'>,
  company: Company,
  body: Static<typeof NewStaticCode>,
): Promise<{ save(tx: Tx): Promise<StaticCode> }> {
  const devMode = body.devMode ?? false
  const amount = toCents(body.amount)
  if (!devMode) await requireRoom(app, company, amount)
  const id = newId()
  const provider = app.providers.of(company, devMode)
  const { brCode } = accepted(await provider.issueStaticCode(company, { id, amount }))
  const code = {
    companyId: company.id,
    id,
    amount,
    devMode,
    brCode,
    externalId: body.externalId ?? null,
    createdAt: app.clock.now(),
  }
  return {
    async save(tx) {
      await insertStaticCode(tx, code)
      return code
    },
  }
}

async function requireRoom(
  app: Uses<'clock' | 'config' | 'db'>,
  company: Company,
  amount: number,
): Promise<void> {
  const { remaining } = await salesLimits(app, company)
  if (remaining === null || amount <= remaining) return
  throw problem(
    'sales_limit_exceeded',
    `amount: ${amount} cents exceed the ${remaining} that are left of this month’s limit.`,
  )
}
