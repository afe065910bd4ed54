import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Cents } from '../../lib/money.ts'
import type { Period } from '../../provider/port.ts'

/** A refund or a withdrawal that the bank was ordered to carry out, by our id of it. */
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

type RecordedPayment = { endToEndId: string; amount: Cents; at: Date }

/** The payments that we recorded as received in a period. */
export const listReceived = (tx: Tx, companyId: Uuid, period: Period): Promise<RecordedPayment[]> =>
  tx.query<Row & RecordedPayment>({
    text: `select end_to_end_id as "endToEndId", amount, received_at as at from payments
           where company_id = $1 and booked and received_at >= $2 and received_at < $3
           order by received_at, end_to_end_id`,
    values: [companyId, period.from, period.to],
  })

export type RecordedRefund = {
  id: Uuid
  endToEndId: string
  returnId: string
  amount: Cents
  at: Date
  isByBank: boolean
}

/** The refunds that we recorded as completed in a period, and what the bank returned by itself. */
export const listReturned = (tx: Tx, companyId: Uuid, period: Period): Promise<RecordedRefund[]> =>
  tx.query<Row & RecordedRefund>({
    text: `select id, end_to_end_id as "endToEndId", return_id as "returnId", amount,
             finished_at as at, bank_reason is not null as "isByBank" from refunds
           where company_id = $1 and booked and status = 'COMPLETED'
             and finished_at >= $2 and finished_at < $3
           order by finished_at, id`,
    values: [companyId, period.from, period.to],
  })
