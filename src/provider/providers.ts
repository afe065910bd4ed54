import { assert } from '../lib/assert.ts'
import { Problem, problem } from '../lib/problems.ts'
import type { Bacen } from './bacen/bacen.ts'
import type { Outcome, Payouts, Provider } from './port.ts'
import type { Simulator } from './simulator/simulator.ts'

/** The fields of a company that decide which bank has its money. */
type Account = {
  mode: 'sandbox' | 'live'
  bankId: string | null
  payouts: 'manual' | 'bank' | null
}

export type Providers = {
  simulator: Simulator
  bacen: Bacen
  of(company: Account, devMode: boolean): Provider
  /** The bank that holds the company's money. A live company may have none yet. */
  bankOf(company: Account): Provider | null
  /** The bank that sends the company's withdrawals; null when an operator does. */
  payoutsOf(company: Account): Payouts | null
  /** The provider of a callback, by its name. */
  named(name: string): Provider
}

/** Chooses the bank: the simulated bank for play money, a live company's own for its charges. */
export function createProviders(simulator: Simulator, bacen: Bacen): Providers {
  const bankOf = ({ mode, bankId }: Account) =>
    mode === 'sandbox' ? simulator : bankId === null ? null : bacen
  return {
    simulator,
    bacen,
    bankOf,
    named(name) {
      const named = [simulator, bacen].find((provider) => provider.name === name)
      assert(named, 'a callback names a provider that there is')
      return named
    },
    of(company, devMode) {
      const provider = devMode ? simulator : bankOf(company)
      if (provider) return provider
      throw problem(
        'provider_unavailable',
        'No bank is connected to this live company. The operator connects one with vintem bank connect; charges with devMode=true can be tried without it.',
      )
    },
    payoutsOf(company) {
      if (company.mode === 'sandbox') return simulator
      return company.payouts === 'bank' ? bacen.payouts : null
    },
  }
}

/**
 * The value of an accepted order. If the bank has not accepted it, throws a problem. A refusal by
 * the simulated bank has been 503 in every published version, and stays so.
 */
export function accepted<T>(outcome: Outcome<T>, by?: Pick<Provider, 'source'>): T {
  if (outcome.kind === 'accepted') return outcome.value
  const { kind, reason } = outcome
  if (kind === 'rejected' && by?.source === 'bank') {
    throw problem('provider_rejected', `The bank refuses the order: ${reason}.`)
  }
  const text = `The bank did not accept the order: ${reason}.`
  const wait_s = kind === 'unknown' ? outcome.retryAfter_s : undefined
  if (wait_s === undefined) throw problem('provider_unavailable', text)
  throw problem('provider_unavailable', text, { 'Retry-After': String(Math.max(1, wait_s)) })
}

/** The bank does not answer a question now. */
export class BankUnavailable extends Problem {
  constructor(reason: string) {
    super([{ code: 'provider_unavailable', description: `The bank did not answer: ${reason}.` }])
  }
}

/** The bank's answer to a question. If it has not answered, throws `BankUnavailable`. */
export function unwrap<T>(outcome: Outcome<T>): T {
  if (outcome.kind === 'accepted') return outcome.value
  throw new BankUnavailable(outcome.reason)
}
