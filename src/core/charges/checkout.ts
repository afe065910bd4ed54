import { assert } from '../../lib/assert.ts'
import { newId } from '../../lib/ids.ts'
import { invalid } from '../../lib/problems.ts'
import { accepted } from '../../provider/providers.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { orderOf } from './bank-order.ts'
import { insertCode } from './openings-store.ts'
import { lockCharge, record } from './record.ts'
import type { Charge } from './rules.ts'
import { asOf, isSubscriptionLink, notPayable, withCode } from './rules.ts'
import { type Shipping, sealShipping, shippingFaults } from './shipping.ts'

/**
 * Gives a link its code when the payer opens it, and stores the shipping address. If the link has a
 * code, nothing changes. The bank is asked first, and issues one code for our id, however often it
 * is asked.
 */
export async function openLink(
  app: App,
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
  if (opened.brCode === null) accepted(await provider.removeCharge(company, charge.id), provider)
  requireOpen(app, opened)
  return opened
}

/** Stores the shipping address of a subscription with its link. The first one is kept. */
export async function keepShipping(
  app: App,
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

function sealFor(app: App, charge: Charge, shipping: Shipping | null): Buffer | null {
  if (!charge.link?.needShipping) return null
  const faults = shipping ? Object.keys(shippingFaults(shipping)) : ['shipping']
  if (faults.length > 0) throw invalid(`${faults[0]}: where it is sent must be a whole address`)
  return sealShipping(app.vault, charge, shipping!)
}

function requireOpen(app: App, charge: Charge): void {
  const { status } = asOf(charge, app.clock.now())
  if (status !== 'OPEN') throw notPayable(status)
}
