/**
 * Money and codes have cells of their own, because people and programs read them differently.
 * `signed` is the amount for people, negative if money leaves.
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

/**
 * The rows of a file in which commas, semicolons or tabs separate cells: whichever the first line
 * has most of. Cells may be quoted. Empty lines are left out, and each row has the number of its
 * line.
 */
export function readCsv(text: string): { line: number; cells: string[] }[] {
  const separator = separatorOf(text)
  const rows: { line: number; cells: string[] }[] = []
  let [cells, cell, line, start] = [[] as string[], '', 1, 1]
  let isQuoted = false
  const endRow = () => {
    // A file may have many empty lines, and they cost nothing.
    if (cells.length === 0 && cell === '') {
      start = line
      return
    }
    cells.push(cell)
    if (cells.some((one) => one.trim() !== '')) rows.push({ line: start, cells })
    ;[cells, cell, start] = [[], '', line]
  }
  for (let i = 0; i < text.length; i++) {
    const letter = text[i]!
    if (letter === '\n') line += 1
    if (isQuoted && letter === '"' && text[i + 1] === '"') {
      cell += '"'
      i += 1
    } else if (letter === '"' && (isQuoted || cell.trim() === '')) isQuoted = !isQuoted
    else if (isQuoted) cell += letter
    else if (letter === separator) {
      cells.push(cell)
      cell = ''
    } else if (letter === '\n') endRow()
    else if (letter !== '\r') cell += letter
  }
  endRow()
  return rows
}

function separatorOf(text: string): string {
  const [first = ''] = text.split('\n', 1)
  const countOf = (letter: string) => first.split(letter).length
  return [';', ',', '\t'].sort((a, b) => countOf(b) - countOf(a))[0]!
}
