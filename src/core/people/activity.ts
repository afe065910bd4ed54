import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import { recordInCompanies } from '../activity/record.ts'
import type { Author, Details, OwnAction } from '../activity/rules.ts'
import type { App } from '../app.ts'
import { inEachPlace } from './each-place.ts'
import { listMemberships } from './store.ts'

/**
 * Adds a change of how a person signs in to the activity log of each company of theirs. A place
 * that does not answer must not prevent it, so the entries of its companies are missing.
 */
export async function recordForPerson(
  tx: Tx,
  { log }: Pick<App, 'log'>,
  personId: Uuid,
  author: Author,
  action: OwnAction,
  details: Details = {},
): Promise<void> {
  const companies = await listMemberships(tx, personId)
  const reached = companies.filter(({ name }) => name !== null).map((one) => one.companyId)
  const unreached = companies.filter(({ name }) => name === null)
  const record = { type: 'person', id: personId } as const
  const missed = await inEachPlace(tx, reached, (place, own) =>
    recordInCompanies(place, own, author, { action, record, details }),
  )
  const without = [...unreached, ...missed].map(({ companyId }) => companyId)
  if (without.length === 0) return
  const why = missed[0] && describeError(missed[0].error)
  log.warn({ ...why, action, companies: without }, 'entries of the activity log are missing')
}
