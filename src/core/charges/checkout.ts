import type { Tx } from '../../db/database.ts'
import { assert } from '../../lib/assert.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import { createRecent } from '../../lib/memo.ts'
import { invalid } from '../../lib/problems.ts'
import { accepted } from '../../provider/providers.ts'
import type { Uses } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { orderOf } from './intents.ts'
import { lockCharge, record } from './record.ts'
import { asOf, type Charge, isSubscriptionLink, notPayable, withCode } from './rules.ts'
import { type Shipping, sealShipping, shippingFaults } from './shipping.ts'
import type { ChargeId } from './store.ts'

/** What is known of how a payer came to the code of a charge. */
export type Opening = {
  openedAt: Date | null
  codeAt: Date | null
  /** An id that was made just before the event of the code. */
  beforeEvent: Uuid | null
}

/** Writes when the page of a charge was opened. Only the first time counts. */
async function insertOpening(tx: Tx, { companyId, id }: ChargeId, at: Date): Promise<void> {
  await tx.query({
    text: `insert into charge_openings (company_id, charge_id, opened_at) values ($1, $2, $3)
           on conflict (company_id, charge_id) do update set opened_at = excluded.opened_at
             where charge_openings.opened_at is null`,
    values: [companyId, id, at],
  })
}

/** Writes when a link got its code, in the transaction that gives it the code. */
export async function insertCode(
  tx: Tx,
  { companyId, id }: ChargeId,
  at: Date,
  beforeEvent: Uuid,
): Promise<void> {
  await tx.query({
    text: `insert into charge_openings (company_id, charge_id, code_at, before_event)
           values ($1, $2, $3, $4)
           on conflict (company_id, charge_id) do update
             set code_at = excluded.code_at, before_event = excluded.before_event`,
    values: [companyId, id, at, beforeEvent],
  })
}

export async function findOpening(tx: Tx, { companyId, id }: ChargeId): Promise<Opening | null> {
  const [row] = await tx.query<{
    opened_at: Date | null
    code_at: Date | null
    before_event: Uuid | null
  }>({
    text: `select opened_at, code_at, before_event from charge_openings
           where company_id = $1 and charge_id = $2`,
    values: [companyId, id],
  })
  return row
    ? { openedAt: row.opened_at, codeAt: row.code_at, beforeEvent: row.before_event }
    : null
}

/** Charges whose opening this process has written of late. */
const noted = createRecent<true>(4096)

/** Notes that a payer looks at the page of a charge. If that fails, the page is shown anyway. */
export async function noteOpening(
  app: Uses<'clock' | 'db' | 'log'>,
  { companyId, id }: ChargeId,
): Promise<void> {
  if (noted.get(id)) return
  noted.set(id, true)
  try {
    await insertOpening(app.db, { companyId, id }, app.clock.now())
  } catch (error) {
    app.log.warn(describeError(error), 'the opening of a page could not be written')
  }
}

/**
 * Gives a link its code when the payer opens it, and stores the shipping address. If the link has a
 * code, nothing changes. The bank is asked first, and issues one code for our id, however often it
 * is asked.
 */
export async function openLink(
  app: Uses<'clock' | 'db' | 'providers' | 'vault'>,
  company: Company,
  charge: Charge,
  shipping: Shipping | null,
): Promise<Charge> {
  assert(charge.kind === 'LINK' && !isSubscriptionLink(charge), 'only a link is opened')
  requireOpen(app, charge)
  if (charge.brCode !== null) return charge
  const sealed = sealFor(app, charge, shipping)
  const provider = app.providers.of(company, charge.devMode)
  const outcome = await provider.issueCharge(company, orderOf(app, charge))
  const { brCode } = accepted(outcome, provider)
  const opened = await app.db.transaction(async (tx) => {
    const current = await lockCharge(tx, company.id, charge.id)
    if (asOf(current, app.clock.now()).status !== 'OPEN' || current.brCode !== null) return current
    const addressed = { ...current, shipping: current.shipping ?? sealed }
    const change = withCode(addressed, brCode, app.clock.now())
    await insertCode(tx, current, change.at, newId())
    await record(tx, [change])
    return change.charge
  })
  if (opened.brCode === null) accepted(await provider.removeCharge(company, charge), provider)
  requireOpen(app, opened)
  return opened
}

/** Stores the shipping address of a subscription with its link. The first one is kept. */
export async function keepShipping(
  app: Uses<'clock' | 'db' | 'vault'>,
  charge: Charge,
  shipping: Shipping | null,
): Promise<void> {
  requireOpen(app, charge)
  const sealed = sealFor(app, charge, shipping)
  if (!sealed) return
  await app.db.transaction(async (tx) => {
    const current = await lockCharge(tx, charge.companyId, charge.id)
    if (current.shipping !== null) return
    const addressed = { ...current, shipping: sealed }
    await record(tx, [{ charge: addressed, event: null, at: app.clock.now() }])
  })
}

function sealFor(app: Uses<'vault'>, charge: Charge, shipping: Shipping | null): Buffer | null {
  if (!charge.link?.needShipping) return null
  const faults = shipping ? Object.keys(shippingFaults(shipping)) : ['shipping']
  if (faults.length > 0) throw invalid(`${faults[0]}: where it is sent must be a whole address`)
  return sealShipping(app.vault, charge, shipping!)
}

function requireOpen(app: Uses<'clock'>, charge: Charge): void {
  const { status } = asOf(charge, app.clock.now())
  if (status !== 'OPEN') throw notPayable(status)
}
