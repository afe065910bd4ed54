import Type, { type Static } from 'typebox'
import { suffixOf, toPublic } from '../../lib/ids.ts'
import { MIN_CHARGE } from '../../pix/amounts.ts'
import type { App } from '../app.ts'
import { type Item, PIX_LIFETIME_S } from '../charges/rules.ts'
import { SplitField, SplitView, showTerms } from '../charges/split-view.ts'
import { Amount, HttpUrl, orNull, PAGE, Timestamp } from '../fields.ts'
import {
  LINK_STATES,
  leastOf,
  MAX_LIFETIME_S,
  MAX_QUANTITY,
  MAX_SLUG,
  MAX_TITLE,
  MIN_LIFETIME_S,
  type ReusableLink,
  remainingOf,
  SLUG_FORM,
  stateOf,
} from './rules.ts'

const Title = Type.String({
  minLength: 1,
  maxLength: MAX_TITLE,
  pattern: '\\S',
  description: 'What is sold. Each charge has it as its description',
})
const Description = Type.String({ maxLength: 2000, description: 'More about it, on the page' })
const Quantity = (description: string) =>
  Type.Integer({ minimum: 1, maximum: MAX_QUANTITY, description })
const Stock = Type.Integer({
  minimum: 1,
  maximum: 1_000_000_000,
  description:
    'How many sales there may be, whatever their quantity. An open charge reserves one, which is free again when the charge expires or is canceled',
})
const Slug = Type.String({
  minLength: 1,
  maxLength: MAX_SLUG,
  pattern: SLUG_FORM,
  description:
    'The end of the address; by default it is made of the title. Former addresses of a link lead to it',
  'x-rule': 'must be small letters without accents, digits and single hyphens, as in pao-de-queijo',
})
const Items = Type.Array(
  Type.Object({
    productId: Type.String({ maxLength: 255 }),
    quantity: Type.Integer({ minimum: 1, maximum: MAX_QUANTITY }),
  }),
  { minItems: 1, maxItems: 20, description: 'Products of which one purchase is made' },
)
const Open = Type.Object(
  {
    min: Type.Optional(Amount(MIN_CHARGE, 'Cents')),
    max: Type.Optional(Amount(MIN_CHARGE, 'Cents')),
  },
  { description: 'The payer types the amount, within these bounds' },
)
const Price = Amount(1, 'Cents that one costs')
const Lifetime = Type.Integer({
  minimum: MIN_LIFETIME_S,
  maximum: MAX_LIFETIME_S,
  default: PIX_LIFETIME_S,
  description: 'Seconds until each of its charges expires',
})
const EndsAt = { ...Timestamp, description: 'From then on it sells nothing' }

const PLAIN = {
  amount: Type.Optional(Price),
  items: Type.Optional(Items),
  openAmount: Type.Optional(Open),
  minQuantity: Type.Optional(Quantity('The least that one payer may buy at once; 1 by default')),
  maxQuantity: Type.Optional(
    Quantity('The most that one payer may buy at once; minQuantity by default'),
  ),
  slug: Type.Optional(Slug),
  enabled: Type.Optional(Type.Boolean({ default: true, description: 'Whether it sells' })),
  needShipping: Type.Optional(Type.Boolean({ default: false })),
  expiresIn: Type.Optional(Lifetime),
}

export const NewReusableLink = Type.Object({
  title: Title,
  description: Type.Optional(Description),
  ...PLAIN,
  endsAt: Type.Optional(EndsAt),
  stock: Type.Optional(Stock),
  successUrl: Type.Optional(HttpUrl),
  split: SplitField,
})

export const ReusableLinkChange = Type.Object({
  title: Type.Optional(Title),
  description: Type.Optional(orNull(Description)),
  ...PLAIN,
  enabled: Type.Optional(Type.Boolean()),
  needShipping: Type.Optional(Type.Boolean()),
  endsAt: Type.Optional(orNull(EndsAt)),
  stock: Type.Optional(orNull(Stock)),
  successUrl: Type.Optional(orNull(HttpUrl)),
  split: Type.Optional(orNull(SplitField)),
})

