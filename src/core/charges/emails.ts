import type { Vault } from '../../lib/vault.ts'
import { emailIndexOf } from '../customers/sealing.ts'
import type { ChargeEmail } from './email-store.ts'
import type { Charge } from './rules.ts'

/** The addresses of payers that are sealed already, by which their charges are found. */
export const emailsOf = (vault: Vault, charges: Charge[]): ChargeEmail[] =>
  charges.flatMap(({ companyId, id, payer }) => {
    const emailIndex = payer && emailIndexOf(vault, companyId, payer)
    return emailIndex ? [{ companyId, id, emailIndex }] : []
  })
