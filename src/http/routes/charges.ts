import Type from 'typebox'
import {
  cancelCharge,
  createCharge,
  duplicate,
  findCharge,
  linkDraft,
  linkFaults,
  pixDraft,
  pixFaults,
  removeChargeAtBank,
} from '../../core/charges/commands.ts'
import type { Draft } from '../../core/charges/drafts.ts'
import { type Charge, isSubscriptionLink } from '../../core/charges/rules.ts'
import {
  ChargeQuery,
  listCharges,
  SummaryQuery,
  SummaryView,
  searchCharges,
  summarizeCharges,
} from '../../core/charges/search.ts'
import { findSplit, requireActive } from '../../core/charges/split-recipients.ts'
import { createStaticCode, salesLimits } from '../../core/charges/static.ts'
import { NewStaticCode, StaticCodeView, showStaticCode } from '../../core/charges/static-view.ts'
import {
  ChargeState,
  ChargeView,
  CreatedLink,
  CreatedPixCharge,
  DueAmountView,
  Duplication,
  ElementView,
  NewLink,
  NewPixCharge,
  PaymentState,
  SalesLimits,
  showAgain,
  showAmount,
  showCharge,
  showCreatedLink,
  showCreatedPix,
  showElement,
  showPaymentState,
  showState,
} from '../../core/charges/view.ts'
import { Day } from '../../core/fields.ts'
import { paySimulated } from '../../core/payments/commands.ts'
import { matchBeforeReplacement } from '../../core/payments/paid-charges.ts'
import { findNamed } from '../../core/recurrences/commands.ts'
import { findStarted } from '../../core/recurrences/store.ts'
import { showAsCharge, showSubscription } from '../../core/recurrences/view.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import { endOfTick } from '../../lib/turns.ts'
import { localDateOf } from '../../pix/local-time.ts'
import { LONG_PAGE, readPage } from '../lists.ts'
import { type Part, page } from '../page.ts'
import { type Call, type Result, route } from '../route.ts'
import {
  anyCharge,
  asList,
  changed,
  createdLink,
  createdPix,
  createdStatic,
  itself,
  newest,
  today,
} from '../samples.ts'

export const chargeIdOf = (call: { params: Record<string, string> }): string => {
  const id = fromPublic('charge', call.params.id ?? call.params.chargeId ?? '')
  if (id === null) throw problem('charge_not_found')
  return id
}

const showing = ({ app, company }: Pick<Call, 'app' | 'company'>) => ({
  company,
  vault: app.vault,
  publicUrl: app.publicUrl,
  now: app.clock.now(),
})

const PAYER = { name: 'Maria da Silva', taxId: '12345678909', email: 'maria@example.com' }

function create<T extends object>(
  call: Call<unknown, unknown, T>,
  draft: Draft,
  show: (charge: Charge) => T,
): Promise<Result<T>> {
  const { app, company, guard } = call
  const matchPaid = (charge: Charge) => matchBeforeReplacement(app, company, charge)
  return call.commitInGroup(async (seal) => {
    const showing = { show, seal, guard }
    const { shown, repeated } = await createCharge(app, company, draft, showing, matchPaid)
    return { data: shown, repeated }
  })
}

const createPix = route({
  method: 'POST',
  path: '/charge/pix',
  operationId: 'createPixCharge',
  client: ['charges', 'createPix'],
  changes: { record: 'charge', pt: 'Cobrança Pix criada', en: 'Pix charge created' },
  sample: createdPix,
  tag: 'Charges',
  summary: 'Create a dynamic Pix charge',
  description:
    'Answers with the copy-and-paste code and its QR image. The same externalId with an identical body returns the charge that is still open.',
  scope: 'payments:write',
  body: NewPixCharge,
  example: { amount: 1990, customer: PAYER, externalId: 'order-1042', devMode: true },
  check: (body, { company }) => pixFaults(company, body),
  data: CreatedPixCharge,
  status: 201,
  message: 'Charge created.',
  problems: ['provider_rejected', 'provider_unavailable', 'recipient_not_found'],
  async handle(call) {
    const { app, company } = call
    await endOfTick()
    const split = call.body.split ? await findSplit(app, company.id, call.body.split) : null
    const draft = pixDraft(app, company, call.body, call.fingerprint, split)
    const show = (charge: Charge) => showCreatedPix(charge, app)
    return create(call, draft, show)
  },
})

