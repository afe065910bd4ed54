import { renewalHorizon } from '../core/banks/certificates.ts'
import { callbackUrl, openConnection } from '../core/banks/commands.ts'
import { type BankRecord, findBank } from '../core/banks/store.ts'
import type { Company } from '../core/companies/rules.ts'
import type { FullApp } from '../core/full-app.ts'
import type { CallbackState, Inspection } from '../provider/bacen/bacen.ts'
import type { Connection } from '../provider/bacen/connection.ts'
import { inspectDates, inspectGap } from './bank-clock.ts'
import { Refusal } from './command.ts'
import { asSentence } from './faults.ts'
import type { Check, Finding } from './finding.ts'
import { time } from './records.ts'

const DAY_MS = 24 * 3600 * 1000

const toCheck = (name: string, [state, detail]: Finding): Check => ({ name, state, detail })

export async function requireBank(
  { db, vault }: FullApp,
  company: Company,
): Promise<{ bank: BankRecord; connection: Connection }> {
  const bank = await findBank(db, company.id)
  const connection = bank && (await openConnection(db, vault, company.id))
  if (bank && connection) return { bank, connection }
  throw new Refusal(`No bank is connected to ${company.name}. Run vintem bank connect.`)
}

/** Checks all that is needed to receive payments, and says what to do where something is wrong. */
export async function checkBank(app: FullApp, company: Company): Promise<Check[]> {
  const { bank, connection } = await requireBank(app, company)
  const inspection = await app.providers.bacen.inspect(company)
  const { faults, scopes, clockGap_ms, dates, agreementFault } = inspection
  return [
    toCheck('certificate', inspectCertificate(bank, app.clock.now())),
    ...inspectAccess(faults),
    ...(faults.length > 0 && clockGap_ms === null
      ? []
      : [toCheck('clock', inspectGap(clockGap_ms))]),
    ...(faults.length > 0
      ? []
      : [toCheck('dates', inspectDates(dates)), toCheck('scopes', inspectScopes(scopes))]),
    toCheck('subscriptions', inspectSubscriptions(connection, agreementFault)),
    toCheck('withdrawals', inspectWithdrawals(bank, connection, scopes)),
    ...(faults.length > 0
      ? [NOT_ASKED]
      : await inspectCallbacks(app, company, bank, agreementFault)),
  ]
}

const NOT_ASKED = toCheck('callbacks', [
  'warning',
  'They are checked only if the bank gives access: run vintem bank check then.',
])

function inspectCertificate({ certificateEndsAt: end }: BankRecord, now: Date): Finding {
  const days = Math.floor((end.getTime() - now.getTime()) / DAY_MS)
  const renew = 'Get a new one from the bank, then run vintem bank connect with it.'
  if (end <= now) return ['failed', `It has ended on ${time(end)}. ${renew}`]
  const detail = `It ends on ${time(end)}, in ${days} ${days === 1 ? 'day' : 'days'}.`
  return end < renewalHorizon(now) ? ['warning', `${detail} ${renew}`] : ['ok', detail]
}

const REMEDY = 'Fix what it names, then run vintem bank connect with the right values.'

/** Whether the bank gives a token and shows the received payments. */
const inspectAccess = (faults: string[]): Check[] =>
  faults.length === 0
    ? [toCheck('access', ['ok', 'The bank gives access, and shows what it has received.'])]
    : faults.map((fault) => toCheck('access', ['failed', `${asSentence(fault)} ${REMEDY}`]))

function inspectScopes({ granted, missing }: Inspection['scopes']): Finding {
  if (granted === null) return ['ok', 'The bank does not say which scopes it grants.']
  if (missing.length === 0) return ['ok', 'All needed scopes are granted.']
  const detail = `The bank has not granted ${missing.join(', ')}. Allow them for the application in the bank’s portal`
  // Many companies sell without subscriptions, and have no agreement with their bank about them.
  return missing.every((scope) => /^(payloadlocation|webhook)?(rec|cobr)\./.test(scope))
    ? ['warning', `${detail}, or sell without subscriptions.`]
    : ['failed', `${detail}.`]
}

function inspectSubscriptions({ profile, account }: Connection, fault: string | null): Finding {
  if (profile.paths.rec === null || profile.paths.cobr === null) {
    return ['ok', `${profile.title} is used without Pix Automático: subscriptions are refused.`]
  }
  // Many companies sell without subscriptions, and have no contract with their bank about them.
  if (fault) {
    return [
      'warning',
      `${asSentence(fault)} Contract Pix Automático, or sell without subscriptions.`,
    ]
  }
  if (account) return ['ok', 'Pix Automático is collected to the account that was given.']
  return [
    'warning',
    'Pix Automático needs the account: run vintem bank connect with --account and --branch.',
  ]
}

function inspectWithdrawals(
  { payouts }: BankRecord,
  { profile }: Connection,
  { unsent }: Inspection['scopes'],
): Finding {
  if (payouts === 'bank' && unsent.length > 0) {
    const detail = `${profile.title} has not granted ${unsent.join(', ')}`
    return ['failed', `${detail}. Allow it in the bank’s portal, or connect without --payouts.`]
  }
  if (payouts === 'bank') return ['ok', `${profile.title} sends them by itself.`]
  return ['ok', 'You send them by hand: vintem withdrawal list shows those that wait.']
}

/** Whether a bank has the right callback URL. Some banks add a suffix to it. */
const isSame = ({ kind, url }: CallbackState, wanted: string): boolean =>
  url === wanted || url === `${wanted}/${kind}`

/** Registers what is not registered, or is registered elsewhere. */
async function inspectCallbacks(
  app: FullApp,
  company: Company,
  bank: BankRecord,
  agreementFault: string | null,
): Promise<Check[]> {
  // The fault itself is reported with subscriptions.
  const isUsable = ({ kind }: CallbackState) => kind === 'pix' || agreementFault === null
  const { bacen } = app.providers
  const wanted = callbackUrl(app.publicUrl, bank)
  if (!wanted.startsWith('https://')) {
    const detail = `PUBLIC_URL is ${app.publicUrl}, and banks call https addresses only: set it. Until then payments are found by asking, up to a minute late.`
    return [toCheck('callbacks', ['warning', detail])]
  }
  const found = (await bacen.findCallbacks(company)).filter(isUsable)
  if (found.length > 0 && found.every((state) => isSame(state, wanted))) {
    return found.map((state) => checkOf(state, wanted, 'are registered'))
  }
  const registered = await bacen.registerCallbacks(company, wanted)
  return registered
    .filter(isUsable)
    .map((state) => checkOf(state, wanted, 'have been registered now'))
}

const KINDS: Record<CallbackState['kind'], string> = {
  pix: 'Callbacks for payments',
  rec: 'Callbacks for subscriptions',
  cobr: 'Callbacks for charges of subscriptions',
}

function checkOf(state: CallbackState, wanted: string, done: string): Check {
  const { kind, fault, url } = state
  const what = KINDS[kind]
  if (isSame(state, wanted) && fault === null)
    return toCheck('callbacks', ['ok', `${what} ${done}.`])
  const reason = fault ?? (url ? 'the bank has kept another address' : 'the bank has no address')
  const detail = `${what} are not registered: ${reason}. Until they are, payments are found by asking, up to a minute late.`
  return toCheck('callbacks', ['failed', detail])
}
