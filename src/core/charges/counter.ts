import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { MAX_AMOUNT } from '../../pix/amounts.ts'
import { localDateOf, startOfDay } from '../../pix/local-time.ts'
import type { Company } from '../companies/rules.ts'
import { chargeOf, type Draft } from './drafts.ts'
import type { AppWithCharges } from './group.ts'
import { insertCharges } from './in-transaction.ts'
import { type BankCode, withBankCode } from './intents.ts'
import { type Charge, PIX_LIFETIME_S } from './rules.ts'
import type { ChargeId } from './store.ts'

/** What somebody sells at a counter. */
export type Sale = { personId: Uuid; amount: Cents; description: string | null }

const MAX_DESCRIPTION = 140

/** Reads what was typed. As with a static code, the smallest amount is one cent. */
export function readSale(personId: Uuid, amount: Cents | null, description: string | null): Sale {
  const isAmount = amount !== null && amount >= 1 && amount <= MAX_AMOUNT
  const isShort = description === null || description.length <= MAX_DESCRIPTION
  const faults = [
    ...(isAmount ? [] : [`amount: must be 1 to ${MAX_AMOUNT} cents`]),
    ...(isShort ? [] : [`description: must have at most ${MAX_DESCRIPTION} characters`]),
  ]
  const [first, ...others] = faults
  if (first) throw invalid(first, ...others)
  return { personId, amount: amount!, description }
}

/** A Pix charge for whoever stands there. Nobody asks for a name, so there is no payer. */
const draftOf = ({ amount, description }: Sale): Draft => ({
  kind: 'PIX',
  amount,
  description,
  devMode: false,
  externalId: null,
  fingerprint: null,
  customerId: null,
  payer: null,
  link: null,
  due: null,
  split: null,
  emailIndex: null,
  lifetime_s: PIX_LIFETIME_S,
})

/** Thrown if a sale was made before by the same form, so that the bank forgets the new code. */
class SoldBefore extends Error {
  readonly done: unknown
  constructor(done: unknown) {
    super('the sale was made before')
    this.done = done
  }
}

/**
 * Makes a charge that is paid at a counter. `commit` writes it in its transaction, with what else
 * belongs to it, or returns what it has returned when the same form was sent before.
 */
export async function sellAtCounter<T>(
  app: AppWithCharges,
  company: Company,
  sale: Sale,
  commit: (insert: (tx: Tx) => Promise<Charge>) => Promise<T>,
): Promise<T> {
  if (company.suspendedAt !== null) throw problem('company_suspended')
  const draft = draftOf(sale)
  const write = async (code: BankCode): Promise<T> => {
    let isMade = false
    const done = await commit((tx) => {
      isMade = true
      return insertSale(tx, app, company, chargeOf(company, draft, code), sale)
    })
    if (!isMade) throw new SoldBefore(done)
    return done
  }
  try {
    return await withBankCode(app, company, draft, null, write)
  } catch (error) {
    if (error instanceof SoldBefore) return error.done as T
    throw error
  }
}

async function insertSale(
  tx: Tx,
  app: AppWithCharges,
  company: Company,
  charge: Charge,
  { personId }: Sale,
): Promise<Charge> {
  const { companyId, id, createdAt } = charge
  await insertCharges(tx, app, company, [charge], null)
  await tx.query({
    text: `insert into counter_sales (company_id, charge_id, person_id, created_at)
           values ($1, $2, $3, $4)`,
    values: [companyId, id, personId, createdAt],
  })
  return charge
}

/** Whether a charge was made at a counter. */
export async function isCounterSale(tx: Tx, { companyId, id }: ChargeId): Promise<boolean> {
  const rows = await tx.query({
    text: 'select from counter_sales where company_id = $1 and charge_id = $2',
    values: [companyId, id],
  })
  return rows.length > 0
}

/** Paid sales: how many, what has arrived, and what of it went back. */
export type CounterTotal = { count: number; received: Cents; refunded: Cents }

/** Sales from a moment on, and until before another one if there is an end. */
export type Shift = { from: Date; to: Date | null }

export const today = (now: Date): Shift => ({ from: startOfDay(localDateOf(now)), to: null })

/** The sales of a shift that are paid: of one person, and of all. */
export async function totalsOf(
  tx: Tx,
  companyId: Uuid,
  personId: Uuid,
  { from, to }: Shift,
): Promise<{ own: CounterTotal; all: CounterTotal }> {
  const [row] = await tx.query<Row & Record<string, number>>({
    text: `select count(*) as count, count(*) filter (where s.person_id = $2) as own_count,
             ${sum('c.amount + c.adjustment - c.shortfall', 'received')}, ${sum('c.refunded', 'refunded')}
           from counter_sales s
           join charges c on c.company_id = s.company_id and c.id = s.charge_id
           where s.company_id = $1 and s.created_at >= $3
             and ($4::timestamptz is null or s.created_at < $4) and c.status = 'COMPLETED'`,
    values: [companyId, personId, from, to],
  })
  const total = (prefix: '' | 'own_'): CounterTotal => ({
    count: Number(row![`${prefix}count`]),
    received: toCents(row![`${prefix}received`]!),
    refunded: toCents(row![`${prefix}refunded`]!),
  })
  return { own: total('own_'), all: total('') }
}

const sum = (what: string, name: string): string =>
  `coalesce(sum(${what}), 0)::int8 as ${name},
   coalesce(sum(${what}) filter (where s.person_id = $2), 0)::int8 as own_${name}`

const SHOWN = 5

/** The last sales that a person has made in a shift, the newest first. */
export async function lastSales(
  tx: Tx,
  companyId: Uuid,
  personId: Uuid,
  { from, to }: Shift,
): Promise<ChargeId[]> {
  const rows = await tx.query<{ id: Uuid }>({
    text: `select charge_id as id from counter_sales
           where company_id = $1 and person_id = $2 and created_at >= $3
             and ($4::timestamptz is null or created_at < $4)
           order by created_at desc limit $5`,
    values: [companyId, personId, from, to, SHOWN],
  })
  return rows.map(({ id }) => ({ companyId, id }))
}
