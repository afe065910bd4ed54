import { companyTableOf } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Product } from './rules.ts'

const PRODUCT = companyTableOf<Product>('products', {
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  name: ['name', 'text'],
  description: ['description', 'text'],
  price: ['price', 'cents'],
  needShipping: ['need_shipping', 'bool'],
  sku: ['sku', 'text'],
  imageUrl: ['image_url', 'text'],
  categories: ['categories', 'texts'],
  status: ['status', 'text'],
  marketplaceStatus: ['marketplace_status', 'text'],
  type: ['type', 'text'],
  frequency: ['frequency', 'text'],
  dayDue: ['day_due', 'int8'],
  dayGenerateCharge: ['day_generate_charge', 'int8'],
  createdAt: ['created_at', 'timestamptz'],
  updatedAt: ['updated_at', 'timestamptz'],
})

const COLUMNS = PRODUCT.select('p')
const CHANGING = PRODUCT.without('companyId', 'id', 'marketplaceStatus', 'createdAt')

const SAVE = `${PRODUCT.insertInto('products')}
  on conflict (company_id, id) do update set ${CHANGING.assigned('excluded')}`

/** Inserts a product, or overwrites it if it exists. */
export async function save(tx: Tx, product: Product): Promise<void> {
  await tx.query({ text: SAVE, values: PRODUCT.values([product]) })
}

export async function findMany(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<Map<Uuid, Product>> {
  const rows = await tx.query({
    text: `select ${COLUMNS} from products p where company_id = $1 and id = any ($2)`,
    values: [companyId, ids],
  })
  return new Map(rows.map(PRODUCT.read).map((product) => [product.id, product]))
}

export const { find, list } = PRODUCT

/** Deletes a product. Charges keep their own copy of what they sold. */
export async function remove(tx: Tx, companyId: Uuid, id: Uuid): Promise<boolean> {
  const rows = await tx.query({
    text: 'delete from products where company_id = $1 and id = $2 returning id',
    values: [companyId, id],
  })
  return rows.length === 1
}
