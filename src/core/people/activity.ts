import type { ControlTx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { describeError } from '../../lib/log.ts'
import { recordForInstallation, recordInCompanies } from '../activity/record.ts'
import type { Author, Change, Details, OwnAction } from '../activity/rules.ts'
import type { App } from '../app.ts'
import type { OperatorChange } from '../letters/people.ts'
import { inEachPlace } from './each-place.ts'
import { mailOperators } from './operators.ts'
import { findPerson, listMemberships } from './store.ts'

type RecordApp = Pick<App, 'log' | 'vault' | 'systemClock'>

/** Changes of second factors, which operators see, and are mailed about if it is one of them. */
const FACTOR_CHANGES: Partial<Record<OwnAction, OperatorChange['what']>> = {
  'passkey.add': 'factor-added',
  'passkey.remove': 'factor-removed',
  'two-factor.enable': 'factor-added',
  'two-factor.disable': 'factor-removed',
  'two-factor.reset': 'factor-removed',
}

/**
 * Adds a change of how a person signs in to the activity log of each company of theirs. The log of
 * the installation has it if it is about a second factor or about an operator.
 */
export async function recordForPerson(
  tx: ControlTx,
  app: RecordApp,
  personId: Uuid,
  author: Author,
  action: OwnAction,
  details: Details = {},
): Promise<void> {
  const record = { type: 'person', id: personId } as const
  const change: Change = { action, record, details }
  await recordInTheirCompanies(tx, app, personId, author, change)
  const person = (await findPerson(tx, personId))!
  const what = FACTOR_CHANGES[action]
  if (person.isOperator || what) await recordForInstallation(tx, author, change)
  if (person.isOperator && what) await mailOperators(tx, app, { what, person }, author)
}

/** If a place does not answer, the entries of its companies are missing, because nobody waits. */
export async function recordInTheirCompanies(
  tx: ControlTx,
  { log }: Pick<App, 'log'>,
  personId: Uuid,
  author: Author,
  change: Change,
): Promise<void> {
  const companies = await listMemberships(tx, personId)
  const reached = companies.filter(({ name }) => name !== null).map((one) => one.companyId)
  const unreached = companies.filter(({ name }) => name === null)
  const missed = await inEachPlace(tx, reached, (place, own) =>
    recordInCompanies(place, own, author, change),
  )
  const without = [...unreached, ...missed].map(({ companyId }) => companyId)
  if (without.length === 0) return
  const why = missed[0] && describeError(missed[0].error)
  const { action } = change
  log.warn({ ...why, action, companies: without }, 'entries of the activity log are missing')
}
