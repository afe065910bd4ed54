import type { RefundState } from '../../core/refunds/rules.ts'
import type { Language } from '../../lib/language.ts'
import type { ReturnReason } from '../../provider/port.ts'

const pt = {
  title: 'Devoluções',
  csv: 'Baixar CSV',
  from: 'De',
  to: 'Até',
  status: 'Situação',
  allStates: 'Todas',
  states: {
    PROCESSING: 'Em andamento',
    COMPLETED: 'Devolvida',
    FAILED: 'Não realizada',
  } satisfies Record<RefundState, string>,
  none: 'Nenhuma devolução neste período.',
  noneFound: 'Nenhuma devolução corresponde aos filtros.',
  totals: {
    done: (count: number) => (count === 1 ? '1 devolvida' : `${count} devolvidas`),
    open: (count: number) => `${count} em andamento`,
    failed: (count: number) => (count === 1 ? '1 não realizada' : `${count} não realizadas`),
  },
  columns: {
    payer: 'Pagador',
    amount: 'Valor',
    status: 'Situação',
    startedAt: 'Solicitada em',
    finishedAt: 'Encerrada em',
    reason: 'Motivo',
  },
  noName: 'Sem nome',
  byBank: 'Feita pelo banco',
  reasons: {
    FRAUD: 'fraude',
    OPERATIONAL_FAILURE: 'falha operacional',
    SUBSCRIPTION_CLAIM: 'contestação de assinatura',
    OTHER: 'outro motivo',
  } satisfies Record<ReturnReason, string>,
}

type Texts = typeof pt

const en: Texts = {
  title: 'Refunds',
  csv: 'Download CSV',
  from: 'From',
  to: 'To',
  status: 'State',
  allStates: 'All',
  states: { PROCESSING: 'In progress', COMPLETED: 'Refunded', FAILED: 'Not sent' },
  none: 'No refund in this period.',
  noneFound: 'No refund matches the filters.',
  totals: {
    done: (count) => `${count} refunded`,
    open: (count) => `${count} in progress`,
    failed: (count) => `${count} not sent`,
  },
  columns: {
    payer: 'Payer',
    amount: 'Amount',
    status: 'State',
    startedAt: 'Started at',
    finishedAt: 'Ended at',
    reason: 'Reason',
  },
  noName: 'No name',
  byBank: 'By the bank',
  reasons: {
    FRAUD: 'fraud',
    OPERATIONAL_FAILURE: 'operational failure',
    SUBSCRIPTION_CLAIM: 'disputed subscription',
    OTHER: 'another reason',
  },
}

export const REFUNDS: Record<Language, Texts> = { pt, en }
