import type { CallbackState, Dates, Inspection } from '../../provider/bacen/bacen.ts'
import type { Connection } from '../../provider/bacen/connection.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { renewalHorizon } from './certificates.ts'
import { callbackUrl, openConnection } from './commands.ts'
import { type BankRecord, findBank } from './store.ts'

export type State = 'ok' | 'warning' | 'failed'

/** What was checked of a connection, and what was found. */
export type BankCheck = { state: State } & (
  | { name: 'certificate'; endsAt: Date; days: number }
  /** Why the bank gives no access, in plain English. */
  | { name: 'access'; fault: string | null }
  | { name: 'clock'; gap_ms: number | null }
  | { name: 'dates'; dates: Dates }
  | { name: 'scopes'; isNamed: boolean; missing: string[] }
  | {
      name: 'subscriptions'
      found: 'not-offered' | 'fault' | 'account' | 'no-account'
      fault: string | null
    }
  | {
      name: 'dueDates'
      found: 'not-offered' | 'not-said' | 'granted' | 'missing'
      missing: string[]
    }
  | { name: 'withdrawals'; by: BankRecord['payouts']; unsent: string[] }
  | { name: 'callbacks'; found: 'not-asked' | 'no-https' }
  | { name: 'callbacks'; found: 'registered' | 'registered-now'; kind: CallbackState['kind'] }
  | { name: 'callbacks'; found: 'missing'; kind: CallbackState['kind']; reason: string }
)

export type CheckName = BankCheck['name']

type CheckApp = Pick<App, 'db' | 'vault' | 'clock' | 'providers' | 'publicUrl'>

const DAY_MS = 24 * 3600 * 1000
/** Both clocks decide when tokens and charges expire, so they may differ by a few seconds only. */
export const CLOCK_TOLERANCE_MS = 10_000

/** A company's bank, or null if none is connected. */
export async function findConnected(
  { db, vault }: Pick<App, 'db' | 'vault'>,
  { id }: Pick<Company, 'id'>,
): Promise<{ bank: BankRecord; connection: Connection } | null> {
  const bank = await findBank(db, id)
  const connection = bank && (await openConnection(db, vault, id))
  return bank && connection && { bank, connection }
}

/**
 * Checks all that is needed to receive payments. It changes nothing, except that it registers
 * callbacks that are missing. Null if no bank is connected.
 */
export async function checkBank(app: CheckApp, company: Company): Promise<BankCheck[] | null> {
  const found = await findConnected(app, company)
  if (!found) return null
  const { bank, connection } = found
  const inspection = await app.providers.bacen.inspect(company)
  const { faults, scopes, clockGap_ms, dates, agreementFault } = inspection
  const isOpen = faults.length === 0
  const checks: BankCheck[] = [checkCertificate(bank, app.clock.now()), ...checkAccess(faults)]
  if (isOpen || clockGap_ms !== null) checks.push(checkGap(clockGap_ms))
  if (isOpen) checks.push(checkDates(dates), checkScopes(scopes))
  checks.push(
    ...(isOpen ? [checkDueDates(connection, scopes)] : []),
    checkSubscriptions(connection, agreementFault),
    checkWithdrawals(bank, scopes),
    ...(isOpen
      ? await checkCallbacks(app, company, bank, agreementFault)
      : [{ name: 'callbacks', state: 'warning', found: 'not-asked' } as const]),
  )
  return checks
}

function checkCertificate({ certificateEndsAt: endsAt }: BankRecord, now: Date): BankCheck {
  const days = Math.floor((endsAt.getTime() - now.getTime()) / DAY_MS)
  const isSoon = endsAt < renewalHorizon(now)
  const state = endsAt <= now ? 'failed' : isSoon ? 'warning' : 'ok'
  return { name: 'certificate', state, endsAt, days }
}

/** Whether the bank gives a token and shows the received payments. */
const checkAccess = (faults: string[]): BankCheck[] =>
  faults.length === 0
    ? [{ name: 'access', state: 'ok', fault: null }]
    : faults.map((fault) => ({ name: 'access', state: 'failed', fault }))

function checkGap(gap_ms: number | null): BankCheck {
  const isSame = gap_ms !== null && Math.abs(gap_ms) < CLOCK_TOLERANCE_MS
  return { name: 'clock', state: gap_ms === null ? 'warning' : isSame ? 'ok' : 'failed', gap_ms }
}

function checkDates(dates: Dates): BankCheck {
  const { unread, corrected, odd } = dates
  const state = unread.length > 0 ? 'failed' : corrected > 0 || odd > 0 ? 'warning' : 'ok'
  return { name: 'dates', state, dates }
}

/** Many companies sell without subscriptions, and have no agreement with their bank about them. */
const isOfSubscriptions = (scope: string): boolean =>
  /^(payloadlocation|webhook)?(rec|cobr)\./.test(scope)

