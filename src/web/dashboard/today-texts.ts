import type { Language } from '../../lib/language.ts'

const WEEKDAYS = {
  pt: [
    'domingo passado',
    'segunda passada',
    'terça passada',
    'quarta passada',
    'quinta passada',
    'sexta passada',
    'sábado passado',
  ],
  en: [
    'last Sunday',
    'last Monday',
    'last Tuesday',
    'last Wednesday',
    'last Thursday',
    'last Friday',
    'last Saturday',
  ],
}

const pt = {
  today: 'Movimento de hoje',
  compared: (before: string) => `comparado com ${before}`,
  before: (value: string) => `Antes: ${value}`,
  received: 'Recebido bruto',
  returned: 'Devolvido',
  net: 'Líquido',
  balances: 'Saldo',
  /** The weekday from 0, Sunday. */
  lastWeek: (weekday: number, time: string) => `${WEEKDAYS.pt[weekday]} até ${time}`,
  payments: (count: number) => (count === 1 ? '1 pagamento' : `${count} pagamentos`),
  accounts: { available: 'Disponível', pending: 'A liberar' },
  hints: { available: 'Pode ser sacado agora', pending: 'Pago, fica disponível em breve' },
  decisionsTitle: 'Precisa da sua atenção',
  decisions: {
    disputes: (count: string, until: string | null) =>
      `${count === '1' ? '1 disputa aguarda' : `${count} disputas aguardam`} a sua resposta${until ? `, até ${until}` : ''}`,
    unmatched: (count: string) =>
      count === '1'
        ? '1 Pix sem cobrança aguarda decisão'
        : `${count} Pix sem cobrança aguardam decisão`,
    withdrawal: '1 saque aguarda confirmação',
    retrying: (count: string) =>
      count === '1'
        ? '1 débito de assinatura falhou e será tentado de novo'
        : `${count} débitos de assinatura falharam e serão tentados de novo`,
    failed: (count: string) =>
      count === '1'
        ? '1 cobrança de assinatura não foi paga nos últimos 30 dias'
        : `${count} cobranças de assinatura não foram pagas nos últimos 30 dias`,
    webhooks: (count: string) =>
      count === '1' ? '1 webhook com falha' : `${count} webhooks com falha`,
    certificate: (day: string) => `O certificado do banco vence em ${day}`,
  },
  noDecision: 'Tudo em dia: nada aguarda a sua decisão.',
  newest: 'Últimas cobranças',
  allCharges: 'Ver todas',
  refresh: 'Atualizar',
  create: 'Cobrar',
  chartTitle: 'Recebido por dia',
  chartLabel: (days: number) =>
    `Valor recebido por dia nos últimos ${days} dias. Os números estão na tabela a seguir.`,
  nothingReceived: (days: number) => `Nenhum pagamento nos últimos ${days} dias.`,
  total: (days: number) => `Total em ${days} dias`,
  daysBefore: (days: number) => `${days} dias anteriores`,
  reports: 'Ver relatórios',
  switchTitle: 'Período do gráfico',
  days: (count: number) => `${count} dias`,
  day: 'Dia',
  conversion: (days: number) => `Conversão em ${days} dias`,
  noConversion: (days: number) => `Nenhuma cobrança criada nos últimos ${days} dias`,
  staticSale: 'QR Code fixo',
  nobody: 'Pagador não informado',
  first: {
    title: 'Receba o primeiro Pix em três passos',
    text: 'Este é um ambiente de testes: nenhum valor real é movimentado.',
    steps: [
      {
        title: 'Crie um link de pagamento',
        text: 'Informe um valor e copie o endereço da página.',
        link: 'Criar link',
      },
      {
        title: 'Pague no banco simulado',
        text: 'Abra o link, copie o código Pix e pague com dinheiro fictício.',
        link: 'Abrir o banco simulado',
      },
      {
        title: 'Veja o pagamento aqui',
        text: 'Esta página se atualiza sozinha.',
        link: null,
      },
    ],
    done: 'feito',
  },
}

type Texts = typeof pt

const en: Texts = {
  today: 'Today so far',
  compared: (before) => `compared with ${before}`,
  before: (value) => `Before: ${value}`,
  received: 'Gross received',
  returned: 'Refunded',
  net: 'Net',
  balances: 'Balance',
  lastWeek: (weekday, time) => `${WEEKDAYS.en[weekday]} by ${time}`,
  payments: (count) => (count === 1 ? '1 payment' : `${count} payments`),
  accounts: { available: 'Available', pending: 'Pending' },
  hints: { available: 'Can be withdrawn now', pending: 'Paid, available soon' },
  decisionsTitle: 'Needs your attention',
  decisions: {
    disputes: (count, until) =>
      `${count === '1' ? '1 dispute needs' : `${count} disputes need`} your answer${until ? `, by ${until}` : ''}`,
    unmatched: (count) =>
      count === '1'
        ? '1 unmatched payment needs a decision'
        : `${count} unmatched payments need a decision`,
    withdrawal: '1 withdrawal needs confirmation',
    retrying: (count) =>
      count === '1'
        ? '1 subscription debit failed and will be retried'
        : `${count} subscription debits failed and will be retried`,
    failed: (count) =>
      count === '1'
        ? '1 subscription charge was not paid in the last 30 days'
        : `${count} subscription charges were not paid in the last 30 days`,
    webhooks: (count) => (count === '1' ? '1 webhook is failing' : `${count} webhooks are failing`),
    certificate: (day) => `The bank certificate expires on ${day}`,
  },
  noDecision: 'All set: nothing needs your decision.',
  newest: 'Newest charges',
  allCharges: 'See all',
  refresh: 'Refresh',
  create: 'New charge',
  chartTitle: 'Received by day',
  chartLabel: (days) =>
    `Received by day in the last ${days} days. The figures are in the table below.`,
  nothingReceived: (days) => `No payment in the last ${days} days.`,
  total: (days) => `${days}-day total`,
  daysBefore: (days) => `${days} days before`,
  reports: 'See reports',
  switchTitle: 'Period of the chart',
  days: (count) => `${count} days`,
  day: 'Day',
  conversion: (days) => `Conversion in ${days} days`,
  noConversion: (days) => `No charge was created in the last ${days} days`,
  staticSale: 'Static QR code',
  nobody: 'Payer not given',
  first: {
    title: 'Receive your first Pix in three steps',
    text: 'This is a sandbox: no real money is moved.',
    steps: [
      {
        title: 'Create a payment link',
        text: 'Give an amount and copy the address of the page.',
        link: 'Create a link',
      },
      {
        title: 'Pay it in the simulated bank',
        text: 'Open the link, copy the Pix code and pay with play money.',
        link: 'Open the simulated bank',
      },
      {
        title: 'See the payment here',
        text: 'This page updates by itself.',
        link: null,
      },
    ],
    done: 'done',
  },
}

export const TODAY: Record<Language, Texts> = { pt, en }
