import type { ReusableLink } from '../../../packages/client/src/index.ts'
import { formatReais } from '../../lib/money.ts'
import { type Args, ClientFault, type Command, type Option, UsageFault } from '../command.ts'
import { connect, connectionOptions } from './connection.ts'
import {
  given,
  inOptions,
  limitOption,
  pageOf,
  REPEAT,
  readCents,
  readLimit,
  readWhole,
  take,
} from './input.ts'
import { cell, factsOf, localTime, tableOf } from './output.ts'

const LINK = 'link_01k4d5cjd4fv8sgzq9bqyr0vzj'
const PRODUCT = 'prod_01k4d5cjd4fv8sgzq9bqyr0vzj'
const MAX_COUNT = 1_000_000

const TITLE = { value: 'TEXT', help: 'what payers read first' }
const FIELDS = {
  amount: { value: 'CENTS', help: 'in cents: 1990 is R$ 19,90' },
  product: {
    value: 'PRODUCT_ID[=QUANTITY]',
    many: true,
    help: 'sell this product in place of an amount',
  },
  description: { value: 'TEXT', help: 'what payers read below the title' },
  slug: { value: 'TEXT', help: 'the end of the address (default of the title)' },
  stock: { value: 'NUMBER', help: 'at most so many can be sold' },
  'ends-at': { value: 'TIME', help: 'it is closed from then on' },
  'success-url': { value: 'URL', help: 'where payers go when they have paid' },
} satisfies Record<string, Option>

const fieldsOf = ({ options, lists }: Args) => {
  const { title, description, slug } = options
  return given({
    title,
    amount: readCents(options, 'amount'),
    items: lists.product?.map(readItem),
    description,
    slug,
    stock: readWhole(options, 'stock', 1, MAX_COUNT),
    endsAt: options['ends-at'],
    successUrl: options['success-url'],
  })
}

function readItem(text: string) {
  const [, productId = '', count = '1'] = /^([^=]+)(?:=(\d{1,6}))?$/.exec(text) ?? []
  if (productId !== '') return { productId, quantity: Number(count) }
  throw new ClientFault('--product: must be the id of a product, or such as prod_…=2.')
}

const describe = (link: ReusableLink): string =>
  factsOf([
    ['Link', link.id],
    ['Title', link.title],
    ['Page', link.url],
    ['Price', priceOf(link)],
    ['State', link.state],
    ['Stock', link.stock === undefined ? null : `${link.remaining} of ${link.stock} are left`],
    ['Ends', link.endsAt && localTime(link.endsAt)],
    ['Paid', `${link.paid} times, ${formatReais(link.received)}`],
    ['Description', link.description],
    ['Created', localTime(link.createdAt)],
  ])

function priceOf({ amount, items, openAmount }: ReusableLink): string {
  if (amount !== undefined) return formatReais(amount)
  if (items) return items.map(({ productId, quantity }) => `${quantity} × ${productId}`).join(', ')
  const { min, max } = openAmount ?? {}
  const from = min === undefined ? '' : ` from ${formatReais(min)}`
  return `what the payer wants${from}${max === undefined ? '' : ` up to ${formatReais(max)}`}`
}

const list: Command = {
  name: 'links list',
  summary: 'List the links that many payers use, newest first.',
  example: 'vintem links list',
  operands: [],
  options: { ...connectionOptions, ...limitOption('links') },
  async run(args) {
    const limit = readLimit(args)
    const found = await take(connect(args).reusableLinks.list({ limit: pageOf(limit) }), limit)
    const rows = found.map((link) => [
      link.id,
      cell(link.title),
      cell(priceOf(link)),
      link.state,
      String(link.paid),
      formatReais(link.received),
      cell(link.url),
    ])
    const heading = ['LINK ID', 'TITLE', 'PRICE', 'STATE', 'PAID', 'RECEIVED', 'PAGE']
    return { json: found, text: tableOf(heading, rows, 'No links.') }
  },
}

