import type { Tx } from '../../db/database.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import { type ErrorItem, Problem } from '../../lib/problems.ts'
import type { Product } from '../products/rules.ts'
import { findMany as findProducts } from '../products/store.ts'
import { showProduct } from '../products/view.ts'
import type { Item } from './rules.ts'

/** The items of a link, with the products as they are shown now. They must be active. */
export async function findItems(
  tx: Tx,
  companyId: Uuid,
  wanted: { productId: string; quantity: number }[],
): Promise<Item[]> {
  const ids = wanted.map(({ productId }) => fromPublic('prod', productId))
  const known = ids.filter((id) => id !== null)
  const products =
    known.length > 0 ? await findProducts(tx, companyId, known) : new Map<Uuid, Product>()
  const faults = wanted.flatMap((_, i) => itemFault(i, products.get(ids[i] ?? '')))
  const [first, ...others] = faults
  if (first) throw new Problem([first, ...others])
  return wanted.map(({ quantity }, i) => ({
    quantity,
    product: showProduct(products.get(ids[i]!)!),
  }))
}

function itemFault(i: number, product: Product | undefined): ErrorItem[] {
  const path = `items[${i}].productId`
  if (!product) {
    const description = `${path}: the company has no such product.`
    return [{ code: 'product_not_found', description }]
  }
  if (product.status === 'ACTIVE') return []
  return [{ code: 'invalid_value', description: `${path}: the product must be ACTIVE` }]
}
