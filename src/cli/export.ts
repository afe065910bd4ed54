import {
  type DatedEntry,
  ENTRY_COLUMNS,
  PEOPLE_ENTRY_COLUMNS,
  withDates,
} from '../core/balance/table.ts'
import { showEntry } from '../core/balance/view.ts'
import { CSV_COLUMNS, csvColumnsForPeople } from '../core/charges/csv.ts'
import { asOf, type Charge } from '../core/charges/rules.ts'
import { listMade } from '../core/charges/store.ts'
import { locate } from '../core/places/directory.ts'
import type { Tx } from '../db/database.ts'
import { readStatement } from '../ledger/statement.ts'
import { systemClock } from '../lib/clock.ts'
import { type Cell, type Column, csvWriter, type Dialect, PLAIN, type Writer } from '../lib/csv.ts'
import type { Uuid } from '../lib/ids.ts'
import { invalid } from '../lib/problems.ts'
import type { Vault } from '../lib/vault.ts'
import { BRAZILIAN } from '../pix/brazilian-csv.ts'
import { addDays, isLocalDate, startOfDay } from '../pix/local-time.ts'
import { type Args, type Command, type Print, Refusal } from './command.ts'
import { intoNewFile, newFileFault } from './new-file.ts'
import { requireCompany } from './records.ts'
import { type Session, withDatabase } from './session.ts'
import { typedPath } from './typed-path.ts'

/** From `from` on and before `to`. */
type Period = { from: Date; to: Date }

/** Records that can be exported. They are read in pages, so that any period fits into memory. */
type Table<T> = {
  columns(vault: Vault, dialect: Dialect | null): Column<T>[]
  read(tx: Tx, companyId: Uuid, period: Period): AsyncIterable<T[]>
}

const PAGE_SIZE = 100

async function* pages<T, Cursor>(
  read: (after: Cursor | null) => Promise<T[]>,
  cursorOf: (last: T) => Cursor,
): AsyncGenerator<T[]> {
  for (let after: Cursor | null = null; ; ) {
    const page = await read(after)
    yield page
    if (page.length < PAGE_SIZE) return
    after = cursorOf(page.at(-1)!)
  }
}

const charges: Table<Charge> = {
  columns: (vault, dialect) => (dialect === BRAZILIAN ? csvColumnsForPeople(vault) : CSV_COLUMNS),
  async *read(tx, companyId, period) {
    const now = systemClock.now()
    const read = (after: Uuid | null) =>
      listMade(tx, companyId, { ...period, after, limit: PAGE_SIZE })
    for await (const page of pages(read, ({ id }) => id)) {
      yield page.map((charge) => asOf(charge, now))
    }
  },
}

const statement: Table<DatedEntry> = {
  columns: (_, dialect) => (dialect === BRAZILIAN ? PEOPLE_ENTRY_COLUMNS : ENTRY_COLUMNS),
  async *read(tx, companyId, period) {
    const filter = { ...period, order: 'oldest first', kind: null, account: null } as const
    const read = (after: number | null) =>
      readStatement(tx, companyId, { ...filter, after, limit: PAGE_SIZE })
    for await (const page of pages(read, ({ entry }) => entry)) {
      yield await withDates(tx, companyId, page.map(showEntry))
    }
  },
}

const FORMATS = new Map([
  ['csv', PLAIN],
  ['br', BRAZILIAN],
])

const jsonWriter = <T>(columns: Column<T>[]): Writer<T> => ({
  heading: '',
  line(record) {
    const fields = columns.map(({ name, of }) => [name, plain(of(record))])
    return `${JSON.stringify(Object.fromEntries(fields))}\n`
  },
})

function plain(cell: Cell) {
  if (!(cell instanceof Object) || cell instanceof Date) return cell
  return 'cents' in cell ? cell.cents : cell.code
}

type Wanted = { period: Period; dialect: Dialect | null; output: string | null }

/** Reads the options. All faults are reported together, before the database is opened. */
function readWanted({ options, switches }: Args): Wanted {
  const { from = '', to = '', format } = options
  const output = options.output === undefined ? null : typedPath(options.output)
  const json = switches.has('json')
  const dialect = FORMATS.get(format ?? 'csv')
  const faults = [
    isLocalDate(from) ? null : '--from: must be a day such as 2026-08-01',
    isLocalDate(to) ? null : '--to: must be a day such as 2026-08-31',
    isLocalDate(from) && isLocalDate(to) && to < from ? '--to: must not be before --from' : null,
    dialect ? null : `--format: must be one of ${[...FORMATS.keys()].join(', ')}`,
    json && format ? '--format: is for CSV, and --json asks for JSON lines' : null,
    output && newFileFault('--output', output),
  ]
  const [first, ...others] = faults.filter((fault) => fault !== null)
  if (first) throw invalid(first, ...others)
  const period = { from: startOfDay(from), to: startOfDay(addDays(to, 1)) }
  return { period, dialect: json ? null : dialect!, output }
}

async function copy<T>(
  pages: AsyncIterable<T[]>,
  { heading, line }: Writer<T>,
  print: Print,
): Promise<number> {
  let count = 0
  await print(heading)
  for await (const page of pages) {
    await print(page.map(line).join(''))
    count += page.length
  }
  return count
}

/** A place that the company has left loses its rows, so perhaps not all of them were read. */
async function requireUnmoved({ db, databases }: Session, companyId: Uuid): Promise<void> {
  if (databases.length === 1) return
  const place = await locate(databases, companyId)
  if (place === null || databases[place] !== db)
    throw new Refusal('The company was moved while it was exported: run the command again.')
}

const DAY = { value: 'DATE', required: true } as const

function exporting<T>(noun: string, what: string, table: Table<T>): Command {
  return {
    name: `export ${noun}`,
    summary: `Write ${what}, as CSV or with --json as JSON lines.`,
    example: `vintem export ${noun} --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80 --from 2026-08-01 --to 2026-08-31 --output ${noun}.csv`,
    operands: [],
    options: {
      company: { value: 'COMPANY_ID', required: true, help: 'the company it belongs to' },
      from: { ...DAY, help: 'the first day, yyyy-mm-dd, in São Paulo' },
      to: { ...DAY, help: 'the last day, yyyy-mm-dd, in São Paulo' },
      format: { value: 'FORMAT', help: 'csv (default), or br for spreadsheets in Brazil' },
      output: { value: 'FILE', help: 'a new file to write (default standard output)' },
    },
    async run(args, print) {
      const { period, dialect, output } = readWanted(args)
      const copyTo = (target: Print) =>
        withDatabase(async (session) => {
          const { db, vault } = session
          const company = await requireCompany(db, args.options.company!)
          const columns = table.columns(vault, dialect)
          const writer = dialect ? csvWriter(columns, dialect) : jsonWriter(columns)
          const count = await copy(table.read(db, company.id, period), writer, target)
          await requireUnmoved(session, company.id)
          return count
        }, args.options.company)
      if (output === null) return copyTo(print).then(() => null)
      const records = await intoNewFile(output, (file) => copyTo((text) => file.appendFile(text)))
      return { json: { output, records }, text: `${records} records are in ${output}.\n` }
    },
  }
}

export const exportCommands = [
  exporting('charges', 'the charges made in a period', charges),
  exporting('statement', 'the ledger entries of a period, oldest first', statement),
]
