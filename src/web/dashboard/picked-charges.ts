import type { FastifyReply } from 'fastify'
import { mailKindOf, sendChargeMail } from '../../core/charges/mails.ts'
import { asOf, type Charge } from '../../core/charges/rules.ts'
import { searchCharges } from '../../core/charges/search.ts'
import { toPublic } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import type { Problem } from '../../lib/problems.ts'
import { type Html, html, type Shown } from '../html.ts'
import { MAX_PICKED, pickedIn, pickedOf, searching, urlFilters } from './charge-filters.ts'
import { CHARGES } from './charges-texts.ts'
import { commitOnce } from './commit-once.ts'
import { backLink, confirmation, tryForm } from './form-parts.ts'
import { card, formatCount, heading, moment, money, notice, rowLink, table } from './parts.ts'
import { PICKED } from './picked-charges-texts.ts'
import { problemText } from './problem-texts.ts'
import { chargePill } from './states.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const FORM = 'picked'

const nameOf = ({ language }: Visit, { payer }: Charge): string =>
  payer?.name ?? CHARGES[language].noPayer

/** The box before a charge of the list. It belongs to the form below the list. */
export const pickBox = (visit: Visit, charge: Charge): Html =>
  html`<input type="checkbox" form="${FORM}" name="id" value="${toPublic('charge', charge.id)}" aria-label="${PICKED[visit.language].pick(`${nameOf(visit, charge)}, ${formatReais(charge.amount)}`)}">`

/** The box that picks all charges of a page. It needs a script. */
export const pickAll = ({ language }: Visit): Html =>
  html`<label class="pick-all js"><input type="checkbox" data-pick-all><span>${PICKED[language].all}</span></label>`

/** What can be done with the charges that are picked. What cannot be undone asks on a page. */
export function pickBar(visit: Visit): Html {
  const texts = PICKED[visit.language]
  const filters = new URLSearchParams(urlFilters(visit)).toString()
  const writes =
    visit.can('payments:write') &&
    html`<button class="button quiet slim" formaction="${visit.url('/charges/picked/mail')}">${texts.mailButton}</button><button class="button quiet danger slim" formaction="${visit.url('/charges/picked/cancel')}">${texts.cancelButton[0]}<span class="wide-only">${texts.cancelButton[1]}</span></button>`
  return html`<form id="${FORM}" class="pick-bar" method="get" action="${visit.url('/charges.csv')}"><input type="hidden" name="picked" value="yes">${
    filters && html`<input type="hidden" name="list" value="${filters}">`
  }<span class="picked-count" aria-live="polite" data-one="${texts.one}" data-many="${texts.many}">${texts.picked}</span><span class="actions"><button class="button quiet slim" data-download>${texts.csvButton}</button>${writes}</span></form>`
}

/** Why nothing could be done with what was picked. */
export const pickedNotice = ({ query, language }: Visit): Html | false => {
  const { none } = PICKED[language]
  const text = Object.hasOwn(none, query.done ?? '') && none[query.done as keyof typeof none]
  return text ? notice(text, 'warn') : false
}

/** The list that the charges were picked from, with its filters. */
const listOf = ({ query, form }: Visit): string => {
  const search = new URLSearchParams(query.list ?? form.list ?? '').toString()
  return `/charges${search && `?${search}`}`
}

/** What is done with each charge that is picked. */
type Action = {
  path: 'cancel' | 'mail'
  /** Whether a charge is in the state for it. Others are left as they are. */
  fits(visit: Visit, charge: Charge): boolean
  act(visit: Visit, charge: Charge): Promise<unknown>
}

const CANCEL: Action = {
  path: 'cancel',
  fits: (_visit, { status }) => status === 'OPEN',
  act: (visit, charge) => {
    const id = toPublic('charge', charge.id)
    const once = visit.form.once && `${visit.form.once}:${id}`
    return visit.operate('cancelCharge', { params: { id }, once })
  },
}

const MAIL: Action = {
  path: 'mail',
  fits: ({ app }, charge) => mailKindOf(app, charge) !== null,
  act: (visit, charge) => {
    const id = toPublic('charge', charge.id)
    const send = commitOnce(
      visit,
      { id },
      async (tx) => {
        const kind = await sendChargeMail(tx, visit.app, visit.company, charge.id)
        await visit.record(tx, 'charge.send-mail', { type: 'charge', id }, { kind })
        return kind
      },
      id,
    )
    return send
  },
}

