import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import type { Frequency, Product } from './rules.ts'

type ProductRow = Row & {
  company_id: Uuid
  id: Uuid
  name: string
  description: string
  price: number
  need_shipping: boolean
  sku: string | null
  image_url: string | null
  categories: string[] | null
  status: Product['status']
  marketplace_status: Product['marketplaceStatus']
  type: Product['type']
  frequency: Frequency | null
  day_due: number | null
  day_generate_charge: number | null
  created_at: Date
  updated_at: Date
}

const toProduct = (row: ProductRow): Product => ({
  companyId: row.company_id,
  id: row.id,
  name: row.name,
  description: row.description,
  price: toCents(row.price),
  needShipping: row.need_shipping,
  sku: row.sku,
  imageUrl: row.image_url,
  categories: row.categories,
  status: row.status,
  marketplaceStatus: row.marketplace_status,
  type: row.type,
  frequency: row.frequency,
  dayDue: row.day_due,
  dayGenerateCharge: row.day_generate_charge,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

/** Inserts a product, or overwrites it if it exists. */
export async function save(tx: Tx, product: Product): Promise<void> {
  await tx.query({
    text: `insert into products (company_id, id, name, description, price, need_shipping, sku, image_url,
             categories, status, marketplace_status, type, frequency, day_due, day_generate_charge,
             created_at, updated_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
           on conflict (company_id, id) do update set
             name = excluded.name, description = excluded.description, price = excluded.price,
             need_shipping = excluded.need_shipping, sku = excluded.sku,
             image_url = excluded.image_url, categories = excluded.categories,
             status = excluded.status, type = excluded.type, frequency = excluded.frequency,
             day_due = excluded.day_due, day_generate_charge = excluded.day_generate_charge,
             updated_at = excluded.updated_at`,
    values: [
      product.companyId,
      product.id,
      product.name,
      product.description,
      product.price,
      product.needShipping,
      product.sku,
      product.imageUrl,
      product.categories,
      product.status,
      product.marketplaceStatus,
      product.type,
      product.frequency,
      product.dayDue,
      product.dayGenerateCharge,
      product.createdAt,
      product.updatedAt,
    ],
  })
}

export async function findMany(tx: Tx, companyId: Uuid, ids: Uuid[]): Promise<Map<Uuid, Product>> {
  const rows = await tx.query<ProductRow>({
    text: 'select * from products where company_id = $1 and id = any ($2)',
    values: [companyId, ids],
  })
  return new Map(rows.map((row) => [row.id, toProduct(row)]))
}

export async function find(
  tx: Tx,
  companyId: Uuid,
  id: Uuid,
  lock: 'for update' | '' = '',
): Promise<Product | null> {
  const rows = await tx.query<ProductRow>({
    text: `select * from products where company_id = $1 and id = $2 ${lock}`,
    values: [companyId, id],
  })
  return rows[0] ? toProduct(rows[0]) : null
}

export async function list(
  tx: Tx,
  companyId: Uuid,
  filter: { limit: number; after: Uuid | null; status: string | null; type: string | null },
): Promise<Product[]> {
  const rows = await tx.query<ProductRow>({
    text: `select * from products
           where company_id = $1
             and ($2::uuid is null or id < $2)
             and ($3::text is null or status = $3)
             and ($4::text is null or type = $4)
           order by id desc limit $5`,
    values: [companyId, filter.after, filter.status, filter.type, filter.limit],
  })
  return rows.map(toProduct)
}

/** Deletes a product. Charges keep their own copy of what they sold. */
export async function remove(tx: Tx, companyId: Uuid, id: Uuid): Promise<boolean> {
  const rows = await tx.query({
    text: 'delete from products where company_id = $1 and id = $2 returning id',
    values: [companyId, id],
  })
  return rows.length === 1
}
