import type { Database } from '../../db/database.ts'
import { findUnaudited, type Proof, prove } from '../../ledger/audit.ts'
import { assert } from '../../lib/assert.ts'
import { forEachLimited } from '../../lib/for-each-limited.ts'
import type { Uuid } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import { BankUnavailable } from '../../provider/providers.ts'
import type { Uses } from '../app.ts'
import { findBank } from '../banks/store.ts'
import { compareClosings } from '../closings/compare.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { OVERLAP_MS } from '../reconciliation/rules.ts'
import { TASK } from '../tasks.ts'
import { bankHorizon, compareBank, compareBooked } from './bank.ts'
import { compareRecords } from './records.ts'
import { type Audit, type Expected, expectedOf, findAudit, saveAudit } from './store.ts'

/** A company without new postings is audited so often, because its bank may have moved money. */
const IDLE_MS = 600_000
const MAX_COMPANIES = 1000
/** If a bank does not answer, it delays only a few others. */
const AT_ONCE = 4
/** More do not help an operator. */
const MAX_FAULTS = 10

export type AuditResult = {
  company: Company
  proof: Proof
  faults: string[]
  bank: 'asked' | 'silent' | 'none'
}

/**
 * Audits a company: compares balances with postings, accounts with the records that their money
 * belongs to, and both with the bank. Starts where the last clean audit ended, or at the beginning.
 */
export async function auditCompany(
  app: Uses<'db' | 'log' | 'providers' | 'systemClock'>,
  companyId: Uuid,
  { whole }: { whole: boolean },
): Promise<AuditResult> {
  const company = await findCompany(app.db, companyId)
  assert(company, 'an audit is of a company')
  const last = await findAudit(app.db, companyId)
  const since = whole ? 0 : last.checkedEntry
  const paidFrom = new Date((whole ? 0 : (last.bankCheckedUntil?.getTime() ?? 0)) - OVERLAP_MS)
  const { proof, faults } = await auditBooks(app.db, company, { since, paidFrom, whole })
  const until = await bankHorizon(app, company)
  const opened = (await findBank(app.db, companyId))?.connectedAt ?? company.createdAt
  const checked = (whole ? null : last.bankCheckedUntil) ?? opened
  const from = checked < opened ? opened : checked
  const bank = await auditBank(app, company, {
    since,
    entries: proof.entries,
    opened,
    from,
    until,
  })
  const found = [...faults, ...bank.faults]
  const next = concluded(last, proof, found, bank.state, until)
  await saveAudit(app.db, companyId, next, app.systemClock.now())
  logChange(app, companyId, last, next, found)
  return { company, proof, faults: found, bank: bank.state }
}

/** Everything that can be compared without a bank, from the first entry on. Writes nothing. */
export async function auditWholeBooks(db: Database, companyId: Uuid): Promise<string[]> {
  const company = await findCompany(db, companyId)
  assert(company, 'an audit is of a company')
  const paidFrom = new Date(-OVERLAP_MS)
  const { faults } = await auditBooks(db, company, { since: 0, paidFrom, whole: true })
  return faults
}

/** Compares the books with the records in one snapshot. */
async function auditBooks(
  db: Database,
  company: Company,
  extent: { since: number; paidFrom: Date; whole: boolean },
) {
  const { id: companyId } = company
  return db.transaction(async (tx) => {
    await tx.query({ text: 'set transaction isolation level repeatable read, read only' })
    const proof = await prove(tx, companyId, extent.since)
    const expected = await expectedOf(tx, companyId)
    const records = await compareRecords(tx, company, { ...extent, entries: proof.entries })
    // A closing does not change, so it is only compared again when everything is.
    const closings = extent.whole ? await compareClosings(tx, companyId) : []
    const faults = [...proof.faults, ...accountFaults(proof, expected), ...records, ...closings]
    return { proof, faults }
  })
}

const OWNERS: Record<keyof Expected, string> = {
  pending: 'paid charges',
  held: 'open withdrawals and refunds',
  unmatched: 'unmatched payments',
  recipients: 'entries of recipients',
  disputed: 'disputes',
}

const accountFaults = ({ balance }: Proof, expected: Expected): string[] =>
  Object.entries(OWNERS).flatMap(([name, owner]) => {
    const account = name as keyof Expected
    if (balance[account] === expected[account]) return []
    return [`${account} is ${balance[account]}, the ${owner} make ${expected[account]}`]
  })

type Span = { since: number; entries: number; opened: Date; from: Date; until: Date }
type BankAudit = { state: AuditResult['bank']; faults: string[] }

async function auditBank(
  app: Uses<'db' | 'providers'>,
  company: Company,
  { since, entries, opened, from, until }: Span,
): Promise<BankAudit> {
  const provider = app.providers.bankOf(company)
  if (!provider) return { state: 'none', faults: [] }
  try {
    const faults = [
      ...(await compareBooked(app, provider, company, { since, until: entries, opened })),
      ...(await compareBank(app, provider, company, from, until)),
    ]
    return { state: 'asked', faults }
  } catch (error) {
    // If the bank does not answer, there is no difference, but nothing is proved either.
    if (!(error instanceof BankUnavailable)) throw error
    return { state: 'silent', faults: [] }
  }
}

/** The state after an audit. Only what was proved completely is not audited again. */
function concluded(
  last: Audit,
  { entries }: Proof,
  faults: string[],
  bank: AuditResult['bank'],
  until: Date,
): Audit {
  const difference = faults.length > 0 ? faults.slice(0, MAX_FAULTS).join('; ') : null
  if (difference !== null) return { ...last, difference }
  // If no bank answered, an old difference stays, because only a bank can say that it is gone.
  if (bank === 'silent' || (bank === 'none' && last.difference !== null)) return last
  const advanced = last.bankCheckedUntil && last.bankCheckedUntil > until
  return {
    checkedEntry: entries,
    difference,
    bankCheckedUntil: advanced ? last.bankCheckedUntil : until,
  }
}

function logChange(
  { log }: Uses<'log'>,
  company: Uuid,
  last: Audit,
  next: Audit,
  { length: differences }: string[],
): void {
  if (differences > 0) log.error({ company, differences }, 'books differ: payouts are stopped')
  else if (last.difference !== null && next.difference === null) {
    log.warn({ company }, 'books agree again')
  }
}

/**
 * Audits companies with new postings or a difference, and those not audited for a while. `then` is
 * done for each of them.
 */
export async function auditDue(
  app: Uses<'db' | 'log' | 'providers' | 'setbacks' | 'systemClock'>,
  signal?: AbortSignal,
  then: (company: Company) => Promise<void> = async () => {},
): Promise<void> {
  const idle = new Date(app.systemClock.now().getTime() - IDLE_MS)
  const except = app.setbacks.companiesOf(TASK.audit)
  const due = await findUnaudited(app.db, idle, MAX_COMPANIES, except)
  await forEachLimited(AT_ONCE, due, async (companyId) => {
    if (signal?.aborted) return
    try {
      const { company } = await auditCompany(app, companyId, { whole: false })
      await then(company)
      await app.setbacks.worked(TASK.audit, companyId)
    } catch (error) {
      app.log.error({ ...describeError(error), company: companyId }, 'an audit failed')
      await app.setbacks.failed(TASK.audit, companyId, error)
    }
  })
}
