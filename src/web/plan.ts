import type { FastifyInstance } from 'fastify'
import { checkoutUrl, readPageToken } from '../core/charges/addresses.ts'
import { moneyOf, type Plan } from '../core/charges/plan-rules.ts'
import { find } from '../core/charges/plan-store.ts'
import { chargesOf } from '../core/charges/plans.ts'
import { asOf, type Charge } from '../core/charges/rules.ts'
import { showAmount } from '../core/charges/view.ts'
import { forCompany, withCompanyClock } from '../core/companies/clock.ts'
import { findCompany } from '../core/companies/store.ts'
import type { FullFront } from '../core/full-app.ts'
import { placeOf } from '../core/places/front.ts'
import type { Language } from '../lib/language.ts'
import { formatReais } from '../lib/money.ts'
import { problem } from '../lib/problems.ts'
import { lastDayInTime } from '../pix/due-amount.ts'
import { formatDay, localDateOf } from '../pix/local-time.ts'
import { receiverTaxId } from '../pix/tax-id.ts'
import { CHECKOUT } from './checkout-texts.ts'
import type { Owner } from './found.ts'
import { type Html, html } from './html.ts'
import { inLanguage, type PageLanguage, pageLanguageOf } from './language.ts'
import { type Page, sendPage } from './layout.ts'
import { descriptionFact, type Fact, facts, party, testNotice } from './parts.ts'
import type { Site } from './site.ts'

/** The page of a plan, and its charges as they are now. */
type PlanPage = Owner & PageLanguage & { plan: Plan; charges: Charge[] }

/** The page with all charges of a plan. Each leads to the page on which it is paid. */
export function registerPlan(scope: FastifyInstance, site: Site): void {
  scope.get<{ Params: { token: string } }>('/plan/:token', async (request, reply) => {
    const found = await lookUp(site.app, request.params.token)
    const page = planPage({ ...found, ...pageLanguageOf(request, found.company.language) })
    return sendPage(request, reply, site.assets, page)
  })
}

async function lookUp(front: FullFront, token: string) {
  const named = readPageToken(front.vault, token)
  const app = await placeOf(front, named?.companyId)
  // Pages of plans always had a tag.
  const company = named && !named.isPlain && (await findCompany(app.db, named.companyId))
  const plan = company && (await find(app.db, company.id, named.id))
  if (!company || !plan) throw problem('plan_not_found')
  const own = withCompanyClock(forCompany(app, company), company)
  const now = own.clock.now()
  const charges = (await chargesOf(own.db, [plan])).map((charge) => asOf(charge, now))
  return { app: own, company, token, plan, charges }
}

function planPage(page: PlanPage): Page {
  const { plan, charges, company, language, app } = page
  const texts = TEXTS[language]
  const { toPay, received } = moneyOf(charges, app.clock.now())
  const isOpen = charges.some(({ status }) => status === 'OPEN')
  return {
    title: texts.title(charges.length, formatReais(plan.total)),
    language,
    brand: company,
    kind: 'pay',
    body: html`${testNotice({ devMode: plan.devMode, brCode: null }, company, language, null)}
<section class="card" aria-labelledby="amount">
<h1 id="amount"><span class="soft small">${isOpen ? texts.toPay : texts.received}</span><span class="amount">${formatReais(isOpen ? toPay : received)}</span></h1>
<p class="soft small">${isOpen ? texts.howToPay : texts.nothingOpen}</p>
</section>
<section class="card beside" aria-labelledby="charges"><h2 id="charges">${texts.charges}</h2>
${facts(charges.map((charge) => chargeFact(page, charge)))}</section>
<section class="card" aria-labelledby="details"><h2 id="details">${CHECKOUT[language].details}</h2>
${facts([
  descriptionFact(plan, language),
  [CHECKOUT[language].total, formatReais(plan.total)],
  received > 0 && isOpen && [texts.received, formatReais(received)],
  [CHECKOUT[language].receiver, party(company.name, receiverTaxId(company.taxId))],
])}</section>`,
  }
}

/** One charge: when it is due, what it costs today, and where it is paid. */
function chargeFact({ app, company, language, chosen }: PlanPage, charge: Charge): Fact {
  const texts = TEXTS[language]
  const { terms, plan } = charge.due!
  const now = app.clock.now()
  const today = localDateOf(now)
  const { total, original } = showAmount(charge, today)
  const isOpen = charge.status === 'OPEN'
  const isLate = isOpen && today > lastDayInTime(terms)
  const url = inLanguage(new URL(checkoutUrl(app, charge)).pathname, chosen)
  const canPay = isOpen && company.suspendedAt === null
  const link = canPay ? texts.pay : charge.status === 'COMPLETED' ? texts.receipt : null
  const was =
    isOpen && total !== original && html` <s class="soft small">${formatReais(original)}</s>`
  const words = isOpen ? (isLate ? texts.late : texts.open) : texts.states[charge.status]
  return [
    `${texts.part(plan!.number, plan!.count)} · ${formatDay(terms.dueDate)}`,
    html`${formatReais(total)}${was}<br><span class="soft small">${words}</span>${link && html`<br><a href="${url}">${link}<span class="hide"> ${texts.part(plan!.number, plan!.count)}</span></a>`}`,
  ]
}

/** On the page of a charge: which one of its plan it is, and where the others are. */
export function planFact(charge: Charge, url: string, language: Language): Fact | false {
  const part = charge.due?.plan
  if (!part) return false
  const texts = TEXTS[language]
  return [texts.plan, linkTo(url, texts.part(part.number, part.count), texts.all)]
}

const linkTo = (url: string, text: string, link: string): Html =>
  html`${text} · <a href="${url}">${link}</a>`

const pt = {
  plan: 'Carnê',
  title: (count: number, total: string) => `Carnê de ${total} em ${count} parcelas`,
  toPay: 'Para quitar tudo hoje',
  received: 'Já pago',
  howToPay:
    'Pague uma parcela de cada vez, na ordem que quiser. O valor de cada uma é o de hoje e pode mudar amanhã.',
  nothingOpen: 'Não há parcelas a pagar.',
  charges: 'Parcelas',
  part: (number: number, count: number) => `Parcela ${number} de ${count}`,
  all: 'ver todas',
  pay: 'Pagar com Pix',
  receipt: 'Ver comprovante',
  open: 'Em aberto',
  late: 'Em atraso',
  states: { OPEN: 'Em aberto', COMPLETED: 'Paga', EXPIRED: 'Expirada', CANCELED: 'Cancelada' },
}

const en: typeof pt = {
  plan: 'Payment plan',
  title: (count, total) => `${total} in ${count} installments`,
  toPay: 'To pay everything today',
  received: 'Already paid',
  howToPay:
    'Pay one installment at a time, in any order. The amount of each is that of today and may change tomorrow.',
  nothingOpen: 'There is nothing left to pay.',
  charges: 'Installments',
  part: (number, count) => `Installment ${number} of ${count}`,
  all: 'view all',
  pay: 'Pay with Pix',
  receipt: 'View receipt',
  open: 'Open',
  late: 'Overdue',
  states: { OPEN: 'Open', COMPLETED: 'Paid', EXPIRED: 'Expired', CANCELED: 'Canceled' },
}

const TEXTS: Record<Language, typeof pt> = { pt, en }
