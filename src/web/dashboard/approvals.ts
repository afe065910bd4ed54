import type { FastifyReply } from 'fastify'
import { mailAccessChange } from '../../core/people/owner-mails.ts'
import { listAllowed } from '../../core/people/role-store.ts'
import { findPerson } from '../../core/people/store.ts'
import { approveWithdrawal, rejectWithdrawal } from '../../core/withdrawals/approvals.ts'
import { DESTINATION_CHANGED } from '../../core/withdrawals/rules.ts'
import { findLimit, setLimit } from '../../core/withdrawals/store.ts'
import { fromPublic } from '../../lib/ids.ts'
import { type Cents, formatReais, readReais } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { MAX_AMOUNT } from '../../pix/amounts.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { fieldsOf } from '../forms.ts'
import { html } from '../html.ts'
import { requireFewAccessChanges } from './access-changes.ts'
import { APPROVALS } from './approvals-texts.ts'
import { tryForm } from './form-parts.ts'
import { card, notice } from './parts.ts'
import { sendSettings } from './settings.ts'
import type { DashboardRoute, Visit } from './visit.ts'
import { showWithdrawal } from './withdrawal.ts'

const PATH = '/settings/approvals'

async function showSetting(visit: Visit, typed: string | null = null): Promise<FastifyReply> {
  const { app, company, language } = visit
  const texts = APPROVALS[language]
  const [limit, approvers] = await Promise.all([
    findLimit(app.db, company.id),
    listAllowed(app.db.control, company.id, 'balance:write', 2),
  ])
  const setter = limit && (await findPerson(app.db.control, limit.setBy))
  const fields = fieldsOf([
    {
      name: 'amount',
      label: texts.amount,
      value: typed ?? (limit ? formatReais(limit.above).replace('R$ ', '') : ''),
      fault: typed === null ? null : texts.wrongAmount,
      wrong: texts.wrongAmount,
      hint: texts.amountHint,
      maxlength: 20,
    },
  ])
  const form = visit.formOf(
    visit.url(PATH),
    html`${fields}<button class="button">${texts.save}</button>`,
    { kind: 'card-form' },
  )
  const remove = visit.formOf(
    visit.url(`${PATH}/remove`),
    html`<button class="button quiet">${texts.remove}</button>`,
  )
  const known = limit
    ? html`<p><strong>${texts.limit(formatReais(limit.above))}</strong></p>
<p class="soft small">${setter && texts.setBy(setter.name, formatMoment(limit.setAt))}</p>`
    : html`<p><strong>${texts.noLimit}</strong></p>`
  const body = html`${approvers.length < 2 && notice(texts.tooFew, 'warn')}
<div class="columns">${card(null, html`${known}<p class="soft">${texts.intro}</p><p class="soft">${texts.scope}</p>`)}
${card(null, html`${form}${limit && remove}`)}</div>`
  const status = typed === null ? 200 : 400
  return sendSettings(visit, '/approvals', { title: texts.title, done: texts.done, body, status })
}

async function save(visit: Visit): Promise<FastifyReply> {
  const { amount = '' } = visit.form
  const above = readReais(amount)
  if (above === null || above > MAX_AMOUNT) return showSetting(visit, amount)
  await change(visit, above)
  return visit.redirect(PATH, 'saved')
}

async function remove(visit: Visit): Promise<FastifyReply> {
  await change(visit, null)
  return visit.redirect(PATH, 'removed')
}

/** The change, its entry in the activity log and the letters about it are written together. */
async function change(visit: Visit, above: Cents | null): Promise<void> {
  const { app, company, person, record } = visit
  await requireFewAccessChanges(visit.app, visit.company.id)
  await app.db.transaction(async (tx, control) => {
    const now = app.systemClock.now()
    const before = (await findLimit(tx, company.id))?.above ?? null
    if (before === above) return
    await setLimit(tx, company.id, above === null ? null : { above, setBy: person.id, setAt: now })
    const letter = { what: 'approval-limit', before, after: above, by: person.name } as const
    await mailAccessChange(tx, control, app.vault, company, letter, now)
    const details = above === null ? { removed: true } : { above }
    await record(tx, 'approval.change-limit', { type: 'company', id: company.id }, details)
  })
}

const deciding =
  (act: typeof approveWithdrawal, action: 'withdrawal.approve' | 'withdrawal.reject') =>
  async (visit: Visit): Promise<FastifyReply> => {
    const { app, company, person, params } = visit
    const id = fromPublic('wd', params.id ?? '')
    if (id === null) throw problem('withdrawal_not_found')
    const { fault, done: decided } = await tryForm(() =>
      app.db.transaction(async (tx, control) => {
        const decided = await act(tx, control, app, company.id, id, person.id)
        if (!decided || decided.failure === DESTINATION_CHANGED) return decided
        const { value } = decided
        await visit.record(tx, action, { type: 'withdrawal', id: params.id! }, { value })
        return decided
      }),
    )
    if (fault) return showWithdrawal(visit, fault)
    const page = `/balance/withdrawals/${params.id}`
    if (decided?.failure === DESTINATION_CHANGED) return visit.redirect(page)
    return visit.redirect(page, action === 'withdrawal.approve' ? 'approved' : 'rejected')
  }

const OWNER = ['owner'] as const
const PAGE = '/balance/withdrawals/:id'

export const approvalsRoutes: DashboardRoute[] = [
  {
    method: 'GET',
    path: PATH,
    needs: OWNER,
    confirmed: true,
    movesMoney: true,
    handle: (visit) => showSetting(visit),
  },
  {
    method: 'POST',
    path: PATH,
    needs: OWNER,
    confirmed: true,
    movesMoney: true,
    handle: save,
  },
  {
    method: 'POST',
    path: `${PATH}/remove`,
    needs: OWNER,
    confirmed: true,
    movesMoney: true,
    handle: remove,
  },
  {
    method: 'POST',
    path: `${PAGE}/approve`,
    needs: 'balance:write',
    confirmed: true,
    movesMoney: true,
    handle: deciding(approveWithdrawal, 'withdrawal.approve'),
  },
  {
    method: 'POST',
    path: `${PAGE}/reject`,
    needs: 'balance:write',
    handle: deciding(rejectWithdrawal, 'withdrawal.reject'),
  },
]
