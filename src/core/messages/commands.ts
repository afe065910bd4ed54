import type { Tx } from '../../db/database.ts'
import { problem } from '../../lib/problems.ts'
import type { Uses } from '../app.ts'
import { checkoutUrl } from '../charges/addresses.ts'
import type { Charge } from '../charges/rules.ts'
import type { Company } from '../companies/rules.ts'
import {
  type AboutMessage,
  composeMessage,
  FIRST_MESSAGES,
  type MessageSort,
} from '../letters/messages.ts'
import { aboutOf, requireMessage, sortOf } from './rules.ts'
import { findOwn, replace } from './store.ts'

/** A message in the words of the company, or in ours, with the address of a page. */
export async function findMessage(
  { db }: Uses<'db'>,
  { id, language }: Pick<Company, 'id' | 'language'>,
  sort: MessageSort,
  about: AboutMessage,
  link: string,
): Promise<string> {
  const own = await findOwn(db, id)
  return composeMessage(own[sort] ?? FIRST_MESSAGES[language][sort], about, link)
}

/** What the payer of a charge is sent now: its page to pay it, or with its receipt. */
export const findChargeMessage = (
  app: Uses<'clock' | 'db' | 'publicUrl' | 'vault'>,
  company: Company,
  charge: Charge,
): Promise<string> => {
  const now = app.clock.now()
  const about = aboutOf(company, charge, now)
  return findMessage(app, company, sortOf(charge, now), about, checkoutUrl(app, charge))
}

/** Changes a message. Without a text, or with ours, the company has none of its own any more. */
export async function changeMessage(
  tx: Tx,
  { id, language, suspendedAt }: Pick<Company, 'id' | 'language' | 'suspendedAt'>,
  sort: MessageSort,
  text: string | null,
): Promise<void> {
  if (suspendedAt !== null) throw problem('company_suspended')
  if (text !== null) requireMessage(sort, text)
  // Ours may get better, so a copy of it is not kept.
  const isOurs = text === FIRST_MESSAGES[language][sort]
  await replace(tx, id, sort, isOurs ? null : text)
}
