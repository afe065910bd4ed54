import { forEachLimited } from '../../lib/for-each-limited.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Provider, ReceivedPix } from '../../provider/port.ts'
import { namedBy } from '../../provider/txid.ts'
import type { Uses } from '../app.ts'
import type { Charge } from '../charges/rules.ts'
import { findMany } from '../charges/store.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { matchPayments } from './match.ts'
import { findNamed } from './store.ts'

const ASKED_AT_ONCE = 8
/** If the bank has not answered by then, the charge expires all the same. */
const MAX_WAIT_MS = 30 * 60_000

/**
 * Asks the bank about charges that are past their deadline, before they expire, because the
 * callback of a payment in time may be lost or late. Returns the charges that may expire now. The
 * others wait until the bank answers, up to `MAX_WAIT_MS`. A payment in time that the bank reports
 * later still pays its charge.
 */
export async function matchBeforeExpiry(
  app: Uses<'clock' | 'counters' | 'db' | 'providers' | 'systemClock' | 'vault'>,
  companyId: Uuid,
  ids: Uuid[],
): Promise<Uuid[]> {
  const company = await findCompany(app.db, companyId)
  const bank = company && app.providers.bankOf(company)
  if (!company || !bank) return ids
  const named = ids.map((id) => ({ companyId, id }))
  const charges = (await findMany(app.db, named)).filter((charge) => charge !== null)
  const unknown = await matchPaid(app, company, bank, charges.filter(isKnownToBank))
  const latest_ms = app.systemClock.now().getTime() - MAX_WAIT_MS
  const mayExpire = ({ id, expiresAt }: Charge) =>
    !unknown.has(id) || expiresAt.getTime() <= latest_ms
  return charges.filter(mayExpire).map(({ id }) => id)
}

/**
 * Asks the bank about one charge that is past its deadline, before another replaces it. Returns
 * whether that is known: false if the bank has not answered.
 */
export async function matchBeforeReplacement(
  app: Uses<'clock' | 'counters' | 'db' | 'providers' | 'systemClock' | 'vault'>,
  company: Company,
  charge: Charge,
): Promise<boolean> {
  const bank = app.providers.bankOf(company)
  if (!bank || !isKnownToBank(charge)) return true
  return !(await matchPaid(app, company, bank, [charge])).has(charge.id)
}

const isKnownToBank = ({ brCode, devMode }: Charge): boolean => brCode !== null && !devMode

/** Matches the payments of charges. Returns the charges that the bank did not answer about. */
async function matchPaid(
  app: Uses<'clock' | 'counters' | 'db' | 'systemClock' | 'vault'>,
  company: Company,
  bank: Provider,
  charges: Charge[],
): Promise<Set<Uuid>> {
  const [paid, unknown]: [ReceivedPix[], Set<Uuid>] = [[], new Set()]
  let unknownInRow = 0
  await forEachLimited(ASKED_AT_ONCE, charges, async (charge) => {
    // The bank does not answer, so it is not asked about the others now.
    const isUnresponsive = unknownInRow >= ASKED_AT_ONCE
    const outcome = isUnresponsive ? null : await bank.findPaid(company, charge)
    unknownInRow = outcome?.kind === 'accepted' ? 0 : unknownInRow + 1
    if (outcome?.kind === 'accepted') paid.push(...outcome.value)
    else unknown.add(charge.id)
  })
  const arrival = { source: bank.source, now: app.clock.now() }
  if (paid.length > 0) {
    await app.db.transaction((tx) => matchPayments(tx, app, company, paid, arrival))
  }
  return unknown
}

/**
 * Asks the bank for the payments of the charges that a callback names. Returns also the txids that
 * are done: the bank has answered, or there is no such charge to ask about.
 */
export async function findPaidCharges(
  { db }: Uses<'db'>,
  provider: Provider,
  company: Company,
  txids: string[],
): Promise<{ payments: ReceivedPix[]; done: string[] }> {
  const found: { payments: ReceivedPix[]; done: string[] } = { payments: [], done: [] }
  const idOf = (txid: string): Uuid | null => {
    const name = namedBy(txid)
    return name && 'charge' in name ? name.charge : null
  }
  const own = await findNamed(
    db,
    company.id,
    txids.flatMap((txid) => idOf(txid) ?? []),
  )
  let isUnresponsive = false
  await forEachLimited(ASKED_AT_ONCE, txids, async (txid) => {
    const charge = own.get(idOf(txid) ?? '')
    if (!charge) return void found.done.push(txid)
    const outcome = isUnresponsive ? null : await provider.findPaid(company, charge)
    if (outcome?.kind !== 'accepted') isUnresponsive = true
    else {
      found.payments.push(...outcome.value)
      found.done.push(txid)
    }
  })
  return found
}
