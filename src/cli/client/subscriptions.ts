import type { Recurrence, RecurrenceDetail } from '../../../packages/client/src/index.ts'
import { formatReais } from '../../lib/money.ts'
import type { Command } from '../command.ts'
import { connect, connectionOptions } from './connection.ts'
import { given, inOptions, limitOption, pageOf, REPEAT, readLimit, take } from './input.ts'
import { cell, factsOf, localTime, tableOf } from './output.ts'

const SUBSCRIPTION = 'rec_01k4d5cjd4fv8sgzq9bqyr0vzj'
const PRODUCT = 'prod_01k4d5cjd4fv8sgzq9bqyr0vzj'
const CUSTOMER = 'clnt_01k4d5cjd4fv8sgzq9bqyr0vzj'

/** The API has this amount as text. */
const reais = (text: string): string => formatReais(Number(text))

const list: Command = {
  name: 'subscriptions list',
  summary: 'List subscriptions and the links to subscribe, newest first.',
  example: 'vintem subscriptions list',
  operands: [],
  options: { ...connectionOptions, ...limitOption('subscriptions') },
  async run(args) {
    const limit = readLimit(args)
    const found = await take(connect(args).subscriptions.list({ limit: pageOf(limit) }), limit)
    const rows = found.map((subscription) => [
      subscription.id,
      cell(subscription.productName),
      reais(subscription.value),
      subscription.frequency,
      subscription.isRecurringTemplate ? 'for many payers' : cell(subscription.customerName),
      subscription.status,
      subscription.recurrenceAuthStatus,
    ])
    const heading = [
      'SUBSCRIPTION ID',
      'PRODUCT',
      'PRICE',
      'FREQUENCY',
      'PAYER',
      'STATUS',
      'AT BANK',
    ]
    return { json: found, text: tableOf(heading, rows, 'No subscriptions.') }
  },
}

const describe = (subscription: Recurrence): string =>
  factsOf([
    ['Subscription', subscription.id],
    ['Product', `${subscription.productName} (${subscription.productId})`],
    ['Price', `${reais(subscription.value)}, ${subscription.frequency}`],
    [
      'Payer',
      subscription.customerName && `${subscription.customerName} (${subscription.customerId})`,
    ],
    ['Status', `${subscription.status}, at the bank ${subscription.recurrenceAuthStatus}`],
    ['Created', localTime(subscription.createdAt)],
    ['Page', subscription.paymentLinkUrl],
    ['Code', subscription.emv],
  ])

function chargeTable({ charges }: RecurrenceDetail): string {
  const rows = charges.map(({ id, total, status, paymentStatus, expiresAt, paymentDate }) => [
    id,
    reais(total),
    status,
    paymentStatus,
    localTime(expiresAt),
    localTime(paymentDate),
  ])
  const heading = ['CHARGE ID', 'AMOUNT', 'STATUS', 'PAYMENT', 'EXPIRES', 'PAID']
  return tableOf(heading, rows, 'No charges yet.')
}

const show: Command = {
  name: 'subscriptions show',
  summary: 'Show a subscription and its charges.',
  example: `vintem subscriptions show ${SUBSCRIPTION}`,
  operands: ['subscription-id'],
  options: connectionOptions,
  async run(args) {
    const subscription = await connect(args).subscriptions.get(args.operands[0]!)
    return { json: subscription, text: `${describe(subscription)}\n${chargeTable(subscription)}` }
  },
}

const NAMES = { productId: 'product', customerId: 'customer' }

const create: Command = {
  name: 'subscriptions create',
  summary: 'Create a subscription, and show the code by which its payer agrees.',
  example: `vintem subscriptions create --product ${PRODUCT} --customer ${CUSTOMER}`,
  operands: [],
  options: {
    ...connectionOptions,
    product: { value: 'PRODUCT_ID', required: true, help: 'a product of the type RECURRING' },
    customer: { value: 'CUSTOMER_ID', required: true, help: 'the payer' },
    ...REPEAT,
  },
  async run(args) {
    const { product = '', customer = '', 'idempotency-key': idempotencyKey } = args.options
    const body = { productId: product, customerId: customer }
    const made = connect(args).subscriptions.create(body, { idempotencyKey })
    const subscription = await inOptions(made, NAMES)
    return { json: subscription, text: describe(subscription) }
  },
}

const link: Command = {
  name: 'subscriptions link',
  summary: 'Create a link through which payers subscribe by themselves.',
  example: `vintem subscriptions link --product ${PRODUCT}`,
  operands: [],
  options: {
    ...connectionOptions,
    product: { value: 'PRODUCT_ID', required: true, help: 'a product of the type RECURRING' },
    customer: { value: 'CUSTOMER_ID', help: 'only for this payer' },
    ...REPEAT,
  },
  async run(args) {
    const { product = '', customer, 'idempotency-key': idempotencyKey } = args.options
    const vintem = connect(args)
    const body = given({ productId: product, customerId: customer })
    const made = vintem.subscriptions.createTemplate(body, { idempotencyKey })
    const { id } = await inOptions(made, NAMES)
    const template = await vintem.subscriptions.get(id)
    return { json: template, text: describe(template) }
  },
}

const cancel: Command = {
  name: 'subscriptions cancel',
  summary: 'End a subscription: nothing more is charged, and what was paid stays paid.',
  example: `vintem subscriptions cancel ${SUBSCRIPTION}`,
  operands: ['subscription-id'],
  options: connectionOptions,
  async run(args) {
    const { id, status } = await connect(args).subscriptions.cancel(args.operands[0]!)
    return { json: { id, status }, text: `The subscription ${id} is ${status}.\n` }
  },
}

export const subscriptionCommands = [list, show, create, link, cancel]
