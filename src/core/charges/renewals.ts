import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import type { Company } from '../companies/rules.ts'
import { duplicate, findCharge } from './commands.ts'
import type { AppWithCharges } from './group.ts'
import { createInTransaction } from './in-transaction.ts'
import { lockCharge, record } from './record.ts'
import { asOf, type Charge, isSubscriptionLink, notPayable } from './rules.ts'
import { openShipping, sealShipping } from './shipping.ts'
import { requireActive } from './split-recipients.ts'
import type { ChargeId } from './store.ts'

/** So often a payer can ask for a new code, since each time is one more charge. */
const MAX_RENEWALS = 10
/** However short the old one could be paid, whoever asks for a new code has time to pay it. */
const MIN_LIFETIME_S = 300

/** The charges that replace each other, the newest first. Of most charges it is that one only. */
type Chain = { firstId: Uuid; newestId: Uuid; ids: Uuid[] }

async function findChain(tx: Tx, { companyId, id }: ChargeId): Promise<Chain> {
  const rows = await tx.query<{ first_id: Uuid; charge_id: Uuid | null }>({
    name: 'find_renewals',
    text: `select f.id as first_id, r.charge_id
           from (select coalesce((select first_id from charge_renewals
                   where company_id = $1 and charge_id = $2), $2::uuid) as id) f
           left join charge_renewals r on r.company_id = $1 and r.first_id = f.id
           order by r.charge_id desc`,
    values: [companyId, id],
  })
  const renewed = rows.flatMap(({ charge_id }) => (charge_id === null ? [] : [charge_id]))
  const firstId = rows[0]!.first_id
  const ids = [...renewed, firstId]
  return { firstId, newestId: ids[0]!, ids }
}

/** The charges whose codes a payer had before the code of this one. */
export async function findOlder(tx: Tx, charge: ChargeId): Promise<ChargeId[]> {
  const { ids } = await findChain(tx, charge)
  const older = ids.slice(ids.indexOf(charge.id) + 1)
  return older.map((id) => ({ companyId: charge.companyId, id }))
}

/** Whether a charge was made in place of an expired one. */
export const replacesOther = async (tx: Tx, charge: ChargeId): Promise<boolean> =>
  (await findOlder(tx, charge)).length > 0

/** Whether the company lets payers ask for a new code of such a charge. */
function isRenewable({ newCodes, suspendedAt }: Company, charge: Charge): boolean {
  const { kind, status, payer, due, linkId } = charge
  const isAllowed = kind === 'LINK' ? newCodes !== 'NONE' : kind === 'PIX' && newCodes === 'ALL'
  // With a due date there would be a new one, without the fine of the old one. A sale by a link is
  // made again on the page of the link.
  const isPlain = payer !== null && due === null && linkId === null && !isSubscriptionLink(charge)
  return isAllowed && isPlain && status === 'EXPIRED' && suspendedAt === null
}

/**
 * Which of these charges have money that has not gone back, so that nobody is asked to pay again,
 * and whether it has paid the charge. A bank may tell late of a Pix that was paid in time.
 */
const findMoney = (tx: Tx, companyId: Uuid, ids: Uuid[]) =>
  tx.query<{ id: Uuid; is_paid: boolean }>({
    name: 'find_money_of_renewals',
    text: `select id, status = 'COMPLETED' as is_paid from charges c
           where company_id = $1 and id = any ($2::uuid[]) and payment_status <> 'REFUNDED'
             and (status = 'COMPLETED' or exists (
               select from payments where company_id = $1 and charge_id = c.id
                 and reason is not null and status <> 'REFUNDED'))
           order by id desc`,
    values: [companyId, ids],
  })

/** What has become of the charges that replace each other. */
export type Renewal = {
  /** The one that was paid, or else the newest. */
  current: Charge
  /** Whether somebody has paid by a code of them, and has not got the money back. */
  hasMoney: boolean
  canRenew: boolean
}

export async function findRenewal(
  app: AppWithCharges,
  company: Company,
  charge: Charge,
): Promise<Renewal> {
  const { newestId, ids } = await findChain(app.db, charge)
  // Without older codes nobody can have paid by one, and this is on the way of each page.
  if (charge.status === 'OPEN' && ids.length === 1) {
    return { current: charge, hasMoney: false, canRenew: false }
  }
  const money = await findMoney(app.db, company.id, ids)
  const paidId = money.find(({ is_paid }) => is_paid)?.id
  const found = await findCharge(app, company.id, paidId ?? newestId)
  const current = asOf(found, app.clock.now())
  const hasMoney = money.length > 0
  const mayRenew = ids.length <= MAX_RENEWALS && isRenewable(company, current)
  return { current, hasMoney, canRenew: mayRenew && !hasMoney }
}

/** Another request has renewed the charge meanwhile. */
const OVERTAKEN = new Error('another renewal was faster')

/**
 * Makes a charge like an expired one, for its payer, who has asked for it on its page. The first of
 * the charges that replace each other is locked, so that never two of them are open. If one is paid
 * or the newest is open, it is returned. `matchPaid` asks the bank whether a charge was paid, and returns
 * whether that is known.
 */
export async function renewCharge(
  app: AppWithCharges,
  company: Company,
  expired: Charge,
  matchPaid: (charge: Charge) => Promise<boolean>,
): Promise<Charge> {
  for (;;) {
    const { current, canRenew } = await findRenewal(app, company, expired)
    if (current.status === 'OPEN' || current.status === 'COMPLETED') return current
    if (!canRenew) throw notPayable(current.status)
    // It may have been paid in time although we have not heard of it.
    if (!(await matchPaid(current))) throw problem('provider_unavailable')
    const known = await findRenewal(app, company, expired)
    if (known.current.status === 'COMPLETED') continue
    if (known.hasMoney) throw notPayable(current.status)
    await requireActive(app, current)
    try {
      return await insertRenewal(app, company, current)
    } catch (error) {
      if (error !== OVERTAKEN) throw error
    }
  }
}

function insertRenewal(app: AppWithCharges, company: Company, newest: Charge): Promise<Charge> {
  const { companyId, id, externalId, link, shipping } = newest
  // The merchant knows the new charge by the reference of the old one.
  const again = duplicate(app, newest, {}, () => Buffer.alloc(0))
  const lifetime_s = Math.max(again.lifetime_s, MIN_LIFETIME_S)
  const draft = { ...again, externalId, lifetime_s }
  const address = shipping && openShipping(app.vault, newest, shipping)
  const hasCode = !link?.needShipping || address !== null
  let firstId: Uuid
  return createInTransaction(app, company, draft, {
    hasCode,
    async before(tx) {
      const chain = await findChain(tx, newest)
      await lockCharge(tx, companyId, chain.firstId)
      const locked = await findChain(tx, newest)
      const current = await lockCharge(tx, companyId, id)
      const isExpired = asOf(current, app.clock.now()).status === 'EXPIRED'
      if (locked.newestId !== id || !isExpired) throw OVERTAKEN
      firstId = chain.firstId
    },
    async after(tx, charge) {
      await tx.query({
        text: `insert into charge_renewals (company_id, charge_id, first_id, created_at)
               values ($1, $2, $3, $4)`,
        values: [companyId, charge.id, firstId, charge.createdAt],
      })
      if (address === null) return
      const sealed = { ...charge, shipping: sealShipping(app.vault, charge, address) }
      await record(tx, [{ charge: sealed, event: null, at: charge.createdAt }])
    },
  })
}
