import { KIND_WORDS, SIDE_WORDS } from '../../core/balance/table.ts'
import type { Account } from '../../ledger/recipes.ts'
import type { Language } from '../../lib/language.ts'

const pt = {
  title: 'Saldo',
  accounts: {
    available: SIDE_WORDS.available,
    pending: SIDE_WORDS.pending,
    held: SIDE_WORDS.held,
    unmatched: SIDE_WORDS.unmatched,
    recipients: SIDE_WORDS.recipients,
    disputed: SIDE_WORDS.disputed,
  } satisfies Record<Account, string>,
  /** What each balance means. */
  meanings: {
    available: 'Você já pode sacar este valor.',
    pending: 'De cobranças pagas. Fica disponível quando o prazo de liberação termina.',
    held: 'Separado para saques e devoluções em andamento.',
    unmatched: 'Pagamentos que não quitaram nenhuma cobrança e aguardam a sua decisão.',
    recipients: 'A parte dos recebedores nas suas vendas, que ainda não foi repassada a eles.',
    disputed: 'Pagamentos contestados por quem pagou (MED). Ficam reservados até a decisão.',
  } satisfies Record<Account, string>,
  negative:
    'O saldo disponível está negativo: um pagamento que você já tinha sacado foi contestado ou devolvido pelo banco. Os saques ficam parados até que as próximas vendas cubram a diferença.',
  withdrawals: 'Saques',
  recipients: 'Recebedores',
  statement: 'Extrato',
  csv: 'Baixar CSV',
  type: 'Tipo',
  allTypes: 'Todos os tipos',
  kinds: KIND_WORDS,
  from: 'De',
  to: 'Até',
  optional: 'opcional',
  columns: { entry: 'Lançamento', at: 'Data', amount: 'Valor', after: 'Saldo após' },
  number: (entry: number) => `nº ${entry}`,
  charge: 'Ver cobrança',
  withdrawal: 'Ver saque',
  payment: 'Ver pagamento',
  empty: 'Quando uma cobrança for paga, o lançamento aparece aqui.',
  emptyFiltered: 'Nenhum lançamento corresponde aos filtros.',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Balance',
  accounts: {
    available: 'Available',
    pending: 'Pending',
    held: 'Held',
    unmatched: 'Unmatched',
    recipients: 'Of recipients',
    disputed: 'Disputed',
  },
  meanings: {
    available: 'You can withdraw this amount now.',
    pending: 'From paid charges. It becomes available when the settlement period ends.',
    held: 'Set aside for withdrawals and refunds in progress.',
    unmatched: 'Payments that paid no charge and wait for your decision.',
    recipients: 'The parts of recipients in your sales that were not paid to them yet.',
    disputed: 'Payments that their payers dispute (MED). They are held until it is decided.',
  },
  negative:
    'The available balance is below zero: a payment that you had withdrawn was disputed, or returned by the bank. Withdrawals stop until the next sales cover the difference.',
  withdrawals: 'Withdrawals',
  recipients: 'Recipients',
  statement: 'Statement',
  csv: 'Download CSV',
  type: 'Type',
  allTypes: 'All types',
  kinds: {
    OPENING: 'Opening balance',
    CHARGE_PAID: 'Charge paid',
    FINE_PAID: 'Fine paid',
    INTEREST_PAID: 'Interest paid',
    CHARGE_SETTLED: 'Charge settled',
    PAYMENT_UNMATCHED: 'Unmatched payment',
    PAYMENT_ACCEPTED: 'Unmatched payment accepted',
    REFUND_HELD: 'Refund held',
    REFUND_PAID: 'Refund sent',
    REFUND_RELEASED: 'Refund failed',
    BANK_RETURN: 'Returned by the bank',
    WITHDRAWAL_HELD: 'Withdrawal held',
    WITHDRAWAL_PAID: 'Withdrawal sent',
    WITHDRAWAL_RELEASED: 'Withdrawal not sent',
    SPLIT_SETTLED: 'Parts of recipients settled',
    SPLIT_TAKEN: 'Parts of recipients taken back',
    SPLIT_GIVEN: 'Parts of recipients given again',
    DISPUTE_HELD: 'Disputed amount held',
    DISPUTE_RELEASED: 'Disputed amount released',
    DISPUTE_ACCEPTED: 'Refund of a disputed amount held',
    DISPUTE_LOST: 'Disputed amount returned by the bank',
  },
  from: 'From',
  to: 'To',
  optional: 'optional',
  columns: { entry: 'Entry', at: 'Date', amount: 'Amount', after: 'Balance after' },
  number: (entry) => `no. ${entry}`,
  charge: 'View charge',
  withdrawal: 'View withdrawal',
  payment: 'View payment',
  empty: 'When a charge is paid, its entry appears here.',
  emptyFiltered: 'No entry matches the filters.',
}

export const BALANCE: Record<Language, Texts> = { pt, en }
