import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { codeEmailOf } from '../../core/companies/changes.ts'
import { listAllowed } from '../../core/people/role-store.ts'
import type { Person } from '../../core/people/rules.ts'
import { findMember, findPerson } from '../../core/people/store.ts'
import { findWithdrawal } from '../../core/withdrawals/commands.ts'
import {
  asOf,
  awaitsApproval,
  DESTINATION_CHANGED,
  isHeldFor,
  NOT_APPROVED,
  type Status,
  type Withdrawal,
} from '../../core/withdrawals/rules.ts'
import type { WithdrawalView } from '../../core/withdrawals/view.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { maskEmail } from '../../pix/masks.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { type Fact, facts } from '../parts.ts'
import { APPROVALS } from './approvals-texts.ts'
import { backLink, type FormFault, tryForm } from './form-parts.ts'
import {
  card,
  doneNotice,
  heading,
  idText,
  moment,
  money,
  notice,
  pill,
  type Tone,
} from './parts.ts'
import { hasConfirmed } from './signed-in.ts'
import type { DashboardRoute, Visit } from './visit.ts'
import { WITHDRAWALS } from './withdrawals-texts.ts'
import { completedLinks } from './withdrawn.ts'

export type ShownWithdrawal = Static<typeof WithdrawalView>

const TONES: Record<Status, Tone> = {
  PENDING_OTP: 'warn',
  PROCESSING: 'warn',
  COMPLETED: 'good',
  FAILED: 'bad',
  EXPIRED: 'calm',
  CANCELED: 'calm',
}

/** Whether its code was right, and only the approval is missing. */
const awaitsOnlyApproval = ({ approval, confirmedAt }: ShownWithdrawal): boolean =>
  approval === 'WAITING' && confirmedAt !== undefined

/** The state of a withdrawal in words. */
export function statePill({ language }: Visit, withdrawal: ShownWithdrawal): Html {
  const { status } = withdrawal
  const word = awaitsOnlyApproval(withdrawal)
    ? APPROVALS[language].awaitsApproval
    : WITHDRAWALS[language].states[status]
  return pill(word, TONES[status])
}

const read = (visit: Visit) =>
  visit.operate<ShownWithdrawal>('getWithdrawal', { params: { id: visit.params.id ?? '' } })

export async function showWithdrawal(
  visit: Visit,
  fault: FormFault | null = null,
  code = '',
): Promise<FastifyReply> {
  const { language, app, company } = visit
  const texts = WITHDRAWALS[language]
  const { data: withdrawal } = await read(visit)
  const { value, status, confirmedAt } = withdrawal
  const title = texts.withdrawalOf(formatReais(value))
  const stored = await findWithdrawal(app.db, company.id, fromPublic('wd', withdrawal.id)!)
  const approval = await approvalParts(visit, stored)
  const mayCancel = status === 'PENDING_OTP' && visit.can('balance:write')
  const mayConfirm = mayCancel && confirmedAt === undefined
  // A wrong code is explained at its field, as long as there is one.
  const isAtField = mayConfirm && (fault?.isWrong('otp') || fault?.problem.code === 'otp_invalid')
  const done = { ...texts.done, ...APPROVALS[language].done }
  const back = backLink(visit, '/balance/withdrawals', texts.title)
  const body = html`${back}${heading(title, statePill(visit, withdrawal))}
${fault ? !isAtField && fault.notice(language) : doneNotice(visit, done)}
<div class="columns">${card(
    null,
    html`<p>${whatNext(visit, withdrawal)}</p>${factsOf(visit, withdrawal, approval.facts)}
${completedLinks(visit, stored)}
${mayCancel && !mayConfirm && !approval.mayDecide && html`<div class="actions">${cancelForm(visit, withdrawal)}</div>`}`,
  )}
<div class="stack">${mayConfirm && codeCard(visit, withdrawal, isAtField ? fault : null, code)}
${approval.card}</div></div>`
  const failed = fault ? { status: fault.problem.status } : {}
  return visit.send({ title, body, here: 'balance', ...failed })
}

/** What happens next, or what has happened. */
function whatNext(visit: Visit, withdrawal: ShownWithdrawal): string {
  const { status, expiresAt, failureReason } = withdrawal
  const { language, company, app } = visit
  const texts = WITHDRAWALS[language]
  if (awaitsOnlyApproval(withdrawal)) {
    return withdrawal.heldUntil ? APPROVALS[language].held : APPROVALS[language].waits
  }
  if (status === 'PENDING_OTP') {
    const email = maskEmail(codeEmailOf(company, app.systemClock.now()))
    return texts.awaitsCode(email, formatMoment(new Date(expiresAt!)))
  }
  const { rejected, moved } = APPROVALS[language]
  const reasons = new Map([
    [NOT_APPROVED, rejected],
    [DESTINATION_CHANGED, moved],
  ])
  const why = reasons.get(failureReason ?? '') ?? texts.wrongCodes
  const isExplained = status === 'CANCELED' && failureReason !== undefined
  return isExplained ? `${why} ${texts.next.CANCELED}` : texts.next[status]
}

