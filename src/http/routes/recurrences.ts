import Type from 'typebox'
import { splitFaults } from '../../core/charges/split.ts'
import { listOfRecurrence } from '../../core/charges/store.ts'
import { LONG_PAGE, LONG_PAGE_SIZE } from '../../core/fields.ts'
import { endAtBank } from '../../core/recurrences/agreements.ts'
import {
  cancelRecurrence,
  createRecurrence,
  createTemplate,
  findRecurrence,
} from '../../core/recurrences/commands.ts'
import { list } from '../../core/recurrences/store.ts'
import {
  NewRecurrence,
  NewTemplate,
  RecurrenceDetail,
  RecurrenceView,
  showDetail,
  showRecurrence,
  showTemplate,
  TemplateView,
} from '../../core/recurrences/view.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { readPage } from '../lists.ts'
import { page } from '../page.ts'
import { type Call, route } from '../route.ts'
import { changed, listed, newest } from '../samples.ts'

function recurrenceIdOf({ params }: Pick<Call, 'params'>): Uuid {
  const id = fromPublic('rec', params.id ?? '')
  if (id === null) throw problem('recurrence_not_found')
  return id
}

const showing = ({ app }: Pick<Call, 'app'>) => ({
  vault: app.vault,
  publicUrl: app.publicUrl,
  now: app.clock.now(),
})

const create = route({
  method: 'POST',
  path: '/pix-automatic/recurrences',
  operationId: 'createRecurrence',
  client: ['subscriptions', 'create'],
  changes: { record: 'subscription', pt: 'Assinatura criada', en: 'Subscription created' },
  sample: changed('getRecurrence'),
  tag: 'Subscriptions',
  summary: 'Create a subscription',
  description:
    'Answers with the code by which the payer agrees in the app of their bank, once and within 30 days. From then on each cycle is charged automatically, at the current price.',
  scope: 'payments:write',
  body: NewRecurrence,
  example: {
    productId: 'prod_01k3e8r8v0e0080000000000b1',
    customerId: 'clnt_01k3e8r8v0e0080000000000c1',
  },
  check: splitFaults,
  data: RecurrenceView,
  status: 201,
  message: 'Subscription created.',
  problems: [
    'product_not_found',
    'customer_not_found',
    'product_not_recurring',
    'provider_rejected',
    'provider_unavailable',
    'recipient_not_found',
  ],
  async handle(call) {
    const { app, company, body } = call
    const started = await createRecurrence(app, company, body)
    return call.commit(async (tx) => ({
      data: showRecurrence(await started.save(tx), showing(call)),
    }))
  },
})

const createSelfServe = route({
  method: 'POST',
  path: '/pix-automatic/recurrences/template',
  operationId: 'createRecurrenceTemplate',
  client: ['subscriptions', 'createTemplate'],
  changes: {
    record: 'subscription-link',
    pt: 'Link de assinatura criado',
    en: 'Subscription link created',
  },
  sample: changed('getRecurrence'),
  tag: 'Subscriptions',
  summary: 'Create a link through which payers subscribe by themselves',
  description: 'Each payer who uses its page gets their own subscription.',
  scope: 'payments:write',
  body: NewTemplate,
  example: { productId: 'prod_01k3e8r8v0e0080000000000b1' },
  check: splitFaults,
  data: TemplateView,
  status: 201,
  message: 'Subscription link created.',
  problems: [
    'product_not_found',
    'customer_not_found',
    'product_not_recurring',
    'recipient_not_found',
  ],
  async handle(call) {
    const template = await createTemplate(call.app, call.company, call.body)
    return call.commit(async (tx) => ({ data: showTemplate(await template.save(tx)) }))
  },
})

const listAll = route({
  method: 'GET',
  path: '/pix-automatic/recurrences',
  operationId: 'listRecurrences',
  client: ['subscriptions', 'list'],
  sample: listed,
  tag: 'Subscriptions',
  summary: 'List subscriptions and their links, newest first',
  scope: 'payments:read',
  query: Type.Object(LONG_PAGE),
  data: Type.Array(RecurrenceView),
  status: 200,
  message: 'Subscriptions listed.',
  problems: [],
  async handle(call) {
    const around = showing(call)
    return readPage(
      page(call, 'rec', LONG_PAGE_SIZE),
      (part) => list(call.app.db, call.company.id, part),
      (recurrence) => showRecurrence(recurrence, around),
    )
  },
})

const get = route({
  method: 'GET',
  path: '/pix-automatic/recurrences/{id}',
  operationId: 'getRecurrence',
  client: ['subscriptions', 'get'],
  sample: newest('listRecurrences'),
  tag: 'Subscriptions',
  summary: 'Get a subscription with its charges',
  description:
    'Its latest charges, up to 1,000; all of them are in the list of charges, with kind=RECURRING and customerId.',
  scope: 'payments:read',
  data: RecurrenceDetail,
  status: 200,
  message: 'Subscription found.',
  problems: ['recurrence_not_found'],
  async handle(call) {
    const { app, company } = call
    const recurrence = await findRecurrence(app, company.id, recurrenceIdOf(call))
    const charges = await listOfRecurrence(app.db, company.id, recurrence.id, LONG_PAGE_SIZE)
    return { data: showDetail(recurrence, charges, showing(call)) }
  },
})

const cancel = route({
  method: 'POST',
  path: '/pix-automatic/recurrences/{id}/cancel',
  operationId: 'cancelRecurrence',
  client: ['subscriptions', 'cancel'],
  changes: { record: 'subscription', pt: 'Assinatura cancelada', en: 'Subscription canceled' },
  sample: changed('getRecurrence'),
  tag: 'Subscriptions',
  summary: 'End a subscription',
  description:
    'Nothing more is charged: what the bank has not collected yet is canceled. What was paid stays paid. If it is canceled already, the answer is the same.',
  scope: 'payments:write',
  data: RecurrenceView,
  status: 200,
  message: 'Subscription canceled.',
  problems: [
    'recurrence_not_found',
    'recurrence_not_cancelable',
    'provider_rejected',
    'provider_unavailable',
  ],
  async handle(call) {
    const { app, company } = call
    const id = recurrenceIdOf(call)
    await endAtBank(app, company, await findRecurrence(app, company.id, id))
    return call.commit(async (tx) => {
      const { recurrence, changed } = await cancelRecurrence(tx, app, company.id, id)
      return { data: showRecurrence(recurrence, showing(call)), changed }
    })
  },
})

export const recurrenceRoutes = [create, createSelfServe, listAll, get, cancel]
