import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { type BatchView, MAX_BATCH } from '../../core/charges/batch-view.ts'
import type { Language } from '../../lib/language.ts'
import { formatReais } from '../../lib/money.ts'
import { localDateOf } from '../../pix/local-time.ts'
import { type Html, html } from '../html.ts'
import {
  type BatchFile,
  COLUMNS,
  type ColumnName,
  columnOf,
  type Line,
  MAX_FILE_BYTES,
  REQUIRED,
  readBatchFile,
  SAMPLE,
  textOf,
} from './batch-file.ts'
import { sendCsv } from './csv.ts'
import { backLink, formButtons, tryForm } from './form-parts.ts'
import { NEW } from './new-texts.ts'
import { card, heading, notice, table } from './parts.ts'
import { problemText } from './problem-texts.ts'
import { fileOf } from './uploads.ts'
import type { DashboardRoute, Visit } from './visit.ts'

type Batch = Static<typeof BatchView>

const PATH = '/new/batch'
/** A larger form is refused before it is read. The text of a file is sent back with its preview. */
const MAX_FORM_BYTES = 2 * MAX_FILE_BYTES
/** So many lines are shown of those that are right, and of those that are wrong. */
const [RIGHT_SHOWN, WRONG_SHOWN] = [20, 200]

function send(visit: Visit, body: Html, status = 200): FastifyReply {
  const { title } = NEW[visit.language].kinds.batch
  return visit.send({
    title,
    here: 'new',
    status,
    body: html`${backLink(visit, '/new', NEW[visit.language].title)}${heading(title)}${body}`,
  })
}

/** The form for a file, and what its columns are. */
function show(visit: Visit, fault: string | null = null): FastifyReply {
  const { language, url } = visit
  const texts = BATCH[language]
  const content = html`${fault && notice(fault, 'bad')}<div class="field"><label for="file">${texts.file}</label>
<input id="file" name="file" type="file" accept=".csv,text/csv,text/plain" required aria-describedby="file-hint">
<p class="hint" id="file-hint">${texts.hint}</p></div>
${formButtons(texts.check, html`<a class="button quiet" href="${url(`${PATH}/sample.csv`)}" download>${texts.sample}</a>`)}`
  const form = visit.formOf(url(`${PATH}/preview`), content, { kind: 'card-form', hasFile: true })
  const columns = table(
    texts.columns,
    [
      { title: texts.column, kind: 'main', of: (name) => html`<code>${name}</code>` },
      { title: texts.what, of: (name) => texts.means[name] },
      { title: texts.required, of: (name) => (REQUIRED.includes(name) ? texts.yes : texts.no) },
    ],
    [...COLUMNS],
  )
  const body = html`<p class="soft">${NEW[language].kinds.batch.text}</p>${card(null, form, 'narrow-card')}${card(texts.columns, columns)}`
  return send(visit, body, fault === null ? 200 : 400)
}

/** Why nothing of a file can be taken. */
function faultOf({ lines, missing, unknown }: BatchFile, texts: Texts): string | null {
  if (missing.length > 0) return texts.missing(missing.join(', '))
  if (unknown.length > 0) return texts.unknown(unknown.slice(0, COLUMNS.length).join(', '))
  if (lines.length === 0) return texts.empty
  return lines.length > MAX_BATCH ? texts.tooMany(lines.length) : null
}

const readFile = ({ company, app }: Visit, text: string): Promise<BatchFile> =>
  readBatchFile(text, company, localDateOf(app.clock.now()))

async function preview(visit: Visit): Promise<FastifyReply> {
  const texts = BATCH[visit.language]
  const file = fileOf(visit.request)
  if (!file || file.length === 0) return show(visit, texts.none)
  if (file.length > MAX_FILE_BYTES) return show(visit, texts.large)
  const text = textOf(file)
  const read = await readFile(visit, text)
  const fault = faultOf(read, texts)
  return fault === null ? showPreview(visit, text, read.lines) : show(visit, fault)
}

