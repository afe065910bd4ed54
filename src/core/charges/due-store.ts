import type { DueKind } from '../due.ts'
import { BANK_GRACE_MS } from './rules.ts'

const HAS_BANK = 'exists (select from bank_connections b where b.company_id = d.company_id)'

/** Charges with a deadline. A charge of an agreement ends with its last retry instead. */
export const EXPIRING: DueKind = {
  name: 'expire charges',
  table: 'charges',
  key: 'id',
  dueAt: 'expires_at',
  where: `d.status = 'OPEN' and d.kind <> 'RECURRING'`,
  whereOfOne: `d.status = (select 'OPEN') and d.kind <> 'RECURRING'`,
  except: () => HAS_BANK,
}

/**
 * Charges with a deadline of companies with a real bank, which is asked first. A charge that the
 * bank does not know, because it has no code or is a trial, needs no grace.
 */
export const EXPIRING_AT_BANKS: DueKind = {
  ...EXPIRING,
  name: 'expire charges at banks',
  label: EXPIRING.name,
  moment: `(d.expires_at + case when d.br_code is null or d.dev_mode then interval '0'
    else interval '${BANK_GRACE_MS} milliseconds' end)`,
  except: () => `not ${HAS_BANK}`,
}

/** Paid charges whose money becomes withdrawable. */
export const RELEASING: DueKind = {
  name: 'receive charges',
  table: 'charges',
  key: 'id',
  dueAt: 'settles_at',
  where: `d.payment_status = 'PAID'`,
  whereOfOne: `d.payment_date is not null and d.payment_status not in ('RECEIVED', 'REFUNDED')`,
}
