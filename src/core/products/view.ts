import Type, { type Static } from 'typebox'
import { toPublic } from '../../lib/ids.ts'
import { Amount, HttpUrl, orNull, ShortText } from '../fields.ts'
import { CATEGORIES, FREQUENCIES, type Product } from './rules.ts'

const Sku = orNull(Type.String({ minLength: 1, maxLength: 255 }))
const ImageUrl = orNull(HttpUrl)
const Categories = Type.Array(Type.Enum([...CATEGORIES]), { maxItems: CATEGORIES.length })
const Price = Amount(0, 'Cents')
const Status = Type.Enum(['ACTIVE', 'INACTIVE'])
const Kind = Type.Enum(['ONE_TIME', 'RECURRING'])
const Frequency = Type.Unsafe<(typeof FREQUENCIES)[number] | null>({
  enum: [...FREQUENCIES, null],
  description: 'Required when type is RECURRING',
})
const ShownFrequency = Type.Enum([...FREQUENCIES])
const DayDue = Type.Integer({ minimum: 1, maximum: 7, description: 'Days to pay after generation' })
const DayGenerateCharge = Type.Integer({
  minimum: 1,
  maximum: 28,
  description: 'Day of generation',
})

const OPTIONAL = {
  needShipping: Type.Optional(Type.Boolean({ default: false })),
  sku: Type.Optional(Sku),
  imageUrl: Type.Optional(ImageUrl),
  categories: Type.Optional(orNull(Categories)),
  status: Type.Optional(Status),
  type: Type.Optional(Kind),
  frequency: Type.Optional(Frequency),
  dayDue: Type.Optional(orNull(DayDue)),
  dayGenerateCharge: Type.Optional(orNull(DayGenerateCharge)),
}

export const NewProduct = Type.Object({
  name: ShortText,
  description: Type.String({ maxLength: 4096 }),
  price: Price,
  ...OPTIONAL,
})

export const ProductChange = Type.Object({
  name: Type.Optional(ShortText),
  description: Type.Optional(orNull(Type.String({ maxLength: 4096 }))),
  price: Type.Optional(Price),
  ...OPTIONAL,
  needShipping: Type.Optional(Type.Boolean()),
})

export const ProductView = Type.Object({
  id: Type.String({ maxLength: 255 }),
  companyId: Type.String({ format: 'uuid' }),
  name: Type.String({ maxLength: 255 }),
  description: Type.String(),
  price: Type.Integer({ minimum: 0, description: 'Cents' }),
  needShipping: Type.Boolean(),
  sku: Type.Optional(Type.String()),
  imageUrl: Type.Optional(Type.String()),
  categories: Type.Optional(Type.Array(Type.Enum([...CATEGORIES], { type: 'string' }))),
  status: Status,
  marketplaceStatus: Type.Enum(['APPROVED', 'ANALYSIS', 'DECLINED', 'INACTIVE']),
  type: Kind,
  frequency: Type.Optional(ShownFrequency),
  dayDue: Type.Optional(DayDue),
  dayGenerateCharge: Type.Optional(DayGenerateCharge),
})

export type ShownProduct = Static<typeof ProductView>

const OPTIONAL_IN_VIEW = [
  'sku',
  'imageUrl',
  'categories',
  'frequency',
  'dayDue',
  'dayGenerateCharge',
] as const

export function showProduct(product: Product): ShownProduct {
  const { companyId, name, description, price, needShipping, status, marketplaceStatus, type } =
    product
  const shown: Record<string, unknown> = {
    id: toPublic('prod', product.id),
    companyId,
    name,
    description,
    price,
    needShipping,
    status,
    marketplaceStatus,
    type,
  }
  for (const field of OPTIONAL_IN_VIEW) if (product[field] !== null) shown[field] = product[field]
  return shown as ShownProduct
}
