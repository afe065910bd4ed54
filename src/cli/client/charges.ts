import { encodeQR } from 'qr'
import type { Charge, ChargeStatus, Refund } from '../../../packages/client/src/index.ts'
import { CHARGE_STATUSES, PIX_LIFETIME_S } from '../../core/charges/rules.ts'
import { formatReais } from '../../lib/money.ts'
import type { Answer, Command } from '../command.ts'
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

const CHARGE = 'charge_01k4d5cjd4fv8sgzq9bqyr0vzj'
const QR = { qr: { help: 'draw the QR code, to be paid from the screen' } }

const list: Command = {
  name: 'charges list',
  summary: 'List charges, newest first.',
  example: 'vintem charges list --status OPEN --limit 50',
  operands: [],
  options: {
    ...connectionOptions,
    status: { value: 'STATUS', choices: CHARGE_STATUSES, help: CHARGE_STATUSES.join(', ') },
    'external-id': { value: 'TEXT', help: 'with this reference of yours' },
    'tax-id': { value: 'TAX_ID', help: 'of the payer with this CPF or CNPJ' },
    from: { value: 'DAY', help: 'created on or after this day or moment' },
    to: { value: 'DAY', help: 'created on or before this day, or before this moment' },
    ...limitOption('charges'),
  },
  async run(args) {
    const { status, 'external-id': externalId, 'tax-id': taxId, from, to } = args.options
    const limit = readLimit(args)
    const query = given({
      status: status as ChargeStatus | undefined,
      externalId,
      taxId,
      createdFrom: from,
      createdTo: to,
    })
    const charges = connect(args).charges.list({ ...query, limit: pageOf(limit) })
    const found = await take(charges, limit)
    const rows = found.map((charge) => [
      charge.id,
      formatReais(charge.total),
      charge.status,
      charge.paymentStatus,
      localTime(charge.createdAt),
      cell(charge.customer?.name),
      cell(charge.externalId),
    ])
    const heading = ['CHARGE ID', 'AMOUNT', 'STATUS', 'PAYMENT', 'CREATED', 'PAYER', 'REFERENCE']
    return { json: found, text: tableOf(heading, rows, 'No charges.') }
  },
}

const show: Command = {
  name: 'charges show',
  summary: 'Show a charge, its code and its refunds.',
  example: `vintem charges show ${CHARGE} --qr`,
  operands: ['charge-id'],
  options: { ...connectionOptions, ...QR },
  async run(args) {
    const vintem = connect(args)
    const id = args.operands[0]!
    const charge = await vintem.charges.get(id)
    const refunds = charge.refunded ? await take(vintem.refunds.list(id), 100) : []
    const table = refunds.length > 0 ? `\n${refundTable(refunds, '')}` : ''
    const text = `${describe(charge)}${table}${draw(charge, args.switches)}`
    return { json: { ...charge, refunds }, text }
  },
}

function describe(charge: Charge): string {
  const { customer, due } = charge
  return factsOf([
    ['Charge', charge.id],
    ['Amount', formatReais(charge.total)],
    ['Due', due && `${due.dueDate}: ${formatReais(due.amount.total)} on ${due.amount.on}`],
    ['Short by', charge.shortfall ? formatReais(charge.shortfall) : null],
    ['Refunded', charge.refunded ? formatReais(charge.refunded) : null],
    ['Status', `${charge.status}, payment ${charge.paymentStatus}`],
    ['Created', localTime(charge.createdAt)],
    ['Expires', localTime(charge.expiresAt)],
    ['Paid', charge.paymentDate && localTime(charge.paymentDate)],
    ['Payer', customer && [customer.name, customer.email].filter(Boolean).join(', ')],
    ['Reference', charge.externalId],
    ['Description', charge.description],
    ['End-to-end id', charge.endToEndId],
    ['Dev mode', charge.devMode ? 'yes' : null],
    ['Page', charge.url],
    ['Code', charge.brCode],
  ])
}

function refundTable(refunds: Refund[], none: string): string {
  const rows = refunds.map(({ id, value, status, createdAt, comment }) => [
    id,
    formatReais(value),
    status,
    localTime(createdAt),
    cell(comment),
  ])
  return tableOf(['REFUND ID', 'AMOUNT', 'STATUS', 'CREATED', 'COMMENT'], rows, none)
}

const draw = ({ brCode }: { brCode?: string | undefined }, switches: Set<string>): string =>
  switches.has('qr') && brCode ? `\n${encodeQR(brCode, 'ascii')}\n` : ''

