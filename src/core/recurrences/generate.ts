import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { insert as insertBillings } from '../billings/store.ts'
import { eventsOfCreation } from '../charges/rules.ts'
import { insert as insertCharges } from '../charges/store.ts'
import { emailIndexOf } from '../customers/sealing.ts'
import { emit } from '../events.ts'
import { TASK } from '../tasks.ts'
import { generate, isGenerating } from './rules.ts'
import * as store from './store.ts'

/**
 * Generates the charges of agreements whose next cycle is due, and returns how many. One
 * transaction writes the charge, its billing, its events and when the next cycle is due, so that a
 * cycle either has its charge or is still due.
 */
export async function generateCharges(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  ids: Uuid[],
  now: Date,
): Promise<number> {
  const open = await store.lockOpen(tx, companyId, ids)
  const cycles = open.filter((one) => isGenerating(one, now)).map((one) => generate(one, now))
  if (cycles.length === 0) return 0
  const charges = cycles.map(({ charge }) => charge)
  const emails = charges.map(({ payer }) => payer && emailIndexOf(vault, companyId, payer))
  await insertCharges(tx, charges, emails)
  await insertBillings(
    tx,
    cycles.map(({ billing }) => billing),
  )
  await store.updateCycles(
    tx,
    companyId,
    cycles.map(({ recurrence }) => recurrence),
  )
  await emit(tx, charges.flatMap(eventsOfCreation))
  tx.wake(TASK.bill)
  return cycles.length
}
