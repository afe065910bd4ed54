import { type Line, type Reconciliation, reconcileBank } from '../core/banks/reconcile.ts'
import type { Company } from '../core/companies/rules.ts'
import { addDays, isLocalDate, startOfDay } from '../lib/local-time.ts'
import { formatReais } from '../lib/money.ts'
import type { Period } from '../provider/port.ts'
import { type Args, type Command, columns } from './command.ts'
import { requireNone } from './faults.ts'
import { requireCompany, time } from './records.ts'
import { withApp } from './session.ts'

const DAY = { value: 'DATE', required: true } as const

export const reconcile: Command = {
  name: 'bank reconcile',
  summary: 'Compare what a bank has moved in a period with the records here.',
  operands: [],
  options: {
    company: { value: 'COMPANY_ID', required: true, help: 'the company whose bank it is' },
    from: { ...DAY, help: 'the first day, yyyy-mm-dd, in São Paulo' },
    to: { ...DAY, help: 'the last day, yyyy-mm-dd, in São Paulo' },
    settle: { help: 'settle what the bank has and is missing here' },
  },
  async run({ options, switches }) {
    const period = readPeriod(options)
    const settle = switches.has('settle')
    return withApp(async (app) => {
      const company = await requireCompany(app.db, options.company!)
      const result = await reconcileBank(app, company, period, { settle })
      const text = describe(company, result, settle)
      return { json: result, text, failed: result.missing.length > 0 }
    })
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

function describe(company: Company, result: Reconciliation, settle: boolean): string {
  const { matched, unmatched, missing, settled } = result
  const counts = [
    ['matched', String(matched.count), formatReais(matched.amount)],
    ['unmatched', String(unmatched.length), total(unmatched)],
    ['missing', String(missing.length), total(missing)],
  ]
  const done = settle ? `\nSettled now: ${settled}.\n` : ''
  return `${columns(counts)}${table('Unmatched', unmatched)}${table('Missing', missing)}${done}${advice(company, result, settle)}`
}

const total = (lines: Line[]): string =>
  formatReais(lines.reduce((sum, { amount }) => sum + amount, 0) as Line['amount'])

function table(title: string, lines: Line[]): string {
  if (lines.length === 0) return ''
  const rows = lines.map(({ at, direction, amount, endToEndId, about }) => [
    ...[time(at), direction, formatReais(amount), endToEndId, about],
  ])
  return `\n${title}:\n${columns(rows, '  ')}`
}

function advice({ name }: Company, { unmatched, missing }: Reconciliation, settle: boolean) {
  if (missing.length > 0 && !settle)
    return '\nRun it with --settle to settle what is missing here.\n'
  if (missing.length > 0) return `\nWhat is missing still needs somebody to look at ${name}.\n`
  if (unmatched.length > 0) return '\nUnmatched payments are accepted or returned by the API.\n'
  return '\nThe bank and the records here agree.\n'
}
