import type { Vintem } from '../../../packages/client/src/index.ts'
import { formatReais } from '../../lib/money.ts'
import type { Command } from '../command.ts'
import { connect, connectionOptions } from './connection.ts'
import { given, inOptions, limitOption, pageOf, readLimit, take } from './input.ts'
import { factsOf, localTime, tableOf } from './output.ts'

const show: Command = {
  name: 'balance show',
  summary: 'Show what the company has, and how much of it can be withdrawn.',
  example: 'vintem balance show',
  operands: [],
  options: connectionOptions,
  async run(args) {
    const balance = await connect(args).balance.get()
    const { available, pending, held, unmatched, recipients, disputed } = balance
    const reais = (cents: number | undefined) => (cents === undefined ? null : formatReais(cents))
    const text = factsOf([
      ['Available', reais(available)],
      ['Pending', reais(pending)],
      ['Held', reais(held)],
      ['Unmatched', reais(unmatched)],
      ['Of recipients', reais(recipients)],
      ['Disputed', reais(disputed)],
    ])
    return { json: balance, text }
  },
}

type Query = Parameters<Vintem['balance']['statement']>[0] & object

const statement: Command = {
  name: 'balance statement',
  summary: 'List what has changed the balance, newest first.',
  example: 'vintem balance statement --from 2026-08-01T03:00:00Z --type CHARGE_PAID',
  operands: [],
  options: {
    ...connectionOptions,
    from: { value: 'TIME', help: 'from this moment on' },
    to: { value: 'TIME', help: 'before this moment' },
    type: { value: 'TYPE', help: 'only this kind, such as CHARGE_PAID' },
    account: { value: 'ACCOUNT', help: 'only what has changed this balance, such as available' },
    ...limitOption('entries'),
  },
  async run(args) {
    const { from, to, type, account } = args.options
    const limit = readLimit(args)
    const query = given({
      from,
      to,
      type: type as Query['type'],
      account: account as Query['account'],
      limit: pageOf(limit),
    })
    const found = await inOptions(take(connect(args).balance.statement(query), limit))
    const rows = found.map((entry) => [
      localTime(entry.createdAt),
      entry.type,
      formatReais(entry.amount),
      `${entry.debit} → ${entry.credit}`,
      entry.reference,
      formatReais(entry.balance.available),
    ])
    const heading = ['TIME', 'TYPE', 'AMOUNT', 'MOVED', 'REFERENCE', 'AVAILABLE']
    return { json: found, text: tableOf(heading, rows, 'No entries.') }
  },
}

export const balanceCommands = [show, statement]
