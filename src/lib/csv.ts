/**
 * Money is told apart from other numbers, and a code from other text: people read them otherwise
 * than programs do. `signed` is what people read of an amount, with a minus where it leaves.
 */
export type Cell =
  | string
  | number
  | boolean
  | Date
  | { cents: number; signed?: number }
  | { code: string; word: string }
  | null

/** A column: its name for programs, its title for people in Brazil, what it says of a record. */
export type Column<T> = { name: string; title: string; of(record: T): Cell }

/** A way to write a table. */
export type Dialect = {
  start: string
  separator: string
  heading: 'name' | 'title'
  money(amount: { cents: number; signed?: number }): string
  term(term: { code: string; word: string }): string
  time(date: Date): string
  flag(value: boolean): string
}

/** For programs, as RFC 4180 has it: integer cents, and times as the API writes them. */
export const PLAIN: Dialect = {
  start: '',
  separator: ',',
  heading: 'name',
  money: ({ cents }) => String(cents),
  term: ({ code }) => code,
  time: (date) => date.toISOString(),
  flag: String,
}

const saoPaulo = new Intl.DateTimeFormat('pt-BR', {
  timeZone: 'America/Sao_Paulo',
  ...{ day: '2-digit', month: '2-digit', year: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
})

/**
 * For spreadsheets in Brazil, where the comma is the decimal one. A byte order mark tells them that
 * a file is UTF-8.
 */
export const BRAZILIAN: Dialect = {
  start: '\uFEFF',
  separator: ';',
  heading: 'title',
  money: ({ cents, signed = cents }) => {
    const digits = String(Math.abs(signed))
      .padStart(3, '0')
      .replace(/(?=..$)/, ',')
    return signed < 0 ? `-${digits}` : digits
  },
  term: ({ word }) => word,
  time: (date) => saoPaulo.format(date).replace(',', ''),
  flag: (value) => (value ? 'sim' : 'não'),
}

/** What a file starts with, and its line for a record. */
export type Writer<T> = { heading: string; line(record: T): string }

export const csvWriter = <T>(columns: Column<T>[], dialect: Dialect): Writer<T> => ({
  heading: dialect.start + line(dialect, ...columns.map((column) => column[dialect.heading])),
  line: (record) => line(dialect, ...columns.map(({ of }) => of(record))),
})

const line = (dialect: Dialect, ...cells: Cell[]): string =>
  `${cells.map((cell) => write(cell, dialect)).join(dialect.separator)}\r\n`

function write(cell: Cell, { money, term, time, flag }: Dialect): string {
  if (cell === null) return ''
  if (typeof cell === 'string') return quote(disarm(cell))
  if (typeof cell === 'boolean') return flag(cell)
  if (cell instanceof Date) return time(cell)
  if (typeof cell === 'number') return String(cell)
  return 'cents' in cell ? money(cell) : quote(disarm(term(cell)))
}

/**
 * A spreadsheet calculates what starts like a formula, and payers choose their names. After an
 * apostrophe it is text.
 */
const disarm = (text: string): string =>
  /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(text) ? `'${text}` : text

/** Whichever separator a reader takes, a cell stays one cell. */
const quote = (text: string): string =>
  /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
