import type { Language } from '../../lib/language.ts'

type Decision = 'unmatched' | 'webhooks' | 'collections' | 'certificate' | 'withdrawal'

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

const DECISIONS_PT: Record<Decision, (count: string) => string> = {
  unmatched: (count) =>
    count === '1'
      ? '1 pagamento não identificado aguarda decisão'
      : `${count} pagamentos não identificados aguardam decisão`,
  webhooks: (count) =>
    count === '1' ? '1 webhook não está recebendo' : `${count} webhooks não estão recebendo`,
  collections: (count) =>
    count === '1'
      ? '1 cobrança de assinatura falhou nos últimos 30 dias'
      : `${count} cobranças de assinatura falharam nos últimos 30 dias`,
  certificate: (day) => `O certificado do banco vence em ${day}`,
  withdrawal: () => '1 saque aguarda confirmação',
}

const pt = {
  receivedToday: 'Recebido hoje',
  balances: 'Saldos',
  /** The weekday from 0, Sunday. */
  lastWeek: (weekday: number, time: string) => `${WEEKDAYS.pt[weekday]} até ${time}`,
  payments: (count: number) => (count === 1 ? '1 pagamento' : `${count} pagamentos`),
  available: 'Disponível',
  pending: 'A liberar',
  held: 'Reservado',
  unmatched: 'Não identificado',
  hints: {
    available: 'Pode ser sacado agora',
    pending: 'Pago, fica disponível em breve',
    held: 'Saques e devoluções em andamento',
    unmatched: 'Aguarda a sua decisão',
  },
  decisionsTitle: 'Precisa da sua atenção',
  decisions: DECISIONS_PT,
  noDecision: 'Tudo em dia: nada aguarda a sua decisão.',
  newest: 'Cobranças mais recentes',
  newestCaption: 'As cobranças mais recentes',
  allCharges: 'Ver todas',
  refresh: 'Atualizar',
  create: 'Nova cobrança',
  chartTitle: 'Recebido por dia',
  chartLabel: (days: number) =>
    `Valor recebido por dia nos últimos ${days} dias. Os números estão na tabela a seguir.`,
  nothingReceived: (days: number) => `Nenhum pagamento nos últimos ${days} dias.`,
  total: (days: number) => `Total em ${days} dias`,
  average: '(em R$; linha: média de 7 dias)',
  switchTitle: 'Período do gráfico',
  days: (count: number) => `${count} dias`,
  asTable: 'Ver os números em tabela',
  tableCaption: (days: number) => `Valor recebido por dia nos últimos ${days} dias`,
  day: 'Dia',
  received: 'Recebido',
  count: 'Pagamentos',
  conversion: 'Conversão em 30 dias',
  conversionText: (paid: string, made: string) =>
    `${paid} de ${made} cobranças criadas foram pagas`,
  noConversion: 'Nenhuma cobrança criada nos últimos 30 dias',
  columns: { payer: 'Pagador', amount: 'Valor', state: 'Situação', at: 'Criada em' },
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
  receivedToday: 'Received today',
  balances: 'Balances',
  lastWeek: (weekday, time) => `${WEEKDAYS.en[weekday]} by ${time}`,
  payments: (count) => (count === 1 ? '1 payment' : `${count} payments`),
  available: 'Available',
  pending: 'Pending',
  held: 'Held',
  unmatched: 'Unmatched',
  hints: {
    available: 'Can be withdrawn now',
    pending: 'Paid, available soon',
    held: 'Withdrawals and refunds in progress',
    unmatched: 'Waits for your decision',
  },
  decisionsTitle: 'Needs your attention',
  decisions: {
    unmatched: (count) =>
      count === '1'
        ? '1 unmatched payment waits for a decision'
        : `${count} unmatched payments wait for a decision`,
    webhooks: (count) =>
      count === '1' ? '1 webhook does not receive' : `${count} webhooks do not receive`,
    collections: (count) =>
      count === '1'
        ? '1 subscription charge failed in the last 30 days'
        : `${count} subscription charges failed in the last 30 days`,
    certificate: (day) => `The certificate of the bank ends on ${day}`,
    withdrawal: () => '1 withdrawal waits for confirmation',
  },
  noDecision: 'All set: nothing waits for your decision.',
  newest: 'Newest charges',
  newestCaption: 'The newest charges',
  allCharges: 'See all',
  refresh: 'Refresh',
  create: 'New charge',
  chartTitle: 'Received by day',
  chartLabel: (days) =>
    `Received by day in the last ${days} days. The figures are in the table below.`,
  nothingReceived: (days) => `No payment in the last ${days} days.`,
  total: (days) => `Total of ${days} days`,
  average: '(in R$; line: average of 7 days)',
  switchTitle: 'Period of the chart',
  days: (count) => `${count} days`,
  asTable: 'Show the figures as a table',
  tableCaption: (days) => `Received by day in the last ${days} days`,
  day: 'Day',
  received: 'Received',
  count: 'Payments',
  conversion: 'Conversion in 30 days',
  conversionText: (paid, made) => `${paid} of ${made} charges that were created are paid`,
  noConversion: 'No charge was created in the last 30 days',
  columns: { payer: 'Payer', amount: 'Amount', state: 'State', at: 'Created' },
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
