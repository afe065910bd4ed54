import { unpackPair } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { agreementPayload, chargePayload } from '../../provider/simulator/payloads.ts'
import type { Uses } from '../app.ts'
import { asOf } from '../charges/rules.ts'
import { findMany } from '../charges/store.ts'
import { nowOf } from '../companies/clock.ts'
import { findCompany } from '../companies/store.ts'
import { isPlayable, payableBy } from '../payments/rules.ts'
import { findAgreement } from './records.ts'

/**
 * The payload that a payer's bank reads at the location in a code of the simulated bank. The codes
 * of a real bank have locations at that bank.
 */
export async function readChargeLocation(
  app: Uses<'config' | 'db' | 'systemClock'>,
  token: string,
): Promise<object> {
  const named = unpackPair(token)
  const [charge] = named ? await findMany(app.db, [named]) : []
  const company = charge?.brCode ? await findCompany(app.db, charge.companyId) : null
  const isOurs = company && payableBy(company, charge!.devMode) === 'simulated'
  if (!isOurs || !isPlayable(app.config, company))
    throw problem('charge_not_found', 'The simulated bank has issued no such code.')
  const now = nowOf(app, company)
  return chargePayload(company, asOf(charge!, now), now)
}

export async function readAgreementLocation(
  app: Uses<'config' | 'db' | 'systemClock'>,
  token: string,
): Promise<object> {
  const named = unpackPair(token)
  const found = named && (await findAgreement(app.db, named.companyId, named.id))
  const company = found && (await findCompany(app.db, found.accountId))
  if (!company || !isPlayable(app.config, company))
    throw problem('recurrence_not_found', 'The simulated bank has issued no such code.')
  return agreementPayload(company, found, nowOf(app, company))
}
