import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { findCharge } from '../../core/charges/commands.ts'
import type { PlanView } from '../../core/charges/plan-view.ts'
import { openPerson } from '../../core/customers/sealing.ts'
import { findMessage } from '../../core/messages/commands.ts'
import { fromPublic } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { formatReais, toCents } from '../../lib/money.ts'
import { formatDay } from '../../pix/local-time.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { backLink, confirmation, type FormFault, tryForm } from './form-parts.ts'
import {
  card,
  idText,
  moment,
  money,
  nothing,
  pager,
  pill,
  rowLink,
  type Tone,
  table,
} from './parts.ts'
import { makeLink, sendPage } from './record-pages.ts'
import { SHARE, sharePart } from './share.ts'
import { chargePill } from './states.ts'
import type { DashboardRoute, Visit } from './visit.ts'

type Plan = Static<typeof PlanView>

const PAGE_SIZE = '50'
const FRAME = { here: 'charges' } as const

const TONES: Record<Plan['status'], Tone> = {
  OPEN: 'warn',
  COMPLETED: 'good',
  EXPIRED: 'calm',
  CANCELED: 'calm',
}

const statusOf = ({ status }: Plan, language: Language): Html =>
  pill(PLANS[language].statuses[status], TONES[status])

async function showList(visit: Visit): Promise<FastifyReply> {
  const { language, query, url } = visit
  const texts = PLANS[language]
  const { data, next } = await visit.operate<Plan[]>('listPlans', {
    query: { limit: PAGE_SIZE, ...(query.after && { after: query.after }) },
  })
  const found = table(
    texts.title,
    [
      {
        title: texts.customer,
        kind: 'main',
        of: ({ id, customer }) => rowLink(url(`/plans/${id}`), customer.name),
      },
      { title: texts.description, of: ({ description }) => description ?? '–' },
      { title: texts.state, kind: 'state', of: (plan) => statusOf(plan, language) },
      { title: texts.installments, of: ({ count }) => String(count) },
      { title: texts.madeAt, kind: 'moment', of: ({ createdAt }) => moment(createdAt) },
      {
        title: texts.received,
        kind: 'number',
        isWide: true,
        of: ({ received }) => money(received),
      },
      { title: texts.total, kind: 'number', of: ({ total }) => money(total) },
    ],
    data,
    nothing(language, texts.none),
  )
  const actions = visit.can('payments:write') && makeLink(visit, '/new/plan', texts.make)
  return sendPage(visit, FRAME, {
    title: texts.title,
    back: backLink(visit, '/charges', texts.back),
    actions,
    body: card(null, html`${found}${pager(visit, next)}`),
  })
}

const find = async (visit: Visit): Promise<Plan> =>
  (await visit.operate<Plan>('getPlan', { params: { id: visit.params.id! } })).data

async function showOne(visit: Visit): Promise<FastifyReply> {
  const { language, url } = visit
  const texts = PLANS[language]
  const plan = await find(visit)
  const canCancel = plan.status === 'OPEN' && visit.can('payments:write')
  const actions = html`${statusOf(plan, language)}${
    canCancel &&
    html`<a class="button quiet danger slim" href="${url(`/plans/${plan.id}/cancel`)}">${texts.cancel}</a>`
  }`
  return sendPage(
    visit,
    { ...FRAME, styles: SHARE.styles },
    {
      title: texts.titleOf(formatReais(plan.total), plan.count),
      back: backLink(visit, '/plans', texts.title),
      actions,
      done: texts.done,
      scripts: SHARE.scripts,
      body: html`${plan.status === 'OPEN' && (await shareCard(visit, plan))}${card(texts.installments, chargesOf(visit, plan))}${card(texts.details, detailsOf(visit, plan), 'narrow-card')}`,
    },
  )
}

/** The page with all installments, and the ways to send it. */
async function shareCard(visit: Visit, { url, total, charges = [] }: Plan): Promise<Html> {
  const { app, company, language } = visit
  const texts = PLANS[language]
  // All charges of a plan have one payer.
  const { payer } = await findCharge(app, company.id, fromPublic('charge', charges[0]!.id))
  const known =
    payer && visit.can('payments:write') ? openPerson(app.vault, company.id, payer) : null
  const about = {
    company: company.name,
    payerName: payer?.name ?? null,
    product: null,
    amount: toCents(total),
    until: null,
    dueDate: null,
  }
  return sharePart(visit, {
    address: url,
    title: texts.subject(company.name, formatReais(total)),
    amount: formatReais(total),
    text: await findMessage(app, company, 'plan', about, url),
    more: html`<a class="button quiet" href="${url}" target="_blank" rel="noopener">${texts.open}</a>`,
    ...(known && { to: { phone: known.phone, email: known.email } }),
  })
}

const chargesOf = ({ language, url }: Visit, { charges = [] }: Plan): Html =>
  table(
    PLANS[language].installments,
    [
      {
        title: PLANS[language].installment,
        kind: 'main',
        of: ({ id, number }) => rowLink(url(`/charges/${id}`), PLANS[language].numbered(number)),
      },
      { title: PLANS[language].dueOn, kind: 'moment', of: ({ dueDate }) => formatDay(dueDate) },
      { title: PLANS[language].state, kind: 'state', of: (charge) => chargePill(charge, language) },
      {
        title: PLANS[language].original,
        kind: 'number',
        isWide: true,
        of: ({ total }) => money(total),
      },
      {
        title: PLANS[language].today,
        kind: 'number',
        of: ({ status, amount }) =>
          status === 'OPEN' || status === 'COMPLETED' ? money(amount.total) : '–',
      },
    ],
    charges,
  )

