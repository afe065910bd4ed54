import Type from 'typebox'
import { changeCustomer, createCustomer } from '../../core/customers/commands.ts'
import { checkDigitsFault } from '../../core/customers/rules.ts'
import { find, list, remove } from '../../core/customers/store.ts'
import {
  CustomerChange,
  CustomerView,
  NewCustomer,
  showCustomer,
} from '../../core/customers/view.ts'
import { LONG_PAGE, LONG_PAGE_SIZE, TaxId } from '../../core/fields.ts'
import { removeAllOn } from '../../core/notes/store.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { readPage } from '../lists.ts'
import { page } from '../page.ts'
import { Deleted, type Route, route } from '../route.ts'
import { changed, deleted, listed, newest } from '../samples.ts'

function customerIdOf(text: string | undefined): Uuid {
  const id = fromPublic('clnt', text ?? '')
  if (id === null) throw problem('customer_not_found')
  return id
}

const checkTaxId: Route['check'] = ({ taxId }, { company }) => [
  checkDigitsFault(company, taxId, 'taxId'),
]

const create = route({
  method: 'POST',
  path: '/client',
  operationId: 'createCustomer',
  client: ['customers', 'create'],
  changes: { record: 'customer', pt: 'Cliente criado', en: 'Customer created' },
  sample: changed('getCustomer'),
  tag: 'Customers',
  summary: 'Create a customer',
  scope: 'catalog:write',
  body: NewCustomer,
  example: {
    name: 'Maria da Silva',
    status: 'ACTIVE',
    taxId: '12345678909',
    email: 'maria@example.com',
    phone: '11988888888',
  },
  check: checkTaxId,
  data: CustomerView,
  status: 201,
  message: 'Customer created.',
  problems: [],
  handle: (call) =>
    call.commit(async (tx) => ({
      data: showCustomer(await createCustomer(tx, call.app, call.company, call.body)),
    })),
})

const listAll = route({
  method: 'GET',
  path: '/client',
  operationId: 'listCustomers',
  client: ['customers', 'list'],
  sample: listed,
  tag: 'Customers',
  summary: 'List customers, newest first',
  scope: 'catalog:read',
  query: Type.Object({ ...LONG_PAGE, taxId: Type.Optional(TaxId) }),
  data: Type.Array(CustomerView),
  status: 200,
  message: 'Customers listed.',
  problems: [],
  async handle(call) {
    const { app, company, query } = call
    const taxId = query.taxId ?? null
    return readPage(
      page(call, 'clnt', LONG_PAGE_SIZE),
      (part) => list(app.db, app.vault, company.id, { ...part, taxId }),
      showCustomer,
    )
  },
})

const get = route({
  method: 'GET',
  path: '/client/id/{id}',
  operationId: 'getCustomer',
  client: ['customers', 'get'],
  sample: newest('listCustomers'),
  tag: 'Customers',
  summary: 'Get a customer',
  scope: 'catalog:read',
  data: CustomerView,
  status: 200,
  message: 'Customer found.',
  problems: ['customer_not_found'],
  async handle({ app, company, params }) {
    const customer = await find(app.db, app.vault, company.id, customerIdOf(params.id))
    if (!customer) throw problem('customer_not_found')
    return { data: showCustomer(customer) }
  },
})

const change = route({
  method: 'PUT',
  path: '/client',
  operationId: 'changeCustomer',
  client: ['customers', 'update'],
  changes: { record: 'customer', pt: 'Cliente alterado', en: 'Customer changed' },
  sample: changed('getCustomer'),
  tag: 'Customers',
  summary: 'Change a customer',
  description: 'Only the fields sent are changed; null removes an optional one.',
  scope: 'catalog:write',
  body: CustomerChange,
  example: { id: 'clnt_…', phone: '11977777777' },
  check: checkTaxId,
  data: CustomerView,
  status: 200,
  message: 'Customer changed.',
  problems: ['customer_not_found'],
  handle(call) {
    const id = customerIdOf(call.body.id)
    return call.commit(async (tx) => ({
      data: showCustomer(await changeCustomer(tx, call.app, call.company, id, call.body)),
    }))
  },
})

const removeOne = route({
  method: 'DELETE',
  path: '/client/{id}',
  operationId: 'deleteCustomer',
  client: ['customers', 'delete'],
  changes: { record: 'customer', pt: 'Cliente excluído', en: 'Customer deleted' },
  sample: deleted,
  tag: 'Customers',
  summary: 'Delete a customer',
  description: 'Charges keep their payer.',
  scope: 'catalog:write',
  unknownFields: 'refused',
  data: Deleted,
  status: 200,
  message: 'Customer deleted.',
  problems: ['customer_not_found'],
  handle(call) {
    const id = customerIdOf(call.params.id)
    return call.commit(async (tx) => {
      if (!(await remove(tx, call.company.id, id))) throw problem('customer_not_found')
      await removeAllOn(tx, call.company.id, id)
      return { data: { id: call.params.id! } }
    })
  },
})

export const customerRoutes = [create, listAll, get, change, removeOne]