const show: Command = {
  name: 'links show',
  summary: 'Show a link and what was paid by it.',
  example: `vintem links show ${LINK}`,
  operands: ['link-id'],
  options: connectionOptions,
  async run(args) {
    const link = await connect(args).reusableLinks.get(args.operands[0]!)
    return { json: link, text: describe(link) }
  },
}

const OPEN_AMOUNT = { 'open-amount': { help: 'each payer says how much' } }

const create: Command = {
  name: 'links create',
  summary: 'Create a link that many payers use; each gets a charge of their own.',
  example: "vintem links create --title 'Rifa da escola' --amount 1000 --stock 200",
  operands: [],
  options: {
    ...connectionOptions,
    title: { ...TITLE, required: true },
    ...FIELDS,
    ...OPEN_AMOUNT,
    ...REPEAT,
  },
  async run(args) {
    const { options, switches } = args
    const fields = { ...fieldsOf(args), title: options.title! }
    const body = switches.has('open-amount') ? { ...fields, openAmount: {} } : fields
    const call = { idempotencyKey: options['idempotency-key'] }
    const link = await inNames(connect(args).reusableLinks.create(body, call))
    return { json: link, text: describe(link) }
  },
}

const NAMES = { items: 'product', 'items.productId': 'product', customerId: 'customer' }
const inNames = <R>(request: PromiseLike<R>) => inOptions(request, NAMES)

const update: Command = {
  name: 'links update',
  summary: 'Change a link, or switch it on or off; what is not named stays.',
  example: `vintem links update ${LINK} --status OFF`,
  operands: ['link-id'],
  options: {
    ...connectionOptions,
    title: TITLE,
    ...FIELDS,
    status: { value: 'STATUS', choices: ['ON', 'OFF'], help: 'ON, or OFF, which nobody can pay' },
  },
  async run(args) {
    const { status } = args.options
    const enabled = status === undefined ? undefined : status === 'ON'
    const change = given({ ...fieldsOf(args), enabled })
    if (Object.keys(change).length === 0) throw new UsageFault('Nothing to change.')
    const link = await inNames(connect(args).reusableLinks.update(args.operands[0]!, change))
    return { json: link, text: describe(link) }
  },
}

const send: Command = {
  name: 'links send',
  summary: 'Create a link for one payer, which is a charge of its own.',
  example: `vintem links send --customer clnt_01k4d5cjd4fv8sgzq9bqyr0vzj --product ${PRODUCT}=2`,
  operands: [],
  options: {
    ...connectionOptions,
    customer: { value: 'CUSTOMER_ID', help: 'the payer, if stored; otherwise --name and --tax-id' },
    name: { value: 'NAME', help: 'of the payer' },
    'tax-id': { value: 'TAX_ID', help: 'CPF or CNPJ of the payer' },
    email: { value: 'EMAIL', help: 'of the payer' },
    total: FIELDS.amount,
    product: FIELDS.product,
    description: { value: 'TEXT', help: 'what the payer reads' },
    'external-id': { value: 'TEXT', help: 'your own reference' },
    'dev-mode': { help: 'no money: vintem charges pay then pays it' },
    ...REPEAT,
  },
  async run(args) {
    const { options, lists, switches } = args
    const { customer: customerId, name, 'tax-id': taxId, email, description } = options
    const isNew = name !== undefined || taxId !== undefined
    if (isNew === (customerId !== undefined))
      throw new UsageFault('Name the payer: give --customer, or --name and --tax-id.')
    const body = given({
      customerId,
      customer: isNew ? given({ name: name ?? '', taxId: taxId ?? '', email }) : undefined,
      total: readCents(options, 'total'),
      items: lists.product?.map(readItem),
      description,
      externalId: options['external-id'],
      devMode: switches.has('dev-mode'),
    })
    const call = { idempotencyKey: options['idempotency-key'] }
    const made = await inNames(connect(args).links.create(body, call))
    const facts = factsOf([
      ['Charge', made.id],
      ['Total', formatReais(made.total)],
      ['Reference', made.externalId],
      ['Page', made.url],
      ...(made.warnings ?? []).map((warning): [string, string] => ['Warning', warning]),
    ])
    return { json: made, text: facts }
  },
}

export const linkCommands = [list, show, create, update, send]
