import type { Customer } from '../../../packages/client/src/index.ts'
import { type Args, type Command, type Option, UsageFault } from '../command.ts'
import { connect, connectionOptions } from './connection.ts'
import { given, inOptions, limitOption, pageOf, readLimit, take } from './input.ts'
import { cell, factsOf, localTime, tableOf } from './output.ts'

const CUSTOMER = 'clnt_01k4d5cjd4fv8sgzq9bqyr0vzj'

const ADDRESS = {
  'postal-code': { value: 'CEP', help: 'where they live' },
  address: { value: 'STREET', help: 'the street' },
  number: { value: 'NUMBER', help: 'of the house' },
  district: { value: 'DISTRICT', help: 'the district' },
  line1: { value: 'TEXT', help: 'such as the apartment' },
} satisfies Record<string, Option>

const FIELDS = {
  name: { value: 'NAME', help: 'of the customer' },
  'tax-id': { value: 'TAX_ID', help: 'CPF or CNPJ' },
  email: { value: 'EMAIL', help: 'for receipts' },
  phone: { value: 'PHONE', help: 'with the area code' },
} satisfies Record<string, Option>

const STATUS = { value: 'STATUS', choices: ['ACTIVE', 'INACTIVE'], help: 'ACTIVE or INACTIVE' }

const fieldsOf = ({ options }: Args) => {
  const { name, 'tax-id': taxId, email, phone, status, address, number, district, line1 } = options
  const place = { postalCode: options['postal-code'], address, number, district, line1 }
  return given({ name, taxId, email, phone, status: status as Customer['status'], ...place })
}

const describe = (customer: Customer): string =>
  factsOf([
    ['Customer', customer.id],
    ['Name', customer.name],
    ['Tax id', customer.taxId],
    ['E-mail', customer.email],
    ['Phone', customer.phone],
    ['Address', placeOf(customer)],
    ['Status', customer.status],
    ['Created', localTime(customer.createdAt)],
  ])

function placeOf({ address, number, line1, district, postalCode }: Customer): string {
  return [address, number, line1, district, postalCode].filter(Boolean).join(', ')
}

const list: Command = {
  name: 'customers list',
  summary: 'List customers, newest first.',
  example: 'vintem customers list --tax-id 52998224725',
  operands: [],
  options: {
    ...connectionOptions,
    'tax-id': { value: 'TAX_ID', help: 'only who has this CPF or CNPJ' },
    ...limitOption('customers'),
  },
  async run(args) {
    const limit = readLimit(args)
    const query = given({ taxId: args.options['tax-id'], limit: pageOf(limit) })
    const found = await inOptions(take(connect(args).customers.list(query), limit))
    const rows = found.map(({ id, name, taxId, email, phone, status }) => [
      id,
      cell(name),
      cell(taxId),
      cell(email),
      cell(phone),
      status,
    ])
    const heading = ['CUSTOMER ID', 'NAME', 'TAX ID', 'E-MAIL', 'PHONE', 'STATUS']
    return { json: found, text: tableOf(heading, rows, 'No customers.') }
  },
}

const show: Command = {
  name: 'customers show',
  summary: 'Show a customer.',
  example: `vintem customers show ${CUSTOMER}`,
  operands: ['customer-id'],
  options: connectionOptions,
  async run(args) {
    const customer = await connect(args).customers.get(args.operands[0]!)
    return { json: customer, text: describe(customer) }
  },
}

const create: Command = {
  name: 'customers create',
  summary: 'Store a customer, for links and subscriptions.',
  example:
    "vintem customers create --name 'Maria da Silva' --tax-id 52998224725 --email maria@example.com --phone 11988888888",
  operands: [],
  options: {
    ...connectionOptions,
    name: { ...FIELDS.name, required: true },
    'tax-id': { ...FIELDS['tax-id'], required: true },
    email: { ...FIELDS.email, required: true },
    phone: { ...FIELDS.phone, required: true },
    ...ADDRESS,
  },
  async run(args) {
    const { name = '', 'tax-id': taxId = '', email = '', phone = '' } = args.options
    const body = { ...fieldsOf(args), name, taxId, email, phone, status: 'ACTIVE' as const }
    const customer = await inOptions(connect(args).customers.create(body))
    return { json: customer, text: describe(customer) }
  },
}

const update: Command = {
  name: 'customers update',
  summary: 'Change a customer; what is not named stays.',
  example: `vintem customers update ${CUSTOMER} --email ana@example.com`,
  operands: ['customer-id'],
  options: { ...connectionOptions, ...FIELDS, ...ADDRESS, status: STATUS },
  async run(args) {
    const change = fieldsOf(args)
    if (Object.keys(change).length === 0) throw new UsageFault('Nothing to change.')
    const id = args.operands[0]!
    const customer = await inOptions(connect(args).customers.update({ ...change, id }))
    return { json: customer, text: describe(customer) }
  },
}

const remove: Command = {
  name: 'customers delete',
  summary: 'Delete a customer; charges stay as they are.',
  example: `vintem customers delete ${CUSTOMER}`,
  operands: ['customer-id'],
  options: connectionOptions,
  async run(args) {
    const deleted = await connect(args).customers.delete(args.operands[0]!)
    return { json: deleted, text: `The customer ${deleted.id} is deleted.\n` }
  },
}

export const customerCommands = [list, show, create, update, remove]
