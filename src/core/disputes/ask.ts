import type { Period, Provider } from '../../provider/port.ts'
import type { Uses } from '../app.ts'
import { nowOf } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { type Claim, carryOut, retryIn_s } from '../orders.ts'
import { defenseNotTaken, defenseTaken } from './defenses.ts'
import { openDefense } from './files.ts'
import { recordDisputes } from './record.ts'
import type { Dispute } from './rules.ts'
import * as store from './store.ts'

/** A bank tells of a dispute at once. What it told while nobody listened is found later. */
const LOOK_BACK_MS = 7 * 24 * 3_600_000

/**
 * Asks a bank about the disputes that it has not decided and those of the last days, and records
 * what it says. The app has the company's clock. False if the bank has not answered.
 */
export async function askDisputes(
  app: Uses<'clock' | 'db' | 'log' | 'vault'>,
  company: Company,
  provider: Provider,
): Promise<boolean> {
  const now = app.clock.now()
  const oldest = (await store.oldestOpen(app.db, company.id)) ?? now
  const from = new Date(Math.min(oldest.getTime(), now.getTime() - LOOK_BACK_MS))
  const to = new Date(now.getTime() + 1)
  const outcome = await provider.listDisputes(company, { from, to })
  if (outcome.kind !== 'accepted') {
    const named = { company: company.id, reason: outcome.reason }
    app.log.warn(named, 'the bank did not list disputes')
    return false
  }
  if (outcome.unread) {
    const { unread } = outcome
    app.log.error(
      { company: company.id, unread },
      'the bank lists disputes that are not understood',
    )
  }
  await recordDisputes(app, company, provider.source, outcome.value)
  return true
}

/** The period of one dispute. */
const around = ({ openedAt }: Dispute): Period => ({
  from: openedAt,
  to: new Date(openedAt.getTime() + 1),
})

/** Sends a claimed defense to the bank, or asks whether it has it, and records the outcome. */
export async function sendDefense(
  app: Uses<'db' | 'log' | 'providers' | 'systemClock' | 'vault'>,
  { order: dispute, orderedBefore }: Claim<Dispute>,
): Promise<void> {
  const company = (await findCompany(app.db, dispute.companyId))!
  const bank = app.providers.of(company, dispute.paymentSource === 'simulated')
  const id = dispute.bankId!
  const outcome = await carryOut<'sent' | 'not taken'>({
    log: app.log,
    orderedBefore,
    async find() {
      const listed = await bank.listDisputes(company, around(dispute))
      if (listed.kind !== 'accepted') return listed
      const found = listed.value.find((one) => one.id === id)
      const isThere = found !== undefined && found.status !== 'OPEN'
      return { kind: 'accepted', value: isThere ? 'sent' : null }
    },
    order: () => bank.sendDefense(company, { id, text: openDefense(app.vault, dispute)! }),
  })
  const now = nowOf(app, company)
  if (outcome.kind === 'unknown') {
    const next = new Date(now.getTime() + retryIn_s(dispute.attempts) * 1000)
    return store.postpone(app.db, dispute, next)
  }
  await app.db.transaction((tx) =>
    outcome.kind === 'accepted'
      ? defenseTaken(tx, dispute, outcome.value, now)
      : defenseNotTaken(tx, dispute, outcome.reason, now),
  )
}
