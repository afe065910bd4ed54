import type { Language } from '../../lib/language.ts'

/** The lines of a receipt, in this order. */
export type ReceiptLine = {
  kind:
    | 'amount'
    | 'charged'
    | 'added'
    | 'takenOff'
    | 'refunded'
    | 'paidAt'
    | 'receiver'
    | 'payer'
    | 'purchase'
    | 'method'
    | 'endToEndId'
    | 'chargeId'
  label: string
  values: string[]
}

const pt = {
  lines: {
    amount: 'Valor',
    charged: 'Valor da cobrança',
    added: 'Multa e juros',
    takenOff: 'Desconto',
    refunded: 'Valor devolvido',
    paidAt: 'Data e hora',
    receiver: 'Recebedor',
    payer: 'Pagador',
    purchase: 'Descrição',
    method: 'Forma de pagamento',
    endToEndId: 'ID da transação',
    chargeId: 'ID da cobrança',
  } satisfies Record<ReceiptLine['kind'], string>,
  notReal: (amount: string) => `${amount} (fictício)`,
  moment: (day: string, time: string) => `${day} às ${time}`,
  zone: 'horário de Brasília',
  andMore: (count: number) => (count === 1 ? 'e mais 1 item' : `e mais ${count} itens`),
}

/** The labels of a receipt's lines, on its page and in its mail. */
type ReceiptLabels = typeof pt

const en: ReceiptLabels = {
  lines: {
    amount: 'Amount',
    charged: 'Amount charged',
    added: 'Fine and interest',
    takenOff: 'Discount',
    refunded: 'Amount returned',
    paidAt: 'Date and time',
    receiver: 'Paid to',
    payer: 'Paid by',
    purchase: 'Description',
    method: 'Payment method',
    endToEndId: 'Transaction ID',
    chargeId: 'Charge ID',
  },
  notReal: (amount) => `${amount} (not real money)`,
  moment: (day, time) => `${day}, ${time}`,
  zone: 'Brasília time',
  andMore: (count) => (count === 1 ? 'and 1 more item' : `and ${count} more items`),
}

export const RECEIPT_LABELS: Record<Language, ReceiptLabels> = { pt, en }
