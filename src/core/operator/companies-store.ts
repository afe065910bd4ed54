import type { Part } from '../../db/columns.ts'
import type { ControlTx, Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** A company as the operator sees it: nothing of its payers. */
export type ListedCompany = {
  id: Uuid
  name: string
  taxId: string
  mode: 'sandbox' | 'live'
  createdAt: Date
  suspendedAt: Date | null
  difference: string | null
  auditedAt: Date | null
  /** When a charge was last made or a key last used. */
  lastActiveAt: Date | null
}

const SELECT = `select c.id, c.name, c.tax_id as "taxId", c.mode, c.created_at as "createdAt",
    c.suspended_at as "suspendedAt", a.difference, a.audited_at as "auditedAt", greatest(
      (select h.created_at from charges h where h.company_id = c.id
       order by h.created_at desc limit 1),
      (select max(k.last_used_at) from api_keys k where k.company_id = c.id)) as "lastActiveAt"
  from companies c left join audits a on a.company_id = c.id`

/**
 * Companies, newest first, by a part of their name, or by the whole tax id or id. The search reads
 * the names of companies one by one, and nothing that grows with their work.
 */
export async function listForOperator(
  tx: Tx,
  search: string,
  { limit, after }: Part,
): Promise<ListedCompany[]> {
  const digits = search.replace(/[.\-/\s]/g, '').toUpperCase()
  return tx.query<Row & ListedCompany>({
    text: `${SELECT}
           where ($1::uuid is null or c.id < $1)
             and ($2 = '' or strpos(lower(c.name), lower($2)) > 0 or c.tax_id = $3
               or c.id::text = lower($2))
           order by c.id desc limit $4`,
    values: [after, search, digits, limit],
  })
}

export async function findForOperator(tx: Tx, id: Uuid): Promise<ListedCompany | null> {
  const rows = await tx.query<Row & ListedCompany>({
    text: `${SELECT} where c.id = $1`,
    values: [id],
  })
  return rows[0] ?? null
}

export type ListedPerson = {
  id: Uuid
  email: string
  name: string
  isOperator: boolean
  hasSecondFactor: boolean
  companies: number
  createdAt: Date
  lastSeenAt: Date | null
}

/** People, newest first, by a part of their name or address. */
export async function listPeople(
  tx: ControlTx,
  { search, onlyOperators }: { search: string; onlyOperators: boolean },
  { limit, after }: Part,
): Promise<ListedPerson[]> {
  return tx.query<Row & ListedPerson>({
    text: `select p.id, p.email, p.name, p.is_operator as "isOperator",
             p.totp_confirmed_at is not null
               or exists (select from passkeys k where k.person_id = p.id) as "hasSecondFactor",
             (select count(*) from memberships m where m.person_id = p.id) as companies,
             p.created_at as "createdAt",
             (select max(s.last_seen_at) from sessions s where s.person_id = p.id) as "lastSeenAt"
           from people p
           where ($1::uuid is null or p.id < $1) and (not $2 or p.is_operator)
             and ($3 = '' or strpos(p.email, lower($3)) > 0 or strpos(lower(p.name), lower($3)) > 0)
           order by p.id desc limit $4`,
    values: [after, onlyOperators, search, limit],
  })
}

export type ListedBank = {
  companyId: Uuid
  company: string
  profile: string
  payouts: 'manual' | 'bank'
  connectedAt: Date
  certificateEndsAt: Date
  /** Up to when the bank has said what it has received. */
  askedUntil: Date | null
  nextAttemptAt: Date | null
  /** Callbacks that wait to be processed, at most 100. */
  callbacks: number
  /** Why work for this company fails now. */
  error: string | null
  failures: number
}

/** Connections to banks, in the order of their companies. */
export async function listBanks(tx: Tx, now: Date, { limit, after }: Part): Promise<ListedBank[]> {
  return tx.query<Row & ListedBank>({
    text: `select b.company_id as "companyId", c.name as company, b.profile, b.payouts,
             b.connected_at as "connectedAt", b.certificate_ends_at as "certificateEndsAt",
             r.asked_until as "askedUntil", r.next_attempt_at as "nextAttemptAt",
             (select count(*) from (select 1 from bank_callbacks k where k.company_id = b.company_id
                and k.processed_at is null limit 100) k) as callbacks,
             s.error, coalesce(s.failures, 0) as failures
           from bank_connections b join companies c on c.id = b.company_id
           left join reconciliations r on r.company_id = b.company_id
           left join lateral (select s.error, s.failures from setbacks s
             where s.company_id = b.company_id and s.until > $1
             order by s.failures desc limit 1) s on true
           where ($2::uuid is null or b.company_id > $2)
           order by b.company_id limit $3`,
    values: [now, after, limit],
  })
}
