import type { ShippingFault, ShippingField } from '../core/charges/shipping.ts'
import type { Language } from '../core/companies/rules.ts'

type Ending = { title: string; text: string }

/** What the page of a charge says. */
export type CheckoutTexts = {
  title(amount: string): string
  toPay: string
  dueAt(moment: string): string
  due: string
  timeLeft: string
  waiting: string
  qrTitle: string
  qrAlt: string
  code: string
  copy: string
  copied: string
  stepsTitle: string
  steps: string[]
  refresh: string
  details: string
  quantity(count: number, name: string): string
  total: string
  payer: string
  receiver: string
  amount: string
  paidAt: string
  endToEndId: string
  refunded: string
  paid: Ending
  refundedAll: Ending
  expired: Ending
  canceled: Ending
  collecting: Ending
  success: string
  failed: string
  leaving: [before: string, after: string]
  stay: string
  dev: { title: string; text: string; simulate: string }
  sandbox: { text: string; code: string; bank: string }
  goOn: string
  goOnHint: string
  shippingTitle: string
  shippingHint: string
  fields: Record<ShippingField, string>
  optional: string
  chooseState: string
  faults: Record<ShippingFault, string>
  badPostalCode: string
  check: string
}

const pt: CheckoutTexts = {
  title: (amount) => `Pagar ${amount} com Pix`,
  toPay: 'Valor a pagar',
  dueAt: (moment) => `Vence em ${moment}`,
  due: 'Vencimento',
  timeLeft: 'Pague em até',
  waiting: 'Aguardando o pagamento…',
  qrTitle: 'Pague com Pix',
  qrAlt: 'QR Code Pix desta cobrança, para ler com o aplicativo do seu banco',
  code: 'Código Pix copia e cola',
  copy: 'Copiar código Pix',
  copied: 'Código copiado',
  stepsTitle: 'Como pagar',
  steps: [
    'Abra o aplicativo do seu banco e escolha Pix.',
    'Leia o QR Code, ou escolha Pix copia e cola e cole o código.',
    'Confira o valor e quem recebe, e confirme.',
  ],
  refresh: 'Já paguei: atualizar a página',
  details: 'Detalhes',
  quantity: (count, name) => `${count} × ${name}`,
  total: 'Total',
  payer: 'Pagador',
  receiver: 'Recebedor',
  amount: 'Valor',
  paidAt: 'Data do pagamento',
  endToEndId: 'ID da transação',
  refunded: 'Valor devolvido',
  paid: { title: 'Pagamento confirmado', text: 'Pronto! Guarde este comprovante se precisar.' },
  refundedAll: {
    title: 'Pagamento devolvido',
    text: 'O valor voltou para a conta de onde saiu.',
  },
  expired: {
    title: 'O prazo para pagar acabou',
    text: 'Não pague este código: o Pix não quitaria esta cobrança. Peça uma nova a quem vendeu.',
  },
  canceled: {
    title: 'Cobrança cancelada',
    text: 'Quem vendeu cancelou esta cobrança. Não é preciso pagar nada.',
  },
  collecting: {
    title: 'Débito automático agendado',
    text: 'Você autorizou esta cobrança pelo Pix Automático: seu banco debita no vencimento, e não é preciso fazer nada.',
  },
  success: 'Voltar à loja',
  failed: 'Voltar à loja',
  leaving: ['Você volta à loja em ', ' s.'],
  stay: 'Ficar nesta página',
  dev: {
    title: 'Cobrança de teste',
    text: 'Nenhum dinheiro de verdade muda de mãos.',
    simulate: 'Simular pagamento',
  },
  sandbox: {
    text: 'Ambiente de testes: nenhum dinheiro de verdade muda de mãos.',
    code: 'Ambiente de testes: só o banco simulado conhece este código.',
    bank: 'Abrir no banco simulado',
  },
  goOn: 'Continuar para o pagamento',
  goOnHint: 'No próximo passo você recebe o QR Code e o código Pix.',
  shippingTitle: 'Endereço de entrega',
  shippingHint: 'Só quem vende vê este endereço.',
  fields: {
    postalCode: 'CEP',
    address: 'Rua ou avenida',
    number: 'Número',
    line1: 'Complemento',
    district: 'Bairro',
    city: 'Cidade',
    state: 'Estado',
  },
  optional: 'opcional',
  chooseState: 'Escolha',
  faults: {
    missing: 'Preencha este campo.',
    'too-long': 'O texto é longo demais.',
    unknown: 'Escolha um estado.',
    elsewhere: 'O CEP não é deste estado.',
  },
  badPostalCode: 'Informe um CEP que exista, com 8 números.',
  check: 'Confira os campos marcados.',
}

