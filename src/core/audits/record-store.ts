import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Source } from '../../provider/port.ts'

/** The fields of a payment that the books must agree with. */
export type BookedPayment = {
  endToEndId: string
  amount: number
  returned: number
  chargeId: Uuid | null
  settledId: Uuid | null
  settled: number
  status: string
  booked: boolean
}

/** The fields of a charge that the books must agree with. `amount` is what has arrived. */
export type BookedCharge = {
  id: Uuid
  amount: number
  endToEndId: string | null
  paymentStatus: string
  booked: boolean
  staticCodeId: Uuid | null
}

/** The fields of a refund or a withdrawal that the books must agree with. */
export type BookedOrder = { id: Uuid; amount: number; chargeId: Uuid | null; status: string }

const byId = <T extends { id: Uuid }>(rows: T[]) => new Map(rows.map((row) => [row.id, row]))

const PAYMENT = `select end_to_end_id as "endToEndId", amount, returned, charge_id as "chargeId",
  settled_charge_id as "settledId", settled, status, booked from payments`

export async function paymentsOf(
  tx: Tx,
  companyId: Uuid,
  source: Source,
  ids: string[],
): Promise<Map<string, BookedPayment>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.query<Row & BookedPayment>({
    text: `${PAYMENT} where company_id = $1 and end_to_end_id = any ($2::text[]) and source = $3`,
    values: [companyId, ids, source],
  })
  return new Map(rows.map((row) => [row.endToEndId, row]))
}

/** Booked payments, in the order of their ids. */
export const listPayments = (
  tx: Tx,
  companyId: Uuid,
  after: string,
  limit: number,
): Promise<BookedPayment[]> =>
  tx.query<Row & BookedPayment>({
    text: `${PAYMENT} where company_id = $1 and end_to_end_id > $2 and booked
           order by end_to_end_id limit $3`,
    values: [companyId, after, limit],
  })

const CHARGE = `select id, amount - shortfall as amount, end_to_end_id as "endToEndId",
  payment_status as "paymentStatus", booked, static_code_id as "staticCodeId"`

export async function chargesOf(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<Map<Uuid, BookedCharge>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.query<Row & BookedCharge>({
    text: `${CHARGE} from charges where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })
  return byId(rows)
}

export type PaidCharge = BookedCharge & { paymentDate: Date }

/** Booked charges that were paid from a moment on, in the order of their payments. */
export const listCharges = (
  tx: Tx,
  companyId: Uuid,
  after: { paymentDate: Date; id: Uuid },
  limit: number,
): Promise<PaidCharge[]> =>
  tx.query<Row & PaidCharge>({
    text: `${CHARGE}, payment_date as "paymentDate" from charges
           where company_id = $1 and payment_date is not null and booked
             and (payment_date, id) > ($2::timestamptz, $3::uuid)
           order by payment_date, id limit $4`,
    values: [companyId, after.paymentDate, after.id, limit],
  })

export async function refundsOf(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<Map<Uuid, BookedOrder>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.query<Row & BookedOrder>({
    text: `select id, amount, charge_id as "chargeId", status from refunds
           where company_id = $1 and id = any ($2::uuid[]) and booked`,
    values: [companyId, ids],
  })
  return byId(rows)
}

export async function withdrawalsOf(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
): Promise<Map<Uuid, BookedOrder>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.query<Row & BookedOrder>({
    text: `select id, value as amount, null::uuid as "chargeId", status from withdrawals
           where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, ids],
  })
  return byId(rows)
}
