import Type from 'typebox'
import { payerFault } from '../../core/charges/commands.ts'
import {
  NewPlan,
  PlanQuery,
  PlanView,
  showPlan,
  showWholePlan,
} from '../../core/charges/plan-view.ts'
import {
  cancelPlan,
  createPlan,
  findPlan,
  listPlans,
  planDraft,
  removePlanAtBank,
  type WholePlan,
} from '../../core/charges/plans.ts'
import { problem } from '../../lib/problems.ts'
import { readPage } from '../lists.ts'
import { page } from '../page.ts'
import { type Call, route } from '../route.ts'
import { changed, listed, newest } from '../samples.ts'

const showing = ({ app }: Pick<Call, 'app'>) => ({
  vault: app.vault,
  publicUrl: app.publicUrl,
  now: app.clock.now(),
})

const show = (call: Pick<Call, 'app'>, { plan, charges }: WholePlan) =>
  showWholePlan(plan, charges, showing(call))

const create = route({
  method: 'POST',
  path: '/charge/plan',
  operationId: 'createPlan',
  client: ['plans', 'create'],
  changes: { record: 'plan', pt: 'Carnê criado', en: 'Plan created' },
  sample: changed('getPlan'),
  tag: 'Plans',
  summary: 'Divide one sale into charges with due dates',
  description:
    'All charges are created, or none. Each is an ordinary charge with a due date, and the payer has one page with all of them. The same externalId with an identical body returns the plan while something of it is open.',
  scope: 'payments:write',
  body: NewPlan,
  example: {
    total: 119990,
    count: 12,
    firstDueDate: '2099-12-10',
    fine: { type: 'PERCENT', value: 200 },
    interest: { type: 'PERCENT_PER_MONTH', value: 100 },
    customer: { name: 'Maria da Silva', taxId: '12345678909', email: 'maria@example.com' },
    devMode: true,
  },
  check: (body, { company }) => [payerFault(company, body.customer)],
  data: PlanView,
  status: 201,
  message: 'Plan created.',
  problems: ['provider_rejected', 'provider_unavailable'],
  async handle(call) {
    const { app, company, guard } = call
    const wanted = planDraft(app, company, call.body, call.fingerprint)
    const done = await createPlan(app, company, wanted, guard, (insert) =>
      call.commit(async (tx) => ({ data: show(call, await insert(tx)) })),
    )
    return 'made' in done ? done.made : { data: show(call, done.earlier), repeated: true }
  },
})

const list = route({
  method: 'GET',
  path: '/charge/plan',
  operationId: 'listPlans',
  client: ['plans', 'list'],
  sample: listed,
  tag: 'Plans',
  summary: 'List plans, newest first',
  description: 'Without their charges, which `GET /charge/plan/{id}` has.',
  scope: 'payments:read',
  query: PlanQuery,
  data: Type.Array(PlanView),
  status: 200,
  message: 'Plans listed.',
  problems: [],
  async handle(call) {
    const { app, company } = call
    return readPage(
      page(call, 'plan'),
      (part) => listPlans(app.db, company.id, part),
      ({ plan, charges }) => showPlan(plan, charges, showing(call)),
    )
  },
})

const get = route({
  method: 'GET',
  path: '/charge/plan/{id}',
  operationId: 'getPlan',
  client: ['plans', 'get'],
  sample: newest('listPlans'),
  tag: 'Plans',
  summary: 'Get a plan with its charges',
  description:
    'With what is to be paid today for each charge that is open, and for all of them together.',
  scope: 'payments:read',
  data: PlanView,
  status: 200,
  message: 'Plan found.',
  problems: ['plan_not_found'],
  async handle(call) {
    const { app, company, params } = call
    return { data: show(call, await findPlan(app, company.id, params.id)) }
  },
})

const cancel = route({
  method: 'POST',
  path: '/charge/plan/{id}/cancel',
  operationId: 'cancelPlan',
  client: ['plans', 'cancel'],
  changes: { record: 'plan', pt: 'Carnê cancelado', en: 'Plan canceled' },
  sample: changed('getPlan'),
  tag: 'Plans',
  summary: 'Cancel what is open of a plan',
  description:
    'What is paid stays paid. If the bank does not answer about a charge, the others are canceled, the answer is 503, and the same request goes on with what is left. If all that was open is canceled already, the answer is the same.',
  scope: 'payments:write',
  data: PlanView,
  status: 200,
  message: 'Plan canceled.',
  problems: ['plan_not_found', 'plan_not_cancelable', 'provider_unavailable'],
  async handle(call) {
    const { app, company, params } = call
    const found = await findPlan(app, company.id, params.id)
    const { removed, failed } = await removePlanAtBank(app, company, found)
    if (failed) {
      await app.db.transaction((tx) => cancelPlan(tx, app, found.plan, removed))
      throw problem(
        failed.code,
        `${removed.length} charges were canceled, and one could not be: ${failed.message} Send the request again to go on with what is left.`,
      )
    }
    return call.commit(async (tx) => {
      const { changed, ...whole } = await cancelPlan(tx, app, found.plan, removed)
      return { data: show(call, whole), changed }
    })
  },
})

export const planRoutes = [create, list, get, cancel]
