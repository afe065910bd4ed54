import { packPair, timeOf, type Uuid, unpackPair } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import type { App, Uses } from '../app.ts'
import { findPlainPagesEnd } from '../installation.ts'

/** What makes the addresses of pages. */
export type Addressing = Pick<App, 'publicUrl' | 'vault'>

/** A charge, a recurrence or a plan. */
type Named = { companyId: Uuid; id: Uuid }

const PAIR_LENGTH = 43

/**
 * Names a record in the address of its page. The company is readable, so that no lookup searches
 * all companies. Ids are known to more people than the page is for, so a tag follows.
 */
export function pageToken(vault: Vault, { companyId, id }: Named): string {
  const pair = packPair(companyId, id)
  return `${pair}${vault.tag(pair)}`
}

/** The page on which a payer pays a charge, or starts a subscription. */
export const checkoutUrl = ({ publicUrl, vault }: Addressing, named: Named): string =>
  `${publicUrl}/pay/${pageToken(vault, named)}`

/** The page with all charges of a plan. */
export const planUrl = ({ publicUrl, vault }: Addressing, named: Named): string =>
  `${publicUrl}/plan/${pageToken(vault, named)}`

/** What a token names, and whether it is of the time before tags. Null if it is none of ours. */
export function readPageToken(vault: Vault, token: string): (Named & { isPlain: boolean }) | null {
  const pair = token.slice(0, PAIR_LENGTH)
  const tag = token.slice(PAIR_LENGTH)
  const named = unpackPair(pair)
  const isPlain = tag === ''
  const isOurs = named && (isPlain || vault.isTag(tag, pair, timeOf(named.id)))
  return isOurs ? { ...named, isPlain } : null
}

/** Whether a record is of the time before tags, so that its address without one was given out. */
export async function isOfPlainPages({ db }: Uses<'db'>, id: Uuid): Promise<boolean> {
  const end = await findPlainPagesEnd(db.control)
  return end !== null && timeOf(id) < end
}
