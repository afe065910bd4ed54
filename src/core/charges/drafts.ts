import type { Uuid } from '../../lib/ids.ts'
import type { Company } from '../companies/rules.ts'
import { nextNotice } from './notices.ts'
import { type Charge, newCharge } from './rules.ts'

/** A charge as the merchant wants it, before the bank has issued a code for it. */
export type Draft = Pick<
  Charge,
  | 'kind'
  | 'amount'
  | 'devMode'
  | 'externalId'
  | 'description'
  | 'fingerprint'
  | 'customerId'
  | 'payer'
  | 'link'
  | 'due'
  | 'split'
> & { lifetime_s: number; emailIndex: Buffer | null; linkId?: Uuid }

export function chargeOf(
  company: Company,
  { lifetime_s: _, emailIndex: __, ...fields }: Draft,
  { id, createdAt, expiresAt, brCode }: Pick<Charge, 'id' | 'createdAt' | 'expiresAt' | 'brCode'>,
): Charge {
  return newCharge({
    ...fields,
    companyId: company.id,
    id,
    paymentStatus: brCode === null ? 'PENDING' : 'PROCESSING',
    brCode,
    createdAt,
    expiresAt,
    noticeAt: nextNotice(fields.due, company.reminderDays, createdAt),
  })
}
