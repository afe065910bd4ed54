import type { ShippingFault, ShippingField } from '../core/charges/shipping.ts'
import type { Language } from '../lib/language.ts'

type Ending = { title: string; text: string }

/** The texts of the page of a charge. */
export type CheckoutTexts = {
  title(amount: string): string
  toPay: string
  /** Formats a moment that is given as dd/mm/aaaa HH:mm. */
  moment(at: string): string
  validUntil: string
  timeLeft: string
  lastMinutes: string
  dueOn: string
  waiting: string
  qrTitle: string
  qrAlt: string
  showQr: string
  hideQr: string
  code: string
  copy: string
  copied: string
  stepsTitle: string
  steps: string[]
  refresh: string
  details: string
  description: string
  quantity(count: number, name: string): string
  total: string
  discount: string
  addition: string
  subscription: string
  payer: string
  receiver: string
  amount: string
  paid: Ending
  refundedAll: Ending
  unavailable: Ending
  expired: Ending
  canceled: Ending
  collecting: Ending
  uncollected: Ending
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
  moment: (at) => at.replace(' ', ' às '),
  validUntil: 'Válido até',
  timeLeft: 'Expira em',
  lastMinutes: 'Este Pix expira em menos de 2 minutos.',
  dueOn: 'Vencimento',
  waiting: 'Aguardando pagamento…',
  qrTitle: 'Pague com Pix',
  qrAlt: 'QR Code Pix desta cobrança, para ler com o aplicativo do seu banco',
  showQr: 'Mostrar QR Code',
  hideQr: 'Ocultar QR Code',
  code: 'Código Pix Copia e Cola',
  copy: 'Copiar código Pix',
  copied: 'Código copiado',
  stepsTitle: 'Como pagar',
  steps: [
    'Abra o aplicativo do seu banco e entre na área Pix.',
    'Escolha Pix Copia e Cola e cole o código, ou leia o QR Code.',
    'Confira o valor e quem vai receber e confirme o pagamento.',
  ],
  refresh: 'Já paguei, atualizar',
  details: 'Detalhes',
  description: 'Descrição',
  quantity: (count, name) => `${count} × ${name}`,
  total: 'Total',
  discount: 'Desconto',
  addition: 'Acréscimo',
  subscription: 'Assinatura',
  payer: 'Pagador',
  receiver: 'Recebedor',
  amount: 'Valor',
  paid: { title: 'Pagamento confirmado', text: 'Tudo certo! Salve este comprovante.' },
  refundedAll: {
    title: 'Pagamento devolvido',
    text: 'O valor foi devolvido para a conta de origem.',
  },
  unavailable: {
    title: 'Esta loja não pode receber agora',
    text: 'Não pague por enquanto. Tente de novo mais tarde ou fale com a loja. Se você já pagou, o pagamento foi registrado.',
  },
  expired: {
    title: 'Este Pix expirou',
    text: 'Não pague: este código não vale mais. Peça um novo à loja.',
  },
  canceled: {
    title: 'Cobrança cancelada',
    text: 'A loja cancelou esta cobrança. Você não precisa pagar nada.',
  },
  collecting: {
    title: 'Pagamento agendado no Pix Automático',
    text: 'O débito será feito na data de vencimento. Você não precisa fazer nada.',
  },
  uncollected: {
    title: 'Pagamento não realizado',
    text: 'Seu banco não conseguiu debitar esta cobrança. Fale com a loja para combinar o pagamento.',
  },
  success: 'Voltar à loja',
  failed: 'Voltar à loja',
  leaving: ['Voltando à loja em ', ' s…'],
  stay: 'Ficar nesta página',
  dev: {
    title: 'Cobrança de teste',
    text: 'Nenhum valor real é movimentado.',
    simulate: 'Simular pagamento',
  },
  sandbox: {
    text: 'Ambiente de testes: nenhum valor real é movimentado.',
    code: 'Ambiente de testes: este código só pode ser pago no banco simulado.',
    bank: 'Abrir no banco simulado',
  },
  goOn: 'Continuar para o pagamento',
  goOnHint: 'Na próxima etapa, você recebe o código Pix e o QR Code.',
  shippingTitle: 'Endereço de entrega',
  shippingHint: 'Seu endereço é compartilhado apenas com a loja.',
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
  chooseState: 'Selecione',
  faults: {
    missing: 'Preencha este campo.',
    'too-long': 'Texto muito longo.',
    unknown: 'Selecione o estado.',
    elsewhere: 'Este CEP não pertence ao estado escolhido.',
  },
  badPostalCode: 'CEP inválido: informe 8 dígitos.',
  check: 'Confira os campos destacados.',
}

