import type { FastifyReply } from 'fastify'
import type { Billing } from '../../core/billings/rules.ts'
import { listOpenOfMany } from '../../core/billings/store.ts'
import { asOf, END_REASONS, type EndReason, type Recurrence } from '../../core/recurrences/rules.ts'
import { find, type RecurrenceFilter, search, setEndReason } from '../../core/recurrences/store.ts'
import { upcomingDebits } from '../../core/recurrences/upcoming.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { formatDay, type LocalDate, localDateOf } from '../../pix/local-time.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html, type Shown } from '../html.ts'
import { SUBSCRIPTION } from '../subscription-texts.ts'
import { type FormFault, tryForm } from './form-faults.ts'
import { confirmation, tabs } from './form-parts.ts'
import {
  card,
  doneNotice,
  heading,
  moment,
  money,
  notFound,
  nothing,
  pager,
  pill,
  table,
} from './parts.ts'
import { makeLink } from './record-pages.ts'
import { subscriptionPill } from './states.ts'
import { showSubscriptionPage } from './subscription.ts'
import { type Choice, SUBSCRIPTIONS } from './subscriptions-texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PAGE_SIZE = 50

const FILTERS: Record<Choice, Pick<RecurrenceFilter, 'isTemplate' | 'authStatus'>> = {
  all: { isTemplate: false, authStatus: null },
  approved: { isTemplate: false, authStatus: 'APPROVED' },
  created: { isTemplate: false, authStatus: 'CREATED' },
  rejected: { isTemplate: false, authStatus: 'REJECTED' },
  expired: { isTemplate: false, authStatus: 'EXPIRED' },
  canceled: { isTemplate: false, authStatus: 'CANCELED' },
  links: { isTemplate: true, authStatus: null },
}

const choiceOf = (text: string | undefined): Choice =>
  Object.hasOwn(FILTERS, text ?? '') ? (text as Choice) : 'all'

async function showList(visit: Visit): Promise<FastifyReply> {
  const { language, query, app, company } = visit
  const texts = SUBSCRIPTIONS[language]
  const choice = choiceOf(query.state)
  const filter = { ...FILTERS[choice], customerId: null }
  const after = query.after ? fromPublic('rec', query.after) : null
  const now = app.clock.now()
  const page = { limit: PAGE_SIZE + 1, after }
  const found = await search(app.db, company.id, filter, page, now)
  const shown = found.slice(0, PAGE_SIZE).map((one) => asOf(one, now))
  const next = found.length > PAGE_SIZE ? toPublic('rec', shown.at(-1)!.id) : null
  const ids = shown.map(({ id }) => id)
  const open = await listOpenOfMany(app.db, company.id, ids)
  const filters = (Object.keys(FILTERS) as Choice[]).map((name) => ({
    label: texts.choices[name],
    path: `/subscriptions${name === 'all' ? '' : `?state=${name}`}`,
    isHere: name === choice,
  }))
  const make = visit.can('payments:write') && makeLink(visit, '/new/subscription', texts.make)
  const none = choice === 'all' ? nothing(language, texts.none) : notFound(texts.noneFound)
  return visit.send({
    title: texts.title,
    here: 'subscriptions',
    body: html`${heading(texts.title, make)}${doneNotice(visit, texts.done)}
${tabs(visit, texts.filters, filters)}
${card(null, html`${shown.length === 0 ? none : listOf(visit, shown, open)}${pager(visit, next)}`)}`,
  })
}

function listOf({ language, url, app }: Visit, shown: Recurrence[], open: Billing[]): Html {
  const texts = SUBSCRIPTIONS[language]
  const today = localDateOf(app.clock.now())
  return table(
    texts.title,
    [
      {
        title: texts.customer,
        kind: 'main',
        of: ({ id, payer }) =>
          html`<a href="${url(`/subscriptions/${toPublic('rec', id)}`)}">${payer?.name ?? texts.anybody}</a>`,
      },
      { title: texts.product, of: ({ productName }) => productName },
      { title: texts.state, of: (one) => subscriptionPill(one, language) },
      { title: texts.next, of: (one) => nextOf(one, open, today, texts.retrying) },
      { title: texts.madeAt, of: ({ createdAt }) => moment(createdAt) },
      {
        title: texts.value,
        kind: 'number',
        of: ({ value, frequency }) =>
          html`<span>${money(value)}<br><span class="soft small">${SUBSCRIPTION[language].each[frequency]}</span></span>`,
      },
    ],
    shown,
  )
}

