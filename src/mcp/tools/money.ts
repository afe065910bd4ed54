import Type, { type Static } from 'typebox'
import { FiguresQuery, FiguresView } from '../../core/balance/figures.ts'
import { BalanceView, EntryView, StatementQuery } from '../../core/balance/view.ts'
import {
  Acceptance,
  SuggestionView,
  UnmatchedPayment,
  UnmatchedQuery,
} from '../../core/payments/view.ts'
import { NewPaymentRefund, RefundView } from '../../core/refunds/view.ts'
import {
  NewWithdrawal,
  type StartedWithdrawal,
  WithdrawalQuery,
  WithdrawalView,
} from '../../core/withdrawals/view.ts'
import { formatReais } from '../../lib/money.ts'
import {
  count,
  Id,
  momentsOf,
  Next,
  omit,
  onceOf,
  PAGE,
  PERIOD,
  queryOf,
  type Tool,
  tool,
  writing,
} from '../tool.ts'

const balanceTool = tool({
  name: 'get_balance',
  title: 'Get the balance',
  description: 'The balance of the company, in cents.',
  scope: 'balance:read',
  input: Type.Object({}),
  output: BalanceView,
  async run({ operate }) {
    const { data } = await operate<Static<typeof BalanceView>>('getBalance')
    const { available, pending } = data
    return {
      text: `${formatReais(available)} can be withdrawn, ${formatReais(pending)} will be later.`,
      data,
    }
  },
})

const { type, account } = StatementQuery.properties

const statementTool = tool({
  name: 'list_statement',
  title: 'List the statement',
  description:
    'The entries of the ledger, newest first: amounts in cents, and the balances after each entry.',
  scope: 'balance:read',
  input: Type.Object({ ...PERIOD, type, account, ...PAGE }),
  output: Type.Object({ entries: Type.Array(EntryView), next: Next }),
  async run({ operate }, { from, to, ...args }) {
    const asked = { query: queryOf({ ...args, ...momentsOf({ from, to }) }) }
    const { data, next } = await operate<Static<typeof EntryView>[]>('getStatement', asked)
    return { text: `Entries: ${data.length}.`, data: { entries: data, next } }
  },
})

const figuresTool = tool({
  name: 'list_figures',
  title: 'Add up what was received, returned and withdrawn',
  description:
    'Sums in cents by day, week or month, the oldest first, with the balances before and after each. They are those of the dashboard, from the ledger. Without a period: the last 31 days.',
  scope: 'balance:read',
  input: Type.Object({ ...PERIOD, group: FiguresQuery.properties.group }),
  output: Type.Object({ figures: Type.Array(FiguresView) }),
  async run({ operate }, args) {
    const { data: figures } = await operate<Static<typeof FiguresView>[]>('listFigures', {
      query: args,
    })
    const sum = (of: 'received' | 'returned' | 'withdrawn') =>
      formatReais(figures.reduce((all, one) => all + one[of].sum, 0))
    const text = `Received ${sum('received')}, returned ${sum('returned')}, withdrawn ${sum('withdrawn')}.`
    return { text, data: { figures } }
  },
})

const { id: _place, endToEndId: _scheme, ...paymentFields } = UnmatchedPayment.properties
const AgentPayment = Type.Object({
  id: Type.String({ description: 'The scheme’s id of the payment, its endToEndId' }),
  ...paymentFields,
})

/** With the id that other tools take, instead of the place in the list. */
const showToAgent = (payment: Static<typeof UnmatchedPayment>): Static<typeof AgentPayment> => ({
  ...omit(payment, ['endToEndId']),
  id: payment.endToEndId,
})

const unmatchedTool = tool({
  name: 'list_unmatched_payments',
  title: 'List unmatched payments',
  description:
    'Money that arrived late, twice, in another amount or for no charge, and waits for a decision.',
  scope: 'payments:read',
  input: Type.Object({ status: UnmatchedQuery.properties.status, ...PAGE }),
  output: Type.Object({ payments: Type.Array(AgentPayment), next: Next }),
  async run({ operate }, args) {
    const asked = { query: queryOf(args) }
    const found = await operate<Static<typeof UnmatchedPayment>[]>('listUnmatchedPayments', asked)
    const { next } = found
    const payments = found.data.map(showToAgent)
    return { text: `${count(payments.length, 'payment')}.`, data: { payments, next } }
  },
})

