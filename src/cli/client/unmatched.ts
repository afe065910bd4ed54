import type { UnmatchedPayment } from '../../../packages/client/src/index.ts'
import { PAYMENT_STATES } from '../../core/payments/rules.ts'
import { formatReais } from '../../lib/money.ts'
import { type Command, UsageFault } from '../command.ts'
import { connect, connectionOptions } from './connection.ts'
import { given, inOptions, limitOption, pageOf, REPEAT, readLimit, take } from './input.ts'
import { cell, factsOf, localTime, tableOf } from './output.ts'

const PAYMENT = 'E9999999920260820150000000000001'
const CHARGE = 'charge_01k4d5cjd4fv8sgzq9bqyr0vzj'

type Filtered = Exclude<UnmatchedPayment['status'], 'DISPUTED'>
const STATES = PAYMENT_STATES.filter((state) => state !== 'MATCHED' && state !== 'DISPUTED')

const list: Command = {
  name: 'unmatched list',
  summary: 'List money that arrived late, twice, in another amount or for no charge.',
  example: 'vintem unmatched list',
  operands: [],
  options: {
    ...connectionOptions,
    status: { value: 'STATUS', choices: STATES, help: `${STATES.join(', ')} (default UNMATCHED)` },
    ...limitOption('payments'),
  },
  async run(args) {
    const limit = readLimit(args)
    const status = args.options.status as Filtered | undefined
    const query = given({ status, limit: pageOf(limit) })
    const found = await take(connect(args).payments.listUnmatched(query), limit)
    const rows = found.map((payment) => [
      payment.endToEndId,
      formatReais(payment.amount),
      payment.reason,
      payment.status,
      localTime(payment.receivedAt),
      cell(payment.payer?.name),
      cell(payment.chargeId),
    ])
    const heading = ['END-TO-END ID', 'AMOUNT', 'REASON', 'STATUS', 'RECEIVED', 'PAYER', 'CHARGE']
    return { json: found, text: tableOf(heading, rows, 'No unmatched payments.') }
  },
}

const suggest: Command = {
  name: 'unmatched suggest',
  summary: 'Suggest charges that an unmatched payment may be for.',
  example: `vintem unmatched suggest ${PAYMENT}`,
  operands: ['end-to-end-id'],
  options: connectionOptions,
  async run(args) {
    const found = await connect(args).payments.suggestions(args.operands[0]!)
    const rows = found.map(({ chargeId, amount, status, externalId, reason }) => [
      chargeId,
      formatReais(amount),
      status,
      cell(externalId),
      cell(reason),
    ])
    const heading = ['CHARGE ID', 'AMOUNT', 'STATUS', 'REFERENCE', 'WHY']
    return { json: found, text: tableOf(heading, rows, 'No charge is likely.') }
  },
}

const describe = (payment: UnmatchedPayment): string =>
  factsOf([
    ['Payment', payment.endToEndId],
    ['Amount', formatReais(payment.amount)],
    ['Status', payment.status],
    ['Returned', payment.returned ? formatReais(payment.returned) : null],
    ['Settled', payment.settled?.chargeId],
    ['Short by', payment.settled?.shortfall ? formatReais(payment.settled.shortfall) : null],
  ])

const accept: Command = {
  name: 'unmatched accept',
  summary: 'Keep an unmatched payment, or settle a charge with it.',
  example: `vintem unmatched accept ${PAYMENT} --charge ${CHARGE}`,
  operands: ['end-to-end-id'],
  options: {
    ...connectionOptions,
    charge: { value: 'CHARGE_ID', help: 'this charge is paid by it (default none)' },
    difference: {
      value: 'keep|refund',
      choices: ['keep', 'refund'],
      help: 'what is done with money beyond the total of the charge',
    },
    ...REPEAT,
  },
  async run(args) {
    const { charge: chargeId, difference, 'idempotency-key': idempotencyKey } = args.options
    if (difference !== undefined && chargeId === undefined)
      throw new UsageFault('--difference goes with --charge.')
    const body = given({ chargeId, difference: difference as 'keep' | 'refund' | undefined })
    const request = connect(args).payments.accept(args.operands[0]!, body, { idempotencyKey })
    const payment = await inOptions(request, { chargeId: 'charge' })
    return { json: payment, text: describe(payment) }
  },
}

const refund: Command = {
  name: 'unmatched refund',
  summary: 'Return an unmatched payment to its payer.',
  example: `vintem unmatched refund ${PAYMENT}`,
  operands: ['end-to-end-id'],
  options: {
    ...connectionOptions,
    comment: { value: 'TEXT', help: 'what the payer reads' },
    ...REPEAT,
  },
  async run(args) {
    const { comment, 'idempotency-key': idempotencyKey } = args.options
    const body = given({ comment })
    const made = connect(args).payments.refund(args.operands[0]!, body, { idempotencyKey })
    const started = await inOptions(made)
    const text = `The refund ${started.id} of ${formatReais(started.value)} is ${started.status}.\n`
    return { json: started, text }
  },
}

export const unmatchedCommands = [list, suggest, accept, refund]
