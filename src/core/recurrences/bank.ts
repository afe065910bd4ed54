import type { Static } from 'typebox'
import { toPublic, type Uuid, unpackPair } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { parse } from '../../pix/brcode.ts'
import { agreementBody, collectionsBody } from '../../provider/callback.ts'
import type { Decided } from '../../provider/simulator/agreements.ts'
import type { Collected } from '../../provider/simulator/collections.ts'
import { chargeTxid } from '../../provider/txid.ts'
import type { App } from '../app.ts'
import { withCompanyClock } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { receiveCallback } from '../payments/callbacks.ts'
import { isPlayable } from '../payments/rules.ts'
import { listResting } from './bank-store.ts'
import type { BankAuthorization, BankDecision } from './bank-view.ts'

/**
 * Decides on an agreement as a payer does in the app of their bank. The bank keeps its own record
 * first, then calls back like any bank.
 */
export async function decideAtBank(
  app: App,
  { emv, decision, funds }: Static<typeof BankDecision>,
): Promise<Static<typeof BankAuthorization>> {
  const { company, id } = await readAtBank(app, emv.trim())
  const { simulator } = app.providers
  const inTime = withCompanyClock(app, company)
  const now = inTime.clock.now()
  const outcome = await simulator.decide(company.id, id, decision, funds ?? null, now)
  if (outcome.kind !== 'accepted') {
    throw problem('recurrence_not_decidable', `emv: ${outcome.reason}.`)
  }
  const { agreement, canceled } = outcome.value
  const body = agreementBody(agreement, canceled.map(chargeTxid))
  const { processed } = await receiveCallback(inTime, company.id, simulator.name, body)
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
    ...{ amount: value, frequency },
  }
}

/** Finds the agreement that a code asks for, as a payer's bank does through its location. */
export async function readAtBank(app: App, emv: string): Promise<{ company: Company; id: Uuid }> {
  const read = parse(emv)
  if (read.kind === 'fault') throw invalid(`emv: is not a valid Pix code (${read.reason})`)
  const { recurrenceLocation: location } = read
  if (location === undefined) {
    throw invalid('emv: is a code to pay, and asks for no agreement')
  }
  const named = unpackPair(location.slice(location.lastIndexOf('/') + 1))
  const company = named && (await findCompany(app.db, named.companyId))
  if (!company || !isPlayable(app.config, company)) throw unknownCode()
  const found = await app.providers.simulator.findAgreement(company, named)
  if (found.kind !== 'accepted' || found.value?.brCode !== emv) throw unknownCode()
  return { company, id: named.id }
}

const unknownCode = () =>
  problem('recurrence_not_found', 'emv: the simulated bank has issued no such code.')

/** How many attempts the bank makes in one transaction. */
export const MAX_COLLECTED = 500

/**
 * Lets the simulated bank collect all that is due of a company, and call back. It is over when what
 * came of it is settled. The app is in the time of the company.
 */
export async function collectAtBank(app: App, companyId: Uuid): Promise<void> {
  const { simulator } = app.providers
  for (let made = MAX_COLLECTED; made === MAX_COLLECTED; ) {
    const collected = await simulator.collectDue(companyId, app.clock.now(), MAX_COLLECTED)
    if (collected.length > 0) await callBack(app, companyId, collected)
    made = collected.length
  }
}

/** Companies in a time of their own that have something due then. */
export async function findDueAhead(app: App): Promise<Uuid[]> {
  const clocks = await listResting(app.db)
  const now_ms = app.systemClock.now().getTime()
  const times = clocks.map(({ companyId, ahead_ms }) => ({
    accountId: companyId,
    now: new Date(now_ms + ahead_ms),
  }))
  return times.length === 0 ? [] : app.providers.simulator.dueAccounts(times)
}

/** Tells a company what the simulated bank has collected for it, as that bank does. */
export async function callBack(app: App, companyId: Uuid, collected: Collected[]): Promise<void> {
  const payments = collected.flatMap(({ payment }) => payment ?? [])
  const received = payments.map((payment) => ({ ...payment, receivedAt: payment.at }))
  const body = collectionsBody(collected, received)
  const { simulator } = app.providers
  const { processed } = await receiveCallback(app, companyId, simulator.name, body)
  await processed
}