const createLink = route({
  method: 'POST',
  path: '/charge/payment-link',
  operationId: 'createPaymentLink',
  client: ['links', 'create'],
  changes: { record: 'charge', pt: 'Link de pagamento criado', en: 'Payment link created' },
  sample: createdLink,
  tag: 'Charges',
  summary: 'Create a payment link',
  description:
    'For exactly one of customerId and customer. The total is sent, or calculated from items. If both are sent, the total counts, and if it differs from the sum, the answer has a warning. Open for 7 days unless expiresIn says otherwise.',
  scope: 'payments:write',
  body: NewLink,
  example: { total: 4990, customer: PAYER, devMode: true },
  check: (body, { company }) => linkFaults(company, body),
  data: CreatedLink,
  status: 201,
  message: 'Payment link created.',
  problems: [
    'customer_not_found',
    'product_not_found',
    'provider_rejected',
    'provider_unavailable',
    'recipient_not_found',
  ],
  async handle(call) {
    const { app, company, language } = call
    const draft = await linkDraft(app, company, call.body, call.fingerprint)
    const show = (charge: Charge) => showCreatedLink(charge, app, language)
    return create(call, draft, show)
  },
})

const createStatic = route({
  method: 'POST',
  path: '/charge/pix/static',
  operationId: 'createStaticCode',
  client: ['charges', 'createStatic'],
  changes: { record: 'static-code', pt: 'QR Code fixo criado', en: 'Static code created' },
  sample: createdStatic,
  tag: 'Charges',
  summary: 'Create a static Pix code of a fixed value',
  description:
    'For a shop counter: it can be paid many times, and each payment creates a charge. The charge has the `externalId` of the code, and its payer as a customer if the bank names them with their whole CPF or CNPJ.',
  scope: 'payments:write',
  body: NewStaticCode,
  example: { amount: 250 },
  data: StaticCodeView,
  status: 201,
  message: 'Static code created.',
  problems: ['sales_limit_exceeded', 'provider_rejected', 'provider_unavailable'],
  async handle(call) {
    const code = await createStaticCode(call.app, call.company, call.body)
    return call.commit(async (tx) => ({ data: showStaticCode(await code.save(tx)) }))
  },
})

const get = route({
  method: 'GET',
  path: '/charge/{id}',
  operationId: 'getCharge',
  client: ['charges', 'get'],
  sample: anyCharge,
  tag: 'Charges',
  summary: 'Get a charge',
  description:
    'The id of a subscription or of its link is accepted too, and it is shown as a charge.',
  scope: 'payments:read',
  data: ChargeView,
  status: 200,
  message: 'Charge found.',
  problems: ['charge_not_found'],
  async handle(call) {
    const { app, company } = call
    const recurrenceId = fromPublic('rec', call.params.id ?? '')
    if (recurrenceId !== null) {
      const found = await findNamed(app, company.id, recurrenceId)
      return { data: showAsCharge(found.recurrence, found.started, showing(call)) }
    }
    const charge = await findCharge(app, company.id, chargeIdOf(call))
    const shown = showAgain(charge, showing(call), { image: true })
    if (!isSubscriptionLink(charge)) return { data: shown }
    const started = await findStarted(app.db, company.id, charge.id)
    return { data: { ...shown, ...showSubscription(started, showing(call)) } }
  },
})

const getState = route({
  method: 'GET',
  path: '/charge/{id}/status',
  operationId: 'getChargeStatus',
  client: ['charges', 'status'],
  sample: anyCharge,
  tag: 'Charges',
  summary: 'Get only the status of a charge',
  scope: 'payments:read',
  data: ChargeState,
  status: 200,
  message: 'Charge found.',
  problems: ['charge_not_found'],
  async handle(call) {
    const charge = await findCharge(call.app, call.company.id, chargeIdOf(call))
    return { data: showState(charge, call.app.clock.now()) }
  },
})

