import Type from 'typebox'
import { PAGE } from '../../core/fields.ts'
import { change, FREQUENCY_FAULT, make } from '../../core/products/rules.ts'
import { find, list, remove, save } from '../../core/products/store.ts'
import { NewProduct, ProductChange, ProductView, showProduct } from '../../core/products/view.ts'
import { fromPublic, newId, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { readPage } from '../lists.ts'
import { page } from '../page.ts'
import { Deleted, route } from '../route.ts'
import { changed, deleted, listed, newest } from '../samples.ts'

function productIdOf(call: { params: Record<string, string> }): Uuid {
  const id = fromPublic('prod', call.params.id ?? '')
  if (id === null) throw problem('product_not_found')
  return id
}

const create = route({
  method: 'POST',
  path: '/product',
  operationId: 'createProduct',
  client: ['products', 'create'],
  changes: { record: 'product', pt: 'Produto criado', en: 'Product created' },
  sample: changed('getProduct'),
  tag: 'Products',
  summary: 'Create a product',
  scope: 'catalog:write',
  body: NewProduct,
  example: { name: 'Pão de queijo', description: 'Uma dúzia', price: 1200 },
  check: ({ type, frequency }) => [
    type === 'RECURRING' && (frequency ?? null) === null ? FREQUENCY_FAULT : null,
  ],
  data: ProductView,
  status: 201,
  message: 'Product created.',
  problems: [],
  handle(call) {
    const product = make(call.company.id, newId(), call.body, call.app.clock.now())
    return call.commit(async (tx) => {
      await save(tx, product)
      return { data: showProduct(product) }
    })
  },
})

const listAll = route({
  method: 'GET',
  path: '/product',
  operationId: 'listProducts',
  client: ['products', 'list'],
  sample: listed,
  tag: 'Products',
  summary: 'List products, newest first',
  scope: 'catalog:read',
  query: Type.Object({
    ...PAGE,
    status: Type.Optional(ProductView.properties.status),
    type: Type.Optional(ProductView.properties.type),
  }),
  data: Type.Array(ProductView),
  status: 200,
  message: 'Products listed.',
  problems: [],
  async handle(call) {
    const { app, company, query } = call
    const wanted = { status: query.status ?? null, type: query.type ?? null }
    return readPage(
      page(call, 'prod'),
      (part) => list(app.db, company.id, { ...part, ...wanted }),
      showProduct,
    )
  },
})

const get = route({
  method: 'GET',
  path: '/product/{id}',
  operationId: 'getProduct',
  client: ['products', 'get'],
  sample: newest('listProducts'),
  tag: 'Products',
  summary: 'Get a product',
  scope: 'catalog:read',
  data: ProductView,
  status: 200,
  message: 'Product found.',
  problems: ['product_not_found'],
  async handle(call) {
    const product = await find(call.app.db, call.company.id, productIdOf(call))
    if (!product) throw problem('product_not_found')
    return { data: showProduct(product) }
  },
})

const changeOne = route({
  method: 'PUT',
  path: '/product/{id}',
  operationId: 'changeProduct',
  client: ['products', 'update'],
  changes: { record: 'product', pt: 'Produto alterado', en: 'Product changed' },
  sample: changed('getProduct'),
  tag: 'Products',
  summary: 'Change a product',
  description: 'Only the fields sent are changed. What was sold keeps the product as it was.',
  scope: 'catalog:write',
  body: ProductChange,
  example: { price: 1300 },
  data: ProductView,
  status: 200,
  message: 'Product changed.',
  problems: ['product_not_found'],
  handle(call) {
    const id = productIdOf(call)
    return call.commit(async (tx) => {
      const product = await find(tx, call.company.id, id, 'for update')
      if (!product) throw problem('product_not_found')
      const changed = change(product, call.body, call.app.clock.now())
      await save(tx, changed)
      return { data: showProduct(changed) }
    })
  },
})

const removeOne = route({
  method: 'DELETE',
  path: '/product/{id}',
  operationId: 'deleteProduct',
  client: ['products', 'delete'],
  changes: { record: 'product', pt: 'Produto excluído', en: 'Product deleted' },
  sample: deleted,
  tag: 'Products',
  summary: 'Delete a product',
  description: 'Charges that sold it keep it as it was.',
  scope: 'catalog:write',
  unknownFields: 'refused',
  data: Deleted,
  status: 200,
  message: 'Product deleted.',
  problems: ['product_not_found'],
  handle(call) {
    const id = productIdOf(call)
    return call.commit(async (tx) => {
      if (!(await remove(tx, call.company.id, id))) throw problem('product_not_found')
      return { data: { id: call.params.id! } }
    })
  },
})

export const productRoutes = [create, listAll, get, changeOne, removeOne]
