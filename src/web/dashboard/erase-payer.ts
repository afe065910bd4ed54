import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import type { CustomerView } from '../../core/customers/view.ts'
import { beginErasure } from '../../core/payers/commands.ts'
import type { Blockers } from '../../core/payers/survey.ts'
import { toPublic } from '../../lib/ids.ts'
import { plainTaxId } from '../../pix/tax-id.ts'
import { type Html, html } from '../html.ts'
import { confirmation } from './form-parts.ts'
import { sendPage } from './record-pages.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const pt = {
  link: 'Excluir dados do pagador (LGPD)',
  title: (name: string) => `Excluir os dados de ${name}?`,
  text: 'Nome, CPF ou CNPJ, e-mail, telefone, endereços, notas e defesas deste pagador são apagados de todos os registros da empresa, em alguns minutos. Valores, datas, ids das transações e o extrato ficam, sem dizer de quem são. Não dá para desfazer. Cópias de segurança expiram depois.',
  button: 'Excluir os dados',
  open: 'Antes, cancele ou espere terminar o que ainda está em aberto:',
  kinds: {
    charges: 'Cobrança',
    subscriptions: 'Assinatura',
    disputes: 'Disputa com defesa em envio',
  },
}

const en: typeof pt = {
  link: 'Delete data of the payer (LGPD)',
  title: (name) => `Delete the data of ${name}?`,
  text: 'Name, CPF or CNPJ, e-mail, phone, addresses, notes and defenses of this payer are erased from all records of the company, within minutes. Amounts, dates, transaction ids and the statement stay, and do not say whose they are. This cannot be undone. Backups expire later.',
  button: 'Delete the data',
  open: 'First cancel what is still open, or wait until it ends:',
  kinds: {
    charges: 'Charge',
    subscriptions: 'Subscription',
    disputes: 'Dispute whose defense is being sent',
  },
}

const TEXTS = { pt, en }
const OWNER = ['owner'] as const
const FRAME = { here: 'customers' } as const

const pathOf = (id: string): string => `/customers/${id}`

/** The way to the question, on the page of a customer. */
export const eraseLink = ({ can, url, language }: Visit, id: string): Html | false =>
  can(OWNER) &&
  html`<a class="button quiet danger slim" href="${url(`${pathOf(id)}/erase`)}">${TEXTS[language].link}</a>`

type ShownCustomer = Static<typeof CustomerView>

const find = async (visit: Visit): Promise<ShownCustomer> => {
  const params = { id: visit.params.id! }
  return (await visit.operate<ShownCustomer>('getCustomer', { params })).data
}

async function ask(visit: Visit, blockers: Blockers | null = null): Promise<FastifyReply> {
  const texts = TEXTS[visit.language]
  const { id, name } = await find(visit)
  const [title, back] = [texts.title(name), pathOf(id)]
  const { text, button } = texts
  const asked = { title, text, button, back, action: `${back}/erase` }
  const body = html`${blockers && openList(visit, blockers)}${confirmation(visit, asked)}`
  return sendPage(visit, FRAME, { title, heading: null, body, status: blockers ? 409 : 200 })
}

function openList({ language, url }: Visit, { charges, recurrences, disputes }: Blockers): Html {
  const { open, kinds } = TEXTS[language]
  const rows = [
    ...charges.map((id) => [`/charges/${toPublic('charge', id)}`, kinds.charges]),
    ...recurrences.map((id) => [`/subscriptions/${toPublic('rec', id)}`, kinds.subscriptions]),
    ...disputes.map((id) => [`/disputes/${toPublic('dispute', id)}`, kinds.disputes]),
  ]
  return html`<div class="notice warn" role="alert"><p>${open}</p><ul>${rows.map(
    ([path, kind]) => html`<li><a href="${url(path!)}">${kind} ${path!.split('/').at(-1)}</a></li>`,
  )}</ul></div>`
}

async function erase(visit: Visit): Promise<FastifyReply> {
  const { app, company, author } = visit
  const taxId = plainTaxId((await find(visit)).taxId)
  const wanted = { companyId: company.id, taxId, isEverywhere: false }
  const blockers = await beginErasure(app, wanted, author)
  return blockers ? ask(visit, blockers) : visit.redirect('/customers', 'erased')
}

export const erasePayerRoutes: DashboardRoute[] = [
  {
    method: 'GET',
    path: '/customers/:id/erase',
    needs: OWNER,
    confirmed: true,
    handle: (visit) => ask(visit),
  },
  { method: 'POST', path: '/customers/:id/erase', needs: OWNER, confirmed: true, handle: erase },
]
