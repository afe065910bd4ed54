import { ascending, listOfAll } from '../core/places/across.ts'
import { keyOf } from '../core/withdrawals/destinations.ts'
import { completeManually, failManually } from '../core/withdrawals/manual-payouts.ts'
import type { Withdrawal } from '../core/withdrawals/rules.ts'
import { listWaiting, type WaitingPayout } from '../core/withdrawals/store.ts'
import { fromPublic, toPublic, type Uuid } from '../lib/ids.ts'
import { formatReais } from '../lib/money.ts'
import { type Answer, type Command, columns, Refusal } from './command.ts'
import { inOptions } from './faults.ts'
import { requireCompany, time } from './records.ts'
import { commandAuthor, withApp } from './session.ts'

const list: Command = {
  name: 'withdrawal list',
  summary: 'List the withdrawals that wait for you to send them.',
  example: 'vintem withdrawal list --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80',
  operands: [],
  options: { company: { value: 'COMPANY_ID', help: 'only of this company (default all)' } },
  run: ({ options }) =>
    withApp(async (app) => {
      const company = options.company ? await requireCompany(app.db, options.company) : null
      const found = company
        ? await listWaiting(app.db, company.id)
        : await listOfAll(app, (db) => listWaiting(db, null), {
            companyOf: ({ companyId }) => companyId,
            compare: ascending(({ id }) => id),
          })
      const waiting = found.map((one) => ({ ...one, destination: keyOf(app.vault, one) }))
      return { json: waiting.map(show), text: table(waiting) }
    }, options.company),
}

const show = ({ id, orderedAt, differs, keySealed: _, ...fields }: WaitingPayout) => ({
  id: toPublic('wd', id),
  ...fields,
  note: noteOf({ orderedAt, differs }),
})

/** What to check before the money is sent. */
function noteOf({
  orderedAt,
  differs,
}: Pick<WaitingPayout, 'orderedAt' | 'differs'>): string | null {
  if (differs) return 'the books differ: run vintem ledger audit before you send it'
  if (orderedAt === null) return null
  return `the bank was ordered to send it on ${time(orderedAt)}: check its statement first`
}

function table(waiting: WaitingPayout[]): string {
  if (waiting.length === 0) return 'No withdrawal waits for you.\n'
  const heading = ['WITHDRAWAL ID', 'VALUE', 'TO PIX KEY', 'CONFIRMED', 'COMPANY', 'NOTE']
  const rows = waiting.map(({ id, value, destination, confirmedAt, companyName, ...rest }) => [
    toPublic('wd', id),
    formatReais(value),
    destination,
    time(confirmedAt),
    companyName,
    noteOf(rest) ?? '',
  ])
  return (
    `${columns([heading, ...rows])}\n` +
    'Send each by Pix from the account of its company, then say so:\n' +
    '  vintem withdrawal complete <withdrawal-id> --end-to-end-id <id on the receipt>\n' +
    '  vintem withdrawal fail <withdrawal-id> --reason <why it cannot be sent>\n'
  )
}

const complete: Command = {
  name: 'withdrawal complete',
  summary: 'Say that you have sent a withdrawal: its money has left.',
  example:
    'vintem withdrawal complete wd_01k4d5cjd4fv8sgzq9bqyr0vzj --end-to-end-id E12345678202608161200abcdefghijk',
  operands: ['withdrawal-id'],
  options: {
    'end-to-end-id': { value: 'ID', required: true, help: 'of the Pix: E and 31 more characters' },
  },
  run: ({ operands, options }) => finish(operands[0]!, completeManually, options['end-to-end-id']!),
}

const fail: Command = {
  name: 'withdrawal fail',
  summary: 'Say that a withdrawal cannot be sent: its money is available again.',
  example: "vintem withdrawal fail wd_01k4d5cjd4fv8sgzq9bqyr0vzj --reason 'The account is closed'",
  operands: ['withdrawal-id'],
  options: {
    reason: { value: 'TEXT', required: true, help: 'why, for the company, which gets it by mail' },
  },
  run: ({ operands, options }) => finish(operands[0]!, failManually, options.reason!),
}

async function finish(
  text: string,
  act: typeof completeManually | typeof failManually,
  word: string,
): Promise<Answer> {
  const id = idOf(text)
  const withdrawal = await inOptions(() => withApp((app) => act(app, id, word, commandAuthor())))
  return answer(withdrawal)
}

function idOf(text: string): Uuid {
  const id = fromPublic('wd', text)
  if (id) return id
  throw new Refusal(`${text} is not the id of a withdrawal, which is wd_ and 26 characters.`)
}

function answer({ id, status, value, endToEndId, failure }: Withdrawal): Answer {
  const name = `The withdrawal ${toPublic('wd', id)} of ${formatReais(value)}`
  const text =
    status === 'COMPLETED'
      ? `${name} is COMPLETED as ${endToEndId}. The company is notified.\n`
      : `${name} is FAILED (${failure}). Its money is available again, and the company is notified.\n`
  return { json: { id: toPublic('wd', id), status, value, endToEndId, failure }, text }
}

export const withdrawalCommands = [list, complete, fail]
