import { assert } from '../lib/assert.ts'
import { problem } from '../lib/problems.ts'
import type { Outcome, Provider } from './port.ts'
import type { Simulator } from './simulator/simulator.ts'

export type Providers = {
  simulator: Simulator
  of(company: { mode: 'sandbox' | 'live' }, devMode: boolean): Provider
  /** The one that a callback came from. */
  named(name: string): Provider
}

/** Chooses the bank: play money goes to the simulated one, a live company's charges to its own. */
export function createProviders(simulator: Simulator): Providers {
  return {
    simulator,
    named(name) {
      assert(name === simulator.name, 'a callback names a provider that there is')
      return simulator
    },
    of(company, devMode) {
      if (company.mode === 'sandbox' || devMode) return simulator
      throw problem(
        'provider_unavailable',
        'No bank is connected to this live company. Connect one; charges with devMode=true can be tried without it.',
      )
    },
  }
}

/** The value of an accepted order; anything else is the bank's fault and told as such. */
export function accepted<T>(outcome: Outcome<T>): T {
  if (outcome.kind === 'accepted') return outcome.value
  throw problem('provider_unavailable', `The bank did not accept the order: ${outcome.reason}.`)
}
