import { assert } from '../../lib/assert.ts'
import { toPublic } from '../../lib/ids.ts'
import type { Returned } from '../../provider/port.ts'
import type { App } from '../app.ts'
import { findCompany } from '../companies/store.ts'
import { carryOut, LEASE_S, retryIn_s } from '../orders.ts'
import { completeRefund, failRefund } from './commands.ts'
import { type Claim, claimDue, postpone } from './store.ts'

export function claimDueRefunds(app: App, most: number): Promise<Claim[]> {
  const now = app.clock.now()
  const until = new Date(now.getTime() + LEASE_S * 1000)
  return app.db.transaction((tx) => claimDue(tx, now, until, most))
}

/** Returns what was claimed: the bank is told or asked, then what it said is written down. */
export async function returnMoney(app: App, { refund, orderedBefore }: Claim): Promise<void> {
  const company = await findCompany(app.db, refund.companyId)
  assert(company, 'a refund has its company')
  const bank = () => app.providers.of(company, !refund.booked)
  const outcome = await carryOut<Returned>({
    log: app.log,
    orderedBefore,
    find: () => bank().findRefund(company, refund),
    order: () => bank().refund(company, refund),
  })
  const now = app.clock.now()
  if (outcome.kind === 'unknown') {
    const named = { refund: toPublic('rfnd', refund.id), reason: outcome.reason }
    app.log.warn(named, 'a refund has no answer yet')
    const next = new Date(now.getTime() + retryIn_s(refund.attempts) * 1000)
    await postpone(app.db, refund, next)
    return
  }
  await app.db.transaction((tx) =>
    outcome.kind === 'accepted'
      ? completeRefund(tx, refund, outcome.value.returnId, now)
      : failRefund(tx, refund, outcome.reason, now),
  )
}
