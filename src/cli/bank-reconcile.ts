import { recordActivity } from '../core/activity/record.ts'
import type { Company } from '../core/companies/rules.ts'
import {
  type ComparedTransfer,
  type Comparison,
  compareWithBank,
} from '../core/reconciliation/compare.ts'
import { type Cents, formatReais } from '../lib/money.ts'
import { addDays, isLocalDate, startOfDay } from '../pix/local-time.ts'
import type { Period } from '../provider/port.ts'
import { commandAuthor } from './author.ts'
import { type Args, type Command, columns } from './command.ts'
import { requireNone } from './faults.ts'
import { requireCompany, time } from './records.ts'
import { withApp } from './session.ts'

const DAY = { value: 'DATE', required: true } as const

export const reconcile: Command = {
  name: 'bank reconcile',
  summary: 'Compare what a bank has moved in a period with the records here.',
  example:
    'vintem bank reconcile --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80 --from 2026-08-01 --to 2026-08-31',
  operands: [],
  options: {
    company: { value: 'COMPANY_ID', required: true, help: 'the company whose bank it is' },
    from: { ...DAY, help: 'the first day, yyyy-mm-dd, in São Paulo' },
    to: { ...DAY, help: 'the last day, yyyy-mm-dd, in São Paulo' },
    settle: { help: 'settle what the bank has and is missing here' },
  },
  async run({ options, switches }) {
    const period = readPeriod(options)
    const recordMissing = switches.has('settle')
    return withApp(async (app) => {
      const company = await requireCompany(app.db, options.company!)
      // Each payment is booked in its own transaction, so the entry is there before them.
      if (recordMissing) {
        await recordActivity(app.db, company.id, commandAuthor(), {
          action: 'bank.reconcile',
          record: { type: 'company', id: company.id },
          details: { from: options.from!, to: options.to! },
        })
      }
      const result = await compareWithBank(app, company, period, { recordMissing })
      const text = describe(company, result, recordMissing)
      const { recorded: settled, ...compared } = result
      return { json: { ...compared, settled }, text, failed: result.missing.length > 0 }
    }, options.company)
  },
}

function readPeriod({ from = '', to = '' }: Args['options']): Period {
  const [isFrom, isTo] = [isLocalDate(from), isLocalDate(to)]
  requireNone([
    isFrom ? null : '--from: must be a day such as 2026-08-01',
    isTo ? null : '--to: must be a day such as 2026-08-31',
    isFrom && isTo && to < from ? '--to: must not be before --from' : null,
  ])
  return { from: startOfDay(from), to: startOfDay(addDays(to, 1)) }
}

function describe(company: Company, result: Comparison, recordMissing: boolean): string {
  const { matched, unmatched, missing, recorded } = result
  const counts = [
    ['matched', String(matched.count), formatReais(matched.amount)],
    ['unmatched', String(unmatched.length), total(unmatched)],
    ['missing', String(missing.length), total(missing)],
  ]
  const done = recordMissing ? `\nSettled now: ${recorded}.\n` : ''
  return `${columns(counts)}${table('Unmatched', unmatched)}${table('Missing', missing)}${done}${advice(company, result, recordMissing)}`
}

const total = (transfers: ComparedTransfer[]): string =>
  formatReais(transfers.reduce((sum, { amount }) => sum + amount, 0) as Cents)

function table(title: string, transfers: ComparedTransfer[]): string {
  if (transfers.length === 0) return ''
  const rows = transfers.map(({ at, direction, amount, endToEndId, about }) => [
    time(at),
    direction,
    formatReais(amount),
    endToEndId,
    about,
  ])
  return `\n${title}:\n${columns(rows, '  ')}`
}

function advice({ name }: Company, { unmatched, missing }: Comparison, recordMissing: boolean) {
  if (missing.length > 0 && !recordMissing)
    return '\nRun it with --settle to settle what is missing here.\n'
  if (missing.length > 0) return `\nWhat is missing still needs somebody to look at ${name}.\n`
  if (unmatched.length > 0) return '\nUnmatched payments are accepted or returned by the API.\n'
  return '\nThe bank and the records here agree.\n'
}
