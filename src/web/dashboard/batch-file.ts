import { isUtf8 } from 'node:buffer'
import { DAYS_AFTER_DUE } from '../../core/charges/view.ts'
import type { Company } from '../../core/companies/rules.ts'
import { checkDigitsFault } from '../../core/customers/rules.ts'
import { readCsv } from '../../lib/csv.ts'
import { EMAIL_FORM } from '../../lib/mailbox.ts'
import { readReais } from '../../lib/money.ts'
import { forEachInTurns } from '../../lib/turns.ts'
import { MAX_AMOUNT, MIN_CHARGE } from '../../pix/amounts.ts'
import { isLocalDate, type LocalDate } from '../../pix/local-time.ts'
import { isTaxIdShape } from '../../pix/tax-id.ts'
import { toPlain } from '../../pix/written.ts'

/** The columns of a file of charges, by the names that its first line has. */
export const COLUMNS = [
  'valor',
  'nome',
  'cpf_cnpj',
  'email',
  'telefone',
  'vencimento',
  'dias_apos',
  'multa',
  'juros',
  'descricao',
  'referencia',
] as const
export type ColumnName = (typeof COLUMNS)[number]
export const REQUIRED: ColumnName[] = ['valor', 'nome', 'cpf_cnpj']

export const MAX_FILE_BYTES = 512 * 1024
const MAX_SHOWN = 255

/** A line of the file: the charge that it asks for, and the columns that are wrong. */
export type Line = {
  line: number
  cells: Partial<Record<ColumnName, string>>
  charge: Record<string, unknown>
  wrong: ColumnName[]
}

export type BatchFile = {
  lines: Line[]
  /** Columns that must be there and are not, and headings that are no column. */
  missing: ColumnName[]
  unknown: string[]
}

/** Files of older spreadsheets are in the code page of Windows. */
export const textOf = (file: Buffer): string =>
  new TextDecoder(isUtf8(file) ? 'utf-8' : 'windows-1252').decode(file)

const plainName = (heading: string): string =>
  heading
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .trim()
    .replaceAll(/[^a-z0-9]+/g, '_')

/** Reads a file of charges, in turns of the event loop. */
export async function readBatchFile(
  text: string,
  company: Company,
  today: LocalDate,
): Promise<BatchFile> {
  const [heading, ...rows] = readCsv(text.replace(/^\uFEFF/, ''))
  const names = (heading?.cells ?? []).map(plainName)
  const at = new Map(COLUMNS.map((name) => [name, names.indexOf(name)]))
  const lines: Line[] = []
  await forEachInTurns(company.id, rows, ({ line, cells }) => {
    const cellOf = (name: ColumnName) => (cells[at.get(name)!] ?? '').trim()
    lines.push({ line, ...readLine(cellOf, company, today) })
  })
  return {
    lines,
    missing: REQUIRED.filter((name) => at.get(name) === -1),
    unknown: names.filter((name) => name !== '' && !(COLUMNS as readonly string[]).includes(name)),
  }
}

type CellOf = (name: ColumnName) => string

function readLine(cellOf: CellOf, company: Company, today: LocalDate): Omit<Line, 'line'> {
  const filled = COLUMNS.filter((name) => cellOf(name) !== '')
  const wrong = COLUMNS.filter((name) => {
    const text = cellOf(name)
    return text === '' ? REQUIRED.includes(name) : !RULES[name](text, company, today)
  })
  // Terms without a due date would be left out.
  const needsDay = filled.some((name) => TERMS.includes(name)) && cellOf('vencimento') === ''
  if (needsDay) wrong.push('vencimento')
  const cells = Object.fromEntries(filled.map((name) => [name, cellOf(name).slice(0, MAX_SHOWN)]))
  return { cells, charge: wrong.length === 0 ? chargeOf(cellOf) : {}, wrong }
}

const TERMS: ColumnName[] = ['dias_apos', 'multa', 'juros']
const ALL_PERCENT = 10_000