/** The charges that were picked, as they are now, the newest first. */
async function findPicked(visit: Visit): Promise<Charge[]> {
  const { form, request } = visit
  const ids =
    (request.method === 'POST' ? pickedOf((form.ids ?? '').split(' ')) : pickedIn(visit)) ?? []
  if (ids.length === 0) return []
  const where = searching(visit)
  const found = await searchCharges(where, { ids }, { limit: MAX_PICKED, after: null })
  return found.map((charge) => asOf(charge, where.now))
}

const sumOf = (charges: Charge[]): string =>
  formatReais(charges.reduce((sum, { amount }) => sum + amount, 0))

/** Asks before anything is done, with how many charges it is and how much money. */
const ask =
  ({ path, fits }: Action) =>
  async (visit: Visit): Promise<FastifyReply> => {
    const texts = PICKED[visit.language][path]
    const picked = await findPicked(visit)
    const fitting = picked.filter((charge) => fits(visit, charge))
    const list = listOf(visit)
    if (fitting.length === 0)
      return visit.redirect(list, picked.length > 0 ? `none-${path}` : 'none')
    const others = picked.length - fitting.length
    const ids = fitting.map(({ id }) => toPublic('charge', id)).join(' ')
    const body = html`${confirmation(visit, {
      title: texts.title(fitting.length),
      text: html`${texts.text(formatCount(fitting.length), sumOf(fitting))}${others > 0 && html` ${texts.others(others)}`}`,
      action: `/charges/picked/${path}`,
      button: texts.button(fitting.length),
      isHarmless: path === 'mail',
      back: list,
      fields: html`<input type="hidden" name="ids" value="${ids}"><input type="hidden" name="list" value="${list.split('?')[1] ?? ''}">`,
    })}${card(null, chargesTable(visit, fitting))}`
    return visit.send({ title: texts.title(fitting.length), here: 'charges', body })
  }

type Refusal = { charge: Charge; problem: Problem }

/** Does it to each charge by itself, so that one that is refused leaves the others alone. */
const act =
  (action: Action) =>
  async (visit: Visit): Promise<FastifyReply> => {
    const texts = PICKED[visit.language][action.path]
    const done: Charge[] = []
    const refused: Refusal[] = []
    for (const charge of await findPicked(visit)) {
      const { fault } = await tryForm(() => action.act(visit, charge))
      if (fault) refused.push({ charge, problem: fault.problem })
      else done.push(charge)
    }
    const list = listOf(visit)
    const body = html`${backLink(visit, list, CHARGES[visit.language].title)}${heading(texts.result)}
${done.length > 0 && notice(texts.done(done.length, sumOf(done)))}${refused.length > 0 && refusedCard(visit, refused)}`
    return visit.send({ title: texts.result, here: 'charges', body })
  }

function refusedCard(visit: Visit, refused: Refusal[]): Html {
  const { language } = visit
  const texts = PICKED[language]
  const why = new Map(
    refused.map(({ charge, problem }) => [charge.id, problemText(problem.code, language)]),
  )
  const charges = refused.map(({ charge }) => charge)
  return html`${notice(texts.refused(refused.length), 'warn')}${card(
    null,
    chargesTable(visit, charges, (charge) => why.get(charge.id)!),
  )}`
}

function chargesTable(
  visit: Visit,
  charges: Charge[],
  why: ((charge: Charge) => Shown) | null = null,
): Html {
  const { language } = visit
  const { columns } = CHARGES[language]
  return table(
    CHARGES[language].title,
    [
      {
        title: columns.charge,
        kind: 'main' as const,
        of: (charge) =>
          rowLink(visit.url(`/charges/${toPublic('charge', charge.id)}`), nameOf(visit, charge)),
      },
      {
        title: why ? PICKED[language].why : columns.state,
        kind: 'state' as const,
        of: (charge) => (why ? why(charge) : chargePill(charge, language)),
      },
      { title: columns.made, kind: 'moment' as const, of: ({ createdAt }) => moment(createdAt) },
      { title: columns.amount, kind: 'number' as const, of: ({ amount }) => money(amount) },
    ],
    charges,
  )
}

const WRITES = { needs: 'payments:write' } as const

export const pickedChargesRoutes: DashboardRoute[] = [CANCEL, MAIL].flatMap((action) => {
  const path = `/charges/picked/${action.path}`
  return [
    { method: 'GET', path, ...WRITES, handle: ask(action) },
    { method: 'POST', path, ...WRITES, handle: act(action) },
  ]
})
