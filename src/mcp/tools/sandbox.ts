import Type, { type Static } from 'typebox'
import { openLink } from '../../core/charges/checkout.ts'
import { findCharge } from '../../core/charges/commands.ts'
import { asOf, type Charge, isSubscriptionLink, notPayable } from '../../core/charges/rules.ts'
import { ClockMove, ClockView } from '../../core/clocks/view.ts'
import { onePlace } from '../../core/places/front.ts'
import { findRecurrence } from '../../core/recurrences/commands.ts'
import { decideAgreement } from '../../core/simulated-bank/agreements.ts'
import { payCode, repeatableId } from '../../core/simulated-bank/payments.ts'
import {
  BankAuthorization,
  BankDecision,
  BankPayment,
  BankReceipt,
} from '../../core/simulated-bank/view.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import { formatReais } from '../../lib/money.ts'
import { problem } from '../../lib/problems.ts'
import { type Caller, onceOf, pick, type Tool, tool, writing } from '../tool.ts'
import { ChargeId } from './charges.ts'
import { SubscriptionId } from './subscriptions.ts'

/** The code of a charge. A link gets one when its payer opens it. */
async function codeOf({ app, company }: Caller, charge: Charge): Promise<string> {
  if (charge.brCode !== null) return charge.brCode
  if (charge.kind !== 'LINK' || isSubscriptionLink(charge)) {
    throw problem('charge_not_payable', 'This charge has no code that a payer could pay.')
  }
  const { status } = asOf(charge, app.clock.now())
  if (status !== 'OPEN') throw notPayable(status)
  const opened = await openLink(app, company, charge, null)
  return opened.brCode!
}

const payTool = tool({
  name: 'sandbox_pay',
  title: 'Pay a charge at the simulated bank',
  description:
    'Pays a charge as a payer would, without real money. Another amount, a second payment or one after the deadline becomes an unmatched payment, as at a real bank.',
  scope: 'payments:write',
  isSandbox: true,
  input: writing({
    id: ChargeId,
    ...pick(BankPayment.properties, ['amount', 'payer']),
  }),
  output: Type.Object(pick(BankReceipt.properties, ['endToEndId', 'amount', 'paidAt', 'chargeId'])),
  async run(caller, args) {
    const { app, company, actOnce } = caller
    const charge = await findCharge(app, company.id, fromPublic('charge', args.id))
    const receipt = await actOnce('sandbox_pay', args, async () => {
      const { amount, payer, idempotencyKey } = args
      const brCode = await codeOf(caller, charge)
      const seed = app.vault.first.fingerprint([company.id, 'sandbox_pay', idempotencyKey])
      const order = pick({ amount, payer }, ['amount', 'payer'])
      const endToEndId = repeatableId(charge.createdAt, seed)
      return payCode(onePlace(app), { ...order, brCode, endToEndId } as Static<typeof BankPayment>)
    })
    const data = pick(receipt, ['endToEndId', 'amount', 'paidAt', 'chargeId'])
    return { text: `${formatReais(data.amount)} paid at the simulated bank.`, data }
  },
})

const DECIDED = ['recurrenceAuthStatus', 'decidedAt'] as const

const decideTool = tool({
  name: 'sandbox_decide_subscription',
  title: 'Approve a subscription at the simulated bank',
  description:
    'Approves, rejects or cancels a subscription as the payer does in the app of their bank, without real money. With funds=false the payer’s account cannot pay.',
  scope: 'payments:write',
  isSandbox: true,
  input: writing({ id: SubscriptionId, ...pick(BankDecision.properties, ['decision', 'funds']) }),
  output: Type.Object({ id: SubscriptionId, ...pick(BankAuthorization.properties, DECIDED) }),
  async run({ app, company, actOnce }, args) {
    const recurrence = await findRecurrence(app, company.id, fromPublic('rec', args.id))
    const { brCode: emv, id } = recurrence
    if (emv === null) {
      const name = toPublic('rec', id)
      throw problem(
        'recurrence_not_decidable',
        `${name} is a link: its payers start subscriptions.`,
      )
    }
    const decided = await actOnce('sandbox_decide_subscription', args, () =>
      decideAgreement(onePlace(app), { emv, ...pick(args, ['decision', 'funds']) } as Static<
        typeof BankDecision
      >),
    )
    const data = { id: decided.recurrenceId, ...pick(decided, DECIDED) }
    return { text: `Subscription ${data.id}: ${data.recurrenceAuthStatus}.`, data }
  },
})

const clockTool = tool({
  name: 'sandbox_move_clock',
  title: 'Move the clock of the sandbox',
  description:
    'Moves the time of this company forward, by `advance` seconds or to `now`. All that falls due meanwhile is done: charges expire, subscriptions are charged, money is released, webhooks are tried again. Time never goes back.',
  scope: 'company:write',
  isSandbox: true,
  isDestructive: true,
  input: writing(ClockMove.properties),
  output: ClockView,
  async run({ operate }, args) {
    const { data } = await operate<Static<typeof ClockView>>('moveClock', onceOf(args))
    const isThere = data.status === 'READY'
    const text = isThere
      ? `It is ${data.now} now.`
      : `It is ${data.now}, on the way to ${data.target}.`
    return { text, data }
  },
})

export const sandboxTools: Tool[] = [payTool, decideTool, clockTool]
