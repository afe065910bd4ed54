import type { Payee } from '../port.ts'
import type { Failure } from './answers.ts'
import { type Bank, type Client, NO_BANK } from './client.ts'
import { datedAt } from './moments.ts'
import type { Profile } from './profile.ts'
import { NAMELESS, readPix } from './received.ts'
import { type Fields, listOf, textOf } from './text.ts'
import { payoutScopesOf, resourcesOf, scopesOf, type Token } from './token.ts'

/** What is wrong with a connection, in plain words, and what it may be used for. */
export type Inspection = {
  faults: string[]
  /** Why only agreements cannot be used, at a bank that wants another token for them. */
  agreementFault: string | null
  /**
   * `granted` is null when the bank does not say. `unsent` are missing to send withdrawals,
   * `forDueDates` for charges with a due date.
   */
  scopes: { granted: string[] | null; missing: string[]; unsent: string[]; forDueDates: string[] }
  /** How far the bank's clock is ahead of ours, at least; null when it does not say. */
  clockGap_ms: number | null
  /** How the bank dates the payments of the last day. */
  dates: Dates
}

export type Dates = {
  /** How many payments were looked at, and the ids of those that are not understood. */
  payments: number
  unread: string[]
  /** How many are dated whole hours wrong, and by how many; null when these differ. */
  corrected: number
  hours: number | null
  /** How many do not fit the minute in their id by whole hours. */
  odd: number
}

const UNKNOWN_SCOPES: Inspection['scopes'] = {
  granted: null,
  missing: [],
  unsent: [],
  forDueDates: [],
}

const NO_DATES: Dates = { payments: 0, unread: [], corrected: 0, hours: null, odd: 0 }
const DAY_ms = 86_400_000

/** Compares our clock with the bank's. Every answer has a date, also one that gives no token. */
export async function findClockGap({ open }: Client, payee: Payee): Promise<number | null> {
  const bank = await open(payee)
  await bank?.tokens.fresh()
  return bank?.clockGap_ms() ?? null
}

/** Gets a token and reads the latest payments: with both, charges can be made and matched. */
export async function inspect({ open }: Client, payee: Payee): Promise<Inspection> {
  const bank = await open(payee)
  const unread = { scopes: UNKNOWN_SCOPES, dates: NO_DATES, agreementFault: null }
  if (!bank) return { faults: [NO_BANK], clockGap_ms: null, ...unread }
  const { profile } = bank.connection
  const isApart = profile.agreements !== null && profile.paths.rec !== null
  // A token from before does not prove that the credentials still work.
  const [token, other] = await Promise.all([
    bank.tokens.fresh(),
    isApart ? bank.agreementTokens.fresh() : null,
  ])
  if (token.kind !== 'token') {
    return { faults: [describe(token, other)], clockGap_ms: bank.clockGap_ms(), ...unread }
  }
  const agreementFault =
    other && other.kind !== 'token' ? `${ONE_FAILS} of subscriptions fails: ${other.reason}` : null
  const { faults, dates } = await readLatest(bank)
  const scopes = compareScopes(profile, token.scopes)
  return { faults, agreementFault, scopes, dates, clockGap_ms: bank.clockGap_ms() }
}

const ONE_FAILS = 'of the two addresses for tokens the one'

/** Why there is no token. Says which address fails, if the bank has another one for agreements. */
function describe({ reason }: Failure, other: Token | Failure | null): string {
  if (!other) return reason
  if (other.kind === 'token') return `${ONE_FAILS} of charges fails: ${reason}`
  const more = other.reason === reason ? '' : `; for subscriptions ${other.reason}`
  return `both addresses for tokens fail, of charges and of subscriptions: ${reason}${more}`
}

function compareScopes(profile: Profile, granted: string[] | null): Inspection['scopes'] {
  const needed = scopesOf(profile, resourcesOf(profile, 'charges'))
  const missingOf = (scopes: string[]) =>
    scopes.filter((scope) => isMissing(scope, needed, granted))
  const dueDates = scopesOf(profile, ['cobv'])
  return {
    granted,
    missing: missingOf(needed.filter((scope) => !dueDates.includes(scope))),
    unsent: missingOf(payoutScopesOf(profile)),
    forDueDates: missingOf(dueDates),
  }
}

/** If the bank names no scopes, or uses other names, no scope counts as missing. */
function isMissing(scope: string, needed: string[], granted: string[] | null): boolean {
  const isComparable = granted?.some((name) => needed.includes(name)) ?? false
  return isComparable && !granted!.includes(scope)
}

async function readLatest(bank: Bank): Promise<Pick<Inspection, 'faults' | 'dates'>> {
  const now_ms = bank.clock.now().getTime()
  const reply = await bank.ask({
    method: 'GET',
    resource: 'pix',
    path: '',
    query: {
      inicio: bank.moment(new Date(now_ms - DAY_ms)),
      fim: bank.moment(new Date(now_ms)),
    },
  })
  // Some banks have no list where it would be empty.
  if (reply.kind === 'missing') return { faults: [], dates: NO_DATES }
  if (reply.kind === 'done') return { faults: [], dates: datesOf(bank, listOf(reply.body.pix)) }
  return { faults: [`received payments cannot be read: ${reply.reason}`], dates: NO_DATES }
}

function datesOf(bank: Bank, entries: Fields[]): Dates {
  const [read, unread] = [entries.filter(isRead), entries.filter((one) => !isRead(one))]
  const found = read.flatMap(
    ({ horario, endToEndId }) => datedAt(bank, horario, textOf(endToEndId)!) ?? [],
  )
  const hours = new Set(found.map(({ corrected_h }) => corrected_h).filter((h) => h !== 0))
  return {
    payments: entries.length,
    unread: unread.map(({ endToEndId }) => textOf(endToEndId) ?? NAMELESS),
    corrected: found.filter(({ corrected_h }) => corrected_h !== 0).length,
    hours: hours.size === 1 ? [...hours][0]! : null,
    odd: found.filter(({ isOdd }) => isOdd).length,
  }
  function isRead(entry: Fields): boolean {
    return readPix(bank, entry) !== null
  }
}
