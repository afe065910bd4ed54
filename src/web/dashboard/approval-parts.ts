import { listAllowed } from '../../core/people/role-store.ts'
import type { Person } from '../../core/people/rules.ts'
import { findPerson } from '../../core/people/store.ts'
import { findWithdrawal } from '../../core/withdrawals/commands.ts'
import { asOf, awaitsApproval, type Withdrawal } from '../../core/withdrawals/rules.ts'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { type Html, html } from '../html.ts'
import type { Fact } from '../parts.ts'
import { APPROVALS } from './approvals-texts.ts'
import { card, moment, notice } from './parts.ts'
import { hasConfirmed } from './signed-in.ts'
import type { Visit } from './visit.ts'

/** So many people are named at most. */
const MAX_NAMED = 20

/** Who has asked for a withdrawal, who has approved it, and the form for whoever can. */
export type ApprovalParts = {
  facts: (Fact | false)[]
  card: Html | false
  /** Whether the person can approve or refuse it now. */
  mayDecide: boolean
}

export async function approvalParts(visit: Visit, id: Uuid): Promise<ApprovalParts> {
  const { app, company, language } = visit
  const texts = APPROVALS[language]
  const stored = await findWithdrawal(app.db, company.id, id)
  const withdrawal = asOf(stored, app.clock.now())
  const { requestedBy, approvedBy, approvedAt, needsApproval } = withdrawal
  const [requester, approver] = await Promise.all([
    requestedBy === null ? null : findPerson(app.db.control, requestedBy),
    approvedBy === null ? null : findPerson(app.db.control, approvedBy),
  ])
  const waits = awaitsApproval(withdrawal)
  const mayDecide = waits && visit.can('balance:write') && requestedBy !== visit.person.id
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

const nameAndMoment = ({ name }: Person, at: Date): Html =>
  html`${name}<br><span class="soft small">${moment(at)}</span>`

async function approvalCard(
  visit: Visit,
  withdrawal: Withdrawal,
  mayDecide: boolean,
): Promise<Html> {
  const { app, company, language, person } = visit
  const texts = APPROVALS[language]
  const { requestedBy, confirmedAt, otpExpiresAt } = withdrawal
  const until = confirmedAt !== null && texts.until(formatMoment(otpExpiresAt))
  if (mayDecide) {
    return card(texts.approval, html`<p>${texts.ask} ${until}</p>${decision(visit, withdrawal)}`)
  }
  const allowed = await listAllowed(app.db.control, company.id, 'balance:write', MAX_NAMED)
  const others = allowed.filter(({ id }) => id !== requestedBy).map(({ name }) => name)
  const content =
    others.length > 0
      ? html`<p>${texts.others(others.join(', '))}</p>`
      : notice(texts.nobody, 'warn')
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
