import type { PayerExport } from '../core/payers/export.ts'
import { formatReais } from '../lib/money.ts'
import { formatMoment } from '../pix/local-time.ts'
import { type Html, html, raw, render } from '../web/html.ts'

/** The names of fields as people read them, in Portuguese and English. */
const WORDS: Record<string, string> = {
  address: 'Endereço · Address',
  amount: 'Valor · Amount',
  bankId: 'Código no banco · Id at the bank',
  base64: 'Conteúdo (base64) · Content (base64)',
  charges: 'Cobranças · Charges',
  city: 'Cidade · City',
  closedAt: 'Encerrada em · Closed',
  comment: 'Comentário · Comment',
  createdAt: 'Criado em · Created',
  customers: 'Cadastro de cliente · Customers',
  decidedAt: 'Decidida em · Decided',
  defense: 'Defesa · Defense',
  description: 'Descrição · Description',
  disputes: 'Disputas (MED) · Disputes',
  district: 'Bairro · District',
  email: 'E-mail',
  endToEndId: 'Id da transação · Transaction id',
  events: 'Eventos · Events',
  expiresAt: 'Vence em · Expires',
  externalId: 'Referência da empresa · The company’s reference',
  files: 'Arquivos · Files',
  finishedAt: 'Concluído em · Finished',
  frequency: 'Frequência · Frequency',
  id: 'Id',
  items: 'Itens · Items',
  kind: 'Tipo · Kind',
  line1: 'Complemento · Complement',
  mails: 'E-mails enviados · Mails sent',
  name: 'Nome · Name',
  notes: 'Anotações da equipe · Notes',
  number: 'Número · Number',
  openedAt: 'Aberta em · Opened',
  outcome: 'Resultado · Outcome',
  payer: 'Pagador · Payer',
  paymentDate: 'Pago em · Paid',
  paymentStatus: 'Pagamento · Payment',
  payments: 'Pagamentos sem cobrança · Payments without a charge',
  phone: 'Telefone · Phone',
  places: 'Outras cópias · Other copies',
  postalCode: 'CEP · Postal code',
  productName: 'Produto · Product',
  quantity: 'Quantidade · Quantity',
  reason: 'Motivo · Reason',
  receivedAt: 'Recebido em · Received',
  refunded: 'Devolvido · Refunded',
  refunds: 'Devoluções · Refunds',
  returnId: 'Id da devolução · Return id',
  shipping: 'Entrega · Delivery',
  since: 'Desde · Since',
  size: 'Tamanho · Size',
  state: 'Estado · State',
  status: 'Situação · Status',
  subscriptions: 'Assinaturas · Subscriptions',
  taxId: 'CPF/CNPJ · Tax id',
  text: 'Texto · Text',
  type: 'Tipo · Type',
  updatedAt: 'Alterado em · Updated',
  url: 'Endereço · Address',
  value: 'Valor · Amount',
  webhooks: 'Sistemas da empresa avisados · Systems of the company that are told',
}

const CENTS = ['amount', 'refunded', 'value']

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c}
h1{font-size:1.5rem}h2{font-size:1.25rem;margin-top:2.5rem}h3{font-size:1rem;margin:1.5rem 0 .25rem}
dl{display:grid;grid-template-columns:minmax(8rem,16rem) 1fr;gap:.125rem 1rem}
dl{border-top:1px solid #ccc;padding:.5rem 0;margin:0}
dt{color:#555}dd{margin:0;overflow-wrap:anywhere}dd dl{border:0;padding:0}`

function shown(name: string, value: unknown): Html | string {
  if (value instanceof Date) return formatMoment(value)
  if (CENTS.includes(name) && typeof value === 'number') return formatReais(value)
  if (Array.isArray(value)) {
    return html`${value.map((one) => html`<div>${shown('', one)}</div>`)}`
  }
  if (value !== null && typeof value === 'object') return fields(value)
  return String(value)
}

const isThere = (value: unknown): boolean =>
  value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0)

const fields = (record: object): Html =>
  html`<dl>${Object.entries(record)
    .filter(([, value]) => isThere(value))
    .map(
      ([name, value]) => html`<dt>${WORDS[name] ?? name}</dt><dd>${shown(name, value)}</dd>`,
    )}</dl>`

function ofCompany({ company, places, ...parts }: PayerExport): Html {
  const lists = Object.entries(parts).filter(([, records]) => records.length > 0)
  const hasPlaces = Object.keys(places).length > 0
  return html`<h2>${company.name} — ${company.taxId}</h2>
${lists.map(([name, records]) => html`<h3>${WORDS[name] ?? name} (${records.length})</h3>${records.map(fields)}`)}
${hasPlaces && html`<h3>${WORDS.places}</h3>${fields(places)}`}`
}

/** A page that is whole by itself: it is opened from a disk, or printed. */
export const payerPage = (all: { exportedAt: Date; companies: PayerExport[] }): string =>
  render(html`<!doctype html>
<html lang="pt-BR"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Dados pessoais · Personal data</title><style>${raw(STYLE)}</style></head><body>
<h1>Dados pessoais · Personal data</h1>
<p>Gerado em ${formatMoment(all.exportedAt)} (São Paulo). Lei 13.709/2018 (LGPD), art. 18.</p>
${all.companies.length === 0 && html`<p>Nada foi encontrado. · Nothing was found.</p>`}
${all.companies.map(ofCompany)}
</body></html>
`)
