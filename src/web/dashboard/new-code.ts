import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import type { StaticCode } from '../../core/charges/rules.ts'
import type { Summary } from '../../core/charges/search.ts'
import { findStaticCodes, listStaticCodes } from '../../core/charges/static.ts'
import type { StaticCodeView } from '../../core/charges/static-view.ts'
import type { ChargeView, SalesLimits } from '../../core/charges/view.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { formatReais, readReais } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { qrDataUrl } from '../../pix/qr.ts'
import { staticTxid } from '../../provider/txid.ts'
import { copyButton } from '../developer.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { sendPage } from '../layout.ts'
import type { Form } from '../site.ts'
import { backLink, type FormFault, fillFields, tryForm } from './form-parts.ts'
import { amountPlan, devModeField, externalIdPlan, sendNewForm } from './new-parts.ts'
import { NEW } from './new-texts.ts'
import {
  card,
  doneNotice,
  heading,
  moment,
  money,
  nothing,
  pager,
  pill,
  rowLink,
  table,
} from './parts.ts'
import { chargePill } from './states.ts'
import { DASHBOARD } from './texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const CODES_SHOWN = 20
const SALES_SHOWN = 20

const show = (visit: Visit): Promise<FastifyReply> => sendForm(visit, {}, null)

async function make(visit: Visit): Promise<FastifyReply> {
  const { form } = visit
  const devMode = form.devMode === 'yes'
  const externalId = form.externalId?.trim()
  const amount = readReais(form.amount ?? '') ?? -1
  const body = { amount, devMode, ...(externalId ? { externalId } : {}) }
  const { fault, done } = await tryForm(() =>
    visit.operate<Static<typeof StaticCodeView>>('createStaticCode', { body, once: form.once }),
  )
  if (fault) return sendForm(visit, form, fault)
  return visit.redirect(`/new/code/${done.data.correlationID}`, 'made')
}

async function sendForm(visit: Visit, typed: Form, fault: FormFault | null): Promise<FastifyReply> {
  const { language } = visit
  const { fields } = NEW[language]
  const [{ data: limits }, codes] = await Promise.all([
    visit.operate<Static<typeof SalesLimits>>('getSalesLimits'),
    listOf(visit),
  ])
  const [amount, reference] = fillFields(
    [{ name: 'amount', ...amountPlan, min: 1 }, externalIdPlan],
    fields,
    typed,
    fault,
    language,
  )
  const left =
    limits.remaining !== null &&
    html`<p class="hint">${NEW_CODE[language].limit(formatReais(limits.remaining))}</p>`
  return sendNewForm(visit, {
    kind: 'code',
    fields: html`${fieldsOf([amount!])}${left}${fieldsOf([reference!])}${devModeField(visit, typed)}`,
    fault,
    hasPreview: false,
    more: codes,
  })
}

/** The codes of the company, newest first. */
async function listOf(visit: Visit): Promise<Html | null> {
  const { language, app, company, url, query } = visit
  const texts = NEW_CODE[language]
  const after = query.after ? fromPublic('qrs', query.after) : null
  const found = await listStaticCodes(app.db, company.id, CODES_SHOWN + 1, after)
  const codes = found.slice(0, CODES_SHOWN)
  if (codes.length === 0 && after === null) return null
  const next = found.length > CODES_SHOWN ? toPublic('qrs', codes.at(-1)!.id) : null
  const list = table(
    texts.codes,
    [
      {
        title: texts.code,
        kind: 'main',
        of: ({ id, amount }) =>
          rowLink(url(`/new/code/${toPublic('qrs', id)}`), formatReais(amount)),
      },
      { title: texts.reference, of: ({ externalId }) => externalId ?? '–' },
      { title: texts.madeAt, kind: 'moment', of: ({ createdAt }) => moment(createdAt) },
      {
        title: texts.test,
        kind: 'state',
        of: ({ devMode }) => (devMode ? pill(texts.test, 'warn') : '–'),
      },
    ],
    codes,
  )
  return card(texts.codes, html`${list}${pager(visit, next)}`)
}

async function find({ app, company, params }: Visit): Promise<StaticCode> {
  const id = fromPublic('qrs', params.id ?? '')
  const [code] = id ? await findStaticCodes(app.db, company.id, [id]) : []
  if (!code) throw problem('route_not_found')
  return code
}

async function showOne(visit: Visit): Promise<FastifyReply> {
  const { language, url } = visit
  const texts = NEW_CODE[language]
  const code = await find(visit)
  const title = texts.title(formatReais(code.amount))
  const sign = html`<a class="button slim" href="${url(`/new/code/${toPublic('qrs', code.id)}/sign`)}">${texts.sign}</a>`
  const { sections } = DASHBOARD[language]
  // The list of codes is where they are made.
  const back = visit.can('payments:write')
    ? backLink(visit, '/new/code', NEW[language].kinds.code.title)
    : backLink(visit, '/charges', sections.charges)
  return visit.send({
    title,
    here: 'new',
    body: html`${back}${heading(title, sign)}${doneNotice(visit, texts.done)}
<div class="columns">${codeCard(visit, code)}${await recentSales(visit, code)}</div>${await salesOf(visit, code)}`,
  })
}

