import type { Language } from '../lib/language.ts'
import type { Frequency } from '../pix/calendar.ts'
import type { PanelTexts } from './parts.ts'

export type PayerField = 'name' | 'taxId' | 'email' | 'phone'

const pt = {
  title: (product: string) => `Assinar ${product}`,
  subscribe: 'Assinatura',
  each: {
    WEEKLY: 'por semana',
    MONTHLY: 'por mês',
    SEMIANNUAL: 'por semestre',
    ANNUAL: 'por ano',
  } satisfies Record<Frequency, string>,
  automatic: 'Pix Automático',
  product: 'Produto',
  when: 'Próximas cobranças',
  whenHint:
    'Datas para autorização feita hoje. O vencimento é em dia útil. Se faltar saldo, o banco tenta de novo em até 3 dos 7 dias seguintes, também em fins de semana e feriados.',
  whenKnown:
    'O vencimento é em dia útil. Se faltar saldo, o banco tenta de novo em até 3 dos 7 dias seguintes, também em fins de semana e feriados.',
  charge: (number: number) => `${number}ª cobrança`,
  cancelAnytime: 'Você pode cancelar quando quiser no aplicativo do seu banco.',
  formTitle: 'Seus dados',
  formHint: 'Informe os dados do titular da conta que fará o pagamento.',
  knownTitle: 'Confirme seus dados',
  knownHint: (company: string) => `Dados informados por ${company}.`,
  fields: {
    name: 'Nome completo',
    taxId: 'CPF ou CNPJ',
    email: 'E-mail',
    phone: 'Celular com DDD',
  } satisfies Record<PayerField, string>,
  faults: {
    name: 'Informe seu nome completo.',
    taxId: 'CPF ou CNPJ inválido.',
    email: 'E-mail inválido. Exemplo: maria@example.com',
    phone: 'Informe o DDD e o número: 10 ou 11 dígitos.',
  } satisfies Record<PayerField, string>,
  taxIdHint: 'Com ou sem pontos e traço.',
  goOn: 'Continuar para a autorização',
  goOnHint: 'Nada é cobrado agora. Na próxima etapa, você autoriza no aplicativo do seu banco.',
  payer: 'Pagador',
  receiver: 'Recebedor',
  description: 'Descrição',
  validUntil: 'Autorize até',
  value: 'Valor',
  panel: {
    title: 'Autorize no seu banco',
    alt: 'QR Code do Pix Automático, para ler com o aplicativo do seu banco',
    stepsTitle: 'Como autorizar',
    steps: [
      'Abra o aplicativo do seu banco e entre na área Pix.',
      'Escolha Pix Copia e Cola e cole o código, ou leia o QR Code.',
      'Confira o valor e a frequência e autorize o Pix Automático.',
    ],
    waiting: 'Aguardando autorização…',
    refresh: 'Já autorizei, atualizar',
  } satisfies PanelTexts,
  approved: {
    title: 'Assinatura ativa',
    text: 'Tudo certo! Seu banco faz o débito de cada cobrança no vencimento.',
  },
  /** A debit that was due and was not made. */
  late: {
    title: 'Pagamento pendente',
    retry: (due: string, day: string) =>
      `O débito de ${due} não foi feito, em geral por falta de saldo. Seu banco tenta novamente em ${day}: deixe o valor na conta.`,
    waiting: (due: string) =>
      `O débito de ${due} não foi feito. Aguardando a resposta do seu banco.`,
    failed: (due: string) =>
      `A cobrança de ${due} não foi paga. Fale com a loja para combinar o pagamento.`,
  },
  rejected: {
    title: 'Autorização recusada',
    text: 'Você recusou a autorização no seu banco. Nada será cobrado.',
  },
  expired: {
    title: 'O prazo para autorizar terminou',
    text: 'Nada será cobrado. Se ainda quiser assinar, peça um novo link à loja.',
  },
  canceled: {
    title: 'Assinatura cancelada',
    text: 'Não haverá novas cobranças.',
  },
  closed: {
    title: 'Este link de assinatura foi encerrado',
    text: 'Este link não aceita mais assinaturas. Peça um novo à loja.',
  },
  again: 'A última autorização não foi concluída. Você pode tentar novamente.',
  since: 'Autorizada em',
}

