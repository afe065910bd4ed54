import type { Language } from '../../lib/language.ts'

type Decision = 'unmatched' | 'webhooks' | 'collections' | 'certificate' | 'withdrawal'

type Texts = {
  receivedToday: string
  balances: string
  /** The weekday from 0, Sunday. */
  lastWeek(weekday: number, time: string): string
  payments(count: number): string
  available: string
  pending: string
  held: string
  unmatched: string
  hints: { available: string; pending: string; held: string; unmatched: string }
  decisionsTitle: string
  decisions: Record<Decision, (count: string) => string>
  noDecision: string
  newest: string
  newestCaption: string
  allCharges: string
  refresh: string
  create: string
  chartTitle: string
  chartLabel(days: number): string
  nothingReceived(days: number): string
  total(days: number): string
  average: string
  switchTitle: string
  days(count: number): string
  asTable: string
  tableCaption(days: number): string
  day: string
  received: string
  count: string
  conversion: string
  conversionText(paid: string, made: string): string
  noConversion: string
  columns: { payer: string; amount: string; state: string; at: string }
  staticSale: string
  nobody: string
  first: {
    title: string
    text: string
    steps: { title: string; text: string; link: string | null }[]
    done: string
  }
}

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

const pt: Texts = {
  receivedToday: 'Recebido hoje',
  balances: 'Saldos',
  lastWeek: (weekday, time) => `${WEEKDAYS.pt[weekday]} até ${time}`,
  payments: (count) => (count === 1 ? '1 pagamento' : `${count} pagamentos`),
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
  decisions: {
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
  },
  noDecision: 'Tudo em dia: nada aguarda a sua decisão.',
  newest: 'Cobranças mais recentes',
  newestCaption: 'As cobranças mais recentes',
  allCharges: 'Ver todas',
  refresh: 'Atualizar',
  create: 'Nova cobrança',
  chartTitle: 'Recebido por dia',
  chartLabel: (days) =>
    `Valor recebido por dia nos últimos ${days} dias. Os números estão na tabela a seguir.`,
  nothingReceived: (days) => `Nenhum pagamento nos últimos ${days} dias.`,
  total: (days) => `Total em ${days} dias`,
  average: '(em R$; linha: média de 7 dias)',
  switchTitle: 'Período do gráfico',
  days: (count) => `${count} dias`,
  asTable: 'Ver os números em tabela',
  tableCaption: (days) => `Valor recebido por dia nos últimos ${days} dias`,
  day: 'Dia',
  received: 'Recebido',
  count: 'Pagamentos',
  conversion: 'Conversão em 30 dias',
  conversionText: (paid, made) => `${paid} de ${made} cobranças criadas foram pagas`,
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