function showPreview(visit: Visit, text: string, lines: Line[]): FastifyReply {
  const { language, url } = visit
  const texts = BATCH[language]
  const right = lines.filter(({ wrong }) => wrong.length === 0)
  const wrong = lines.filter((line) => line.wrong.length > 0)
  const sum = right.reduce((all, { charge }) => all + Number(charge.amount), 0)
  const content = html`<input type="hidden" name="csv" value="${text}">${formButtons(texts.make(right.length), html`<a class="button quiet" href="${url(PATH)}">${texts.another}</a>`)}`
  const form = visit.formOf(url(PATH), content, { kind: 'card-form', hasFile: true })
  const body = html`${notice(texts.found(right.length, formatReais(sum)), right.length > 0 ? 'good' : 'warn')}
${wrong.length > 0 && notice(texts.left(wrong.length), 'warn')}
${right.length > 0 ? card(null, form, 'narrow-card') : html`<p><a class="button" href="${url(PATH)}">${texts.another}</a></p>`}
${wrong.length > 0 && card(texts.wrongLines, faultTable(visit, wrong.map(faultsOfLine(texts))))}
${right.length > 0 && card(texts.rightLines(Math.min(right.length, RIGHT_SHOWN)), rightTable(visit, right))}`
  return send(visit, body)
}

const rightTable = ({ language }: Visit, lines: Line[]): Html =>
  table(
    BATCH[language].rightLines(RIGHT_SHOWN),
    [
      { title: BATCH[language].line, kind: 'main', of: ({ line }) => String(line) },
      { title: 'nome', of: ({ cells }) => cells.nome ?? '' },
      { title: 'vencimento', of: ({ cells }) => cells.vencimento ?? '–' },
      { title: 'descricao', of: ({ cells }) => cells.descricao ?? '–' },
      { title: 'valor', kind: 'number', of: ({ charge }) => formatReais(Number(charge.amount)) },
    ],
    lines.slice(0, RIGHT_SHOWN),
  )

/** What is wrong in a line, in sentences. */
type Faults = { line: number; faults: string[] }

const faultsOfLine =
  (texts: Texts) =>
  ({ line, wrong, cells }: Line): Faults => ({
    line,
    faults: wrong.map(
      (name) =>
        `${name}: ${cells[name] ? texts.wrong[name] : (texts.needed[name] ?? texts.filled)}`,
    ),
  })

function faultTable({ language }: Visit, all: Faults[]): Html {
  const texts = BATCH[language]
  const shown = all.slice(0, WRONG_SHOWN)
  return html`${table(
    texts.wrongLines,
    [
      { title: texts.line, kind: 'main', of: ({ line }) => String(line) },
      {
        title: texts.fault,
        of: ({ faults }) => html`${faults.map((one) => html`<span class="below">${one}</span>`)}`,
      },
    ],
    shown,
  )}${all.length > shown.length && html`<p class="soft">${texts.more(all.length - shown.length)}</p>`}`
}

/** Creates what is right in the file that the preview has shown. */
async function make(visit: Visit): Promise<FastifyReply> {
  const texts = BATCH[visit.language]
  const { lines } = await readFile(visit, visit.form.csv ?? '')
  const right = lines.filter(({ wrong }) => wrong.length === 0).slice(0, MAX_BATCH)
  if (right.length === 0) return show(visit, texts.empty)
  const body = { charges: right.map(({ charge }) => charge) }
  const { fault, done } = await tryForm(() =>
    visit.operate<Batch>('createChargeBatch', { body, once: visit.form.once }),
  )
  if (fault) return show(visit, problemText(fault.problem.code, visit.language))
  return showResult(visit, right, done.data)
}

function showResult(visit: Visit, lines: Line[], { accepted, items }: Batch): FastifyReply {
  const { language, url } = visit
  const texts = BATCH[language]
  const refused = items.flatMap(({ index, errors }): Faults[] =>
    errors
      ? [{ line: lines[index]!.line, faults: errors.map((one) => refusalText(one, language)) }]
      : [],
  )
  const body = html`${notice(texts.made(accepted), accepted > 0 ? 'good' : 'warn')}
${refused.length > 0 && html`${notice(texts.refused(refused.length), 'bad')}${card(texts.wrongLines, faultTable(visit, refused))}`}
<p class="actions"><a class="button" href="${url('/charges')}">${texts.toCharges}</a><a class="button quiet" href="${url(PATH)}">${texts.another}</a></p>`
  return send(visit, body)
}