const isPercent = (text: string): boolean => {
  const value = readReais(text.replace('%', ''))
  return value !== null && value > 0 && value <= ALL_PERCENT
}

/** Whether the text of a cell that is filled in can be read. */
const RULES: Record<ColumnName, (text: string, company: Company, today: LocalDate) => boolean> = {
  valor: (text) => {
    const amount = readReais(text)
    return amount !== null && amount >= MIN_CHARGE && amount <= MAX_AMOUNT
  },
  nome: (text) => text.length <= 255,
  cpf_cnpj: (text, company) => {
    const taxId = toPlain('tax-id', text)
    return isTaxIdShape(taxId) && checkDigitsFault(company, taxId, '') === null
  },
  email: (text) => text.length <= 254 && EMAIL_FORM.test(text),
  telefone: (text) => /^\d{10,11}$/.test(toPlain('phone', text)),
  vencimento: (text, _company, today) => (dayOf(text) ?? '') >= today,
  dias_apos: (text) => /^\d{1,3}$/.test(text) && Number(text) <= 365,
  multa: isPercent,
  juros: isPercent,
  descricao: (text) => [...text].length <= 140,
  referencia: (text) => [...text].length <= 255,
}

/** A day as people write it, dd/mm/aaaa, or as programs do. */
function dayOf(text: string): LocalDate | null {
  const found = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})$/.exec(text)
  const day = found
    ? `${found[3]}-${found[2]!.padStart(2, '0')}-${found[1]!.padStart(2, '0')}`
    : text
  return isLocalDate(day) ? day : null
}

/** The charge in the words of the API. */
function chargeOf(cellOf: CellOf): Record<string, unknown> {
  const given = <T>(name: ColumnName, field: string, read: (text: string) => T) =>
    cellOf(name) === '' ? {} : { [field]: read(cellOf(name)) }
  const same = (text: string) => text
  const percent = (type: string) => (text: string) => ({
    type,
    value: readReais(text.replace('%', ''))!,
  })
  const customer = {
    name: cellOf('nome'),
    taxId: cellOf('cpf_cnpj'),
    ...given('email', 'email', same),
    ...given('telefone', 'phone', same),
  }
  return {
    amount: readReais(cellOf('valor'))!,
    customer,
    ...given('vencimento', 'dueDate', (text) => dayOf(text)!),
    ...given('dias_apos', 'daysAfterDue', Number),
    ...given('multa', 'fine', percent('PERCENT')),
    ...given('juros', 'interest', percent('PERCENT_PER_MONTH')),
    ...given('descricao', 'description', same),
    ...given('referencia', 'externalId', same),
  }
}

/** A file to begin with. Spreadsheets in Brazil take semicolons, and know UTF-8 by its mark. */
export const SAMPLE = `\uFEFF${[
  COLUMNS.join(';'),
  `1.234,56;Maria da Silva;529.982.247-25;maria@example.com;(11) 98888-7777;10/12/2030;${DAYS_AFTER_DUE};2,00;1,00;Mensalidade de dezembro;pedido-1042`,
  '49,90;João Souza;390.533.447-05;;;;;;;Caneca;pedido-1043',
].join('\r\n')}\r\n`

/** The column that a field of the API is in, for what only the API has refused. */
export function columnOf(path: string): ColumnName | null {
  const known: Record<string, ColumnName> = {
    amount: 'valor',
    'customer.name': 'nome',
    'customer.taxId': 'cpf_cnpj',
    'customer.email': 'email',
    'customer.phone': 'telefone',
    dueDate: 'vencimento',
    daysAfterDue: 'dias_apos',
    fine: 'multa',
    interest: 'juros',
    description: 'descricao',
    externalId: 'referencia',
  }
  const name = Object.keys(known).find((field) => path === field || path.startsWith(`${field}.`))
  return name ? known[name]! : null
}
