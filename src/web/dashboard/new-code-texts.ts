import type { Language } from '../../lib/language.ts'

type Texts = {
  title(amount: string): string
  limit(remaining: string): string
  codes: string
  code: string
  amount: string
  madeAt: string
  test: string
  qr: string
  copyWhat: string
  copied: string
  sign: string
  alt: string
  sales: string
  salesHint: string
  recent: string
  count(count: number): string
  noSales: string
  sale: string
  payer: string
  state: string
  paidAt: string
  noPayer: string
  print: string
  printHint: string
  aim: string
  steps: string
  payTo: string
  done: Record<'made', string>
}

const pt: Texts = {
  title: (amount) => `QR Code fixo de ${amount}`,
  limit: (remaining) => `Neste mês ainda é possível receber ${remaining} por QR Codes fixos.`,
  codes: 'Seus QR Codes fixos',
  code: 'QR Code',
  amount: 'Valor',
  madeAt: 'Criado em',
  test: 'Teste',
  qr: 'QR Code e código copia e cola',
  copyWhat: 'o código Pix',
  copied: 'Copiado',
  sign: 'Abrir placa para imprimir',
  alt: 'QR Code Pix',
  sales: 'Vendas deste QR Code',
  salesHint: 'Cada pagamento aparece aqui assim que chega.',
  recent: 'Últimos 31 dias',
  count: (count) => (count === 1 ? '1 venda' : `${count} vendas`),
  noSales: 'Ninguém pagou com este QR Code ainda.',
  sale: 'Venda',
  payer: 'Quem pagou',
  state: 'Situação',
  paidAt: 'Paga em',
  noPayer: 'Não informado',
  print: 'Imprimir placa',
  printHint: 'A placa sai em folha A6 (105 × 148 mm). Também fica boa em preto e branco.',
  aim: 'Aponte a câmera',
  steps: 'Abra o aplicativo do seu banco, escolha Pix e leia o QR Code.',
  payTo: 'Pague com Pix',
  done: { made: 'QR Code criado. Imprima a placa e deixe no balcão.' },
}

const en: Texts = {
  title: (amount) => `Static QR code of ${amount}`,
  limit: (remaining) => `This month static QR codes may still receive ${remaining}.`,
  codes: 'Your static QR codes',
  code: 'QR code',
  amount: 'Amount',
  madeAt: 'Created at',
  test: 'Test',
  qr: 'QR code and copy-and-paste code',
  copyWhat: 'the Pix code',
  copied: 'Copied',
  sign: 'Open the sign to print',
  alt: 'Pix QR code',
  sales: 'Sales of this QR code',
  salesHint: 'Each payment appears here as soon as it arrives.',
  recent: 'Last 31 days',
  count: (count) => (count === 1 ? '1 sale' : `${count} sales`),
  noSales: 'Nobody has paid with this QR code yet.',
  sale: 'Sale',
  payer: 'Paid by',
  state: 'Status',
  paidAt: 'Paid at',
  noPayer: 'Not given',
  print: 'Print the sign',
  printHint: 'The sign is printed on A6 paper (105 × 148 mm). Black and white is fine too.',
  aim: 'Point your camera',
  steps: 'Open the app of your bank, choose Pix and scan the QR code.',
  payTo: 'Pay with Pix',
  done: { made: 'QR code created. Print the sign and put it on the counter.' },
}

export const NEW_CODE: Record<Language, Texts> = { pt, en }