const getAmount = route({
  method: 'GET',
  path: '/charge/{id}/amount',
  operationId: 'getChargeAmount',
  client: ['charges', 'amount'],
  sample: newest('listCharges'),
  tag: 'Charges',
  summary: 'Get what is to be paid of a charge on a day',
  description:
    'For a charge with a due date: the amount with fine, interest, discount and rebate of that day. Without `on` it is today. If the charge is paid, it is what was paid. Other charges cost the same on every day.',
  scope: 'payments:read',
  query: Type.Object({ on: Type.Optional(Day('A day in São Paulo, today by default')) }),
  data: DueAmountView,
  status: 200,
  message: 'Amount calculated.',
  problems: ['charge_not_found'],
  async handle(call) {
    const charge = await findCharge(call.app, call.company.id, chargeIdOf(call))
    return { data: showAmount(charge, call.query.on ?? localDateOf(call.app.clock.now())) }
  },
})

const getElement = route({
  method: 'GET',
  path: '/charge/{id}/element',
  operationId: 'getChargeElement',
  client: ['charges', 'element'],
  sample: newest('listCharges'),
  tag: 'Charges',
  summary: 'Get the address with which a page of yours shows a charge',
  description:
    'For the custom element `<vintem-pix>`: code, QR image, time left and state in a page of another origin. The address needs no key, and can only be read.',
  scope: 'payments:read',
  data: ElementView,
  status: 200,
  message: 'Charge found.',
  problems: ['charge_not_found', 'charge_without_code'],
  async handle(call) {
    const charge = await findCharge(call.app, call.company.id, chargeIdOf(call))
    return { data: showElement(charge, call.app) }
  },
})

const searching = ({ app, company }: Pick<Call, 'app' | 'company'>) => ({
  db: app.db,
  vault: app.vault,
  companyId: company.id,
  now: app.clock.now(),
  isMasked: false,
})

const listAll = route({
  method: 'GET',
  path: '/charge',
  operationId: 'listCharges',
  client: ['charges', 'list'],
  sample: asList(anyCharge),
  tag: 'Charges',
  summary: 'List charges, newest first',
  description:
    'Filters can be combined. A day alone is that day in São Paulo, and `…To` includes the whole of it; a moment in `…From` is included, one in `…To` is not. With paidFrom or paidTo the latest payment comes first, otherwise the latest charge. An id that is unknown finds nothing.',
  scope: 'payments:read',
  query: ChargeQuery,
  data: Type.Array(ChargeView),
  status: 200,
  message: 'Charges listed.',
  problems: [],
  async handle(call) {
    const [where, around] = [searching(call), showing(call)]
    const { include, limit: _limit, after: _after, ...filters } = call.query
    const image = include === 'qr'
    const wanted = page(call, 'charge')
    const isPlain = wanted.limit <= LONG_PAGE && Object.keys(filters).length === 0
    const read = isPlain
      ? await listCharges(call.app, call.company.id, wanted)
      : (part: Part<Uuid>) => searchCharges(where, call.query, part)
    // Few read images again, and those of a long list take much memory.
    const show = (charge: Charge) => (image ? showCharge : showAgain)(charge, around, { image })
    return readPage(wanted, read, show)
  },
})

const summary = route({
  method: 'GET',
  path: '/charge/summary',
  operationId: 'summarizeCharges',
  client: ['charges', 'summary'],
  sample: today,
  tag: 'Charges',
  summary: 'Count charges and add up their amounts, by day and status',
  description:
    'Takes the filters of the list. Days are those of São Paulo, of the creation, or of the payment when paidFrom or paidTo is sent. Without a period it covers the last 31 days; a period may have 366 days.',
  scope: 'payments:read',
  query: SummaryQuery,
  data: SummaryView,
  status: 200,
  message: 'Charges counted.',
  problems: [],
  handle: async (call) => ({ data: await summarizeCharges(searching(call), call.query) }),
})

