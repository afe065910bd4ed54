import type { Frequency, Product, ProductType } from '../../../packages/client/src/index.ts'
import { FREQUENCIES } from '../../core/products/rules.ts'
import { formatReais } from '../../lib/money.ts'
import { type Args, type Command, type Option, UsageFault } from '../command.ts'
import { connect, connectionOptions } from './connection.ts'
import {
  given,
  inOptions,
  limitOption,
  pageOf,
  readCents,
  readLimit,
  readWhole,
  take,
} from './input.ts'
import { cell, factsOf, tableOf } from './output.ts'

const PRODUCT = 'prod_01k4d5cjd4fv8sgzq9bqyr0vzj'
const TYPES: ProductType[] = ['ONE_TIME', 'RECURRING']

const NAME = { value: 'NAME', help: 'what payers read' }
const PRICE = { value: 'CENTS', help: 'in cents: 1990 is R$ 19,90' }
const DESCRIPTION = { value: 'TEXT', help: 'what it is (default the name)' }
const STATUS = { value: 'STATUS', choices: ['ACTIVE', 'INACTIVE'], help: 'ACTIVE or INACTIVE' }
const TYPE = { value: 'TYPE', choices: TYPES, help: 'ONE_TIME (default), or RECURRING' }

const MORE = {
  description: DESCRIPTION,
  type: TYPE,
  frequency: {
    value: 'FREQUENCY',
    choices: FREQUENCIES,
    help: 'how often a RECURRING product is charged',
  },
  'day-due': { value: 'DAYS', help: 'so many days after it is charged it is due, 1 to 7' },
  sku: { value: 'TEXT', help: 'your own name for it' },
  'image-url': { value: 'URL', help: 'a picture' },
  status: STATUS,
} satisfies Record<string, Option>

const fieldsOf = ({ options }: Args) => {
  const { name, description, type, frequency, sku, status } = options
  return given({
    name,
    description,
    price: readPrice(options),
    type: type as ProductType | undefined,
    frequency: frequency as Frequency | undefined,
    dayDue: readWhole(options, 'day-due', 1, 7),
    sku,
    imageUrl: options['image-url'],
    status: status as Product['status'] | undefined,
  })
}

/** A product may be free. */
const readPrice = (options: Args['options']): number | undefined =>
  options.price === '0' ? 0 : readCents(options, 'price')

const describe = (product: Product): string =>
  factsOf([
    ['Product', product.id],
    ['Name', product.name],
    ['Price', formatReais(product.price)],
    ['Type', [product.type, product.frequency].filter(Boolean).join(', ')],
    ['Due after', product.dayDue ? `${product.dayDue} days` : null],
    ['SKU', product.sku],
    ['Picture', product.imageUrl],
    ['Status', product.status],
    ['Description', product.description],
  ])

const list: Command = {
  name: 'products list',
  summary: 'List products, newest first.',
  example: 'vintem products list --type RECURRING',
  operands: [],
  options: { ...connectionOptions, type: TYPE, status: STATUS, ...limitOption('products') },
  async run(args) {
    const limit = readLimit(args)
    const { type, status } = fieldsOf(args)
    const products = connect(args).products.list(given({ type, status, limit: pageOf(limit) }))
    const found = await take(products, limit)
    const rows = found.map(({ id, name, price, type, frequency, status }) => [
      id,
      cell(name),
      formatReais(price),
      type,
      cell(frequency),
      status,
    ])
    const heading = ['PRODUCT ID', 'NAME', 'PRICE', 'TYPE', 'FREQUENCY', 'STATUS']
    return { json: found, text: tableOf(heading, rows, 'No products.') }
  },
}

const show: Command = {
  name: 'products show',
  summary: 'Show a product.',
  example: `vintem products show ${PRODUCT}`,
  operands: ['product-id'],
  options: connectionOptions,
  async run(args) {
    const product = await connect(args).products.get(args.operands[0]!)
    return { json: product, text: describe(product) }
  },
}

const create: Command = {
  name: 'products create',
  summary: 'Store a product, for links and subscriptions.',
  example:
    "vintem products create --name 'Clube do pão' --price 4990 --type RECURRING --frequency MONTHLY",
  operands: [],
  options: {
    ...connectionOptions,
    name: { ...NAME, required: true },
    price: { ...PRICE, required: true },
    ...MORE,
  },
  async run(args) {
    const { name = '' } = args.options
    const fields = fieldsOf(args)
    const { description = name } = args.options
    const body = { ...fields, name, description, price: readPrice(args.options)! }
    const product = await inOptions(connect(args).products.create(body))
    return { json: product, text: describe(product) }
  },
}

const update: Command = {
  name: 'products update',
  summary: 'Change a product; what is not named stays, and so do charges that were made.',
  example: `vintem products update ${PRODUCT} --price 5990`,
  operands: ['product-id'],
  options: { ...connectionOptions, name: NAME, price: PRICE, ...MORE },
  async run(args) {
    const change = fieldsOf(args)
    if (Object.keys(change).length === 0) throw new UsageFault('Nothing to change.')
    const product = await inOptions(connect(args).products.update(args.operands[0]!, change))
    return { json: product, text: describe(product) }
  },
}

const remove: Command = {
  name: 'products delete',
  summary: 'Delete a product; charges that sold it stay as they are.',
  example: `vintem products delete ${PRODUCT}`,
  operands: ['product-id'],
  options: connectionOptions,
  async run(args) {
    const deleted = await connect(args).products.delete(args.operands[0]!)
    return { json: deleted, text: `The product ${deleted.id} is deleted.\n` }
  },
}

export const productCommands = [list, show, create, update, remove]
