import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Cents } from '../../lib/money.ts'
import type { Period } from '../../provider/port.ts'

/** Money that the bank was to send or return, by our id of the order. */
export type OrderState = {
  id: Uuid
  kind: 'wd' | 'rfnd'
  amount: Cents
  status: 'PROCESSING' | 'COMPLETED' | 'FAILED'
}

export const findOrders = (tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<OrderState[]> =>
  tx.query<Row & OrderState>({
    text: `select id, 'wd' as kind, value as amount, status from withdrawals
           where company_id = $1 and id = any ($2::uuid[])
             and status in ('PROCESSING', 'COMPLETED', 'FAILED')
           union all select id, 'rfnd', amount, status from refunds
           where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })

export type Arrived = { endToEndId: string; amount: Cents; at: Date }

/** What has arrived in a period by our records. */
export const listArrived = (tx: Tx, companyId: Uuid, period: Period): Promise<Arrived[]> =>
  tx.query<Row & Arrived>({
    text: `select end_to_end_id as "endToEndId", amount, received_at as at from payments
           where company_id = $1 and booked and received_at >= $2 and received_at < $3
           order by received_at, end_to_end_id`,
    values: [companyId, period.from, period.to],
  })

export type WentBack = { id: Uuid; endToEndId: string; amount: Cents; at: Date }

/** What has gone back in a period by our records. */
export const listWentBack = (tx: Tx, companyId: Uuid, period: Period): Promise<WentBack[]> =>
  tx.query<Row & WentBack>({
    text: `select id, end_to_end_id as "endToEndId", amount, finished_at as at from refunds
           where company_id = $1 and booked and status = 'COMPLETED'
             and finished_at >= $2 and finished_at < $3
           order by finished_at, id`,
    values: [companyId, period.from, period.to],
  })

/** Which of these are charges or static codes of the company. */
export async function findNamed(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<Set<Uuid>> {
  if (ids.length === 0) return new Set()
  const rows = await tx.query<{ id: Uuid }>({
    text: `select id from charges where company_id = $1 and id = any ($2::uuid[])
           union all select id from static_codes where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })
  return new Set(rows.map(({ id }) => id))
}
