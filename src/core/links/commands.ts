import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { fromPublic, newId, type Uuid } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import type { Uses } from '../app.ts'
import { findItems } from '../charges/items.ts'
import { type Item, PIX_LIFETIME_S, type Split } from '../charges/rules.ts'
import { requireWithin } from '../charges/split.ts'
import {
  faultsOf,
  type LinkTerms,
  leastOf,
  NO_COUNTS,
  type OpenAmount,
  type ReusableLink,
  slugOf,
} from './rules.ts'
import * as store from './store.ts'
import type { NewReusableLink, ReusableLinkChange } from './view.ts'

type Change = Static<typeof ReusableLinkChange>

const PRICES = ['amount', 'items', 'openAmount'] as const

/** What a body says about the price. Exactly one of three may be sent. */
export const priceFaults = (body: Record<string, unknown>, isNew: boolean): (string | null)[] => {
  const [first, ...others] = PRICES.filter((name) => body[name] !== undefined)
  if (others.length > 0) return others.map((name) => `${name}: send it or ${first}, not both`)
  return [first || !isNew ? null : 'amount: send it, or items, or openAmount']
}

const readOpen = ({ min, max }: { min?: number; max?: number }): OpenAmount => ({
  min: min ?? null,
  max: max ?? null,
})

/** The terms after a change. Another price replaces the one there was. */
function termsAfter(terms: LinkTerms, body: Omit<Change, 'split' | 'slug'>): LinkTerms {
  const { amount, items, openAmount, minQuantity, maxQuantity, endsAt, expiresIn, ...plain } = body
  const isPriced = [amount, items, openAmount].some((price) => price !== undefined)
  const least = minQuantity ?? terms.minQuantity
  const moment = endsAt ? new Date(endsAt) : null
  return {
    ...terms,
    ...Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined)),
    ...(isPriced
      ? {
          amount: amount ?? null,
          items: items ?? null,
          openAmount: openAmount ? readOpen(openAmount) : null,
        }
      : {}),
    minQuantity: least,
    maxQuantity: maxQuantity ?? Math.max(least, terms.maxQuantity),
    endsAt: endsAt === undefined ? terms.endsAt : moment,
    lifetime_s: expiresIn ?? terms.lifetime_s,
  }
}

const BLANK: LinkTerms = {
  title: '',
  description: null,
  amount: null,
  items: null,
  openAmount: null,
  minQuantity: 1,
  maxQuantity: 1,
  endsAt: null,
  stock: null,
  enabled: true,
  needShipping: false,
  successUrl: null,
  lifetime_s: PIX_LIFETIME_S,
  split: null,
}

/** The products of a link as they are now. Throws if one of them is not sold any more. */
export const itemsOf = (
  tx: Tx,
  companyId: Uuid,
  { items }: Pick<LinkTerms, 'items'>,
): Promise<Item[]> => (items === null ? Promise.resolve([]) : findItems(tx, companyId, items))

/**
 * Throws if a link cannot have these terms. The products of a link that is off may be gone. Returns
 * the products.
 */
async function requireSellable(tx: Tx, companyId: Uuid, terms: LinkTerms): Promise<Item[]> {
  const items = terms.enabled ? await itemsOf(tx, companyId, terms) : []
  const [first, ...others] = faultsOf(terms, items)
  if (first) throw invalid(first, ...others)
  const isPriced = terms.items === null || items.length > 0
  if (isPriced) requireWithin({ split: terms.split, amount: leastOf(terms, items) })
  return items
}

/** A link with its products, as it is shown. */
export type WholeLink = { link: ReusableLink; items: Item[] }

type Body = Static<typeof NewReusableLink>

/** A new link of a company, whose split is known. */
export async function createLink(
  tx: Tx,
  app: Uses<'clock'>,
  companyId: Uuid,
  { split: _, slug, ...body }: Body,
  split: Split | null,
): Promise<WholeLink> {
  const now = app.clock.now()
  const terms = { ...termsAfter(BLANK, body), split }
  const items = await requireSellable(tx, companyId, terms)
  const fields = { companyId, id: newId(), slug: '', createdAt: now, updatedAt: now }
  const blank: ReusableLink = { ...terms, ...NO_COUNTS, ...fields }
  // The address refers to the link, so the link is inserted first.
  await store.save(tx, blank)
  const link = { ...blank, slug: await giveSlug(tx, blank, slug, now) }
  await store.save(tx, link)
  return { link, items }
}

/** So many numbers are tried after an address that is made of a title. */
const NUMBERED = 9

/** Gives a new link the address that was asked for, or one that is made of its title. */
async function giveSlug(
  tx: Tx,
  link: ReusableLink,
  wanted: string | undefined,
  now: Date,
): Promise<string> {
  if (wanted !== undefined) return requireSlug(tx, link, wanted, now)
  const base = slugOf(link.title).slice(0, 50).replace(/-$/, '')
  const numbered = Array.from({ length: NUMBERED }, (_, i) => (i === 0 ? base : `${base}-${i + 1}`))
  for (const slug of numbered) {
    if (await store.takeSlug(tx, link, slug, now)) return slug
  }
  return requireSlug(tx, link, `${base}-${link.id.slice(-8)}`, now)
}

async function requireSlug(tx: Tx, link: ReusableLink, slug: string, now: Date): Promise<string> {
  if (await store.takeSlug(tx, link, slug, now)) return slug
  throw invalid('slug: another link of the company has this address, or had it')
}

export async function findLink(
  tx: Tx,
  companyId: Uuid,
  text: string | undefined,
  lock: 'for update' | '' = '',
): Promise<ReusableLink> {
  const id = fromPublic('link', text ?? '')
  const link = id && (await store.find(tx, companyId, id, lock))
  if (!link) throw problem('link_not_found')
  return link
}

/** Changes a link. Charges that it has made stay as they are. Undefined: the split stays. */
export async function changeLink(
  tx: Tx,
  app: Uses<'clock'>,
  companyId: Uuid,
  id: string | undefined,
  { split: _, slug, ...body }: Change,
  split: Split | null | undefined,
): Promise<WholeLink> {
  const before = await findLink(tx, companyId, id, 'for update')
  const updatedAt = app.clock.now()
  const terms = { ...termsAfter(before, body), ...(split === undefined ? {} : { split }) }
  const items = await requireSellable(tx, companyId, terms)
  const isMoved = slug !== undefined && slug !== before.slug
  const link = {
    ...before,
    ...terms,
    updatedAt,
    slug: isMoved ? await requireSlug(tx, before, slug, updatedAt) : before.slug,
  }
  if (isMoved) await store.forgetOldSlugs(tx, link)
  await store.save(tx, link)
  return { link, items }
}