function factsOf(
  { language }: Visit,
  withdrawal: ShownWithdrawal,
  approval: ApprovalParts['facts'],
): Html {
  const texts = WITHDRAWALS[language]
  const { status, value, destination, createdAt, confirmedAt, finishedAt } = withdrawal
  const { endToEndId, failureReason } = withdrawal
  const { columns } = texts
  return facts([
    [columns.value, money(value)],
    [columns.destination, destination],
    [columns.at, moment(createdAt)],
    confirmedAt !== undefined && [texts.confirmedAt, moment(confirmedAt)],
    ...approval,
    finishedAt !== undefined && [columns.finishedAt, moment(finishedAt)],
    ['ID', html`<code>${withdrawal.id}</code>`],
    status === 'FAILED' && failureReason !== undefined && [texts.reason, failureReason],
    endToEndId !== undefined && [texts.endToEndId, idText(endToEndId, texts.endToEndId, language)],
  ])
}

const pageOf = (visit: Visit, { id }: ShownWithdrawal): string =>
  visit.url(`/balance/withdrawals/${id}`)

const formFor = (name: 'resend' | 'cancel') => (visit: Visit, withdrawal: ShownWithdrawal) =>
  visit.formOf(
    `${pageOf(visit, withdrawal)}/${name}`,
    html`<button class="button quiet slim">${WITHDRAWALS[visit.language][name]}</button>`,
  )

const resendForm = formFor('resend')
const cancelForm = formFor('cancel')

/** The form for the code. Whoever has not just proved who they are does that first. */
function codeCard(
  visit: Visit,
  withdrawal: ShownWithdrawal,
  fault: FormFault | null,
  code: string,
): Html {
  const { language, app } = visit
  const texts = WITHDRAWALS[language]
  const { attemptsLeft = 0 } = withdrawal
  const page = pageOf(visit, withdrawal)
  const mailbox =
    app.config.local &&
    notice(html`${texts.mailbox} <a href="/mailbox">${texts.mailboxLink}</a>`, 'calm')
  return card(
    texts.confirmation,
    html`${mailbox}${hasConfirmed(visit) ? codeForm() : proof()}
<div class="actions">${resendForm(visit, withdrawal)}${cancelForm(visit, withdrawal)}</div>`,
  )

  function proof(): Html {
    const confirm = `/account/confirm?${new URLSearchParams({ next: page })}`
    return html`<p>${texts.prove}</p><a class="button" href="${confirm}">${texts.proveLink}</a>`
  }

  function codeForm(): Html {
    const isGuess = fault?.problem.code === 'otp_invalid'
    const fields = fieldsOf([
      {
        name: 'code',
        label: texts.code,
        value: code,
        fault: fault && (isGuess ? texts.wrongCode(attemptsLeft) : texts.codeForm),
        wrong: texts.codeForm,
        ...(isGuess ? {} : { hint: texts.codeHint(attemptsLeft) }),
        autocomplete: 'one-time-code',
        inputmode: 'numeric',
        maxlength: 20,
      },
    ])
    const content = html`${fields}<button class="button">${texts.confirm}</button>`
    return visit.formOf(`${page}/confirm`, content, { kind: 'card-form' })
  }
}

async function confirm(visit: Visit): Promise<FastifyReply> {
  const { once, code = '' } = visit.form
  const body = { otp: code.replace(/[\s-]/g, '') }
  const params = { id: visit.params.id ?? '' }
  const { fault, done } = await tryForm(() =>
    visit.operate<ShownWithdrawal>('confirmWithdrawal', { params, body, once }),
  )
  if (fault) return showWithdrawal(visit, fault, code)
  const isCanceled = done.data.status === 'CANCELED'
  return visit.redirect(
    `/balance/withdrawals/${params.id}`,
    ...(isCanceled ? [] : (['confirmed'] as const)),
  )
}

const acting = (operationId: string, done: string) => async (visit: Visit) => {
  const { once } = visit.form
  const params = { id: visit.params.id ?? '' }
  const { fault } = await tryForm(() => visit.operate(operationId, { params, once }))
  if (fault) return showWithdrawal(visit, fault)
  return visit.redirect(`/balance/withdrawals/${params.id}`, done)
}

const PAGE = '/balance/withdrawals/:id'

