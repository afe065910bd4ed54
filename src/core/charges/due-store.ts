import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { clockFilter, hasNoClock, isDueByClock, valuesOf } from '../clocks/own-time.ts'
import type { InTime } from '../companies/clock.ts'
import { BANK_GRACE_MS } from './rules.ts'

/** Charges of one company that are due. */
export type DueCharges = InTime & { companyId: Uuid; ids: Uuid[] }

/**
 * A state in which a charge waits for a moment. `stateOfOne` is the same condition in a form that
 * no index over all companies fits. The planner could choose such an index for one company, and
 * read the charges of all.
 */
type Wait = {
  name: string
  state: string
  stateOfOne: string
  /** Whether the bank of its company is asked first. Another task does that. */
  isAsked?: true
  moment: 'expires_at' | 'settles_at'
}

/** Charges with a deadline. A charge of an agreement ends with its last retry instead. */
const EXPIRING: Wait = {
  name: 'due',
  state: `status = 'OPEN' and kind <> 'RECURRING'`,
  stateOfOne: `status = (select 'OPEN') and kind <> 'RECURRING'`,
  isAsked: true,
  moment: 'expires_at',
}
/** Paid charges whose money becomes withdrawable. */
const RELEASING: Wait = {
  name: 'releasing',
  state: `payment_status = 'PAID'`,
  stateOfOne: `payment_date is not null and payment_status not in ('RECEIVED', 'REFUNDED')`,
  moment: 'settles_at',
}

const HAS_BANK = 'exists (select from bank_connections b where b.company_id = c.company_id)'

const due = ({ state, moment, isAsked }: Wait) =>
  `select c.company_id, c.id, 0::int8 as ahead_ms from charges c
   where c.${state} and c.${moment} <= $1 and ${hasNoClock('c')}
     and c.company_id <> all ($3::uuid[])
     ${isAsked ? `and not ${HAS_BANK}` : ''}
   order by c.${moment} limit $2`

/** A charge that its bank does not know, because it has no code or is a trial, needs no grace. */
const dueAtBanks = ({ state, moment }: Wait) =>
  `select c.company_id, c.id, 0::int8 as ahead_ms from charges c
   where c.${state} and c.${moment} <= $1 and ${HAS_BANK} and c.company_id <> all ($3::uuid[])
     and (c.${moment} <= $4 or c.br_code is null or c.dev_mode)
   order by c.${moment} limit $2`

/** What is due by the clocks of companies, searched company by company. */
const dueByClocks = ({ stateOfOne, moment }: Wait, only: Uuid | null) =>
  `select t.company_id, c.id, t.ahead_ms from test_clocks t cross join lateral (
     select id, ${moment} from charges
     where company_id = t.company_id and ${stateOfOne} and ${isDueByClock(moment)} offset 0) c
   where ${clockFilter(only, '$4')} and t.company_id <> all ($3::uuid[])
   order by c.${moment} limit $2`

type DueRow = { company_id: Uuid; id: Uuid; ahead_ms: number }

/**
 * Due charges of all companies except some, or of one company, oldest first, and whether there may
 * be more. It takes no locks.
 */
async function find(
  tx: Tx,
  wait: Wait,
  now: Date,
  max: number,
  only: Uuid | null,
  but: Uuid[],
): Promise<Found> {
  const byClocks = dueByClocks(wait, only)
  const rows = await tx.query<DueRow>({
    name: `find_${wait.name}_charges${only === null ? '' : '_of_one'}`,
    text: only === null ? `(${due(wait)}) union all (${byClocks})` : byClocks,
    values: [now, max, but, ...valuesOf(only)],
  })
  return { due: byCompany(rows), isFull: rows.length >= max }
}

const byCompany = (rows: DueRow[]): DueCharges[] =>
  [...Map.groupBy(rows, ({ company_id }) => company_id)].map(([companyId, found]) => ({
    companyId,
    clockAhead_ms: found[0]!.ahead_ms,
    ids: found.map(({ id }) => id),
  }))

/**
 * Charges past their deadline of companies with a bank, except some companies. Those that the bank
 * knows are found when their grace is over.
 */
export async function findDueAtBanks(
  tx: Tx,
  now: Date,
  max: number,
  but: Uuid[],
): Promise<DueCharges[]> {
  const withGrace = new Date(now.getTime() - BANK_GRACE_MS)
  const [text, values] = [dueAtBanks(EXPIRING), [now, max, but, withGrace]]
  return byCompany(await tx.query<DueRow>({ name: 'find_due_at_banks', text, values }))
}

/** The first such moment of the company `$1`. */
const nextSql = ({ stateOfOne, moment }: Wait): string => `
  select min(at) from (
    select ${moment} as at from charges where company_id = $1 and ${stateOfOne} offset 0) c`

/** Due charges by company, and whether there may be more. */
export type Found = { due: DueCharges[]; isFull: boolean }

/** Finds due charges of all companies except some, or of one company. */
export type FindDue = (
  tx: Tx,
  now: Date,
  max: number,
  only: Uuid | null,
  but: Uuid[],
) => Promise<Found>

export const findDue: FindDue = (tx, ...asked) => find(tx, EXPIRING, ...asked)
export const findReleasable: FindDue = (tx, ...asked) => find(tx, RELEASING, ...asked)

export const NEXT_EXPIRY = nextSql(EXPIRING)
export const NEXT_RELEASE = nextSql(RELEASING)