const en: CheckoutTexts = {
  title: (amount) => `Pay ${amount} with Pix`,
  toPay: 'Amount to pay',
  moment: (at) => `${at} (Brasília)`,
  validUntil: 'Valid until',
  timeLeft: 'Expires in',
  lastMinutes: 'This Pix expires in less than 2 minutes.',
  dueOn: 'Due date',
  waiting: 'Waiting for your payment…',
  qrTitle: 'Pay with Pix',
  qrAlt: 'Pix QR code of this charge, to scan with your bank’s app',
  showQr: 'Show QR code',
  hideQr: 'Hide QR code',
  code: 'Pix copy-and-paste code',
  copy: 'Copy Pix code',
  copied: 'Code copied',
  stepsTitle: 'How to pay',
  steps: [
    'Open your bank’s app and go to Pix.',
    'Choose copy and paste (Pix Copia e Cola) and paste the code, or scan the QR code.',
    'Check the amount and who receives it, then confirm.',
  ],
  refresh: 'I have paid, reload',
  details: 'Details',
  description: 'Description',
  quantity: (count, name) => `${count} × ${name}`,
  total: 'Total',
  discount: 'Discount',
  addition: 'Surcharge',
  subscription: 'Subscription',
  payer: 'Payer',
  receiver: 'Pay to',
  amount: 'Amount',
  paid: { title: 'Payment confirmed', text: 'Payment received. Save this receipt.' },
  refundedAll: {
    title: 'Payment returned',
    text: 'The money went back to the account it came from.',
  },
  unavailable: {
    title: 'This store cannot receive payments now',
    text: 'Do not pay for now. Try again later or ask the store. If you have already paid, your payment is recorded.',
  },
  expired: {
    title: 'This Pix has expired',
    text: 'Do not pay: this code is no longer valid. Ask the store for a new one.',
  },
  canceled: {
    title: 'Charge canceled',
    text: 'The store canceled this charge. You do not have to pay anything.',
  },
  collecting: {
    title: 'Payment scheduled with Pix Automático',
    text: 'Your bank debits it on the due date. You do not have to do anything.',
  },
  uncollected: {
    title: 'Payment not made',
    text: 'Your bank could not debit this charge. Contact the store to arrange the payment.',
  },
  success: 'Back to the store',
  failed: 'Back to the store',
  leaving: ['Returning to the store in ', ' s…'],
  stay: 'Stay on this page',
  dev: {
    title: 'Test charge',
    text: 'No real money is moved.',
    simulate: 'Simulate payment',
  },
  sandbox: {
    text: 'Test environment: no real money is moved.',
    code: 'Test environment: this code can only be paid at the simulated bank.',
    bank: 'Open in the simulated bank',
  },
  goOn: 'Continue to payment',
  goOnHint: 'In the next step you get the Pix code and the QR code.',
  shippingTitle: 'Delivery address',
  shippingHint: 'Your address is shared with the store only.',
  fields: {
    postalCode: 'Postal code (CEP)',
    address: 'Street',
    number: 'Number',
    line1: 'Apt, suite, etc.',
    district: 'Neighborhood',
    city: 'City',
    state: 'State',
  },
  optional: 'optional',
  chooseState: 'Select',
  faults: {
    missing: 'Fill in this field.',
    'too-long': 'This text is too long.',
    unknown: 'Select a state.',
    elsewhere: 'This CEP is not in the selected state.',
  },
  badPostalCode: 'Enter a valid 8-digit CEP.',
  check: 'Check the highlighted fields.',
}

export const CHECKOUT: Record<Language, CheckoutTexts> = { pt, en }
