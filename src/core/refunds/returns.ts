import { assert } from '../../lib/assert.ts'
import { toPublic } from '../../lib/ids.ts'
import type { Outcome, Provider, Returned } from '../../provider/port.ts'
import type { Uses } from '../app.ts'
import { nowOf } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { type Claim, carryOut, retryIn_s } from '../orders.ts'
import { completeRefund, failRefund } from './commands.ts'
import type { Refund } from './rules.ts'
import { postpone } from './store.ts'

/** Orders the bank to return the money of a claimed refund, or asks it, and records the outcome. */
export async function returnMoney(
  app: Uses<'counters' | 'db' | 'log' | 'providers' | 'systemClock' | 'vault'>,
  { order: refund, orderedBefore }: Claim<Refund>,
): Promise<void> {
  const company = await findCompany(app.db, refund.companyId)
  assert(company, 'a refund has its company')
  const bank = () => app.providers.of(company, !refund.booked)
  const outcome = await carryOut<Returned>({
    log: app.log,
    orderedBefore,
    find: () => findAtBank(bank(), company, refund),
    order: () => bank().refund(company, refund),
  })
  const now = nowOf(app, company)
  if (outcome.kind === 'unknown') {
    const named = { refund: toPublic('rfnd', refund.id), reason: outcome.reason }
    app.log.warn(named, 'a refund has no answer yet')
    const next = new Date(now.getTime() + retryIn_s(refund.attempts) * 1000)
    await postpone(app.db, refund, next)
    return
  }
  await app.db.transaction((tx) =>
    outcome.kind === 'accepted'
      ? completeRefund(tx, app, refund, outcome.value.returnId, now)
      : failRefund(tx, app, refund, outcome.reason, now),
  )
}

/**
 * Asks what became of a refund that was ordered. If the bank does not know the refund, that counts
 * only if it knows the payment, because the company may have changed banks since.
 */
async function findAtBank(
  bank: Provider,
  company: Company,
  refund: Refund,
): Promise<Outcome<Returned | null>> {
  const found = await bank.findRefund(company, refund)
  if (found.kind !== 'accepted' || found.value !== null) return found
  const received = await bank.findReceived(company, [refund.endToEndId])
  if (received.kind !== 'accepted') return received
  if (received.value.length > 0) return found
  return { kind: 'unknown', reason: 'the bank has no such payment' }
}
