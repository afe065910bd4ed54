import type { FastifyReply } from 'fastify'
import { dueOf, requireTerms } from '../../core/charges/commands.ts'
import { PIX_LIFETIME_S } from '../../core/charges/rules.ts'
import { readReais } from '../../lib/money.ts'
import { invalid } from '../../lib/problems.ts'
import { MIN_CHARGE } from '../../pix/amounts.ts'
import { fieldsOf } from '../forms.ts'
import { html } from '../html.ts'
import type { Page } from '../layout.ts'
import type { Form } from '../site.ts'
import { sharePath } from './charge-share.ts'
import { type FormFault, fillFields, tryForm } from './form-parts.ts'
import {
  amountPlan,
  commonBody,
  descriptionPlan,
  devModeField,
  dueFields,
  externalIdPlan,
  findPayers,
  isStep,
  lifetimePlan,
  type Payers,
  payerBody,
  payerFields,
  previewCharge,
  requireDue,
  sendNewForm,
} from './new-parts.ts'
import { NEW } from './new-texts.ts'
import { splitBody, splitFields } from './split-parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const show = async (visit: Visit): Promise<FastifyReply> =>
  sendForm(visit, { expiresIn: String(PIX_LIFETIME_S) }, await findPayers(visit))

async function make(visit: Visit): Promise<FastifyReply> {
  const { form } = visit
  const payers = await findPayers(visit)
  if (isStep(visit, 'find')) return sendForm(visit, form, payers)
  if (isStep(visit, 'preview')) {
    const { fault, done } = await tryForm(async () => previewOf(visit, payers))
    return sendForm(visit, form, payers, fault, done)
  }
  const amount = readReais(form.amount ?? '') ?? -1
  const body = {
    ...commonBody(form),
    ...splitBody(form),
    amount,
    customer: payerBody(form, payers),
  }
  const { fault, done } = await tryForm(() =>
    visit.operate<{ id: string }>('createPixCharge', { body, once: form.once }),
  )
  if (fault) return sendForm(visit, form, payers, fault)
  return visit.redirect(sharePath(done.data.id), 'charge')
}

function previewOf(visit: Visit, payers: Payers): Page {
  const { form } = visit
  const amount = readReais(form.amount ?? '')
  if (amount === null || amount < MIN_CHARGE) throw invalid('amount: must be an amount of reais')
  requireDue(form)
  const due = dueOf(commonBody(form))
  requireTerms({ amount, due }, visit.app.clock.now())
  return previewCharge(visit, {
    kind: 'PIX',
    amount,
    description: form.description?.trim() || null,
    link: null,
    devMode: form.devMode === 'yes',
    lifetime_s: Number(form.expiresIn) || PIX_LIFETIME_S,
    due,
    payer: payerBody(form, payers),
  })
}

function sendForm(
  visit: Visit,
  typed: Form,
  payers: Payers,
  fault: FormFault | null = null,
  preview: Page | null = null,
): FastifyReply {
  const texts = NEW[visit.language]
  const plans = [
    { name: 'amount' as const, ...amountPlan },
    lifetimePlan(visit),
    descriptionPlan,
    externalIdPlan,
  ]
  const sale = fieldsOf(fillFields(plans, texts.fields, typed, fault, visit.language))
  const fields = html`<fieldset class="card-form"><legend>${texts.sale}</legend>${sale}${devModeField(visit, typed)}</fieldset>
${dueFields(visit, typed, fault)}
${splitFields(visit, payers.recipients, typed, fault)}
${payerFields(visit, payers, typed, fault, { path: 'customer.' })}`
  return sendNewForm(visit, { kind: 'charge', fields, fault, preview })
}

export const newChargeRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/new/charge', needs: 'payments:write', handle: show },
  { method: 'POST', path: '/new/charge', needs: 'payments:write', handle: make },
]
