import type { UnmatchedReason } from '../../core/charges/rules.ts'
import type { PaymentState } from '../../core/payments/rules.ts'
import type { Language } from '../../lib/language.ts'

export type UnmatchedState = Exclude<PaymentState, 'MATCHED'>

const pt = {
  title: 'Pix sem cobrança',
  intro: 'Pagamentos que chegaram, mas não quitaram nenhuma cobrança. Decida o que fazer com eles.',
  states: {
    UNMATCHED: 'Aguardando decisão',
    ACCEPTED: 'Valor mantido',
    REFUNDING: 'Em devolução',
    REFUNDED: 'Devolvidos',
    DISPUTED: 'Em disputa',
  } satisfies Record<UnmatchedState, string>,
  filter: 'Situação dos pagamentos',
  searchLabel: 'Buscar',
  searchButton: 'Buscar',
  searchHint: 'Nome, CPF ou CNPJ, valor (19,90) ou ID da transação (E2E)',
  noneFound: (text: string) => `Nada encontrado para “${text}” entre os 500 mais recentes`,
  total: (shown: string, count: number) =>
    count === 1 ? '1 pagamento aguarda decisão:' : `${shown} pagamentos aguardam decisão:`,
  reasons: {
    LATE: {
      short: 'Pago após o prazo',
      text: 'A cobrança já tinha expirado quando o pagamento chegou.',
    },
    CANCELED: {
      short: 'Cobrança cancelada',
      text: 'A cobrança já tinha sido cancelada quando o pagamento chegou.',
    },
    DUPLICATE: {
      short: 'Pago em duplicidade',
      text: 'A cobrança já estava paga quando este pagamento chegou.',
    },
    WRONG_AMOUNT: {
      short: 'Valor diferente',
      text: 'O valor pago não é o valor da cobrança.',
    },
    UNKNOWN: {
      short: 'Sem cobrança',
      text: 'O pagamento não indica nenhuma cobrança. É o que acontece quando alguém paga direto para a chave Pix.',
    },
  } satisfies Record<UnmatchedReason, { short: string; text: string }>,
  payer: 'Pagador',
  unknownPayer: 'Não informado pelo banco',
  amount: 'Valor',
  receivedAt: 'Recebido em',
  endToEndId: 'ID da transação (E2E)',
  returned: (amount: string) => `O banco já devolveu ${amount} deste pagamento.`,
  details: 'Ver detalhes',
  paymentOf: (amount: string) => `Pagamento de ${amount}`,
  likely: 'Cobrança provável',
  samePayer: 'Mesmo pagador',
  sameAmount: 'Mesmo valor',
  why: 'Por quê:',
  noLikely: 'Não encontramos uma cobrança que combine com este pagamento.',
  search: 'Buscar cobranças deste valor',
  chargeOf: (amount: string) => `Cobrança de ${amount}`,
  madeAt: 'criada em',
  settle: 'Quitar esta cobrança',
  settleOther: 'Quitar uma cobrança',
  accept: 'Ficar com o valor',
  refund: 'Devolver',
  decide: 'O que fazer com este pagamento?',
  effects: {
    settle: 'A cobrança fica paga com este pagamento, mesmo se já expirou.',
    accept: 'O valor vai para o saldo disponível, e a cobrança continua como está.',
    refund: 'O valor volta para quem pagou.',
  },
  acceptTitle: 'Ficar com o valor?',
  acceptText: (amount: string) =>
    `${amount} vão para o saldo disponível. Nenhuma cobrança muda, e isto não pode ser desfeito.`,
  refundTitle: 'Devolver este pagamento?',
  refundText: (amount: string) => `${amount} voltam para quem pagou. Isto não pode ser desfeito.`,
  settleTitle: 'Quitar uma cobrança',
  settleIntro: (amount: string) => `Escolha a cobrança que este pagamento de ${amount} quita.`,
  settleSearch: 'Cobrança',
  payment: 'Pagamento',
  settleSearchHint: 'ID da cobrança, sua referência, nome, CPF/CNPJ ou valor.',
  settleSearchButton: 'Buscar',
  settleNone: 'Nenhuma cobrança em aberto ou expirada foi encontrada.',
  settleAnother: 'Escolher outra cobrança',
  settleChoose: 'Escolha uma destas cobranças:',
  settleText:
    'A cobrança fica paga por este pagamento, o webhook é avisado e o comprovante é enviado, como em qualquer pagamento. Isto não pode ser desfeito.',
  settleExact: 'O valor é o da cobrança.',
  settleShort: (short: string, amount: string) =>
    `Faltam ${short}. A cobrança fica paga com ${amount}, e só esse valor pode ser devolvido depois.`,
  settleOver: (over: string) =>
    `O pagamento tem ${over} a mais que a cobrança. O que fazer com a diferença?`,
  difference: {
    keep: (over: string) => `Ficar com a diferença: ${over} vão para o saldo disponível`,
    refund: (over: string) => `Devolver a diferença: ${over} voltam para quem pagou`,
  },
  settledFact: 'Quitou a cobrança',
  shortfall: 'Faltou',
  rest: (amount: string) => `Restam ${amount} deste pagamento para decidir.`,
  comment: 'Mensagem para quem pagou',
  commentHint: 'Até 140 caracteres. Aparece no aplicativo do banco de quem recebe a devolução.',
  optional: 'opcional',
  tooLong: 'Use no máximo 140 caracteres.',
  done: {
    accepted: 'Pronto, você ficou com o valor. Ele já está no saldo disponível.',
    settled: 'Cobrança quitada. Ela aparece como paga.',
    refunded: 'Devolução iniciada. O valor volta para quem pagou em instantes.',
  },
  empty: {
    UNMATCHED: 'Nenhum pagamento aguarda a sua decisão.',
    ACCEPTED: 'Os pagamentos com que você ficar aparecem aqui.',
    REFUNDING: 'Nenhuma devolução em andamento.',
    REFUNDED: 'Os pagamentos que você devolver aparecem aqui.',
    DISPUTED: 'Nenhum pagamento em disputa.',
  } satisfies Record<UnmatchedState, string>,
  trySandbox: 'Para testar, pague no banco simulado uma cobrança que já foi paga.',
  bank: 'Abrir o banco simulado',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Unmatched',
  intro: 'Payments that arrived but paid no charge. Decide what to do with them.',
  states: {
    UNMATCHED: 'Waiting for a decision',
    ACCEPTED: 'Money kept',
    REFUNDING: 'Being refunded',
    REFUNDED: 'Refunded',
    DISPUTED: 'Disputed',
  },
  filter: 'State of the payments',
  searchLabel: 'Search',
  searchButton: 'Search',
  searchHint: 'Name, CPF or CNPJ, amount (19,90) or transaction ID (E2E)',
  noneFound: (text) => `Nothing found for “${text}” among the newest 500`,
  total: (shown, count) =>
    count === 1 ? '1 payment needs a decision:' : `${shown} payments need a decision:`,
  reasons: {
    LATE: { short: 'Paid late', text: 'The charge had expired when the payment arrived.' },
    CANCELED: {
      short: 'Charge canceled',
      text: 'The charge had been canceled when the payment arrived.',
    },
    DUPLICATE: {
      short: 'Paid twice',
      text: 'The charge was already paid when this payment arrived.',
    },
    WRONG_AMOUNT: {
      short: 'Another amount',
      text: 'The amount paid is not the amount of the charge.',
    },
    UNKNOWN: {
      short: 'No charge',
      text: 'The payment names no charge. This happens when somebody pays directly to the Pix key.',
    },
  },
  payer: 'Payer',
  unknownPayer: 'Not given by the bank',
  amount: 'Amount',
  receivedAt: 'Received at',
  endToEndId: 'Transaction ID (E2E)',
  returned: (amount) => `The bank has already returned ${amount} of this payment.`,
  details: 'View details',
  paymentOf: (amount) => `Payment of ${amount}`,
  likely: 'Probable charge',
  samePayer: 'Same payer',
  sameAmount: 'Same amount',
  why: 'Why:',
  noLikely: 'We found no charge that fits this payment.',
  search: 'Search charges of this amount',
  chargeOf: (amount) => `Charge of ${amount}`,
  madeAt: 'created at',
  settle: 'Settle this charge',
  settleOther: 'Settle a charge',
  accept: 'Keep the money',
  refund: 'Refund',
  decide: 'What should happen to this payment?',
  effects: {
    settle: 'The charge is paid by this payment, even if it has expired.',
    accept: 'The amount goes to the available balance, and the charge stays as it is.',
    refund: 'The amount goes back to the payer.',
  },
  acceptTitle: 'Keep the money?',
  acceptText: (amount) =>
    `${amount} goes to the available balance. No charge changes, and this cannot be undone.`,
  refundTitle: 'Refund this payment?',
  refundText: (amount) => `${amount} goes back to the payer. This cannot be undone.`,
  settleTitle: 'Settle a charge',
  settleIntro: (amount) => `Choose the charge that this payment of ${amount} settles.`,
  settleSearch: 'Charge',
  payment: 'Payment',
  settleSearchHint: 'ID of the charge, your reference, name, CPF/CNPJ or amount.',
  settleSearchButton: 'Search',
  settleNone: 'No open or expired charge was found.',
  settleAnother: 'Choose another charge',
  settleChoose: 'Choose one of these charges:',
  settleText:
    'The charge is paid by this payment, your webhook is informed and the receipt is sent, as for any payment. This cannot be undone.',
  settleExact: 'The amount is that of the charge.',
  settleShort: (short, amount) =>
    `${short} is missing. The charge is paid with ${amount}, and only that can be refunded later.`,
  settleOver: (over) =>
    `The payment is ${over} more than the charge. What becomes of the difference?`,
  difference: {
    keep: (over) => `Keep the difference: ${over} goes to the available balance`,
    refund: (over) => `Refund the difference: ${over} goes back to the payer`,
  },
  settledFact: 'Settled the charge',
  shortfall: 'Short by',
  rest: (amount) => `${amount} of this payment is left to decide about.`,
  comment: 'Message to the payer',
  commentHint: 'Up to 140 characters. The payer reads it in the app of their bank.',
  optional: 'optional',
  tooLong: 'Use at most 140 characters.',
  done: {
    accepted: 'Money kept. It is already in the available balance.',
    settled: 'Charge settled. It counts as paid.',
    refunded: 'Refund started. The amount goes back to the payer in a moment.',
  },
  empty: {
    UNMATCHED: 'No payment waits for your decision.',
    ACCEPTED: 'Payments whose money you keep appear here.',
    REFUNDING: 'No refund is in progress.',
    REFUNDED: 'Payments that you refund appear here.',
    DISPUTED: 'No disputed payments.',
  },
  trySandbox: 'To try it, use the simulated bank to pay a charge that is already paid.',
  bank: 'Open the simulated bank',
}

export const UNMATCHED: Record<Language, Texts> = { pt, en }
