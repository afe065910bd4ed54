import type { Static } from 'typebox'
import { toPublic, type Uuid, unpackPair } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { parse } from '../../pix/brcode.ts'
import { agreementBody } from '../../provider/callback.ts'
import type { Decided } from '../../provider/simulator/agreements.ts'
import { chargeTxid } from '../../provider/txid.ts'
import type { App } from '../app.ts'
import { withCompanyClock } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { type AppWithCallbacks, receiveCallback } from '../payments/callbacks.ts'
import { isPlayable } from '../payments/rules.ts'
import { type Front, placeOf } from '../places/front.ts'
import type { BankAuthorization, BankDecision } from './view.ts'

/**
 * Decides on an agreement as a payer does in the app of their bank. The bank first records the
 * decision itself, then sends a callback as every bank does.
 */
export async function decideAgreement(
  front: Front<AppWithCallbacks>,
  { emv, decision, funds }: Static<typeof BankDecision>,
): Promise<Static<typeof BankAuthorization>> {
  const { app, company, id } = await readAgreementCode(front, emv.trim())
  const { simulator } = app.providers
  const own = withCompanyClock(app, company)
  const now = own.clock.now()
  const outcome = await simulator.decide(company.id, id, decision, funds ?? null, now)
  if (outcome.kind !== 'accepted') {
    throw problem('recurrence_not_decidable', `emv: ${outcome.reason}.`)
  }
  const { agreement, canceled } = outcome.value
  const body = agreementBody(agreement, canceled.map(chargeTxid))
  const { processed } = await receiveCallback(own, company.id, simulator.name, body)
  await processed
  return showDecided(company, id, outcome.value)
}

function showDecided(company: Company, id: Uuid, { agreement, value, frequency }: Decided) {
  return {
    recurrenceId: toPublic('rec', id),
    externalRecurrenceId: agreement.externalId,
    recurrenceAuthStatus: agreement.status,
    decidedAt: agreement.decidedAt!.toISOString(),
    receiver: { name: company.name, city: company.city },
    amount: value,
    frequency,
  }
}

/** Finds the agreement that a code asks for, as a payer's bank does by the code's location. */
export async function readAgreementCode<A extends App>(
  front: Front<A>,
  emv: string,
): Promise<{ app: A; company: Company; id: Uuid }> {
  const read = parse(emv)
  if (read.kind === 'fault') throw invalid(`emv: is not a valid Pix code (${read.reason})`)
  const { recurrenceLocation: location } = read
  if (location === undefined) {
    throw invalid('emv: is a code to pay, and asks for no agreement')
  }
  const named = unpackPair(location.slice(location.lastIndexOf('/') + 1))
  const app = await placeOf(front, named?.companyId)
  const company = named && (await findCompany(app.db, named.companyId))
  if (!company || !isPlayable(app.config, company)) throw unknownCode()
  const found = await app.providers.simulator.findAgreement(company, named)
  if (found.kind !== 'accepted' || found.value?.brCode !== emv) throw unknownCode()
  return { app, company, id: named.id }
}

const unknownCode = () =>
  problem('recurrence_not_found', 'emv: the simulated bank has issued no such code.')