function refusalText(
  { code, description }: { code: string; description: string },
  language: Language,
): string {
  const column = code === 'invalid_value' ? columnOf(description.split(':')[0]!) : null
  return column
    ? `${column}: ${BATCH[language].wrong[column]}`
    : problemText(code as Parameters<typeof problemText>[0], language)
}

async function* sample(): AsyncGenerator<string> {
  yield SAMPLE
}

export const newBatchRoutes: DashboardRoute[] = [
  { method: 'GET', path: PATH, needs: 'payments:write', handle: (visit) => show(visit) },
  {
    method: 'GET',
    path: `${PATH}/sample.csv`,
    needs: 'payments:write',
    handle: (visit) => sendCsv(visit, 'cobrancas-exemplo.csv', sample()),
  },
  {
    method: 'POST',
    path: `${PATH}/preview`,
    needs: 'payments:write',
    bodyBytes: MAX_FORM_BYTES,
    handle: preview,
  },
  { method: 'POST', path: PATH, needs: 'payments:write', bodyBytes: MAX_FORM_BYTES, handle: make },
]

const pt = {
  file: 'Arquivo CSV',
  hint: 'Até 1.000 cobranças e 512 KB. Colunas separadas por ponto e vírgula, vírgula ou tabulação; a primeira linha tem os nomes das colunas, em qualquer ordem.',
  check: 'Conferir arquivo',
  sample: 'Baixar exemplo',
  columns: 'Colunas do arquivo',
  column: 'Coluna',
  what: 'O que tem',
  required: 'Obrigatória',
  yes: 'Sim',
  no: 'Não',
  means: {
    valor: 'Em reais: 1.234,56',
    nome: 'Nome de quem paga',
    cpf_cnpj: 'CPF ou CNPJ de quem paga, com ou sem pontuação',
    email: 'E-mail de quem paga',
    telefone: 'Telefone com DDD',
    vencimento: 'Dia: dd/mm/aaaa. Em branco, o Pix vale 30 minutos',
    dias_apos: 'Por quantos dias depois do vencimento ainda pode ser paga; em branco, 30',
    multa: 'Em %, uma vez, se atrasar: 2,00',
    juros: 'Em % ao mês, por dia de atraso: 1,00',
    descricao: 'O cliente lê ao pagar, até 140 caracteres',
    referencia: 'Sua referência, como o número do pedido',
  } satisfies Record<ColumnName, string>,
  wrong: {
    valor: 'informe um valor como 1.234,56, de R$ 5,00 ou mais',
    nome: 'informe um nome de até 255 caracteres',
    cpf_cnpj: 'CPF ou CNPJ inválido: confira os dígitos',
    email: 'informe um e-mail como maria@example.com',
    telefone: 'informe 10 ou 11 dígitos, com DDD',
    vencimento: 'informe um dia como 10/12/2030, de hoje em diante',
    dias_apos: 'informe um número de 0 a 365',
    multa: 'informe uma porcentagem como 2,00',
    juros: 'informe uma porcentagem como 1,00',
    descricao: 'use até 140 caracteres',
    referencia: 'use até 255 caracteres',
  } satisfies Record<ColumnName, string>,
  needed: { vencimento: 'preencha, porque há multa, juros ou dias após o vencimento' } as Partial<
    Record<ColumnName, string>
  >,
  filled: 'preencha',
  none: 'Escolha um arquivo.',
  large: 'O arquivo tem mais de 512 KB. Divida-o e envie as partes.',
  missing: (names: string) => `Faltam colunas na primeira linha: ${names}.`,
  unknown: (names: string) => `Estas colunas não existem: ${names}. Confira os nomes abaixo.`,
  empty: 'O arquivo não tem linhas de cobranças.',
  tooMany: (count: number) => `O arquivo tem ${count} cobranças, e cabem 1.000. Divida-o.`,
  found: (count: number, sum: string) =>
    count === 1
      ? `1 cobrança pronta para criar, de ${sum}. Nada foi criado ainda.`
      : `${count} cobranças prontas para criar, no total de ${sum}. Nada foi criado ainda.`,
  left: (count: number) =>
    count === 1
      ? '1 linha tem erro e ficará de fora. Corrija o arquivo e envie de novo, ou crie as outras.'
      : `${count} linhas têm erro e ficarão de fora. Corrija o arquivo e envie de novo, ou crie as outras.`,
  make: (count: number) => (count === 1 ? 'Criar 1 cobrança' : `Criar ${count} cobranças`),
  another: 'Escolher outro arquivo',
  wrongLines: 'Linhas com erro',
  rightLines: (count: number) => `Primeiras ${count} linhas certas`,
  line: 'Linha',
  fault: 'O que corrigir',
  more: (count: number) => `E mais ${count} linhas com erro.`,
  made: (count: number) => (count === 1 ? '1 cobrança criada.' : `${count} cobranças criadas.`),
  refused: (count: number) =>
    count === 1 ? '1 linha não foi criada:' : `${count} linhas não foram criadas:`,
  toCharges: 'Ver cobranças',
}

