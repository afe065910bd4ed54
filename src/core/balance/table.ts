import type { Tx } from '../../db/database.ts'
import type { Account, Kind } from '../../ledger/recipes.ts'
import { type Column, csvWriter, PLAIN } from '../../lib/csv.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import { BRAZILIAN } from '../../pix/brazilian-csv.ts'
import { findArrivals } from '../payments/store.ts'
import { findFinished } from '../withdrawals/store.ts'
import type { ShownEntry } from './view.ts'

/** An entry with the dates of its payment or withdrawal. */
export type DatedEntry = ShownEntry & { paidAt?: Date; withdrawnAt?: Date }

/** Adds to each entry when its payment was received, or when its withdrawal was completed. */
export async function withDates(
  tx: Tx,
  companyId: Uuid,
  entries: ShownEntry[],
): Promise<DatedEntry[]> {
  const isOfPayment = ({ type }: ShownEntry) => /^(CHARGE|PAYMENT)_/.test(type)
  const paymentIds = entries.filter(isOfPayment).map(({ reference }) => reference)
  const withdrawalIds = entries.flatMap(({ reference }) => fromPublic('wd', reference) ?? [])
  const [paid, withdrawals] = await Promise.all([
    findArrivals(tx, companyId, paymentIds),
    withdrawalIds.length === 0 ? [] : findFinished(tx, companyId, withdrawalIds),
  ])
  const withdrawn = new Map(withdrawals.map(({ id, finishedAt }) => [id, finishedAt]))
  return entries.map((entry) => {
    const paidAt = paid.get(entry.reference)
    const withdrawnAt = withdrawn.get(fromPublic('wd', entry.reference) ?? '')
    return { ...entry, ...(paidAt ? { paidAt } : {}), ...(withdrawnAt ? { withdrawnAt } : {}) }
  })
}

/** The kinds of entries in the words of people in Brazil. */
export const KIND_WORDS: Record<Kind, string> = {
  OPENING: 'Saldo inicial',
  CHARGE_PAID: 'Cobrança paga',
  FINE_PAID: 'Multa paga',
  INTEREST_PAID: 'Juros pagos',
  CHARGE_SETTLED: 'Valor liberado para saque',
  PAYMENT_UNMATCHED: 'Pix sem cobrança',
  PAYMENT_ACCEPTED: 'Pix sem cobrança mantido',
  REFUND_HELD: 'Devolução reservada',
  REFUND_PAID: 'Devolução enviada',
  REFUND_RELEASED: 'Devolução não realizada',
  BANK_RETURN: 'Devolução feita pelo banco',
  WITHDRAWAL_HELD: 'Saque reservado',
  WITHDRAWAL_PAID: 'Saque enviado',
  WITHDRAWAL_RELEASED: 'Saque não realizado',
  SPLIT_SETTLED: 'Partes dos recebedores liberadas',
  SPLIT_TAKEN: 'Partes dos recebedores descontadas',
  SPLIT_GIVEN: 'Partes dos recebedores repostas',
  DISPUTE_HELD: 'Valor contestado reservado',
  DISPUTE_RELEASED: 'Valor contestado liberado',
  DISPUTE_ACCEPTED: 'Devolução de valor contestado reservada',
  DISPUTE_LOST: 'Valor contestado devolvido pelo banco',
}

type Side = DatedEntry['debit']

/** The balances in the words of people in Brazil. */
export const SIDE_WORDS: Record<Side, string> = {
  bank: 'Banco',
  available: 'Disponível',
  pending: 'A liberar',
  held: 'Reservado',
  unmatched: 'Pix sem cobrança',
  recipients: 'De recebedores',
  disputed: 'Em disputa',
}

const side = (code: Side) => ({ code, word: SIDE_WORDS[code] })

/** Money that goes to the bank, or is held for that, is shown with a minus. */
const isOutward = ({ credit }: DatedEntry): boolean =>
  credit === 'bank' || credit === 'held' || credit === 'disputed'

function directionOf({ debit, credit }: DatedEntry): string {
  if (debit === 'bank') return 'Entrada'
  return credit === 'bank' ? 'Saída' : 'Interno'
}

/** New columns are added at the end. The form for programs is frozen, and has none. */
const LATER = [
  balanceColumn('disputed', 'Saldo em disputa'),
  balanceColumn('recipients', 'Saldo de recebedores'),
]

/** The columns of a statement. */
export const ENTRY_COLUMNS: Column<DatedEntry>[] = [
  { name: 'entry', title: 'Lançamento', of: ({ entry }) => entry },
  { name: 'created_at', title: 'Data', of: ({ createdAt }) => new Date(createdAt) },
  { name: 'type', title: 'Tipo', of: ({ type }) => ({ code: type, word: KIND_WORDS[type] }) },
  {
    name: 'amount_cents',
    title: 'Valor',
    of: (entry) => ({ cents: entry.amount, signed: entry.amount * (isOutward(entry) ? -1 : 1) }),
  },
  { name: 'debit', title: 'Débito', of: ({ debit }) => side(debit) },
  { name: 'credit', title: 'Crédito', of: ({ credit }) => side(credit) },
  { name: 'reference', title: 'Referência', of: ({ reference }) => reference },
  { name: 'charge_id', title: 'Cobrança', of: ({ chargeId }) => chargeId ?? null },
  balanceColumn('available', 'Saldo disponível'),
  balanceColumn('pending', 'Saldo a liberar'),
  balanceColumn('held', 'Saldo reservado'),
  balanceColumn('unmatched', 'Saldo não identificado'),
]

/** The columns of a statement for people. */
export const PEOPLE_ENTRY_COLUMNS: Column<DatedEntry>[] = [
  ...ENTRY_COLUMNS,
  { name: 'direction', title: 'Movimento', of: directionOf },
  { name: 'paid_at', title: 'Pago em', of: ({ paidAt }) => paidAt ?? null },
  { name: 'withdrawn_at', title: 'Sacado em', of: ({ withdrawnAt }) => withdrawnAt ?? null },
  ...LATER,
]

function balanceColumn(account: Account, title: string): Column<DatedEntry> {
  return {
    name: `${account}_cents`,
    title,
    of: ({ balance }) => ({ cents: balance[account] ?? 0 }),
  }
}

/** The writers of a statement's CSV, by dialect. */
export const STATEMENT_WRITERS = {
  plain: csvWriter(ENTRY_COLUMNS, PLAIN),
  br: csvWriter(PEOPLE_ENTRY_COLUMNS, BRAZILIAN),
}
