import { serializationConflict, type Tx } from '../../db/database.ts'
import type { Books } from '../../ledger/books.ts'
import { lockBooksOfMany, postAll } from '../../ledger/post.ts'
import { type Posting, paymentUnmatched } from '../../ledger/recipes.ts'
import { assert } from '../../lib/assert.ts'
import { newId, toPublic, type Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import type { Vault } from '../../lib/vault.ts'
import type { ReceivedPix, Source } from '../../provider/port.ts'
import { namedBy } from '../../provider/txid.ts'
import { recordActivity } from '../activity/record.ts'
import { SERVICE } from '../activity/rules.ts'
import type { App } from '../app.ts'
import { receiptMails } from '../charges/mails.ts'
import { record } from '../charges/record.ts'
import type { Charge, Match, StaticCode, Terms } from '../charges/rules.ts'
import { isExact, matchPayment, saleOf, settle } from '../charges/rules.ts'
import { findStaticCodes } from '../charges/static.ts'
import { lockMany, type WhenLocked } from '../charges/store.ts'
import type { Company } from '../companies/rules.ts'
import { payerNamed } from '../customers/rules.ts'
import { sealPayer as sealPerson } from '../customers/sealing.ts'
import { findOrCreate } from '../customers/store.ts'
import { emit, unmatchedEvent } from '../events.ts'
import { queueMails } from '../mails/store.ts'
import { type Exact, findExact } from './exact.ts'
import {
  isBooked,
  isToMatch,
  type Payment,
  payableBy,
  postingsOfPaid,
  type Recorded,
  withSettled,
} from './rules.ts'
import { sealPayer } from './sealing.ts'
import * as store from './store.ts'

/** The source of the money decides what it can pay, and whether it is booked. */
type Arrival = { source: Source; now: Date }

/** What became of a payment: it paid a charge, it matched none, or it was recorded before. */
export type MatchResult = Match | { kind: 'known' }

/**
 * Matches payments that the bank has confirmed to the company's charges, whoever reported them. A
 * payment is recorded once, by its source and the scheme's id, so this can be repeated. If one was
 * recorded as unknown and the bank names now what it is for, it is matched now. Payments that
 * arrive together change the balance once.
 */
export async function matchPayments(
  tx: Tx,
  app: MatchApp,
  company: Company,
  payments: ReceivedPix[],
  arrival: Arrival,
): Promise<MatchResult[]> {
  const [results] = await matchGroups(tx, app, [{ company, payments, arrival }], 'wait')
  assert(results, 'a group that waits for its locks is matched')
  return results
}

type MatchApp = Pick<App, 'counters' | 'vault' | 'systemClock'>

/** Payments of a company that have arrived together. No company has two groups. */
export type PaymentGroup = { company: Company; payments: ReceivedPix[]; arrival: Arrival }

/**
 * Matches payments of several companies with few statements. With 'skip', it waits for no lock: if
 * another transaction has locked something of a company, the result of that company is null, and
 * nothing of it is changed. Only if one makes the same customer now, it waits for that, after the
 * books. So nobody may make customers and lock charges, payments or books after that.
 */
export async function matchGroups(
  tx: Tx,
  app: MatchApp,
  groups: PaymentGroup[],
  whenLocked: WhenLocked,
): Promise<(MatchResult[] | null)[]> {
  // The order of locks is charges, payments, books, as everywhere. Charges are locked before the
  // payments are looked up, because another transaction may be recording the same one now. These
  // statements are sent together, and carried out in this order. Whoever waits for no lock can have
  // the books at once, because nobody can wait for them while they wait for somebody.
  const companyIds = groups.map(({ company }) => company.id)
  const exact = await findExact(tx, app.vault, groups)
  const [named, recorded, books] = await Promise.all([
    lockNamed(tx, groups, exact, whenLocked),
    findRecorded(tx, groups),
    whenLocked === 'skip' ? lockBooksOfMany(tx, companyIds, 'skip') : null,
  ])
  const open = await findOpen(tx, named, recorded, whenLocked)
  const locked = await withBooks(tx, open, books)
  const decided = await withPayers(tx, app.vault, locked.map(decideGroup))
  await write(tx, app, decided)
  const results = new Map(decided.map((group) => [group.company.id, resultsOf(group)]))
  return groups.map(({ company }) => results.get(company.id) ?? null)
}

function resultsOf({ payments, decisions }: DecidedGroup): MatchResult[] {
  const isNew = ({ match, earlier }: Decision) => earlier === null || match.kind === 'paid'
  const fresh = decisions.filter(isNew)
  const matches = new Map(fresh.map(({ pix, match }) => [pix.endToEndId, match]))
  return payments.map(({ endToEndId }) => matches.get(endToEndId) ?? { kind: 'known' })
}

/** A group whose charges are locked. */
type NamedGroup = PaymentGroup & { distinct: ReceivedPix[]; named: Named; exact: Exact }

const NONE: Exact = new Map()

async function lockNamed(
  tx: Tx,
  groups: PaymentGroup[],
  exact: Map<Uuid, Exact>,
  whenLocked: WhenLocked,
): Promise<NamedGroup[]> {
  const exactOf = ({ company }: PaymentGroup) => exact.get(company.id) ?? NONE
  const ids = groups.map((group) => namesOf(group, exactOf(group)))
  const wanted = ids.flatMap(({ charges }) => charges)
  const charges = wanted.length > 0 ? await lockMany(tx, wanted, whenLocked) : []
  const byCompany = Map.groupBy(charges, ({ companyId }) => companyId)
  const locked: NamedGroup[] = []
  for (const [i, group] of groups.entries()) {
    const { company, payments, arrival } = group
    const own = byCompany.get(company.id) ?? []
    if (whenLocked === 'skip' && own.length < ids[i]!.charges.length) continue
    const codeIds = ids[i]!.codes
    const codes = codeIds.length > 0 ? await findStaticCodes(tx, company.id, codeIds) : []
    const found = {
      charges: new Map(own.map((charge) => [charge.id, charge])),
      codes: new Map(codes.map((code) => [code.id, code])),
    }
    const distinct = [...new Map(payments.map((pix) => [pix.endToEndId, pix])).values()]
    const named = payable(found, company, arrival.source)
    locked.push({ ...group, distinct, named, exact: exactOf(group) })
  }
  return locked
}

/** A group whose charges, payments and books are locked. */
type LockedGroup = OpenGroup & { books: Books }

/**
 * Locks the books of companies, unless they were before: `locked` has those that nobody else has.
 * This is before anything is written, so that two transactions with the same payment cannot wait
 * for each other.
 */
async function withBooks(
  tx: Tx,
  groups: OpenGroup[],
  locked: Map<Uuid, Books> | null,
): Promise<LockedGroup[]> {
  if (groups.length === 0) return []
  const ids = groups.map(({ company }) => company.id)
  const books = locked ?? (await lockBooksOfMany(tx, ids, 'wait'))
  assert(locked || books.size === ids.length, 'a company has its books')
  return groups.flatMap((group) => {
    const own = books.get(group.company.id)
    return own ? [{ ...group, books: own }] : []
  })
}

/** The ids of charges and static codes that payments name, or settle without naming them. */
function namesOf({ company: { id: companyId }, payments }: PaymentGroup, exact: Exact) {
  const names = payments.map(({ txid }) => namedBy(txid))
  const namedIds = names.flatMap((name) => (name && 'charge' in name ? [name.charge] : []))
  const chargeIds = [...namedIds, ...exact.values()]
  const codeIds = names.flatMap((name) => (name && 'code' in name ? [name.code] : []))
  return {
    charges: [...new Set(chargeIds)].map((id) => ({ companyId, id })),
    codes: [...new Set(codeIds)],
  }
}

/** A payment to decide about. `earlier` is its record, if it was recorded as unknown. */
type OpenPayment = { pix: ReceivedPix; earlier: Payment | null }

/** A group with its payments that are new, or were recorded as unknown and name something now. */
type OpenGroup = NamedGroup & { open: OpenPayment[] }

/** What is recorded of payments, by company and the scheme's id. */
type RecordedBefore = Map<Uuid, Map<string, Recorded>>

async function findRecorded(tx: Tx, groups: PaymentGroup[]): Promise<RecordedBefore> {
  const keys = groups.flatMap(({ company: { id: companyId }, payments, arrival: { source } }) =>
    payments.map(({ endToEndId }) => ({ companyId, source, endToEndId })),
  )
  const found = keys.length > 0 ? await store.findRecorded(tx, keys) : []
  const recorded: RecordedBefore = new Map(groups.map(({ company }) => [company.id, new Map()]))
  for (const [i, { companyId, endToEndId }] of keys.entries()) {
    if (found[i]) recorded.get(companyId)!.set(endToEndId, found[i])
  }
  return recorded
}

async function findOpen(
  tx: Tx,
  groups: NamedGroup[],
  recorded: RecordedBefore,
  whenLocked: WhenLocked,
): Promise<OpenGroup[]> {
  const all: OpenGroup[] = []
  for (const group of groups) {
    const open = await openOf(tx, group, recorded.get(group.company.id)!, whenLocked)
    if (open) all.push({ ...group, open })
  }
  return all
}

/** Null if another transaction has locked one of them, and this one must not wait. */
async function openOf(
  tx: Tx,
  { company: { id: companyId }, distinct: payments, arrival: { source } }: NamedGroup,
  recorded: Map<string, Recorded>,
  whenLocked: WhenLocked,
): Promise<OpenPayment[] | null> {
  const toMatch = payments.filter((pix) => isToMatch(pix, recorded.get(pix.endToEndId)))
  const unknownIds = toMatch.flatMap(({ endToEndId: id }) => (recorded.get(id) ? [id] : []))
  const locked = await store.lockUnknown(tx, companyId, source, unknownIds, whenLocked)
  if (whenLocked === 'skip' && locked.length < unknownIds.length) return null
  const unknown = new Map(locked.map((payment) => [payment.endToEndId, payment]))
  return toMatch.flatMap((pix): OpenPayment[] => {
    if (!recorded.get(pix.endToEndId)) return [{ pix, earlier: null }]
    const earlier = unknown.get(pix.endToEndId)
    // The merchant may have decided about it at this moment.
    if (!earlier) return []
    const { amount, receivedAt } = earlier
    return [{ pix: { ...pix, amount, receivedAt }, earlier }]
  })
}

const byArrival = ({ pix: a }: OpenPayment, { pix: b }: OpenPayment) =>
  a.receivedAt.getTime() - b.receivedAt.getTime() || (a.endToEndId < b.endToEndId ? -1 : 1)

/** The charges and static codes that payments name. */
type Named = { charges: Map<Uuid, Charge>; codes: Map<Uuid, StaticCode> }

/** Keeps what the source can pay: a real bank pays no trial, and play money no real charge. */
function payable({ charges, codes }: Named, company: Company, source: Source): Named {
  const isPayable = ({ devMode }: { devMode: boolean }) => payableBy(company, devMode) === source
  return {
    charges: new Map([...charges].filter(([, charge]) => isPayable(charge))),
    codes: new Map([...codes].filter(([, code]) => isPayable(code))),
  }
}

/** `byRule`: it names no charge, and settles the only one that it fits. */
type Decision = OpenPayment & { match: Match; chargeId: Uuid | null; byRule?: true }

/** A group with a decision about each payment that is new. */
type DecidedGroup = LockedGroup & { decisions: Decision[]; booked: boolean }

function decideGroup(group: LockedGroup): DecidedGroup {
  const { company, arrival, open } = group
  const booked = isBooked(company, arrival.source)
  const terms = { delay_s: company.releaseDelay_s, booked, now: arrival.now }
  return { ...group, booked, decisions: decide(open.sort(byArrival), group, terms) }
}

/** Decides one payment after the other, because the first may pay the charge of the second. */
function decide(
  payments: OpenPayment[],
  { named: { charges, codes }, exact }: NamedGroup,
  terms: Terms,
): Decision[] {
  const current = new Map(charges)
  return payments.map(({ pix, earlier }) => {
    const only = earlier ? undefined : current.get(exact.get(pix.endToEndId) ?? '')
    if (only && isExact(only, pix)) {
      const change = settle(only, pix, terms)
      current.set(only.id, change.charge)
      return { pix, earlier, match: { kind: 'paid', ...change }, chargeId: null, byRule: true }
    }
    const name = namedBy(pix.txid)
    const charge = name && 'charge' in name ? current.get(name.charge) : undefined
    const code = name && 'code' in name ? codes.get(name.code) : undefined
    const match = charge
      ? matchPayment(charge, pix, terms)
      : code
        ? saleOf(code, pix, terms)
        : ({ kind: 'unmatched', reason: 'UNKNOWN' } as const)
    if (match.kind !== 'paid') return { pix, earlier, match, chargeId: charge?.id ?? null }
    current.set(match.charge.id, match.charge)
    // An event that the payment matches no charge was sent before, so this one must not be older.
    const dated = earlier ? { ...match, at: terms.now } : match
    return { pix, earlier, match: dated, chargeId: match.charge.id }
  })
}

/**
 * The groups with the payers of their sales, who are customers or become some. Other charges have
 * their payers. It costs nothing if no sale has a payer whom its bank names wholly.
 */
async function withPayers(tx: Tx, vault: Vault, groups: DecidedGroup[]): Promise<DecidedGroup[]> {
  const sales = groups.flatMap(({ company, decisions }) =>
    decisions.flatMap(({ pix, match }) => {
      if (match.kind !== 'paid' || match.charge.kind !== 'STATIC') return []
      const person = payerNamed(company, pix.payer)
      if (!person) return []
      const payer = { name: person.name, ...sealPerson(vault, company.id, person).person }
      return [{ companyId: company.id, payer, at: match.charge.createdAt, id: match.charge.id }]
    }),
  )
  if (sales.length === 0) return groups
  const customerIds = await findOrCreate(tx, sales)
  const payers = new Map(
    sales.map(({ id, payer }, i) => [id, { payer, customerId: customerIds[i]! }]),
  )
  const withPayer = (decision: Decision): Decision => {
    const { match } = decision
    const known = match.kind === 'paid' ? payers.get(match.charge.id) : undefined
    if (match.kind !== 'paid' || !known) return decision
    return { ...decision, match: { ...match, charge: { ...match.charge, ...known } } }
  }
  return groups.map((group) => ({ ...group, decisions: group.decisions.map(withPayer) }))
}

/** What is written of a group: new payments, and those that the bank names only now. */
function recordsOf(vault: Vault, group: DecidedGroup) {
  const fresh = group.decisions.filter(({ earlier }) => earlier === null)
  const payments = fresh.map((decision) => toPayment(vault, group, decision))
  const renamed = group.decisions.flatMap(toRenamed)
  const unmatched = payments.filter(({ status }) => status === 'UNMATCHED')
  const postings = [...group.decisions.flatMap(postingsOf), ...unmatched.map(paymentUnmatched)]
  return { ...group, payments, renamed, postings }
}

/** The events of new payments that pay no charge. */
const unmatchedEvents = ({ payments, named: { charges } }: ReturnType<typeof recordsOf>) =>
  payments
    .filter(({ status }) => status === 'UNMATCHED')
    .map((payment) => {
      const charge = payment.chargeId === null ? undefined : charges.get(payment.chargeId)
      return unmatchedEvent(payment, charge?.externalId ?? null, payment.createdAt)
    })

async function write(tx: Tx, app: MatchApp, decided: DecidedGroup[]): Promise<void> {
  const groups = decided
    .filter(({ decisions }) => decisions.length > 0)
    .map((group) => recordsOf(app.vault, group))
  const inserting = store.insert(
    tx,
    groups.flatMap(({ payments }) => payments),
  )
  const changes = groups.flatMap(paidOf)
  const toPost = groups.filter(({ booked, postings }) => booked && postings.length > 0)
  const others = Promise.all([
    ...groups.flatMap(({ renamed }) => renamed.map((payment) => store.updateMatch(tx, payment))),
    record(tx, changes),
    emit(tx, groups.flatMap(unmatchedEvents)),
    ...groups.flatMap((group) => settledByRule(tx, group)),
    postAll(
      tx,
      toPost.map(({ company, postings, arrival: { now }, books: locked }) => ({
        companyId: company.id,
        postings,
        now,
        locked,
      })),
    ),
    queueMails(
      tx,
      app.vault,
      groups.flatMap((group) => receiptsOf(app, group)),
    ),
    // The events, for which the next commit would wait otherwise.
    tx.flush(),
  ])
  // If another transaction has recorded a payment, that is why the others fail.
  others.catch(() => {})
  if (!(await inserting)) throw serializationConflict()
  await others
  tx.afterCommit(() => {
    for (const { payments, arrival } of groups) {
      for (const { status, amount } of payments) {
        const kind = status === 'UNMATCHED' ? 'unmatched payment' : 'payment'
        app.counters.money(kind, arrival.source === 'simulated', amount)
      }
    }
  })
}

/** Says in the activity log that the rule has settled charges, and with which payments. */
const settledByRule = (
  tx: Tx,
  { company, decisions }: Pick<DecidedGroup, 'company' | 'decisions'>,
): Promise<void>[] =>
  decisions.flatMap(({ pix, match, byRule }) => {
    if (!byRule || match.kind !== 'paid') return []
    const record = { type: 'charge' as const, id: toPublic('charge', match.charge.id) }
    const details = { amount: pix.amount, endToEndId: pix.endToEndId }
    const change = { action: 'charge.settle-by-rule' as const, record, details }
    return [recordActivity(tx, company.id, SERVICE, change)]
  })

const paidOf = ({ decisions }: Pick<DecidedGroup, 'decisions'>) =>
  decisions.flatMap(({ match }) => (match.kind === 'paid' ? [match] : []))

const receiptsOf = (app: MatchApp, group: Pick<DecidedGroup, 'company' | 'decisions'>) =>
  receiptMails(
    app,
    group.company,
    paidOf(group).map(({ charge }) => charge),
  )

/**
 * The record of a payment whose txid the bank names only now. There is no second event if it still
 * matches no charge. Empty if it is new, or if the txid is of nothing that we know.
 */
function toRenamed({ pix: { txid }, earlier, match, chargeId }: Decision): Payment[] {
  if (!earlier) return []
  if (match.kind === 'paid') {
    return [{ ...earlier, txid, chargeId, status: 'MATCHED', reason: null, payer: null }]
  }
  return match.reason === 'UNKNOWN' ? [] : [{ ...earlier, txid, chargeId, reason: match.reason }]
}

function toPayment(
  vault: Vault,
  { company: { id: companyId }, arrival: { source, now }, booked }: DecidedGroup,
  decision: Decision,
): Payment {
  const { match, chargeId, byRule } = decision
  const { payer, returns: _, ...pix } = decision.pix
  const isMatched = match.kind === 'paid' && !byRule
  const payment: Payment = {
    ...pix,
    companyId,
    id: newId(),
    source,
    chargeId,
    booked,
    returned: toCents(0),
    settled: null,
    createdAt: now,
    // A charge has its payer. Only if there is no charge, keep the payer that the bank names.
    payer: payer && !isMatched ? sealPayer(vault, { companyId, ...pix }, payer) : null,
    status: isMatched ? 'MATCHED' : 'UNMATCHED',
    reason: match.kind === 'paid' ? (byRule ? 'UNKNOWN' : null) : match.reason,
  }
  return byRule && match.kind === 'paid' ? withSettled(payment, match.charge) : payment
}

/**
 * The postings of a payment that pays a charge. One that names none is unmatched first, as if the
 * merchant had settled the charge with it at once.
 */
function postingsOf({ pix, earlier, match, byRule }: Decision): Posting[] {
  if (match.kind !== 'paid') return []
  const { endToEndId } = pix
  const arrived = byRule ? [paymentUnmatched({ ...pix, chargeId: null })] : []
  const from = earlier || byRule ? 'unmatched' : 'bank'
  return [...arrived, ...postingsOfPaid(match.charge, endToEndId, from)]
}