const create: Command = {
  name: 'charges create',
  summary: 'Create a Pix charge, and show its code and its page.',
  example:
    "vintem charges create --amount 1990 --name 'Maria da Silva' --tax-id 52998224725 --dev-mode",
  operands: [],
  options: {
    ...connectionOptions,
    amount: { value: 'CENTS', required: true, help: 'in cents: 1990 is R$ 19,90' },
    name: { value: 'NAME', required: true, help: 'of the payer' },
    'tax-id': { value: 'TAX_ID', required: true, help: 'CPF or CNPJ of the payer' },
    email: { value: 'EMAIL', help: 'of the payer, who then gets a receipt' },
    phone: { value: 'PHONE', help: 'of the payer' },
    'external-id': { value: 'TEXT', help: 'your own reference' },
    description: { value: 'TEXT', help: 'what the payer reads' },
    'expires-in': { value: 'SECONDS', help: `how long it can be paid (default ${PIX_LIFETIME_S})` },
    'dev-mode': { help: 'no money: vintem charges pay then pays it' },
    ...REPEAT,
    ...QR,
  },
  async run(args): Promise<Answer> {
    const { options, switches } = args
    const { name, 'tax-id': taxId, email, phone } = options
    const body = given({
      amount: readCents(options, 'amount')!,
      customer: given({ name: name!, taxId: taxId!, email, phone }),
      externalId: options['external-id'],
      description: options.description,
      expiresIn: readWhole(options, 'expires-in', 1, 2_147_483_647),
      devMode: switches.has('dev-mode'),
    })
    const idempotencyKey = options['idempotency-key']
    const charge = await inOptions(connect(args).charges.createPix(body, { idempotencyKey }))
    const facts = factsOf([
      ['Charge', charge.id],
      ['Amount', formatReais(charge.amount)],
      ['Expires', localTime(charge.expiresAt)],
      ['Reference', charge.externalId],
      ['Page', charge.url],
      ['Code', charge.brCode],
    ])
    return { json: charge, text: `${facts}${draw(charge, switches)}` }
  },
}

const pay: Command = {
  name: 'charges pay',
  summary: 'Pay a dev-mode charge without money.',
  example: `vintem charges pay ${CHARGE}`,
  operands: ['charge-id'],
  options: connectionOptions,
  async run(args) {
    const state = await connect(args).charges.simulatePayment(args.operands[0]!)
    return { json: state, text: `The charge ${state.id} is ${state.paymentStatus}.\n` }
  },
}

const cancel: Command = {
  name: 'charges cancel',
  summary: 'Cancel an open charge: it can no longer be paid.',
  example: `vintem charges cancel ${CHARGE}`,
  operands: ['charge-id'],
  options: connectionOptions,
  async run(args) {
    const state = await connect(args).charges.cancel(args.operands[0]!)
    return { json: state, text: `The charge ${state.id} is ${state.status}.\n` }
  },
}

const refund: Command = {
  name: 'charges refund',
  summary: 'Return the money of a paid charge, whole or in part.',
  example: `vintem charges refund ${CHARGE} --amount 500 --comment 'One item was out of stock'`,
  operands: ['charge-id'],
  options: {
    ...connectionOptions,
    amount: { value: 'CENTS', help: 'in cents (default all that has not gone back yet)' },
    comment: { value: 'TEXT', help: 'what the payer reads' },
    ...REPEAT,
  },
  async run(args) {
    const { options } = args
    const body = given({ value: readCents(options, 'amount'), comment: options.comment })
    const idempotencyKey = options['idempotency-key']
    const made = connect(args).refunds.create(args.operands[0]!, body, { idempotencyKey })
    const started = await inOptions(made, { value: 'amount' })
    return {
      json: started,
      text: `The refund ${started.id} of ${formatReais(started.value)} is ${started.status}.\n`,
    }
  },
}

const listRefunds: Command = {
  name: 'refunds list',
  summary: 'List the refunds of a charge, newest first.',
  example: `vintem refunds list ${CHARGE}`,
  operands: ['charge-id'],
  options: { ...connectionOptions, ...limitOption('refunds') },
  async run(args) {
    const limit = readLimit(args)
    const refunds = connect(args).refunds.list(args.operands[0]!, { limit: pageOf(limit) })
    const found = await take(refunds, limit)
    return { json: found, text: refundTable(found, 'No refunds.') }
  },
}

export const chargeCommands = [list, show, create, pay, cancel, refund, listRefunds]
