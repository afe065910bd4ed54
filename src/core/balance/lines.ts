import { effectOn } from '../../ledger/books.ts'
import type { StatementEntry } from '../../ledger/columns.ts'
import type { Account, Kind, Posting } from '../../ledger/recipes.ts'
import { type Column, csvWriter } from '../../lib/csv.ts'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import { BRAZILIAN } from '../../pix/brazilian-csv.ts'
import { type LocalDate, localDateOf } from '../../pix/local-time.ts'
import { KIND_WORDS } from './table.ts'

/** The account that a bank statement is of: what a company can withdraw. */
export const STATEMENT_ACCOUNT: Account = 'available'

/** The kinds of movements that people tell apart, and the kinds of entries that each has. */
export const MOVEMENTS = {
  sales: ['CHARGE_SETTLED'],
  unmatched: ['PAYMENT_ACCEPTED'],
  refunds: ['REFUND_HELD', 'REFUND_RELEASED', 'BANK_RETURN'],
  withdrawals: ['WITHDRAWAL_HELD', 'WITHDRAWAL_RELEASED'],
  disputes: ['DISPUTE_HELD', 'DISPUTE_RELEASED'],
  recipients: ['SPLIT_TAKEN', 'SPLIT_GIVEN'],
  opening: ['OPENING'],
} as const satisfies Record<string, readonly Kind[]>
export type Movement = keyof typeof MOVEMENTS

/** A line of a bank statement: one movement of what is available. */
export type Line = {
  entry: number
  at: Date
  kind: Kind
  /** In cents, below zero if money leaves. */
  amount: number
  /** What is available after it. */
  balance: number
  reference: string
  chargeId: Uuid | null
}

/** A line with who has paid or was paid, or where the money went. Null if nobody knows. */
export type NamedLine = Line & { name: string | null }

export const lineOf = (entry: StatementEntry): Line => ({
  entry: entry.entry,
  at: entry.createdAt,
  kind: entry.kind,
  amount: effectOn(STATEMENT_ACCOUNT, entry),
  balance: entry.balance[STATEMENT_ACCOUNT],
  reference: entry.ref,
  chargeId: entry.chargeId,
})

/** What entered and what left, both above zero. */
export type LineSums = { entered: number; left: number }

export function sumLines(lines: Pick<Line, 'amount'>[]): LineSums {
  const sums = { entered: 0, left: 0 }
  for (const { amount } of lines) {
    if (amount > 0) sums.entered += amount
    else sums.left -= amount
  }
  return sums
}

/** What postings of one kind between two accounts have moved. */
type Moved = Pick<Posting, 'kind' | 'debit' | 'credit'> & { count: number; sum: number }

/** The sums of lines of some kinds, or of all, and how many lines there are. */
export function sumMoved(
  moved: Moved[],
  kinds: readonly Kind[] | null,
): LineSums & { count: number } {
  const sums = { count: 0, entered: 0, left: 0 }
  for (const { kind, debit, credit, count, sum } of moved) {
    const isLine = debit === STATEMENT_ACCOUNT || credit === STATEMENT_ACCOUNT
    if (!isLine || kinds?.includes(kind) === false) continue
    sums.count += count
    sums[credit === STATEMENT_ACCOUNT ? 'entered' : 'left'] += sum
  }
  return sums
}

/** The lines of a day, in their order. */
export type Day<T extends Line> = { day: LocalDate; lines: T[] }

/**
 * Lines by their days in São Paulo; the newest line comes first. A line that was booked a little
 * out of order is one of the day of the line before it.
 */
export function daysOf<T extends Line>(lines: T[]): Day<T>[] {
  const days: Day<T>[] = []
  for (const line of lines.toReversed()) {
    const day = localDateOf(line.at)
    const last = days[0]
    if (last && day <= last.day) last.lines.unshift(line)
    else days.unshift({ day, lines: [line] })
  }
  return days
}

/** What a line says in a statement in Brazil. */
export const LINE_WORDS: Record<Kind, string> = {
  ...KIND_WORDS,
  CHARGE_SETTLED: 'Cobrança recebida',
  PAYMENT_ACCEPTED: 'Pix sem cobrança recebido',
  REFUND_HELD: 'Devolução',
  WITHDRAWAL_HELD: 'Saque',
  SPLIT_TAKEN: 'Parte dos recebedores descontada',
  SPLIT_GIVEN: 'Parte dos recebedores reposta',
  DISPUTE_HELD: 'Contestação (MED)',
  DISPUTE_RELEASED: 'Contestação encerrada',
}

export const wordsOf = ({ kind }: Pick<Line, 'kind'>): string => LINE_WORDS[kind]

/** New columns are added at the end. */
const COLUMNS: Column<NamedLine>[] = [
  { name: 'date', title: 'Data', of: ({ at }) => at },
  { name: 'description', title: 'Descrição', of: wordsOf },
  { name: 'name', title: 'Nome', of: ({ name }) => name },
  {
    name: 'entered_cents',
    title: 'Entrada',
    of: ({ amount }) => (amount > 0 ? { cents: amount } : null),
  },
  {
    name: 'left_cents',
    title: 'Saída',
    of: ({ amount }) => (amount < 0 ? { cents: 0 - amount } : null),
  },
  { name: 'balance_cents', title: 'Saldo', of: ({ balance }) => ({ cents: balance }) },
  { name: 'entry', title: 'Lançamento', of: ({ entry }) => entry },
  { name: 'reference', title: 'Referência', of: ({ reference }) => reference },
  {
    name: 'charge_id',
    title: 'Cobrança',
    of: ({ chargeId }) => chargeId && toPublic('charge', chargeId),
  },
]

/** The writer of a statement's file for spreadsheets in Brazil. */
export const LINE_WRITER = csvWriter(COLUMNS, BRAZILIAN)
