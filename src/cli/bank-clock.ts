import { CLOCK_TOLERANCE_MS } from '../core/banks/check.ts'
import { openConnection } from '../core/banks/commands.ts'
import type { Company } from '../core/companies/rules.ts'
import { listCompanies } from '../core/companies/store.ts'
import type { Database } from '../db/database.ts'
import { systemClock } from '../lib/clock.ts'
import { forEachLimited } from '../lib/for-each-limited.ts'
import type { Vault } from '../lib/vault.ts'
import { createBacen, type Dates } from '../provider/bacen/bacen.ts'
import type { Connection } from '../provider/bacen/connection.ts'
import type { Finding } from './finding.ts'

const AT_ONCE = 8
const MAX_NAMED = 5

/** What the date of a bank's answer says about our clock; null when there was none. */
export function describeOwnGap(gap_ms: number | null): string {
  if (gap_ms === null) return 'The bank gives its answers no date to compare with.'
  if (Math.abs(gap_ms) < CLOCK_TOLERANCE_MS) return 'The bank’s clock and ours agree.'
  return `${describeGap('The bank’s clock', gap_ms)} ${SET_CLOCK}`
}

const SET_CLOCK = 'Set this machine’s clock by NTP: charges would expire at the wrong moment.'

const describeGap = (whose: string, gap_ms: number): string =>
  `${whose} is ${Math.round(Math.abs(gap_ms) / 1000)} s ${gap_ms > 0 ? 'ahead of' : 'behind'} ours.`

/** How the bank dates its payments, compared with the minute in the id of each. */
export function describeDates({ payments, unread, corrected, hours, odd }: Dates): string {
  if (unread.length > 0) {
    return `The bank lists payments that are not understood, and not recorded: ${unread.slice(0, MAX_NAMED).join(', ')}. Report this, with what the bank answers for them.`
  }
  if (payments === 0) return 'There is no payment of the last day to compare with its id.'
  if (corrected > 0) {
    const wrong = hours === null ? 'whole hours' : countHours(hours)
    const detail = `${corrected} of ${payments} payments of the last day are dated ${wrong} wrong, and corrected by their ids.`
    return `${detail} If this goes on, the profile does not fit the bank’s clock: see offset and marksLocalAsUtc.`
  }
  if (odd === 0) return 'The dates of payments fit their ids.'
  return `${odd} of ${payments} payments of the last day are dated far from the minute in their ids, as if they had been held: ask the bank about its clock.`
}

function countHours(hours: number): string {
  const count = Math.abs(hours)
  return `${count} ${count === 1 ? 'hour' : 'hours'}`
}

/** Compares our clock with the clock of each bank once, whichever company is connected to it. */
export async function inspectBankClocks(db: Database, vault: Vault): Promise<Finding> {
  const banks = await listBanks(db, vault)
  if (banks.size === 0) return ['ok', 'No bank is connected.']
  const connections = new Map([...banks.values()].map((one) => [one.company.id, one.connection]))
  const bacen = createBacen({
    connectionOf: async ({ id }) => connections.get(id) ?? null,
    clock: systemClock,
  })
  const gaps: { title: string; gap_ms: number | null }[] = []
  try {
    await forEachLimited(AT_ONCE, [...banks.values()], async ({ company, connection }) => {
      const gap_ms = await bacen.findClockGap(company)
      gaps.push({ title: connection.profile.title, gap_ms })
    })
  } finally {
    await bacen.close()
  }
  const apart = gaps.flatMap(({ title, gap_ms }) =>
    gap_ms !== null && Math.abs(gap_ms) >= CLOCK_TOLERANCE_MS
      ? [describeGap(`The clock of ${title}`, gap_ms)]
      : [],
  )
  if (apart.length > 0) return ['failed', `${apart.join(' ')} ${SET_CLOCK}`]
  const unanswered = gaps.flatMap(({ title, gap_ms }) => (gap_ms === null ? [title] : []))
  if (unanswered.length === 0) return ['ok', 'The clocks of banks and ours agree.']
  return [
    'warning',
    `No answer of ${unanswered.join(', ')} to compare with: run vintem bank check.`,
  ]
}

/** A company of each bank, by the bank's address. */
async function listBanks(
  db: Database,
  vault: Vault,
): Promise<Map<string, { company: Company; connection: Connection }>> {
  const banks = new Map<string, { company: Company; connection: Connection }>()
  for (const company of await listCompanies(db)) {
    const connection = company.bankId ? await openConnection(db, vault, company.id) : null
    if (connection) banks.set(connection.profile.baseUrl, { company, connection })
  }
  return banks
}
