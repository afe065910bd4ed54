import type { ShownProduct } from '../../core/products/view.ts'
import { formatReais } from '../../lib/money.ts'
import { Problem } from '../../lib/problems.ts'
import type { Option } from '../forms.ts'
import { findPayers, type Payers } from './new-payer.ts'
import type { Visit } from './visit.ts'

/** How many products a form offers: the newest, and the one that it was opened for. */
export const MAX_SELLABLE = 100

/** The newest products that can be sold, and the one with the given id. */
async function listSellable(
  visit: Visit,
  type: ShownProduct['type'],
  id: string | undefined,
): Promise<ShownProduct[]> {
  const query = { type, status: 'ACTIVE', limit: String(MAX_SELLABLE) }
  const { data } = await visit.operate<ShownProduct[]>('listProducts', { query })
  if (!id || data.some((product) => product.id === id)) return data
  try {
    const asked = await visit.operate<ShownProduct>('getProduct', { params: { id } })
    return [asked.data, ...data]
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return data
    throw error
  }
}

/** What a form that sells products is shown with, beside what was typed. */
export type Around = { payers: Payers; products: ShownProduct[] }

export async function aroundOf(visit: Visit, type: ShownProduct['type']): Promise<Around> {
  const [payers, products] = await Promise.all([
    findPayers(visit),
    listSellable(visit, type, visit.query.product),
  ])
  return { payers, products }
}

export const productOptions = (products: ShownProduct[], none: string): Option[] => [
  { value: '', label: none },
  ...products.map(({ id, name, price }) => ({
    value: id,
    label: `${name} · ${formatReais(price)}`,
  })),
]