type Texts = typeof pt

const en: Texts = {
  file: 'CSV file',
  hint: 'Up to 1.000 charges and 512 KB. Columns separated by semicolons, commas or tabs; the first line has the names of the columns, in any order.',
  check: 'Check the file',
  sample: 'Download an example',
  columns: 'Columns of the file',
  column: 'Column',
  what: 'What it has',
  required: 'Required',
  yes: 'Yes',
  no: 'No',
  means: {
    valor: 'In reais: 1.234,56',
    nome: 'The name of who pays',
    cpf_cnpj: 'CPF or CNPJ of who pays, with or without punctuation',
    email: 'E-mail of who pays',
    telefone: 'Phone with area code',
    vencimento: 'The due date: dd/mm/yyyy. Empty: the Pix is valid for 30 minutes',
    dias_apos: 'For how many days after the due date it can be paid; empty: 30',
    multa: 'Fine in %, once, if it is late: 2,00',
    juros: 'Interest in % per month, for each late day: 1,00',
    descricao: 'The customer reads it when paying, up to 140 characters',
    referencia: 'Your reference, such as the number of the order',
  },
  wrong: {
    valor: 'enter an amount such as 1.234,56, of R$ 5,00 or more',
    nome: 'enter a name of up to 255 characters',
    cpf_cnpj: 'this CPF/CNPJ is not valid: check its digits',
    email: 'enter an e-mail such as maria@example.com',
    telefone: 'enter 10 or 11 digits, with area code',
    vencimento: 'enter a day such as 10/12/2030, today or later',
    dias_apos: 'enter a number from 0 to 365',
    multa: 'enter a percentage such as 2,00',
    juros: 'enter a percentage such as 1,00',
    descricao: 'use up to 140 characters',
    referencia: 'use up to 255 characters',
  },
  needed: { vencimento: 'fill it in, because there is a fine, interest or days after it' },
  filled: 'fill it in',
  none: 'Choose a file.',
  large: 'The file has more than 512 KB. Send it in parts.',
  missing: (names) => `Columns are missing in the first line: ${names}.`,
  unknown: (names) => `These columns do not exist: ${names}. Check the names below.`,
  empty: 'The file has no lines with charges.',
  tooMany: (count) => `The file has ${count} charges, and 1.000 fit. Divide it.`,
  found: (count, sum) =>
    count === 1
      ? `1 charge is ready to be created, of ${sum}. Nothing is created yet.`
      : `${count} charges are ready to be created, ${sum} in all. Nothing is created yet.`,
  left: (count) =>
    count === 1
      ? '1 line has an error and is left out. Fix the file and send it again, or create the others.'
      : `${count} lines have errors and are left out. Fix the file and send it again, or create the others.`,
  make: (count) => (count === 1 ? 'Create 1 charge' : `Create ${count} charges`),
  another: 'Choose another file',
  wrongLines: 'Lines with errors',
  rightLines: (count) => `First ${count} right lines`,
  line: 'Line',
  fault: 'What to fix',
  more: (count) => `And ${count} more lines with errors.`,
  made: (count) => (count === 1 ? '1 charge created.' : `${count} charges created.`),
  refused: (count) =>
    count === 1 ? '1 line was not created:' : `${count} lines were not created:`,
  toCharges: 'View charges',
}

const BATCH: Record<Language, Texts> = { pt, en }
