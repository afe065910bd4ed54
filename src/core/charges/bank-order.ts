import type { ChargeOrder } from '../../provider/port.ts'
import type { App } from '../app.ts'
import { openPerson } from '../customers/sealing.ts'
import type { Charge } from './rules.ts'

type Ordered = Pick<Charge, 'companyId' | 'id' | 'amount' | 'expiresAt' | 'description' | 'payer'>

/** A charge as its bank gets it, with the payer's tax id, which is sealed here. */
export function orderOf({ vault }: Pick<App, 'vault'>, charge: Ordered): ChargeOrder {
  const { companyId, id, amount, expiresAt, description, payer } = charge
  const taxId = payer && openPerson(vault, companyId, payer).taxId
  return {
    id,
    amount,
    expiresAt,
    description,
    payer: payer && taxId ? { name: payer.name, taxId } : null,
  }
}
