import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import type {
  RecipientBalance,
  RecipientEntryView,
  RecipientView,
} from '../../core/recipients/view.ts'
import type { StartedWithdrawal } from '../../core/withdrawals/view.ts'
import type { Language } from '../../lib/language.ts'
import { formatReais, readReais } from '../../lib/money.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import type { Form } from '../site.ts'
import {
  backLink,
  type FieldPlan,
  type FormFault,
  fillFields,
  textOf,
  tryForm,
} from './form-parts.ts'
import { card, idText, moment, money, nothing, pager, pill, rowLink, table } from './parts.ts'
import { RECIPIENTS, type RecipientField } from './recipients-texts.ts'
import { catalogRoutes, sendPage } from './record-pages.ts'
import type { DashboardRoute, Visit } from './visit.ts'

type Recipient = Static<typeof RecipientView>
type Balance = Static<typeof RecipientBalance>
type Entry = Static<typeof RecipientEntryView>

const PAGE_SIZE = '50'

const statusOf = ({ status }: Recipient, language: Language): Html =>
  pill(RECIPIENTS[language].statuses[status], status === 'ACTIVE' ? 'good' : 'calm')

/** The parameters of a page of a list. */
const partOf = ({ query: { after } }: Visit): Record<string, string> => ({
  limit: PAGE_SIZE,
  ...(after && { after }),
})

async function list(visit: Visit): Promise<Html> {
  const { language, url } = visit
  const texts = RECIPIENTS[language]
  const { data, next } = await visit.operate<Recipient[]>('listRecipients', {
    query: partOf(visit),
  })
  const found = table(
    texts.title,
    [
      {
        title: texts.fields.name.label,
        kind: 'main',
        of: ({ id, name }) => rowLink(url(`/recipients/${id}`), name),
      },
      { title: texts.fields.taxId.label, of: ({ taxId }) => taxId },
      { title: texts.fields.pixKey.label, of: ({ pixKey }) => pixKey },
      {
        title: texts.fields.status.label,
        kind: 'state',
        of: (recipient) => statusOf(recipient, language),
      },
    ],
    data,
    nothing(language, texts.none),
  )
  return card(null, html`${found}${pager(visit, next)}`)
}

const readBalance = async (visit: Visit, id: string): Promise<Balance> =>
  (await visit.operate<Balance>('getRecipientBalance', { params: { id } })).data

async function show(visit: Visit, recipient: Recipient): Promise<{ body: Html; actions: Html }> {
  const { language, url } = visit
  const { id } = recipient
  const texts = RECIPIENTS[language]
  const [balance, statement] = await Promise.all([readBalance(visit, id), statementCard(visit, id)])
  const actions = html`${
    visit.can('balance:write') &&
    balance.available > 0 &&
    html`<a class="button slim" href="${url(`/recipients/${id}/payout`)}">${texts.payOut}</a>`
  }`
  const known = facts([
    [texts.fields.name.label, recipient.name],
    [texts.fields.taxId.label, recipient.taxId],
    [texts.fields.pixKey.label, recipient.pixKey],
    [texts.fields.status.label, statusOf(recipient, language)],
    ['ID', idText(id, 'ID', language)],
  ])
  const amounts = facts([
    [texts.available, money(balance.available), 'sum'],
    balance.held > 0 && [texts.held, money(balance.held)],
    balance.owed > 0 && [texts.owed, money(balance.owed)],
  ])
  const hint = balance.owed > 0 && html`<p class="hint">${texts.owedHint}</p>`
  const body = html`<div class="columns">${card(texts.balance, html`${amounts}${hint}`)}${card(texts.details, known)}</div>
${statement}`
  return { actions, body }
}

async function statementCard(visit: Visit, id: string): Promise<Html> {
  const texts = RECIPIENTS[visit.language]
  const { columns } = texts
  const { data, next } = await visit.operate<Entry[]>('getRecipientStatement', {
    params: { id },
    query: partOf(visit),
  })
  const found = table(
    texts.statement,
    [
      { title: columns.entry, kind: 'main', of: (entry) => entryName(visit, entry) },
      { title: columns.at, of: ({ createdAt }) => moment(createdAt) },
      { title: columns.amount, kind: 'number', of: ({ amount }) => money(amount) },
      { title: columns.after, kind: 'number', of: ({ balance }) => money(balance) },
    ],
    data,
    nothing(visit.language, texts.empty),
  )
  return card(texts.statement, html`${found}${pager(visit, next)}`)
}

/** What an entry is, with a link to the charge or the payout that it is about. */
function entryName(visit: Visit, { type, chargeId, reference }: Entry): Html {
  const name = RECIPIENTS[visit.language].kinds[type]
  if (type.startsWith('WITHDRAWAL_')) {
    return html`<a href="${visit.url(`/balance/withdrawals/${reference}`)}">${name}</a>`
  }
  if (chargeId === undefined || !visit.can('payments:read')) return html`${name}`
  return html`<a href="${visit.url(`/charges/${chargeId}`)}">${name}</a>`
}