export const ReusableLinkQuery = Type.Object({
  ...PAGE,
  enabled: Type.Optional(Type.Boolean({ description: 'Only those that are on, or off' })),
})

export const ReusableLinkView = Type.Object({
  id: Type.String(),
  url: Type.String({ description: 'The link to share' }),
  slug: Type.String(),
  title: Type.String(),
  description: Type.Optional(Type.String()),
  state: Type.Enum([...LINK_STATES], {
    type: 'string',
    description: 'OPEN: it sells. Otherwise why it does not',
  }),
  amount: Type.Optional(Type.Integer({ description: 'Cents that one costs' })),
  items: Type.Optional(
    Type.Array(Type.Object({ productId: Type.String(), quantity: Type.Integer() })),
  ),
  openAmount: Type.Optional(
    Type.Object({ min: Type.Optional(Type.Integer()), max: Type.Optional(Type.Integer()) }),
  ),
  minQuantity: Type.Integer(),
  maxQuantity: Type.Integer(),
  endsAt: Type.Optional(Type.String({ format: 'date-time' })),
  stock: Type.Optional(Type.Integer()),
  remaining: Type.Optional(Type.Integer({ description: 'How much of the stock is left' })),
  enabled: Type.Boolean(),
  needShipping: Type.Boolean(),
  successUrl: Type.Optional(Type.String()),
  expiresIn: Type.Integer(),
  split: Type.Optional(SplitView),
  opened: Type.Integer({ description: 'How often its page was opened, without machines' }),
  created: Type.Integer({ description: 'Charges that it has made' }),
  paid: Type.Integer({ description: 'How many of them were paid' }),
  received: Type.Integer({ description: 'Cents of those, with what was returned later' }),
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' }),
})

export type ShownReusableLink = Static<typeof ReusableLinkView>

/** The page of a link. It names the company, so that no lookup searches all companies. */
export const linkUrl = (
  { publicUrl }: Pick<App, 'publicUrl'>,
  { companyId, slug }: Pick<ReusableLink, 'companyId' | 'slug'>,
): string => `${publicUrl}/l/${suffixOf(companyId)}/${slug}`

const bound = (name: 'min' | 'max', value: number | null) =>
  value === null ? {} : { [name]: value }

/** What of a link is left out where it has none. */
function showOptional(link: ReusableLink): Partial<ShownReusableLink> {
  const { description, amount, items, openAmount, endsAt, stock, successUrl } = link
  return {
    ...(description === null ? {} : { description }),
    ...(amount === null ? {} : { amount }),
    ...(items === null ? {} : { items }),
    ...(openAmount === null
      ? {}
      : { openAmount: { ...bound('min', openAmount.min), ...bound('max', openAmount.max) } }),
    ...(endsAt === null ? {} : { endsAt: endsAt.toISOString() }),
    ...(stock === null ? {} : { stock, remaining: remainingOf(link)! }),
    ...(successUrl === null ? {} : { successUrl }),
  }
}

/** A link for its company. `items` are its products as they are, for the parts of a split. */
export function showReusableLink(
  link: ReusableLink,
  app: Pick<App, 'publicUrl' | 'clock'>,
  items: Item[] = [],
): ShownReusableLink {
  const { id, slug, title, minQuantity, maxQuantity, enabled, needShipping, split } = link
  const isPriced = link.items === null || items.length > 0
  return {
    id: toPublic('link', id),
    url: linkUrl(app, link),
    slug,
    title,
    state: stateOf(link, app.clock.now()),
    ...showOptional(link),
    minQuantity,
    maxQuantity,
    enabled,
    needShipping,
    expiresIn: link.lifetime_s,
    ...(split && isPriced ? { split: showTerms(split, leastOf(link, items)) } : {}),
    opened: link.opened,
    created: link.made,
    paid: link.paid,
    received: link.received,
    createdAt: link.createdAt.toISOString(),
    updatedAt: link.updatedAt.toISOString(),
  }
}
