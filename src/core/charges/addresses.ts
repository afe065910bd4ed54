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

/** What the tag of a token for `<vintem-pix>` is made of, so that it opens no page. */
const ofElement = (pair: string): string => `element ${pair}`

/** What `<vintem-pix>` reads in a page of a shop. Its token shows a charge and changes nothing. */
export function elementUrl({ publicUrl, vault }: Addressing, { companyId, id }: Named): string {
  const pair = packPair(companyId, id)
  return `${publicUrl}/element/${pair}${vault.tag(ofElement(pair))}`
}

/** What a token names, and whether it is of the time before tags. */
export type TokenName = Named & { isPlain: boolean }

function readToken(vault: Vault, token: string, tagged: (pair: string) => string) {
  const [pair, tag] = [token.slice(0, PAIR_LENGTH), token.slice(PAIR_LENGTH)]
  const named = unpackPair(pair)
  const isOurs = named && (tag === '' || vault.isTag(tag, tagged(pair), timeOf(named.id)))
  return isOurs ? { ...named, isPlain: tag === '' } : null
}

/** Null if a token is none of ours. */
export const readPageToken = (vault: Vault, token: string): TokenName | null =>
  readToken(vault, token, (pair) => pair)

/** Null if a token is none of ours, or has no tag. */
export function readElementToken(vault: Vault, token: string): TokenName | null {
  const named = readToken(vault, token, ofElement)
  return named?.isPlain ? null : named
}

/** Whether a record is of the time before tags, so that its address without one was given out. */
export async function isOfPlainPages({ db }: Uses<'db'>, id: Uuid): Promise<boolean> {
  const end = await findPlainPagesEnd(db.control)
  return end !== null && timeOf(id) < end
}
