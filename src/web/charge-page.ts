import type { Charge } from '../core/charges/rules.ts'
import type { Collection, Owner } from './found.ts'
import type { PageLanguage } from './language.ts'

/** What the page of a charge shows, in any state of the charge. */
export type ChargePage = Owner &
  PageLanguage & {
    charge: Charge
    collection: Collection | null
    /** What was bought, if the charge is paid. */
    purchase?: string[]
  }