/** The day of the next debit, and whether the bank tries one again. */
function nextOf(
  recurrence: Recurrence,
  billings: Billing[],
  today: LocalDate,
  retrying: string,
): Shown {
  if (recurrence.isTemplate || recurrence.authStatus !== 'APPROVED') return '–'
  const open = billings.filter(({ recurrenceId }) => recurrenceId === recurrence.id)
  const [debit] = upcomingDebits(recurrence, { agreement: recurrence, open }, today, 1)
  return html`<span><span class="nowrap">${formatDay(debit!.on)}</span>${debit!.isRetry && html` ${pill(retrying, 'warn')}`}</span>`
}

async function findOne({ app, company, params }: Visit): Promise<Recurrence> {
  const id = fromPublic('rec', params.id ?? '')
  const found = id && (await find(app.db, company.id, id))
  if (!found) throw problem('recurrence_not_found')
  return asOf(found, app.clock.now())
}

const showOne = async (visit: Visit): Promise<FastifyReply> =>
  showSubscriptionPage(visit, await findOne(visit))

const askToCancel = async (visit: Visit): Promise<FastifyReply> =>
  sendQuestion(visit, await findOne(visit), null)

function sendQuestion(visit: Visit, recurrence: Recurrence, fault: FormFault | null): FastifyReply {
  const texts = SUBSCRIPTIONS[visit.language]
  const { isTemplate, id } = recurrence
  const path = `/subscriptions/${toPublic('rec', id)}`
  const title = isTemplate ? texts.closeTitle : texts.cancelTitle
  const options = END_REASONS.map((value) => ({ value, label: texts.reasons[value] }))
  const reason = fieldsOf([
    {
      name: 'reason',
      label: texts.reason,
      value: visit.form.reason ?? '',
      fault: null,
      wrong: '',
      isFilledIn: true,
      options: [{ value: '', label: texts.noReason }, ...options],
    },
  ])
  const body = confirmation(visit, {
    title,
    text: isTemplate ? texts.closeText : texts.cancelText,
    action: `${path}/cancel`,
    button: isTemplate ? texts.closeLink : texts.cancel,
    back: path,
    fields: html`${fault?.notice(visit.language)}${!isTemplate && reason}`,
  })
  const status = fault ? { status: fault.problem.status } : {}
  return visit.send({ title, here: 'subscriptions', body, ...status })
}

const isReason = (text: string | undefined): text is EndReason =>
  END_REASONS.includes(text as EndReason)

async function cancel(visit: Visit): Promise<FastifyReply> {
  const { app, company, form } = visit
  const recurrence = await findOne(visit)
  const id = toPublic('rec', recurrence.id)
  const { fault } = await tryForm(() =>
    visit.operate('cancelRecurrence', { params: { id }, once: form.once }),
  )
  if (fault) return sendQuestion(visit, recurrence, fault)
  if (isReason(form.reason)) await setEndReason(app.db, company.id, recurrence.id, form.reason)
  return visit.redirect(`/subscriptions/${id}`, 'canceled')
}

const PATH = '/subscriptions/:id'

export const subscriptionsRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/subscriptions', needs: 'payments:read', handle: showList },
  { method: 'GET', path: PATH, needs: 'payments:read', handle: showOne },
  { method: 'GET', path: `${PATH}/cancel`, needs: 'payments:write', handle: askToCancel },
  { method: 'POST', path: `${PATH}/cancel`, needs: 'payments:write', handle: cancel },
]
