import Type, { type Static } from 'typebox'
import { asOf, type Charge } from '../../core/charges/rules.ts'
import {
  findCharges,
  type Meaning,
  SOUGHT,
  type SoughtText,
  SummaryQuery,
} from '../../core/charges/search.ts'
import {
  ChargeView,
  CreatedLink,
  CreatedPixCharge,
  DueView,
  NewLink,
  NewPixCharge,
  PaymentState,
  showCharge,
} from '../../core/charges/view.ts'
import { NewRefund, RefundView } from '../../core/refunds/view.ts'
import { readPage } from '../../http/lists.ts'
import type { Part } from '../../http/page.ts'
import { fromPublic, toPublic, type Uuid } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { invalid } from '../../lib/problems.ts'
import {
  type Caller,
  count,
  Id,
  Next,
  omit,
  onceOf,
  PAGE,
  PAGE_SIZE,
  PERIOD,
  pick,
  type Tool,
  tool,
  WITH_CODES,
  writing,
} from '../tool.ts'

/** What a list shows only if it is asked for. */
const CODES = ['url', 'brCode'] as const

/** Without images and addresses of people, which an agent has no use for. */
const SHOWN = [
  ...CODES,
  'id',
  'status',
  'paymentStatus',
  'total',
  'paymentDate',
  'devMode',
  'createdAt',
  'expiresAt',
  'externalId',
  'description',
  'endToEndId',
  'refunded',
  'shortfall',
  'due',
  'correlationID',
  'customer',
  'isRecurring',
  'recurrenceChargeId',
] as const

export const AgentCharge = Type.Object(pick(ChargeView.properties, SHOWN))
/** What a list shows of a due date. The terms are for whoever asks for the charge. */
const DUE = ['dueDate', 'lastDay', 'amount'] as const

const ListedCharge = Type.Object({
  ...AgentCharge.properties,
  url: Type.Optional(ChargeView.properties.url),
  due: Type.Optional(Type.Object(pick(DueView.properties, DUE))),
})

function showInList(charge: Static<typeof AgentCharge>, withCodes: boolean) {
  const { due, ...shown } = charge
  const slim = withCodes ? shown : omit(shown, CODES)
  return { ...slim, ...(due ? { due: pick(due, DUE) } : {}) }
}

export function showToAgent({ app, company }: Caller, charge: Charge): Static<typeof AgentCharge> {
  const { vault, publicUrl, clock } = app
  const around = { company, vault, publicUrl, now: clock.now() }
  return pick(showCharge(charge, around, { image: false }), SHOWN)
}

export const ChargeId = Id('The id of the charge, charge_…')

const { status, paymentStatus, kind } = SummaryQuery.properties
const WHEN = ['created', 'paid'] as const

/** A period as the search takes it. */
const periodOf = (when: (typeof WHEN)[number], { from, to }: { from?: string; to?: string }) =>
  when === 'paid'
    ? { ...(from && { paidFrom: from }), ...(to && { paidTo: to }) }
    : { ...(from && { createdFrom: from }), ...(to && { createdTo: to }) }

