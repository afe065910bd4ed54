import type { Withdrawal } from '../../core/withdrawals/rules.ts'
import { shownDestination } from '../../core/withdrawals/view.ts'
import { type Column, csvWriter } from '../../lib/csv.ts'
import { toPublic } from '../../lib/ids.ts'
import { BRAZILIAN } from '../../pix/brazilian-csv.ts'
import { WITHDRAWALS } from './withdrawals-texts.ts'

const { states } = WITHDRAWALS.pt

/** New columns are added at the end. */
const COLUMNS: Column<Withdrawal>[] = [
  { name: 'id', title: 'Saque', of: ({ id }) => toPublic('wd', id) },
  { name: 'created_at', title: 'Solicitado em', of: ({ createdAt }) => createdAt },
  {
    name: 'status',
    title: 'Situação',
    of: ({ status }) => ({ code: status, word: states[status] }),
  },
  { name: 'value_cents', title: 'Valor', of: ({ value }) => ({ cents: value }) },
  { name: 'destination', title: 'Chave Pix de destino', of: shownDestination },
  {
    name: 'recipient_id',
    title: 'Recebedor',
    of: ({ recipientId }) => recipientId && toPublic('rcpt', recipientId),
  },
  { name: 'confirmed_at', title: 'Confirmado em', of: ({ confirmedAt }) => confirmedAt },
  { name: 'finished_at', title: 'Encerrado em', of: ({ finishedAt }) => finishedAt },
  { name: 'end_to_end_id', title: 'ID da transação (E2E)', of: ({ endToEndId }) => endToEndId },
  { name: 'failure', title: 'Motivo', of: ({ failure }) => failure },
]

/** The writer of a file of withdrawals for spreadsheets in Brazil. */
export const WITHDRAWAL_WRITER = csvWriter(COLUMNS, BRAZILIAN)
