import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { codeEmailOf } from '../../core/companies/changes.ts'
import type { Status } from '../../core/withdrawals/rules.ts'
import type { WithdrawalView } from '../../core/withdrawals/view.ts'
import { formatReais } from '../../lib/money.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { maskEmail } from '../../pix/masks.ts'
import { fieldsOf } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { type FormFault, tryForm } from './form-faults.ts'
import { card, doneNotice, heading, moment, money, notice, pill, type Tone } from './parts.ts'
import { hasConfirmed } from './signed-in.ts'
import type { DashboardRoute, Visit } from './visit.ts'
import { WITHDRAWALS } from './withdrawals-texts.ts'

export type ShownWithdrawal = Static<typeof WithdrawalView>

const TONES: Record<Status, Tone> = {
  PENDING_OTP: 'warn',
  PROCESSING: 'warn',
  COMPLETED: 'good',
  FAILED: 'bad',
  EXPIRED: 'calm',
  CANCELED: 'calm',
}

/** The state of a withdrawal in words. */
export const statePill = ({ language }: Visit, { status }: ShownWithdrawal): Html =>
  pill(WITHDRAWALS[language].states[status], TONES[status])

const read = (visit: Visit) =>
  visit.operate<ShownWithdrawal>('getWithdrawal', { params: { id: visit.params.id ?? '' } })

async function showWithdrawal(
  visit: Visit,
  fault: FormFault | null = null,
  code = '',
): Promise<FastifyReply> {
  const { language } = visit
  const texts = WITHDRAWALS[language]
  const { data: withdrawal } = await read(visit)
  const { value, status } = withdrawal
  const title = texts.withdrawalOf(formatReais(value))
  const mayConfirm = status === 'PENDING_OTP' && visit.can('balance:write')
  // A wrong code is explained at its field, as long as there is one.
  const isAtField = mayConfirm && (fault?.isWrong('otp') || fault?.problem.code === 'otp_invalid')
  const body = html`${heading(title, statePill(visit, withdrawal))}
${fault ? !isAtField && fault.notice(language) : doneNotice(visit, texts.done)}
<div class="columns">${card(null, html`<p>${whatNext(visit, withdrawal)}</p>${factsOf(visit, withdrawal)}`)}
${mayConfirm && codeCard(visit, withdrawal, isAtField ? fault : null, code)}</div>
<p><a href="${visit.url('/balance/withdrawals')}">${texts.title}</a></p>`
  const failed = fault ? { status: fault.problem.status } : {}
  return visit.send({ title, body, here: 'balance', ...failed })
}

/** What happens next, or what has happened. */
function whatNext(visit: Visit, { status, expiresAt, failureReason }: ShownWithdrawal): string {
  const { language, company, app } = visit
  const texts = WITHDRAWALS[language]
  if (status === 'PENDING_OTP') {
    const email = maskEmail(codeEmailOf(company, app.systemClock.now()))
    return texts.awaitsCode(email, formatMoment(new Date(expiresAt!)))
  }
  const isGuessed = status === 'CANCELED' && failureReason !== undefined
  return isGuessed ? `${texts.wrongCodes} ${texts.next.CANCELED}` : texts.next[status]
}

function factsOf({ language }: Visit, withdrawal: ShownWithdrawal): Html {
  const texts = WITHDRAWALS[language]
  const { status, value, destination, createdAt, confirmedAt, finishedAt } = withdrawal
  const { endToEndId, failureReason } = withdrawal
  const { columns } = texts
  return facts([
    [columns.value, money(value)],
    [columns.destination, destination],
    [columns.at, moment(createdAt)],
    confirmedAt !== undefined && [texts.confirmedAt, moment(confirmedAt)],
    finishedAt !== undefined && [columns.finishedAt, moment(finishedAt)],
    status === 'FAILED' && failureReason !== undefined && [texts.reason, failureReason],
    endToEndId !== undefined && [texts.endToEndId, html`<code>${endToEndId}</code>`],
  ])
}

/** The form for the code. Whoever has not just proved who they are does that first. */
function codeCard(
  visit: Visit,
  { id, attemptsLeft = 0 }: ShownWithdrawal,
  fault: FormFault | null,
  code: string,
): Html {
  const { language, app } = visit
  const texts = WITHDRAWALS[language]
  const page = visit.url(`/balance/withdrawals/${id}`)
  const act = (name: 'resend' | 'cancel') =>
    visit.formOf(`${page}/${name}`, html`<button class="button quiet slim">${texts[name]}</button>`)
  const mailbox =
    app.config.local &&
    notice(html`${texts.mailbox} <a href="/mailbox">${texts.mailboxLink}</a>`, 'calm')
  return card(
    texts.confirmation,
    html`${mailbox}${hasConfirmed(visit) ? codeForm() : proof()}
<div class="actions">${act('resend')}${act('cancel')}</div>`,
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
  const { fault } = await tryForm(() => visit.operate('confirmWithdrawal', { params, body, once }))
  if (fault) return showWithdrawal(visit, fault, code)
  return visit.redirect(`/balance/withdrawals/${params.id}`, 'confirmed')
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
