import type { Language } from '../core/companies/rules.ts'
import type { Frequency } from '../pix/calendar.ts'

type Ending = { title: string; text: string }

export type PayerField = 'name' | 'taxId' | 'email' | 'phone'

/** What the pages say on which somebody subscribes. */
export type SubscriptionTexts = {
  title(product: string): string
  subscribe: string
  each: Record<Frequency, string>
  automatic: string
  product: string
  when: string
  whenHint: string
  whenKnown: string
  charge(number: number): string
  cancelAnytime: string
  formTitle: string
  formHint: string
  knownTitle: string
  knownHint: string
  fields: Record<PayerField, string>
  faults: Record<PayerField, string>
  taxIdHint: string
  goOn: string
  goOnHint: string
  payer: string
  validUntil: string
  value: string
  panel: { title: string; alt: string; steps: string[]; waiting: string; refresh: string }
  approved: Ending
  rejected: Ending
  expired: Ending
  canceled: Ending
  closed: Ending
  again: string
  since: string
}

const pt: SubscriptionTexts = {
  title: (product) => `Assinar ${product}`,
  subscribe: 'Assinatura',
  each: {
    WEEKLY: 'por semana',
    MONTHLY: 'por mês',
    SEMIANNUAL: 'por semestre',
    ANNUAL: 'por ano',
  },
  automatic: 'Pix Automático',
  product: 'Produto',
  when: 'Próximas cobranças',
  whenHint:
    'Se você autorizar hoje. Seu banco debita no dia útil, e tenta de novo se faltar saldo.',
  whenKnown: 'Seu banco debita no dia útil, e tenta de novo se faltar saldo.',
  charge: (number) => `${number}ª cobrança`,
  cancelAnytime: 'Você pode cancelar quando quiser, no aplicativo do seu banco.',
  formTitle: 'Seus dados',
  formHint: 'Precisam ser os do titular da conta que vai pagar.',
  knownTitle: 'Confira quem assina',
  knownHint: 'Quem enviou este link informou estes dados.',
  fields: {
    name: 'Nome completo',
    taxId: 'CPF ou CNPJ',
    email: 'E-mail',
    phone: 'Celular com DDD',
  },
  faults: {
    name: 'Informe o seu nome.',
    taxId: 'Confira o CPF ou CNPJ: algum número não confere.',
    email: 'Informe um e-mail, como maria@example.com.',
    phone: 'Informe o DDD e o número: 10 ou 11 números.',
  },
  taxIdHint: 'Só números, ou com pontos e traço.',
  goOn: 'Continuar para a autorização',
  goOnHint: 'Nada é cobrado agora. No próximo passo você autoriza no aplicativo do seu banco.',
  payer: 'Pagador',
  validUntil: 'Autorize até',
  value: 'Valor',
  panel: {
    title: 'Autorize no seu banco',
    alt: 'QR Code do Pix Automático, para ler com o aplicativo do seu banco',
    steps: [
      'Abra o aplicativo do seu banco e escolha Pix.',
      'Leia o QR Code, ou escolha Pix copia e cola e cole o código.',
      'Confira o valor e a frequência, e autorize o Pix Automático.',
    ],
    waiting: 'Aguardando a autorização…',
    refresh: 'Já autorizei: atualizar a página',
  },
  approved: {
    title: 'Assinatura ativa',
    text: 'Pronto! Seu banco debita cada cobrança no vencimento, sem você fazer nada.',
  },
  rejected: {
    title: 'Autorização recusada',
    text: 'Você recusou a autorização no seu banco. Nada será cobrado.',
  },
  expired: {
    title: 'O prazo para autorizar acabou',
    text: 'Nada será cobrado. Se ainda quiser assinar, peça um novo link a quem vende.',
  },
  canceled: {
    title: 'Assinatura cancelada',
    text: 'Não haverá novas cobranças.',
  },
  closed: {
    title: 'Este link de assinatura foi encerrado',
    text: 'Ninguém mais pode assinar por ele. Peça um novo a quem vende.',
  },
  again: 'A última autorização não foi concluída. Você pode tentar de novo.',
  since: 'Autorizada em',
}

const en: SubscriptionTexts = {
  title: (product) => `Subscribe to ${product}`,
  subscribe: 'Subscription',
  each: { WEEKLY: 'a week', MONTHLY: 'a month', SEMIANNUAL: 'every six months', ANNUAL: 'a year' },
  automatic: 'Pix Automático',
  product: 'Product',
  when: 'Next charges',
  whenHint:
    'If you authorize today. Your bank debits on business days, and tries again if the balance is short.',
  whenKnown: 'Your bank debits on business days, and tries again if the balance is short.',
  charge: (number) => `Charge ${number}`,
  cancelAnytime: 'You can cancel at any time in your bank’s app.',
  formTitle: 'Your details',
  formHint: 'They must be those of the holder of the account that pays.',
  knownTitle: 'Check who subscribes',
  knownHint: 'Whoever sent this link gave these details.',
  fields: {
    name: 'Full name',
    taxId: 'CPF or CNPJ',
    email: 'E-mail',
    phone: 'Mobile with area code',
  },
  faults: {
    name: 'Enter your name.',
    taxId: 'Check the CPF or CNPJ: a number does not add up.',
    email: 'Enter an e-mail address such as maria@example.com.',
    phone: 'Enter area code and number: 10 or 11 digits.',
  },
  taxIdHint: 'Just the numbers, or with dots and dash.',
  goOn: 'Continue to authorization',
  goOnHint: 'Nothing is charged now. In the next step you authorize it in your bank’s app.',
  payer: 'Payer',
  validUntil: 'Authorize by',
  value: 'Amount',
  panel: {
    title: 'Authorize in your bank',
    alt: 'Pix Automático QR code, to scan with your bank’s app',
    steps: [
      'Open your bank’s app and choose Pix.',
      'Scan the QR code, or choose copy and paste (copia e cola) and paste the code.',
      'Check the amount and how often, and authorize Pix Automático.',
    ],
    waiting: 'Waiting for your authorization…',
    refresh: 'I have authorized it: reload the page',
  },
  approved: {
    title: 'Subscription active',
    text: 'All done. Your bank debits each charge on its due date; there is nothing to do.',
  },
  rejected: {
    title: 'Authorization declined',
    text: 'You declined the authorization in your bank. Nothing will be charged.',
  },
  expired: {
    title: 'The time to authorize is over',
    text: 'Nothing will be charged. If you still want to subscribe, ask the seller for a new link.',
  },
  canceled: { title: 'Subscription canceled', text: 'There will be no more charges.' },
  closed: {
    title: 'This subscription link has ended',
    text: 'Nobody can subscribe through it any more. Ask the seller for a new one.',
  },
  again: 'The last authorization was not completed. You can try again.',
  since: 'Authorized on',
}

export const SUBSCRIPTION: Record<Language, SubscriptionTexts> = { pt, en }
