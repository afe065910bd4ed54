import { problem } from '../lib/problems.ts'
import type { Outcome, Provider } from './port.ts'

export type Providers = {
  simulator: Provider
  of(company: { mode: 'sandbox' | 'live' }, devMode: boolean): Provider
}

/** Chooses the bank: play money goes to the simulated one, a live company's charges to its own. */
export function createProviders(simulator: Provider): Providers {
  return {
    simulator,
    of(company, devMode) {
      if (company.mode === 'sandbox' || devMode) return simulator
      throw problem(
        'provider_unavailable',
        'No bank is connected to this live company. Connect one, or send devMode=true to try without money.',
      )
    },
  }
}

/** The value of an accepted order; anything else is the bank's fault and told as such. */
export function accepted<T>(outcome: Outcome<T>): T {
  if (outcome.kind === 'accepted') return outcome.value
  throw problem('provider_unavailable', `The bank did not accept the order: ${outcome.reason}.`)
}