function checkScopes({ granted, missing }: Inspection['scopes']): BankCheck {
  const lacking = missing.every(isOfSubscriptions) ? 'warning' : 'failed'
  const state = granted === null || missing.length === 0 ? 'ok' : lacking
  return { name: 'scopes', state, isNamed: granted !== null, missing }
}

/** Whether charges may have a due date. A company can sell without. */
function checkDueDates({ profile }: Connection, scopes: Inspection['scopes']): BankCheck {
  const { granted, forDueDates: missing } = scopes
  const name = 'dueDates'
  if (profile.paths.cobv === null) return { name, state: 'ok', found: 'not-offered', missing }
  if (missing.length > 0) return { name, state: 'warning', found: 'missing', missing }
  return { name, state: 'ok', found: granted === null ? 'not-said' : 'granted', missing }
}

function checkSubscriptions({ profile, account }: Connection, fault: string | null): BankCheck {
  const isOffered = profile.paths.rec !== null && profile.paths.cobr !== null
  const name = 'subscriptions'
  if (!isOffered) return { name, state: 'ok', found: 'not-offered', fault: null }
  if (fault) return { name, state: 'warning', found: 'fault', fault }
  if (account) return { name, state: 'ok', found: 'account', fault: null }
  return { name, state: 'warning', found: 'no-account', fault: null }
}

function checkWithdrawals({ payouts }: BankRecord, { unsent }: Inspection['scopes']): BankCheck {
  const state = payouts === 'bank' && unsent.length > 0 ? 'failed' : 'ok'
  return { name: 'withdrawals', state, by: payouts, unsent }
}

/** Whether a bank has the right callback URL. Some banks add a suffix to it. */
const isSame = ({ kind, url }: CallbackState, wanted: string): boolean =>
  url === wanted || url === `${wanted}/${kind}`

/** Registers what is not registered, or is registered elsewhere. */
async function checkCallbacks(
  { providers: { bacen }, publicUrl }: CheckApp,
  company: Company,
  bank: BankRecord,
  agreementFault: string | null,
): Promise<BankCheck[]> {
  // The fault itself is reported with subscriptions.
  const isUsable = ({ kind }: CallbackState) => kind === 'pix' || agreementFault === null
  const wanted = callbackUrl(publicUrl, bank)
  if (!wanted.startsWith('https://')) {
    return [{ name: 'callbacks', state: 'warning', found: 'no-https' }]
  }
  const found = (await bacen.findCallbacks(company)).filter(isUsable)
  if (found.length > 0 && found.every((state) => isSame(state, wanted))) {
    return found.map((state) => checkOf(state, wanted, 'registered'))
  }
  const registered = await bacen.registerCallbacks(company, wanted)
  return registered.filter(isUsable).map((state) => checkOf(state, wanted, 'registered-now'))
}

function checkOf(
  callback: CallbackState,
  wanted: string,
  found: 'registered' | 'registered-now',
): BankCheck {
  const { kind, fault, url } = callback
  const name = 'callbacks'
  if (isSame(callback, wanted) && fault === null) return { name, state: 'ok', found, kind }
  const reason = fault ?? (url ? 'the bank has kept another address' : 'the bank has no address')
  return { name, state: 'failed', found: 'missing', kind, reason }
}

/** Removes our callbacks at the bank. Null if none is left, otherwise the reason. */
export async function removeCallbacks(
  { providers: { bacen }, publicUrl }: CheckApp,
  company: Company,
  bank: BankRecord,
): Promise<string | null> {
  try {
    const own = callbackUrl(publicUrl, bank)
    const found = await bacen.findCallbacks(company)
    // Those of others stay.
    const isOurs = found.some(({ url, fault }) => fault !== null || url?.startsWith(own))
    if (!isOurs) return null
    const left = await bacen.removeCallbacks(company)
    return left.find(({ fault }) => fault !== null)?.fault ?? null
  } catch (error) {
    return (error as Error).message
  }
}

/** Whoever looks at a page waits no longer for a bank. */
const PAGE_MS = 20_000

/**
 * Asks a bank for somebody who waits at a page: one at a time for a company, and not for long. What
 * is late goes on, because the bank may have begun with it.
 */
export async function askForPage<T>(
  { bankPages: { checks } }: Pick<App, 'bankPages'>,
  { id }: Pick<Company, 'id'>,
  ask: () => Promise<T>,
): Promise<{ answer: T } | 'running' | 'late'> {
  const release = await checks.tryTake(id)
  if (!release) return 'running'
  const asked = ask().finally(release)
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const timer = setTimeout(resolve, PAGE_MS, 'late')
  try {
    return await Promise.race([asked.then((answer) => ({ answer })), late])
  } finally {
    clearTimeout(timer)
    asked.catch(() => {})
  }
}
