import type { ChargeStatus } from '../../core/charges/rules.ts'
import type { Language } from '../../lib/language.ts'

const STATES_PT: Record<ChargeStatus, { title: string; text: string }> = {
  OPEN: { title: 'Aguardando pagamento', text: '' },
  COMPLETED: { title: 'Pago', text: 'O dinheiro chegou. Pode entregar.' },
  EXPIRED: { title: 'Este Pix expirou', text: 'O código não vale mais. Faça uma nova venda.' },
  CANCELED: { title: 'Venda cancelada', text: 'O código não vale mais.' },
}

const STATES_EN: typeof STATES_PT = {
  OPEN: { title: 'Waiting for payment', text: '' },
  COMPLETED: { title: 'Paid', text: 'The money has arrived. You can hand it over.' },
  EXPIRED: { title: 'This Pix has expired', text: 'The code is no longer valid. Make a new sale.' },
  CANCELED: { title: 'Sale canceled', text: 'The code is no longer valid.' },
}

const pt = {
  title: 'Venda no balcão',
  amount: 'Valor',
  amountWrong: 'Informe um valor a partir de R$ 0,01, como 12,50.',
  describe: 'Adicionar descrição',
  description: 'Descrição',
  descriptionWrong: 'Use até 140 caracteres.',
  optional: 'opcional',
  keypad: 'Teclado do valor',
  erase: 'Apagar o último dígito',
  sell: 'Mostrar QR Code',
  shift: 'Hoje no balcão',
  own: 'Suas vendas',
  all: 'Toda a equipe',
  count: (count: number) => (count === 1 ? '1 venda paga' : `${count} vendas pagas`),
  refunded: (amount: string) => `${amount} devolvidos`,
  shiftHint: 'Conta vendas feitas nesta tela desde a meia-noite e já pagas.',
  qr: 'QR Code Pix para pagar a venda',
  waiting: 'Aguardando pagamento',
  refresh: 'Já pagou? Atualizar',
  sound: 'Ativar som',
  cancel: 'Cancelar venda',
  payAtBank: 'Pagar no banco simulado',
  next: 'Nova venda',
  receipt: 'Comprovante',
  charge: 'Ver cobrança',
  states: STATES_PT,
  done: { canceled: 'Venda cancelada.' } as Record<string, string>,
}

const en: typeof pt = {
  title: 'Sell at the counter',
  amount: 'Amount',
  amountWrong: 'Type an amount from R$ 0,01, such as 12,50.',
  describe: 'Add a description',
  description: 'Description',
  descriptionWrong: 'Use up to 140 characters.',
  optional: 'optional',
  keypad: 'Keypad of the amount',
  erase: 'Erase the last digit',
  sell: 'Show QR code',
  shift: 'Today at the counter',
  own: 'Your sales',
  all: 'The whole team',
  count: (count) => (count === 1 ? '1 paid sale' : `${count} paid sales`),
  refunded: (amount) => `${amount} refunded`,
  shiftHint: 'Counts the sales made on this screen since midnight that are paid.',
  qr: 'Pix QR code to pay the sale',
  waiting: 'Waiting for payment',
  refresh: 'Paid? Refresh',
  sound: 'Turn sound on',
  cancel: 'Cancel sale',
  payAtBank: 'Pay at the simulated bank',
  next: 'New sale',
  receipt: 'Receipt',
  charge: 'View charge',
  states: STATES_EN,
  done: { canceled: 'Sale canceled.' },
}

export const COUNTER: Record<Language, typeof pt> = { pt, en }