const en: CheckoutTexts = {
  title: (amount) => `Pay ${amount} with Pix`,
  toPay: 'Amount to pay',
  dueAt: (moment) => `Due ${moment} (Brasília)`,
  due: 'Due',
  timeLeft: 'Time left to pay',
  waiting: 'Waiting for your payment…',
  qrTitle: 'Pay with Pix',
  qrAlt: 'Pix QR code of this charge, to scan with your bank’s app',
  code: 'Pix copy-and-paste code',
  copy: 'Copy Pix code',
  copied: 'Code copied',
  stepsTitle: 'How to pay',
  steps: [
    'Open your bank’s app and choose Pix.',
    'Scan the QR code, or choose copy and paste (copia e cola) and paste the code.',
    'Check the amount and who receives it, and confirm.',
  ],
  refresh: 'I have paid: reload the page',
  details: 'Details',
  quantity: (count, name) => `${count} × ${name}`,
  total: 'Total',
  payer: 'Payer',
  receiver: 'Receiver',
  amount: 'Amount',
  paidAt: 'Paid on',
  endToEndId: 'Transaction ID',
  refunded: 'Amount returned',
  paid: { title: 'Payment confirmed', text: 'All done. Keep this receipt if you need it.' },
  refundedAll: {
    title: 'Payment returned',
    text: 'The money went back to the account it came from.',
  },
  expired: {
    title: 'The time to pay is over',
    text: 'Do not pay this code: it would no longer settle this charge. Ask the seller for a new one.',
  },
  canceled: {
    title: 'Charge canceled',
    text: 'The seller has canceled this charge. There is nothing to pay.',
  },
  collecting: {
    title: 'Automatic debit scheduled',
    text: 'You have authorized this charge with Pix Automático: your bank debits it on the due date, and there is nothing to do.',
  },
  success: 'Back to the store',
  failed: 'Back to the store',
  leaving: ['You return to the store in ', ' s.'],
  stay: 'Stay on this page',
  dev: {
    title: 'Test charge',
    text: 'No real money changes hands.',
    simulate: 'Simulate payment',
  },
  sandbox: {
    text: 'Test environment: no real money changes hands.',
    code: 'Test environment: only the simulated bank knows this code.',
    bank: 'Open in the simulated bank',
  },
  goOn: 'Continue to payment',
  goOnHint: 'In the next step you get the QR code and the Pix code.',
  shippingTitle: 'Delivery address',
  shippingHint: 'Only the seller sees this address.',
  fields: {
    postalCode: 'Postal code (CEP)',
    address: 'Street',
    number: 'Number',
    line1: 'Complement',
    district: 'Neighborhood',
    city: 'City',
    state: 'State',
  },
  optional: 'optional',
  chooseState: 'Choose',
  faults: {
    missing: 'Fill in this field.',
    'too-long': 'The text is too long.',
    unknown: 'Choose a state.',
    elsewhere: 'The postal code is not in this state.',
  },
  badPostalCode: 'Enter a postal code (CEP) that exists, 8 digits.',
  check: 'Check the marked fields.',
}

export const CHECKOUT: Record<Language, CheckoutTexts> = { pt, en }
