import type { UnmatchedReason } from '../../core/charges/rules.ts'
import type { ShownMonth } from '../../core/closings/commands.ts'
import { type Closing, movedOf, sorted, totalOf } from '../../core/closings/rules.ts'
import { figuresOf, type Movement, type Sum } from '../../core/figures/rules.ts'
import { ACCOUNTS } from '../../ledger/recipes.ts'
import { type Column, csvWriter } from '../../lib/csv.ts'
import { BRAZILIAN } from '../../pix/brazilian-csv.ts'
import { BALANCE } from './balance-texts.ts'
import { CLOSING } from './closing-texts.ts'
import { UNMATCHED } from './unmatched-texts.ts'

/** A line of the file: each section has some of these. */
type Line = {
  section: string
  what: string
  at?: Date
  id?: string
  count?: number
  /** Below zero if money leaves. */
  cents: number
}

const COLUMNS: Column<Line>[] = [
  { name: 'section', title: 'Seção', of: ({ section }) => section },
  { name: 'what', title: 'Descrição', of: ({ what }) => what },
  { name: 'at', title: 'Data', of: ({ at }) => at ?? null },
  { name: 'id', title: 'Identificador', of: ({ id }) => id ?? null },
  { name: 'count', title: 'Quantidade', of: ({ count }) => count ?? null },
  { name: 'amount_cents', title: 'Valor', of: ({ cents }) => ({ cents }) },
]

/** Files are for spreadsheets in Brazil, so their words are those of people there. */
const texts = CLOSING.pt
const { accounts, kinds } = BALANCE.pt

/** A month as a file: what is frozen first, and what was corrected later at its end. */
export async function* closingFile({ closing, late }: ShownMonth): AsyncGenerator<string> {
  const { heading, line } = csvWriter(COLUMNS, BRAZILIAN)
  yield heading
  const lines = [
    ...summaryLines(closing),
    ...movementLines(closing),
    ...balanceLines(closing),
    ...waitingLines(closing),
    ...late.first.map(({ endToEndId, bookedAt, amount }) => ({
      section: texts.late,
      what: texts.bookedAt,
      at: bookedAt,
      id: endToEndId,
      cents: amount,
    })),
    ...totalLine(texts.late, late),
  ]
  yield lines.map(line).join('')
}

function summaryLines(closing: Closing): Line[] {
  const figures = figuresOf(closing)
  const section = texts.summary
  const of = (what: string, { count, sum }: Sum, sign = 1): Line => ({
    section,
    what,
    count,
    cents: sum * sign,
  })
  return [
    { section, what: texts.opening, cents: totalOf(closing.opening) },
    of(texts.received, figures.received),
    of(texts.returned, figures.returned, -1),
    of(texts.withdrawn, figures.withdrawn, -1),
    ...(figures.play > 0 ? [{ section, what: texts.play, cents: figures.play }] : []),
    { section, what: texts.closing, cents: totalOf(closing.closing) },
  ]
}

/** Money that stays has the accounts that it moves between, and no sign. */
function movementLine({ kind, source, debit, credit, count, sum }: Movement): Line {
  const word = kind === 'OPENING' ? texts.play : kinds[kind]
  const isPlain = source === '' || source === 'UNMATCHED'
  const name = isPlain ? word : `${word} · ${texts.sources[source]}`
  if (debit === 'bank') return { section: texts.in, what: name, count, cents: sum }
  if (credit === 'bank') return { section: texts.out, what: name, count, cents: 0 - sum }
  const between = `${name}: ${accounts[debit]} > ${accounts[credit]}`
  return { section: texts.internal, what: between, count, cents: sum }
}

const movementLines = ({ movements }: Closing): Line[] => sorted(movements).map(movementLine)

const balanceLines = (closing: Closing): Line[] =>
  ACCOUNTS.flatMap((account) => [
    { section: texts.opening, what: accounts[account], cents: closing.opening[account] },
    { section: texts.moved, what: accounts[account], cents: movedOf(closing, account) },
    { section: texts.closing, what: accounts[account], cents: closing.closing[account] },
  ])

/** The sum of all, of which only the first are listed. */
const totalLine = (section: string, { count, sum }: Sum): Line[] =>
  count === 0 ? [] : [{ section, what: texts.total, count, cents: sum }]

function waitingLines({ unmatched, disputes }: Closing): Line[] {
  const { reasons } = UNMATCHED.pt
  return [
    ...unmatched.first.map(({ endToEndId, receivedAt, reason, amount }) => ({
      section: texts.unmatched,
      what: reasons[reason as UnmatchedReason].short,
      at: new Date(receivedAt),
      id: endToEndId,
      cents: amount,
    })),
    ...totalLine(texts.unmatched, unmatched),
    ...disputes.first.map(({ id, openedAt, held }) => ({
      section: texts.disputes,
      what: texts.held,
      at: new Date(openedAt),
      id,
      cents: held,
    })),
    ...totalLine(texts.disputes, disputes),
  ]
}
