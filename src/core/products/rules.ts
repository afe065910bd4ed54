import type { Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { invalid } from '../../lib/problems.ts'

export const CATEGORIES = [
  'Jogos',
  'Eletrônicos',
  'Roupas',
  'Acessórios',
  'Casa e Decoração',
  'Esportes',
  'Brinquedos',
  'UGC',
  'Cursos',
  'Serviços',
  'Livros',
  'E-books',
  'Música',
  'Filmes e Séries',
  'Alimentos e Bebidas',
  'SaaS',
  'Outros',
] as const

export const FREQUENCIES = ['WEEKLY', 'MONTHLY', 'SEMIANNUAL', 'ANNUAL'] as const
export type Frequency = (typeof FREQUENCIES)[number]

export type Product = {
  companyId: Uuid
  id: Uuid
  name: string
  description: string
  price: Cents
  needShipping: boolean
  sku: string | null
  imageUrl: string | null
  categories: string[] | null
  status: 'ACTIVE' | 'INACTIVE'
  marketplaceStatus: 'APPROVED' | 'ANALYSIS' | 'DECLINED' | 'INACTIVE'
  type: 'ONE_TIME' | 'RECURRING'
  frequency: Frequency | null
  dayDue: number | null
  dayGenerateCharge: number | null
  createdAt: Date
  updatedAt: Date
}

type ProductFields = Partial<
  Omit<
    Product,
    'companyId' | 'id' | 'description' | 'price' | 'marketplaceStatus' | 'createdAt' | 'updatedAt'
  >
> & { description?: string | null; price?: number }

const FIELDS = [
  'name',
  'description',
  'needShipping',
  'sku',
  'imageUrl',
  'categories',
  'status',
  'type',
  'frequency',
  'dayDue',
  'dayGenerateCharge',
] as const

export const FREQUENCY_FAULT = 'frequency: required when type is RECURRING'

/** Changes only the fields that were sent. */
export function change(product: Product, fields: ProductFields, now: Date): Product {
  const changed: Record<string, unknown> = { ...product, updatedAt: now }
  for (const name of FIELDS) if (fields[name] !== undefined) changed[name] = fields[name]
  // Every product has a description. Null makes it empty.
  if (fields.description === null) changed.description = ''
  if (fields.price !== undefined) changed.price = toCents(fields.price)
  const result = changed as Product
  if (result.type === 'RECURRING' && result.frequency === null) {
    throw invalid(FREQUENCY_FAULT)
  }
  return result
}

export function make(companyId: Uuid, id: Uuid, fields: ProductFields, now: Date): Product {
  const blank: Product = {
    companyId,
    id,
    name: '',
    description: '',
    price: toCents(0),
    needShipping: false,
    sku: null,
    imageUrl: null,
    categories: null,
    status: 'ACTIVE',
    marketplaceStatus: 'INACTIVE',
    type: 'ONE_TIME',
    frequency: null,
    dayDue: null,
    dayGenerateCharge: null,
    createdAt: now,
    updatedAt: now,
  }
  return change(blank, fields, now)
}
