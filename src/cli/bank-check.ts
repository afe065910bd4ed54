import { type BankCheck, checkBank as checkConnection, findConnected } from '../core/banks/check.ts'
import type { BankRecord } from '../core/banks/store.ts'
import type { Company } from '../core/companies/rules.ts'
import type { FullApp } from '../core/full-app.ts'
import type { CallbackState } from '../provider/bacen/bacen.ts'
import type { Connection } from '../provider/bacen/connection.ts'
import { describeDates, describeOwnGap } from './bank-clock.ts'
import { Refusal } from './command.ts'
import { asSentence } from './faults.ts'
import type { Check } from './finding.ts'
import { time } from './records.ts'

export async function requireBank(
  app: FullApp,
  company: Company,
): Promise<{ bank: BankRecord; connection: Connection }> {
  const found = await findConnected(app, company)
  if (found) return found
  throw new Refusal(`No bank is connected to ${company.name}. Run vintem bank connect.`)
}

/** Checks all that is needed to receive payments, and says what to do where something is wrong. */
export async function checkBank(app: FullApp, company: Company): Promise<Check[]> {
  const { connection } = await requireBank(app, company)
  const checks = (await checkConnection(app, company)) ?? []
  const about = { title: connection.profile.title, publicUrl: app.publicUrl }
  return checks.map((check) => ({
    name: check.name,
    state: check.state,
    detail: describe(check, about),
  }))
}

type About = { title: string; publicUrl: string }

function describe(check: BankCheck, about: About): string {
  switch (check.name) {
    case 'certificate':
      return describeCertificate(check)
    case 'access':
      return check.fault === null
        ? 'The bank gives access, and shows what it has received.'
        : `${asSentence(check.fault)} ${REMEDY}`
    case 'clock':
      return describeOwnGap(check.gap_ms)
    case 'dates':
      return describeDates(check.dates)
    case 'scopes':
      return describeScopes(check)
    case 'subscriptions':
      return describeSubscriptions(check, about)
    case 'withdrawals':
      return describeWithdrawals(check, about)
    case 'callbacks':
      return describeCallbacks(check, about)
  }
}

const REMEDY = 'Fix what it names, then run vintem bank connect with the right values.'

type Of<Name extends BankCheck['name']> = Extract<BankCheck, { name: Name }>

function describeCertificate({ state, endsAt, days }: Of<'certificate'>): string {
  const renew = 'Get a new one from the bank, then run vintem bank connect with it.'
  if (state === 'failed') return `It has ended on ${time(endsAt)}. ${renew}`
  const detail = `It ends on ${time(endsAt)}, in ${days} ${days === 1 ? 'day' : 'days'}.`
  return state === 'warning' ? `${detail} ${renew}` : detail
}

function describeScopes({ state, isNamed, missing }: Of<'scopes'>): string {
  if (!isNamed) return 'The bank does not say which scopes it grants.'
  if (missing.length === 0) return 'All needed scopes are granted.'
  const detail = `The bank has not granted ${missing.join(', ')}. Allow them for the application in the bank’s portal`
  return state === 'warning' ? `${detail}, or sell without subscriptions.` : `${detail}.`
}

function describeSubscriptions({ found, fault }: Of<'subscriptions'>, { title }: About): string {
  if (found === 'not-offered')
    return `${title} is used without Pix Automático: subscriptions are refused.`
  if (found === 'fault')
    return `${asSentence(fault!)} Contract Pix Automático, or sell without subscriptions.`
  if (found === 'account') return 'Pix Automático is collected to the account that was given.'
  return 'Pix Automático needs the account: run vintem bank connect with --account and --branch.'
}

function describeWithdrawals({ state, by, unsent }: Of<'withdrawals'>, { title }: About): string {
  if (state === 'failed') {
    const detail = `${title} has not granted ${unsent.join(', ')}`
    return `${detail}. Allow it in the bank’s portal, or connect without --payouts.`
  }
  if (by === 'bank') return `${title} sends them by itself.`
  return 'You send them by hand: vintem withdrawal list shows those that wait.'
}

const KINDS: Record<CallbackState['kind'], string> = {
  pix: 'Callbacks for payments',
  rec: 'Callbacks for subscriptions',
  cobr: 'Callbacks for charges of subscriptions',
}

const LATE = 'payments are found by asking, up to a minute late.'

function describeCallbacks(check: Of<'callbacks'>, { publicUrl }: About): string {
  switch (check.found) {
    case 'not-asked':
      return 'They are checked only if the bank gives access: run vintem bank check then.'
    case 'no-https':
      return `PUBLIC_URL is ${publicUrl}, and banks call https addresses only: set it. Until then ${LATE}`
    case 'registered':
      return `${KINDS[check.kind]} are registered.`
    case 'registered-now':
      return `${KINDS[check.kind]} have been registered now.`
    case 'missing':
      return `${KINDS[check.kind]} are not registered: ${check.reason}. Until they are, ${LATE}`
  }
}
