import type { FastifyReply } from 'fastify'
import { MAX_CHARGES, MIN_CHARGES } from '../../core/charges/plan-rules.ts'
import { readReais } from '../../lib/money.ts'
import { MIN_CHARGE } from '../../pix/amounts.ts'
import { checkbox, fieldsOf } from '../forms.ts'
import { html } from '../html.ts'
import type { Form } from '../site.ts'
import { type FieldPlan, type FormFault, fillFields, textOf, tryForm } from './form-parts.ts'
import {
  amountPlan,
  commonBody,
  descriptionPlan,
  devModeField,
  externalIdPlan,
  findPayers,
  isStep,
  type Payers,
  payerBody,
  payerFields,
  sendNewForm,
} from './new-parts.ts'
import { NEW, type NewField } from './new-texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const counts = Array.from({ length: MAX_CHARGES + 1 - MIN_CHARGES }, (_, i) => i + MIN_CHARGES)

const plansOf = ({ language }: Visit): FieldPlan<NewField>[] => [
  { ...amountPlan, name: 'planTotal', path: 'total', min: MIN_CHARGES * MIN_CHARGE },
  {
    name: 'count',
    width: 'half',
    options: counts.map((count) => ({
      value: String(count),
      label: NEW[language].installments(count),
    })),
  },
  { name: 'firstDueDate', type: 'date', width: 'half', check: 'filled' },
  {
    name: 'earlyDiscount',
    path: 'discountPerDay',
    inputmode: 'decimal',
    width: 'half',
    isOptional: true,
  },
  { name: 'fine', inputmode: 'decimal', width: 'half', isOptional: true },
  { name: 'interest', inputmode: 'decimal', width: 'half', isOptional: true },
  { ...descriptionPlan, maxlength: 130 },
  externalIdPlan,
]

const show = async (visit: Visit): Promise<FastifyReply> =>
  sendForm(visit, { count: '12' }, await findPayers(visit))

async function make(visit: Visit): Promise<FastifyReply> {
  const { form } = visit
  const payers = await findPayers(visit)
  if (isStep(visit, 'find')) return sendForm(visit, form, payers)
  const body = bodyOf(form, payers)
  const { fault, done } = await tryForm(() =>
    visit.operate<{ id: string }>('createPlan', { body, once: form.once }),
  )
  if (fault) return sendForm(visit, form, payers, fault)
  return visit.redirect(`/plans/${done.data.id}`, 'made')
}

/** What the form says, in the words of the API. What cannot be read is refused by its rules. */
function bodyOf(form: Form, payers: Payers): object {
  const { description, externalId, devMode } = commonBody({ ...form, fine: '', interest: '' })
  const percent = (name: string) => readReais(textOf(form, name) ?? '') ?? -1
  const terms = {
    ...(textOf(form, 'fine') && { fine: { type: 'PERCENT', value: percent('fine') } }),
    ...(textOf(form, 'interest') && {
      interest: { type: 'PERCENT_PER_MONTH', value: percent('interest') },
    }),
    ...(textOf(form, 'earlyDiscount') && {
      discountPerDay: { type: 'PERCENT', value: percent('earlyDiscount') },
    }),
  }
  const texts = { description, externalId, devMode }
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined)),
    ...terms,
    total: readReais(form.planTotal ?? '') ?? -1,
    count: Number(form.count),
    firstDueDate: form.firstDueDate ?? '',
    notifyCustomer: form.notify === 'yes',
    customer: payerBody(form, payers),
  }
}

function sendForm(
  visit: Visit,
  typed: Form,
  payers: Payers,
  fault: FormFault | null = null,
): FastifyReply {
  const texts = NEW[visit.language]
  const sale = fieldsOf(fillFields(plansOf(visit), texts.fields, typed, fault, visit.language))
  const notify = checkbox({
    name: 'notify',
    label: texts.notifyPlan,
    hint: texts.notifyHint,
    isOn: typed.notify === 'yes',
  })
  const fields = html`<fieldset class="card-form"><legend>${texts.sale}</legend>${sale}${notify}${devModeField(visit, typed)}</fieldset>
${payerFields(visit, payers, typed, fault, { path: 'customer.' })}`
  return sendNewForm(visit, { kind: 'plan', fields, fault, hasPreview: false })
}

export const newPlanRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/new/plan', needs: 'payments:write', handle: show },
  { method: 'POST', path: '/new/plan', needs: 'payments:write', handle: make },
]