function codeCard({ language }: Visit, { brCode }: StaticCode): Html {
  const texts = NEW_CODE[language]
  return card(
    texts.qr,
    html`<p class="qr"><img src="${qrDataUrl(brCode)}" alt="${texts.alt}" width="256" height="256"></p><p class="code" translate="no">${brCode}</p><p>${copyButton(brCode, texts.copyWhat, language)}</p>`,
  )
}

async function recentSales(visit: Visit, { id }: StaticCode): Promise<Html> {
  const texts = NEW_CODE[visit.language]
  const { data } = await visit.operate<Summary>('summarizeCharges', {
    query: { txid: staticTxid(id), status: 'COMPLETED' },
  })
  return card(
    null,
    html`<div class="figure"><span class="soft">${texts.recent}</span><strong>${money(data.sum)}</strong><span class="soft small">${texts.count(data.count)}</span></div><p class="hint">${texts.salesHint}</p>`,
  )
}

async function salesOf(visit: Visit, { id }: StaticCode): Promise<Html> {
  const { language, url, query } = visit
  const texts = NEW_CODE[language]
  const { data, next } = await visit.operate<Static<typeof ChargeView>[]>('listCharges', {
    query: {
      txid: staticTxid(id),
      limit: String(SALES_SHOWN),
      ...(query.after ? { after: query.after } : {}),
    },
  })
  const list = table(
    texts.sales,
    [
      {
        title: texts.sale,
        kind: 'main',
        of: ({ id, createdAt }) => rowLink(url(`/charges/${id}`), moment(createdAt)),
      },
      { title: texts.payer, of: ({ customer }) => customer?.name ?? texts.noPayer },
      { title: texts.state, kind: 'state', of: (charge) => chargePill(charge, language) },
      { title: texts.amount, kind: 'number', of: ({ total }) => money(total) },
    ],
    data,
    nothing(language, texts.noSales),
  )
  return card(texts.sales, html`${list}${pager(visit, next)}`)
}

/** A sign for the counter. It is readable without colors, because few print in color. */
async function showSign(visit: Visit): Promise<FastifyReply> {
  const { language, company, request, reply, site, url } = visit
  const code = await find(visit)
  const texts = NEW_CODE[language]
  const title = texts.title(formatReais(code.amount))
  const body = html`<div class="sign-actions">${backLink({ url }, `/new/code/${toPublic('qrs', code.id)}`, title)}<button type="button" class="button js" data-print>${texts.print}</button><p class="hint">${texts.printHint}</p></div>
<section class="sign" aria-label="${texts.payTo}"><header class="sign-top"><h1>${company.name}</h1></header>
<p class="sign-pay">${texts.payTo}</p><p class="sign-amount">${formatReais(code.amount)}</p>
<p class="sign-qr"><img src="${qrDataUrl(code.brCode)}" alt="${texts.alt}" width="256" height="256"></p>
<p class="sign-aim">${texts.aim}</p><p class="sign-steps">${texts.steps}</p>${code.devMode && html`<p class="sign-steps">${texts.test}</p>`}</section>`
  return sendPage(request, reply, site.assets, {
    title,
    language,
    brand: company,
    kind: 'sign-page',
    styles: ['dashboard.css', 'sign.css'],
    scripts: ['print.js'],
    body,
    footer: html``,
    sameSiteReferrer: true,
  })
}

export const newCodeRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/new/code', needs: 'payments:write', handle: show },
  { method: 'POST', path: '/new/code', needs: 'payments:write', handle: make },
  { method: 'GET', path: '/new/code/:id', needs: 'payments:read', handle: showOne },
  { method: 'GET', path: '/new/code/:id/sign', needs: 'payments:read', handle: showSign },
]

const pt = {
  title: (amount: string) => `QR Code fixo de ${amount}`,
  limit: (remaining: string) =>
    `Neste mês ainda é possível receber ${remaining} por QR Codes fixos.`,
  codes: 'Seus QR Codes fixos',
  code: 'QR Code',
  amount: 'Valor',
  reference: 'Sua referência',
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
  count: (count: number) => (count === 1 ? '1 venda' : `${count} vendas`),
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

type Texts = typeof pt

const en: Texts = {
  title: (amount) => `Static QR code of ${amount}`,
  limit: (remaining) => `This month static QR codes may still receive ${remaining}.`,
  codes: 'Your static QR codes',
  code: 'QR code',
  amount: 'Amount',
  reference: 'Your reference',
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

const NEW_CODE: Record<Language, Texts> = { pt, en }