const optionsOf = (labels: Record<string, string>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }))

/** The fields of a recipient, with what was typed. Of a known one its tax id stays. */
function recipientFields(
  typed: Form,
  fault: FormFault | null,
  language: Language,
  recipient: Recipient | null,
): Html {
  const texts = RECIPIENTS[language]
  const plans: FieldPlan<RecipientField>[] = [
    { name: 'name', check: 'filled' },
    ...(recipient ? [] : [{ name: 'taxId' as const, check: 'filled' as const }]),
    recipient
      ? { name: 'pixKey', maxlength: 128, autocomplete: 'off', isOptional: true }
      : { name: 'pixKey', check: 'filled', maxlength: 128, autocomplete: 'off' },
    ...(recipient ? [{ name: 'status' as const, options: optionsOf(texts.statuses) }] : []),
  ]
  const { pixKey } = texts.fields
  const known = { ...pixKey, label: texts.newKey, hint: texts.keyHint }
  const fields = recipient ? { ...texts.fields, pixKey: known } : texts.fields
  return fieldsOf(fillFields(plans, fields, typed, fault, language))
}

function bodyOf(form: Form, recipient: Recipient | null): object {
  const name = textOf(form, 'name') ?? ''
  const pixKey = textOf(form, 'pixKey')
  if (!recipient) return { name, taxId: textOf(form, 'taxId') ?? '', pixKey: pixKey ?? '' }
  return { name, status: form.status ?? recipient.status, ...(pixKey && { pixKey }) }
}

/** What was typed into the form, and why it was refused. */
type Typed = { amount: string; fault: FormFault | null }

async function showPayout(visit: Visit, typed: Typed | null = null): Promise<FastifyReply> {
  const { language, params } = visit
  const id = params.id!
  const texts = RECIPIENTS[language]
  const { data: recipient } = await visit.operate<Recipient>('getRecipient', { params: { id } })
  const { available } = await readBalance(visit, id)
  const known = facts([
    [texts.available, money(available), 'sum'],
    [texts.fields.pixKey.label, recipient.pixKey],
  ])
  const isWrong = typed !== null && (typed.fault === null || typed.fault.isWrong('value'))
  const fields = fieldsOf([
    {
      name: 'amount',
      label: texts.amount,
      value: typed?.amount ?? '',
      fault: isWrong ? texts.wrongAmount : null,
      wrong: texts.wrongAmount,
      hint: texts.amountHint,
      maxlength: 20,
    },
  ])
  // The button for all names the amount that the person has seen.
  const content = html`${fields}<button class="button">${texts.payOut}</button>
<button class="button quiet" name="all" value="${available}" formnovalidate>${texts.all(formatReais(available))}</button>`
  const path = `/recipients/${id}`
  const form =
    available > 0
      ? html`<p class="hint">${texts.payOutHint}</p>${visit.formOf(visit.url(`${path}/payout`), content, { kind: 'card-form' })}`
      : html`<p>${texts.nothing}</p>`
  return sendPage(
    visit,
    { here: 'balance' },
    {
      title: texts.payOutTitle(recipient.name),
      back: backLink(visit, path, recipient.name),
      fault: typed?.fault ?? null,
      ...(typed && !typed.fault ? { status: 400 } : {}),
      body: card(null, html`${known}${form}`, 'narrow-card'),
    },
  )
}

async function startPayout(visit: Visit): Promise<FastifyReply> {
  const { once, amount = '', all } = visit.form
  const value = all && /^\d{1,15}$/.test(all) ? Number(all) : readReais(amount)
  if (!value) return showPayout(visit, { amount, fault: null })
  const input = { params: { id: visit.params.id! }, body: { value }, once }
  const { fault, done } = await tryForm(() =>
    visit.operate<Static<typeof StartedWithdrawal>>('startPayout', input),
  )
  if (fault) return showPayout(visit, { amount, fault })
  return visit.redirect(`/balance/withdrawals/${done.data.withdrawId}`, 'started')
}

const PAYOUT = {
  path: '/recipients/:id/payout',
  needs: 'balance:write',
  confirmed: true,
  movesMoney: true,
} as const

export const recipientsRoutes: DashboardRoute[] = [
  ...catalogRoutes<Recipient>({
    here: 'recipients',
    menu: 'balance',
    scope: 'balance',
    guard: { confirmed: true },
    find: 'getRecipient',
    make: 'createRecipient',
    change: 'changeRecipient',
    texts: RECIPIENTS,
    list,
    show,
    typed: (_visit, recipient): Form =>
      recipient ? { name: recipient.name, status: recipient.status } : {},
    fields: ({ language }, typed, fault, recipient) =>
      recipientFields(typed, fault, language, recipient),
    body: bodyOf,
  }),
  { method: 'GET', ...PAYOUT, handle: (visit) => showPayout(visit) },
  { method: 'POST', ...PAYOUT, handle: startPayout },
]
