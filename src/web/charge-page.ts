import type { Charge } from '../core/charges/rules.ts'
import type { Collection, Owner } from './found.ts'
import type { Spoken } from './language.ts'

/** The page of a charge: everything its payer needs, whatever has become of it. */
export type ChargePage = Owner &
  Spoken & {
    charge: Charge
    collection: Collection | null
    /** What a paid charge was for. */
    purchase?: string[]
  }
