import type { FastifyReply } from 'fastify'
import { checkoutUrl } from '../../core/charges/addresses.ts'
import { findCharge } from '../../core/charges/commands.ts'
import { mailKindOf } from '../../core/charges/mails.ts'
import { amountAt, asOf, type Charge } from '../../core/charges/rules.ts'
import { openPerson } from '../../core/customers/sealing.ts'
import { findChargeMessage } from '../../core/messages/commands.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { formatReais } from '../../lib/money.ts'
import { type Html, html } from '../html.ts'
import { icon } from '../layout.ts'
import { backLink } from './form-parts.ts'
import { doneNotice, heading } from './parts.ts'
import { compactShare, SHARE, type Shared, sharePart } from './share.ts'
import type { DashboardRoute, Visit } from './visit.ts'

/** Whether a charge has a page to send: to pay it, or with its receipt. */
export const isShared = ({ status, kind }: Charge): boolean =>
  status === 'COMPLETED' || (status === 'OPEN' && kind !== 'RECURRING' && kind !== 'STATIC')

const pathOf = ({ id }: Charge): string => `/charges/${toPublic('charge', id)}`

/** Where a new charge is sent to its payer. */
export const sharePath = (id: string): string => `/charges/${id}/share`

/** The page of a charge with the words of the company, for its payer if the person may see who. */
export async function sharedOf(visit: Visit, charge: Charge): Promise<Shared> {
  const { app, company, language, url, can } = visit
  const { companyId, payer, status } = charge
  const texts = CHARGE_SHARE[language]
  const amount = formatReais(amountAt(charge, app.clock.now()))
  const known = payer && can('payments:write') ? openPerson(app.vault, companyId, payer) : null
  return {
    address: checkoutUrl(app, charge),
    title: texts.subject[status === 'COMPLETED' ? 'receipt' : 'open'](company.name, amount),
    amount,
    text: await findChargeMessage(app, company, charge),
    ...(known && { to: { phone: known.phone, email: known.email } }),
    ...(status === 'OPEN' && { page: url(sharePath(toPublic('charge', charge.id))) }),
  }
}

/** The row of buttons on the page of a charge. */
export async function chargeShare(visit: Visit, charge: Charge): Promise<Html | false> {
  if (!isShared(charge)) return false
  const texts = CHARGE_SHARE[visit.language]
  const shared = compactShare(visit, await sharedOf(visit, charge))
  const label = charge.status === 'COMPLETED' ? texts.receipt : texts.link
  return html`<section class="share-of-charge" aria-label="${label}"><h2 class="small soft">${label}</h2>${shared}</section>`
}

async function show(visit: Visit): Promise<FastifyReply> {
  const { app, company, language, params, url } = visit
  const found = await findCharge(app, company.id, fromPublic('charge', params.id ?? ''))
  const charge = asOf(found, app.clock.now())
  if (charge.status !== 'OPEN' || !isShared(charge)) return visit.redirect(pathOf(charge))
  const texts = CHARGE_SHARE[language]
  const isLink = charge.kind === 'LINK'
  const shared = await sharedOf(visit, charge)
  const isMailed = visit.can('payments:write') && mailKindOf(app, charge) !== null
  const mailButton =
    isMailed &&
    visit.formOf(
      url(`${pathOf(charge)}/mail`),
      html`<button class="button quiet">${icon('mail')}<span>${texts.mail}</span></button>`,
    )
  const to = charge.payer?.name ?? null
  const newOne = visit.can('payments:write') && {
    path: isLink ? '/new/link' : '/new/charge',
    label: isLink ? texts.newLink : texts.newCharge,
  }
  return visit.send({
    title: isLink ? texts.titleLink : texts.title,
    here: 'charges',
    ...SHARE,
    body: html`${backLink(visit, pathOf(charge), texts.back)}
${heading(to === null ? formatReais(charge.amount) : texts.forWhom(formatReais(charge.amount), to))}
${doneNotice(visit, texts.done)}
${sharePart(visit, { ...shared, more: mailButton })}
${newOne && html`<p class="share-next"><a class="button quiet slim" href="${url(newOne.path)}">${icon('plus')}<span>${newOne.label}</span></a></p>`}`,
  })
}

export const chargeShareRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/charges/:id/share', needs: 'payments:read', handle: show },
]

const pt = {
  title: 'Enviar cobrança',
  titleLink: 'Enviar link',
  back: 'Ver cobrança',
  forWhom: (amount: string, name: string) => `${amount} · ${name}`,
  link: 'Enviar link ao cliente',
  receipt: 'Enviar comprovante ao cliente',
  mail: 'Enviar por e-mail',
  newLink: 'Criar outro link',
  newCharge: 'Criar outra cobrança',
  subject: {
    open: (company: string, amount: string) => `${company}: cobrança de ${amount}`,
    receipt: (company: string, amount: string) => `${company}: comprovante de ${amount}`,
  },
  done: {
    link: 'Link criado. Copie e envie ao cliente.',
    charge: 'Cobrança criada. Copie o link e envie ao cliente.',
  } as Record<string, string>,
}

const en: typeof pt = {
  title: 'Send charge',
  titleLink: 'Send link',
  back: 'View charge',
  forWhom: (amount, name) => `${amount} · ${name}`,
  link: 'Send the link to the customer',
  receipt: 'Send the receipt to the customer',
  mail: 'Send by e-mail',
  newLink: 'Create another link',
  newCharge: 'Create another charge',
  subject: {
    open: (company, amount) => `${company}: payment request of ${amount}`,
    receipt: (company, amount) => `${company}: receipt of ${amount}`,
  },
  done: {
    link: 'Link created. Copy it and send it to the customer.',
    charge: 'Charge created. Copy its link and send it to the customer.',
  },
}

const CHARGE_SHARE: Record<Language, typeof pt> = { pt, en }
