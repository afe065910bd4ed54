import { assert } from '../../lib/assert.ts'
import type { App, Uses } from '../app.ts'
import { findCompany } from '../companies/store.ts'
import { composeCertificateEnding } from '../letters/companies.ts'
import { queueMails } from '../mails/store.ts'
import { openConnection } from './commands.ts'
import { type BankRecord, listCertificates, markWarned } from './store.ts'

/** So early because some banks take days to issue a certificate, and the mail must be read. */
export const WARN_DAYS = 30
const DAY_MS = 24 * 3600 * 1000

/** Certificates that expire before this moment should be renewed. */
export const renewalHorizon = (now: Date): Date => new Date(now.getTime() + WARN_DAYS * DAY_MS)

/** Queues a mail that a company's certificate ends soon. Returns false if one was queued before. */
export function warnOfExpiry(
  { db, vault, systemClock }: Uses<'db' | 'systemClock' | 'vault'>,
  bank: BankRecord,
): Promise<boolean> {
  const { companyId, certificateEndsAt: endsAt } = bank
  return db.transaction(async (tx) => {
    const createdAt = systemClock.now()
    if (!(await markWarned(tx, bank, createdAt))) return false
    const company = await findCompany(tx, companyId)
    assert(company, 'a bank is connected to a company')
    const connection = await openConnection(tx, vault, company.id)
    assert(connection, 'a connection that was just marked is there')
    const letter = composeCertificateEnding(company, { bank: connection.profile.title, endsAt })
    const mail = { companyId, kind: 'certificate-ending', letter, expiresAt: null } as const
    await queueMails(tx, vault, [{ ...mail, createdAt }])
    return true
  })
}

/** A sentence for the operator about certificates that end soon; null when there are none. */
export async function certificateWarning({ db, systemClock }: Pick<App, 'db' | 'systemClock'>) {
  const now = systemClock.now()
  const ending = (await listCertificates(db)).filter(
    ({ certificateEndsAt }) => certificateEndsAt < renewalHorizon(now),
  )
  const ended = ending.filter(({ certificateEndsAt }) => certificateEndsAt <= now)
  if (ending.length === 0) return null
  const counted = `${ending.length} bank ${ending.length === 1 ? 'certificate ends' : 'certificates end'}`
  const past = ended.length > 0 ? ` (${ended.length} of them ended already)` : ''
  return `${counted} within ${WARN_DAYS} days${past}: vintem bank show lists them.`
}