/** The texts of the pages for subscriptions. */
type SubscriptionTexts = typeof pt

const en: SubscriptionTexts = {
  title: (product) => `Subscribe to ${product}`,
  subscribe: 'Subscription',
  each: {
    WEEKLY: 'per week',
    MONTHLY: 'per month',
    SEMIANNUAL: 'every six months',
    ANNUAL: 'per year',
  },
  automatic: 'Pix Automático',
  product: 'Product',
  when: 'Next charges',
  whenHint:
    'Dates if you authorize today. Due dates are business days. If your balance is short, the bank tries again on up to 3 of the next 7 days, weekends and holidays included.',
  whenKnown:
    'Due dates are business days. If your balance is short, the bank tries again on up to 3 of the next 7 days, weekends and holidays included.',
  charge: (number) => `Charge ${number}`,
  cancelAnytime: 'You can cancel at any time in your bank’s app.',
  formTitle: 'Your details',
  formHint: 'Use the details of the paying account’s holder.',
  knownTitle: 'Confirm your details',
  knownHint: (company) => `Provided by ${company}.`,
  fields: {
    name: 'Full name',
    taxId: 'CPF or CNPJ',
    email: 'Email',
    phone: 'Mobile with area code',
  },
  faults: {
    name: 'Enter your full name.',
    taxId: 'This CPF/CNPJ is not valid.',
    email: 'Enter a valid email, such as maria@example.com.',
    phone: 'Enter area code and number: 10 or 11 digits.',
  },
  taxIdHint: 'With or without dots and dash.',
  goOn: 'Continue to authorization',
  goOnHint: 'Nothing is charged now. In the next step you authorize it in your bank’s app.',
  payer: 'Paid by',
  receiver: 'Paid to',
  description: 'Description',
  validUntil: 'Authorize by',
  value: 'Amount',
  panel: {
    title: 'Authorize in your bank',
    alt: 'Pix Automático QR code, to scan with your bank’s app',
    stepsTitle: 'How to authorize',
    steps: [
      'Open your bank’s app and go to Pix.',
      'Choose copy and paste (Pix Copia e Cola) and paste the code, or scan the QR code.',
      'Check the amount and how often, then authorize Pix Automático.',
    ],
    waiting: 'Waiting for your authorization…',
    refresh: 'I have authorized it, reload',
  },
  approved: {
    title: 'Subscription active',
    text: 'All set. Your bank debits each charge on its due date.',
  },
  late: {
    title: 'Payment pending',
    retry: (due, day) =>
      `The debit of ${due} was not made, mostly for lack of funds. Your bank tries again on ${day}: keep the amount in your account.`,
    waiting: (due) => `The debit of ${due} was not made. Waiting for the answer of your bank.`,
    failed: (due) => `The charge of ${due} was not paid. Contact the store to arrange the payment.`,
  },
  rejected: {
    title: 'Authorization declined',
    text: 'You declined the authorization in your bank. Nothing will be charged.',
  },
  expired: {
    title: 'The time to authorize has ended',
    text: 'Nothing will be charged. If you still want to subscribe, ask the store for a new link.',
  },
  canceled: { title: 'Subscription canceled', text: 'There will be no more charges.' },
  closed: {
    title: 'This subscription link has ended',
    text: 'This link no longer accepts subscriptions. Ask the store for a new one.',
  },
  again: 'The last authorization was not completed. You can try again.',
  since: 'Authorized on',
}

export const SUBSCRIPTION: Record<Language, SubscriptionTexts> = { pt, en }
