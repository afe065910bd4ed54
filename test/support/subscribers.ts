import { sealPerson } from '../../src/core/customers/sealing.ts'
import type { Tx } from '../../src/db/database.ts'
import { newId, type Uuid } from '../../src/lib/ids.ts'
import type { Vault } from '../../src/lib/vault.ts'
import type { Frequency } from '../../src/pix/calendar.ts'
import { localDateOf, startOfDay } from '../../src/pix/local-time.ts'

export type Crowd = { companyId: Uuid; count: number; value: number; frequency: Frequency }

/**
 * Agreements that many payers have approved at one moment, here and in the books of the simulated
 * bank: all that is there before the first charge, written at once.
 */
export async function insertSubscribers(
  tx: Tx,
  vault: Vault,
  crowd: Crowd,
  approvedAt: Date,
): Promise<Uuid[]> {
  const { companyId, count, value, frequency } = crowd
  const ids = Array.from({ length: count }, () => newId())
  const day = localDateOf(approvedAt)
  const payer = sealPerson(vault, companyId, {
    name: 'Maria',
    taxId: '52998224725',
    email: 'maria@example.com',
  })
  const names = ids.map(
    (id) => `RR99999999${day.replaceAll('-', '')}${id.replaceAll('-', '').slice(-11)}`,
  )
  await tx.query({
    text: `insert into simulated_agreements (account_id, id, external_id, br_code, value,
             frequency, status, funds, retries, created_at, expires_at, decided_at)
           select $1, id, external_id, '000201' || external_id, $4, $5, 'APPROVED', true, true,
             $6::timestamptz, $6::timestamptz + interval '30 days', $6::timestamptz
           from unnest($2::uuid[], $3::text[]) a (id, external_id)`,
    values: [companyId, ids, names, value, frequency, approvedAt],
  })
  await tx.query({
    text: `insert into recurrences (company_id, id, is_template, product_id, product_name, value,
             frequency, day_due, payer_name, payer_index, payer_sealed, status, auth_status,
             external_id, br_code, created_at, expires_at, decided_at, first_on, next_at)
           select $1, id, false, $1, 'Pão todo dia', $4, $5, 3, 'Maria da Silva', $9, $10,
             'OPEN', 'APPROVED', external_id, '000201' || external_id, $6::timestamptz,
             $6::timestamptz + interval '30 days', $6::timestamptz, $7::date, $8
           from unnest($2::uuid[], $3::text[]) a (id, external_id)`,
    values: [
      companyId,
      ids,
      names,
      value,
      frequency,
      approvedAt,
      day,
      startOfDay(day),
      payer.index,
      payer.sealed,
    ],
  })
  return ids
}