const simulate = route({
  method: 'POST',
  path: '/charge/{chargeId}/simulate-payment',
  operationId: 'simulatePayment',
  client: ['charges', 'simulatePayment'],
  changes: { record: 'charge', pt: 'Pagamento simulado', en: 'Payment simulated' },
  sample: changed('getCharge'),
  tag: 'Charges',
  summary: 'Pay a dev-mode charge without money',
  description: 'If the charge is paid already, the answer is the same.',
  scope: 'payments:write',
  data: PaymentState,
  status: 200,
  message: 'Payment simulated.',
  problems: [
    'charge_not_found',
    'charge_not_dev_mode',
    'charge_not_payable',
    'sandbox_limit_exceeded',
  ],
  async handle(call) {
    const { app, company } = call
    const found = await findCharge(app, company.id, chargeIdOf(call))
    return call.commitInGroup(async () => {
      const { charge, changed } = await paySimulated(app, company, found)
      return { data: showPaymentState(charge, app.clock.now()), changed }
    })
  },
})

const cancel = route({
  method: 'POST',
  path: '/charge/{id}/cancel',
  operationId: 'cancelCharge',
  client: ['charges', 'cancel'],
  changes: { record: 'charge', pt: 'Cobrança cancelada', en: 'Charge canceled' },
  sample: changed('getCharge'),
  tag: 'Charges',
  summary: 'Cancel an open charge',
  description: 'If the charge is canceled already, the answer is the same.',
  scope: 'payments:write',
  data: PaymentState,
  status: 200,
  message: 'Charge canceled.',
  problems: ['charge_not_found', 'charge_not_payable'],
  async handle(call) {
    const { app, company } = call
    const id = chargeIdOf(call)
    const isCanceledAtBank = await removeChargeAtBank(
      app,
      company,
      await findCharge(app, company.id, id),
    )
    return call.commit(async (tx) => {
      const { charge, changed } = await cancelCharge(tx, app, company.id, id, isCanceledAtBank)
      return { data: showPaymentState(charge, app.clock.now()), changed }
    })
  },
})

const duplicateOne = route({
  method: 'POST',
  path: '/charge/duplicate/{id}',
  operationId: 'duplicateCharge',
  client: ['charges', 'duplicate'],
  changes: { record: 'charge', pt: 'Cobrança duplicada', en: 'Charge duplicated' },
  sample: changed('getCharge'),
  tag: 'Charges',
  summary: 'Create a new charge like an existing one',
  description:
    'Same amount, payer, items and lifetime, with an id and a code of its own. The externalId is not copied.',
  scope: 'payments:write',
  body: Duplication,
  example: { externalId: 'order-1043' },
  data: ChargeView,
  status: 201,
  message: 'Charge duplicated.',
  problems: ['charge_not_found', 'provider_rejected', 'provider_unavailable'],
  async handle(call) {
    const { app, company } = call
    const original = await findCharge(app, company.id, chargeIdOf(call))
    await requireActive(app, original)
    const draft = duplicate(app, original, call.body, call.fingerprint)
    const show = (charge: Charge) => showCharge(charge, showing(call), { image: true })
    return create(call, draft, show)
  },
})

const limits = route({
  method: 'GET',
  path: '/charge/sales-limits',
  operationId: 'getSalesLimits',
  client: ['charges', 'salesLimits'],
  sample: itself,
  tag: 'Charges',
  summary: 'Get the monthly limit of sales through static codes',
  scope: 'payments:read',
  data: SalesLimits,
  status: 200,
  message: 'Sales limits found.',
  problems: [],
  handle: async ({ app, company }) => ({ data: await salesLimits(app, company) }),
})

export const chargeRoutes = [
  createPix,
  createStatic,
  createLink,
  get,
  getState,
  getAmount,
  getElement,
  listAll,
  summary,
  simulate,
  cancel,
  duplicateOne,
  limits,
]