const PaymentId = Id('The id of the payment, as list_unmatched_payments shows it: its endToEndId')

const suggestTool = tool({
  name: 'suggest_charges',
  title: 'Suggest charges for an unmatched payment',
  description:
    'Up to three charges that an unmatched payment may be for, the best first, each with its reason. `probable`: amount and payer fit. Settle one with accept_unmatched_payment and its chargeId, after a person has agreed.',
  scope: 'payments:read',
  input: Type.Object({ id: PaymentId }),
  output: Type.Object({ suggestions: Type.Array(SuggestionView) }),
  async run({ operate }, { id: endToEndId }) {
    const asked = { params: { endToEndId } }
    const found = await operate<Static<typeof SuggestionView>[]>('suggestCharges', asked)
    return { text: `${count(found.data.length, 'charge')}.`, data: { suggestions: found.data } }
  },
})

const acceptTool = tool({
  name: 'accept_unmatched_payment',
  title: 'Keep an unmatched payment, or settle a charge with it',
  description:
    'The money becomes available, and its charge stays as it is. With `chargeId` that charge is paid by it instead, also if it has expired: money beyond the total is kept, or goes back with `difference: refund`. It cannot be undone: ask the person first, also what becomes of the difference.',
  scope: 'payments:write',
  input: writing({ id: PaymentId, ...Acceptance.properties }),
  output: AgentPayment,
  async run({ operate }, { id: endToEndId, ...args }) {
    const asked = { params: { endToEndId }, ...onceOf(args) }
    const { data } = await operate<Static<typeof UnmatchedPayment>>('acceptPayment', asked)
    const { settled } = data
    const done = settled ? ` ${formatReais(settled.amount)} of it settle ${settled.chargeId}.` : ''
    const text = `The payment of ${formatReais(data.amount)} is ${data.status}.${done}`
    return { text, data: showToAgent(data) }
  },
})

const returnTool = tool({
  name: 'refund_unmatched_payment',
  title: 'Return an unmatched payment',
  description:
    'Returns the money to the account that it came from. It cannot be undone: ask the person first.',
  scope: 'payments:write',
  isDestructive: true,
  input: writing({ id: PaymentId, ...NewPaymentRefund.properties }),
  output: RefundView,
  async run({ operate }, { id: endToEndId, ...args }) {
    const asked = { params: { endToEndId }, ...onceOf(args) }
    const { data } = await operate<Static<typeof RefundView>>('refundPayment', asked)
    return { text: `Refund ${data.id} of ${formatReais(data.value)} started.`, data }
  },
})

const startTool = tool({
  name: 'start_withdrawal',
  title: 'Start a withdrawal',
  description:
    'Holds the money and mails a one-time code to the company. Only a person can confirm the withdrawal with that code, in the dashboard or by the API: never ask for the code. The value is in cents.',
  scope: 'balance:write',
  isDestructive: true,
  input: writing(NewWithdrawal.properties),
  output: Type.Object({ id: WithdrawalView.properties.id }),
  async run({ operate }, args) {
    const { data } = await operate<Static<typeof StartedWithdrawal>>(
      'startWithdrawal',
      onceOf(args),
    )
    return {
      text: `Withdrawal ${data.withdrawId} waits for a person, who confirms it with the code from the mail within 10 minutes.`,
      data: { id: data.withdrawId },
    }
  },
})

const withdrawalsTool = tool({
  name: 'list_withdrawals',
  title: 'List withdrawals',
  description: 'Withdrawals and what each waits for, newest first. Values are in cents.',
  scope: 'balance:read',
  input: Type.Object({ status: WithdrawalQuery.properties.status, ...PAGE }),
  output: Type.Object({ withdrawals: Type.Array(WithdrawalView), next: Next }),
  async run({ operate }, args) {
    const asked = { query: queryOf(args) }
    const found = await operate<Static<typeof WithdrawalView>[]>('listWithdrawals', asked)
    const { data: withdrawals, next } = found
    return { text: `${count(withdrawals.length, 'withdrawal')}.`, data: { withdrawals, next } }
  },
})

export const moneyTools: Tool[] = [
  balanceTool,
  statementTool,
  figuresTool,
  unmatchedTool,
  suggestTool,
  acceptTool,
  returnTool,
  startTool,
  withdrawalsTool,
]