const findTool = tool({
  name: 'find_charges',
  title: 'Find charges',
  description:
    'Finds charges, newest first: by any text that names one, by filters, or both. explain_charge says more about one of them.',
  scope: 'payments:read',
  input: Type.Object({
    text: Type.Optional(
      Type.String({
        maxLength: 255,
        description:
          'An id, txid, endToEndId, externalId, CPF or CNPJ, e-mail address, amount such as 19,90, name of a payer, or the address of a payment page',
      }),
    ),
    as: Type.Optional(
      Type.Enum([...SOUGHT], {
        description: 'What the text is, if it may be several things; the `searchedAs` of a page',
      }),
    ),
    status,
    paymentStatus,
    kind,
    ...PERIOD,
    when: Type.Optional(
      Type.Enum([...WHEN], {
        default: 'created',
        description: 'What happened to a charge between `from` and `to`',
      }),
    ),
    ...WITH_CODES,
    ...PAGE,
  }),
  output: Type.Object({
    searchedAs: Type.Optional(
      Type.Enum([...SOUGHT], { description: 'What the text was taken for' }),
    ),
    charges: Type.Array(ListedCharge),
    next: Next,
  }),
  async run(caller, { text = '', as, limit = PAGE_SIZE, after, withCodes, ...asked }) {
    const { app, company } = caller
    const { from: _from, to: _to, when = 'created', ...others } = asked
    const filters = { ...others, ...periodOf(when, asked) }
    const start = after === undefined ? null : fromPublic('charge', after)
    if (after !== undefined && start === null) throw invalid('after: must be the `next` of a page')
    const now = app.clock.now()
    const where = { db: app.db, vault: app.vault, companyId: company.id, now, isMasked: true }
    let sought: SoughtText = { text, as }
    let meaning: Meaning | null = null
    const page = {
      limit,
      after: start,
      companyId: company.id,
      cursorOf: ({ id }: Charge) => id,
      publicCursorOf: ({ id }: Charge) => toPublic('charge', id),
    }
    const read = async (part: Part<Uuid>) => {
      const found = await findCharges(where, sought, filters, part)
      meaning ??= found.meaning
      // The parts that follow search for the same thing.
      if (meaning) sought = { text, as: meaning.kind }
      return found.charges
    }
    const show = (charge: Charge) =>
      showInList(showToAgent(caller, asOf(charge, now)), withCodes ?? false)
    const { data: charges, next: cursor } = await readPage(page, read, show)
    const next = cursor as string | null
    return {
      text: `${count(charges.length, 'charge')} found${next ? ', and there are more' : ''}.`,
      data: { ...searchedAs(meaning), charges, next },
    }
  },
})

const searchedAs = (meaning: Meaning | null) => (meaning ? { searchedAs: meaning.kind } : {})

const CREATED = ['id', 'status', 'amount', 'brCode', 'url', 'createdAt', 'expiresAt'] as const
const OWN_TEXTS = ['externalId', 'description', 'devMode'] as const

const createTool = tool({
  name: 'create_charge',
  title: 'Create a Pix charge',
  description:
    'Creates a charge with a Pix code to copy and paste and a payment page. The amount is in cents.',
  scope: 'payments:write',
  input: writing(NewPixCharge.properties),
  output: Type.Object(pick(CreatedPixCharge.properties, [...CREATED, ...OWN_TEXTS])),
  async run({ operate }, args) {
    const made = await operate<Static<typeof CreatedPixCharge>>('createPixCharge', onceOf(args))
    const { id, amount, expiresAt } = made.data
    return {
      text: `Charge ${id} of ${formatReais(amount)} created. It can be paid until ${expiresAt}.`,
      data: pick(made.data, [...CREATED, ...OWN_TEXTS]),
    }
  },
})

const createLinkTool = tool({
  name: 'create_payment_link',
  title: 'Create a payment link',
  description:
    'Creates a link to a payment page, for exactly one of customer and customerId. The total is in cents, or calculated from items.',
  scope: 'payments:write',
  input: writing(NewLink.properties),
  output: CreatedLink,
  async run({ operate }, args) {
    const { data } = await operate<Static<typeof CreatedLink>>('createPaymentLink', onceOf(args))
    const done = `Payment link ${data.id} of ${formatReais(data.total)} created.`
    return { text: [done, ...(data.warnings ?? [])].join(' '), data }
  },
})

const cancelTool = tool({
  name: 'cancel_charge',
  title: 'Cancel an open charge',
  description: 'After this nobody can pay the charge. It cannot be undone.',
  scope: 'payments:write',
  isDestructive: true,
  input: writing({ id: ChargeId }),
  output: PaymentState,
  async run({ operate }, { id, idempotencyKey: once }) {
    const asked = { params: { id }, once }
    const { data } = await operate<Static<typeof PaymentState>>('cancelCharge', asked)
    return { text: `Charge ${data.id} is ${data.status}.`, data }
  },
})

const refundTool = tool({
  name: 'refund_charge',
  title: 'Refund a paid charge',
  description:
    'Returns the money of a paid charge to its payer, whole or in part. It cannot be undone: ask the person first. The value is in cents.',
  scope: 'payments:write',
  isDestructive: true,
  input: writing({ id: ChargeId, ...NewRefund.properties }),
  output: RefundView,
  async run({ operate }, { id: chargeId, ...args }) {
    const asked = { params: { chargeId }, ...onceOf(args) }
    const { data } = await operate<Static<typeof RefundView>>('refundCharge', asked)
    return { text: `Refund ${data.id} of ${formatReais(data.value)} started.`, data }
  },
})

export const chargeTools: Tool[] = [findTool, createTool, createLinkTool, cancelTool, refundTool]
