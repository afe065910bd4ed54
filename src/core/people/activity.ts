import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { recordInCompanies } from '../activity/record.ts'
import type { Author, Details, OwnAction } from '../activity/rules.ts'
import { byPlace, listMemberships } from './store.ts'

/** Adds a change of how a person signs in to the activity log of each company of theirs. */
export async function recordForPerson(
  tx: Tx,
  personId: Uuid,
  author: Author,
  action: OwnAction,
  details: Details = {},
): Promise<void> {
  const companies = await listMemberships(tx, personId)
  const ids = companies.map(({ companyId }) => companyId)
  const record = { type: 'person', id: personId } as const
  for (const [place, own] of await byPlace(tx, ids)) {
    await recordInCompanies(place, own, author, { action, record, details })
  }
}