export const withdrawalRoutes: DashboardRoute[] = [
  {
    method: 'GET',
    path: PAGE,
    needs: 'balance:read',
    handle: (visit) => showWithdrawal(visit),
  },
  {
    method: 'POST',
    path: `${PAGE}/confirm`,
    needs: 'balance:write',
    confirmed: true,
    movesMoney: true,
    handle: confirm,
  },
  {
    method: 'POST',
    path: `${PAGE}/resend`,
    needs: 'balance:write',
    handle: acting('resendWithdrawalCode', 'resent'),
  },
  {
    method: 'POST',
    path: `${PAGE}/cancel`,
    needs: 'balance:write',
    handle: acting('cancelWithdrawal', 'canceled'),
  },
]

/** So many people are named at most. */
const MAX_NAMED = 20

/** Who has asked for a withdrawal, who has approved it, and the form for whoever can. */
type ApprovalParts = {
  facts: (Fact | false)[]
  card: Html | false
  /** Whether the person can approve or refuse it now. */
  mayDecide: boolean
}

async function approvalParts(visit: Visit, stored: Withdrawal): Promise<ApprovalParts> {
  const { app, language } = visit
  const texts = APPROVALS[language]
  const withdrawal = asOf(stored, app.clock.now())
  const { requestedBy, approvedBy, approvedAt, needsApproval } = withdrawal
  const [requester, approver] = await Promise.all([
    requestedBy === null ? null : findPerson(app.db.control, requestedBy),
    approvedBy === null ? null : findPerson(app.db.control, approvedBy),
  ])
  const waits = awaitsApproval(withdrawal)
  const mayDecide =
    waits &&
    visit.can('balance:write') &&
    requestedBy !== visit.person.id &&
    !(await isHeldForVisitor(visit, withdrawal))
  return {
    mayDecide,
    facts: [
      [texts.requestedBy, requester ? requester.name : texts.apiKey],
      needsApproval && waits && [texts.approval, texts.notYet],
      approver !== null &&
        approvedAt !== null && [texts.approvedBy, nameAndMoment(approver, approvedAt)],
    ],
    card: waits && (await approvalCard(visit, withdrawal, mayDecide)),
  }
}

async function isHeldForVisitor(visit: Visit, withdrawal: Withdrawal): Promise<boolean> {
  const { app, company, person } = visit
  const member = await findMember(app.db.control, company.id, person.id)
  return !member || isHeldFor(withdrawal, member, app.config.destinationWaitHours)
}

const nameAndMoment = ({ name }: Person, at: Date): Html =>
  html`${name}<br><span class="soft small">${moment(at)}</span>`

async function approvalCard(
  visit: Visit,
  withdrawal: Withdrawal,
  mayDecide: boolean,
): Promise<Html> {
  const { app, company, language, person } = visit
  const texts = APPROVALS[language]
  const hours = app.config.destinationWaitHours
  const { requestedBy, confirmedAt, otpExpiresAt, heldUntil, heldFor } = withdrawal
  const what = heldUntil ? texts.heldUntil : texts.until
  const until = confirmedAt !== null && what(formatMoment(otpExpiresAt))
  if (mayDecide) {
    return card(texts.approval, html`<p>${texts.ask} ${until}</p>${decision(visit, withdrawal)}`)
  }
  const allowed = await listAllowed(app.db.control, company.id, 'balance:write', MAX_NAMED)
  const others = allowed
    .filter((one) => one.id !== requestedBy && !isHeldFor(withdrawal, one, hours))
    .map(({ name }) => name)
  const content =
    others.length > 0
      ? html`<p>${texts.others(others.join(', '))}</p>`
      : notice(heldFor ? texts.nobodyHeld : texts.nobody, 'warn')
  const mine = requestedBy === person.id && html`<p>${texts.mine}</p>`
  return card(texts.approval, html`${mine}${content}${until && html`<p>${until}</p>`}`)
}

/** Whoever has not just proved who they are does that before they approve. */
function decision(visit: Visit, { id }: Withdrawal): Html {
  const texts = APPROVALS[visit.language]
  const page = visit.url(`/balance/withdrawals/${toPublic('wd', id)}`)
  const form = (act: 'approve' | 'reject', kind: string) =>
    visit.formOf(`${page}/${act}`, html`<button class="button ${kind}">${texts[act]}</button>`)
  const confirm = `/account/confirm?${new URLSearchParams({ next: page })}`
  const approve = hasConfirmed(visit)
    ? form('approve', '')
    : html`<p>${texts.prove}</p><a class="button" href="${confirm}">${texts.proveLink}</a>`
  return html`${approve}${form('reject', 'quiet')}`
}