function detailsOf({ language }: Visit, plan: Plan): Html {
  const texts = PLANS[language]
  const shown = facts([
    [texts.toPay, money(plan.toPay), 'sum'],
    [texts.received, money(plan.received)],
    [texts.customer, plan.customer.name],
    plan.description !== undefined && [texts.description, plan.description],
    plan.externalId !== undefined && [texts.externalId, plan.externalId],
    [texts.madeAt, moment(plan.createdAt)],
    ['ID', idText(plan.id, 'ID', language)],
  ])
  return plan.status === 'OPEN'
    ? shown
    : html`${shown}<p><a href="${plan.url}" target="_blank" rel="noopener">${texts.open}</a></p>`
}

const askToCancel = async (visit: Visit): Promise<FastifyReply> =>
  sendQuestion(visit, await find(visit), null)

function sendQuestion(visit: Visit, { id }: Plan, fault: FormFault | null): FastifyReply {
  const texts = PLANS[visit.language]
  const path = `/plans/${id}`
  const body = confirmation(visit, {
    title: texts.cancelTitle,
    text: texts.cancelText,
    action: `${path}/cancel`,
    button: texts.cancel,
    back: path,
  })
  return sendPage(visit, FRAME, { title: texts.cancelTitle, heading: null, fault, body })
}

async function cancel(visit: Visit): Promise<FastifyReply> {
  const { form, params } = visit
  const { fault } = await tryForm(() =>
    visit.operate('cancelPlan', { params: { id: params.id! }, once: form.once }),
  )
  if (fault) return sendQuestion(visit, await find(visit), fault)
  return visit.redirect(`/plans/${params.id}`, 'canceled')
}

const PATH = '/plans/:id'

export const plansRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/plans', needs: 'payments:read', handle: showList },
  { method: 'GET', path: PATH, needs: 'payments:read', handle: showOne },
  { method: 'GET', path: `${PATH}/cancel`, needs: 'payments:write', handle: askToCancel },
  { method: 'POST', path: `${PATH}/cancel`, needs: 'payments:write', handle: cancel },
]

const pt = {
  title: 'Carnês',
  back: 'Cobranças',
  titleOf: (total: string, count: number) => `Carnê de ${total} em ${count} parcelas`,
  make: 'Novo carnê',
  none: 'Vendas divididas em parcelas com vencimento aparecem aqui.',
  customer: 'Cliente',
  description: 'Descrição',
  state: 'Situação',
  installments: 'Parcelas',
  installment: 'Parcela',
  numbered: (number: number) => `Parcela ${number}`,
  madeAt: 'Criado em',
  received: 'Recebido',
  total: 'Total',
  toPay: 'Para quitar hoje',
  dueOn: 'Vencimento',
  original: 'Valor original',
  today: 'Valor hoje ou pago',
  details: 'Detalhes',
  externalId: 'Sua referência',
  open: 'Abrir página do cliente',
  subject: (company: string, total: string) => `${company}: carnê de ${total}`,
  cancel: 'Cancelar carnê',
  cancelTitle: 'Cancelar o que está em aberto?',
  cancelText:
    'As parcelas em aberto não poderão mais ser pagas. O que já foi pago continua pago. Isto não pode ser desfeito.',
  statuses: { OPEN: 'Em aberto', COMPLETED: 'Pago', EXPIRED: 'Expirado', CANCELED: 'Cancelado' },
  done: {
    made: 'Carnê criado. Copie o link e envie ao cliente.',
    canceled: 'Carnê cancelado.',
  } as Record<string, string>,
}

const en: typeof pt = {
  title: 'Plans',
  back: 'Charges',
  titleOf: (total, count) => `${total} in ${count} installments`,
  make: 'New plan',
  none: 'Sales that are paid in installments appear here.',
  customer: 'Customer',
  description: 'Description',
  state: 'Status',
  installments: 'Installments',
  installment: 'Installment',
  numbered: (number) => `Installment ${number}`,
  madeAt: 'Created at',
  received: 'Received',
  total: 'Total',
  toPay: 'To pay everything today',
  dueOn: 'Due date',
  original: 'Original amount',
  today: 'Amount today or paid',
  details: 'Details',
  externalId: 'Your reference',
  open: 'Open the customer’s page',
  subject: (company, total) => `${company}: ${total} in installments`,
  cancel: 'Cancel plan',
  cancelTitle: 'Cancel what is open?',
  cancelText:
    'Open installments can no longer be paid. What is paid stays paid. This cannot be undone.',
  statuses: { OPEN: 'Open', COMPLETED: 'Paid', EXPIRED: 'Expired', CANCELED: 'Canceled' },
  done: {
    made: 'Plan created. Copy its link and send it to the customer.',
    canceled: 'Plan canceled.',
  },
}

const PLANS: Record<Language, typeof pt> = { pt, en }
