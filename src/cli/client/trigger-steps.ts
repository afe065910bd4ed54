import { setTimeout as pause } from 'node:timers/promises'
import type { Static } from 'typebox'
import { type Vintem, VintemError } from '../../../packages/client/src/index.ts'
import { NOTICE_HOURS } from '../../core/disputes/rules.ts'
import type { BankReceipt } from '../../core/simulated-bank/view.ts'
import { formatReais } from '../../lib/money.ts'
import { firstLateDay, lastDayInTime } from '../../pix/due-amount.ts'
import { atHour, localDateOf, startOfDay } from '../../pix/local-time.ts'
import type { ReturnReason } from '../../provider/port.ts'
import { ClientFault } from '../command.ts'
import type { Fields, Settable } from './set-fields.ts'
import type * as schemas from './trigger-schemas.ts'

/** What a scenario has made so far. */
export type Made = {
  charge?: {
    id: string
    amount: number
    url?: string
    brCode?: string
    expiresAt?: string
    dueDate?: string
  }
  payment?: { endToEndId: string; amount: number; at: string }
  refund?: { id: string }
  dispute?: { id: string; deadline: string }
  product?: { id: string }
  customer?: { id: string }
  subscription?: { id: string; url: string; code: string }
  withdrawal?: { id: string; value: number }
  webhook?: { id: string; url: string; secret?: string }
}

export type Stage = {
  vintem: Vintem
  made: Made
  /** Seconds from PAID to RECEIVED. */
  settlementDelay: number
  /** How far the clock of the company was moved. */
  moved_ms: number
  /** What else somebody should know about it. */
  notes: string[]
}

type SchemaName = keyof typeof schemas
type BodyOf<Name extends SchemaName> = Static<(typeof schemas)[Name]>

/** The body that a step sends. `set` is what was set of it by --set. */
export type Body = Omit<Settable, 'schema'> & {
  schema: SchemaName
  fill(stage: Stage, set: Fields): Fields
}

/** A request, or some time that passes. */
export type Step = {
  body?: Body
  /** It lets the time of the company pass. */
  movesClock?: true
  run(stage: Stage, body: Fields, set: Fields): Promise<void>
}

const bodyOf = (
  name: string,
  schema: SchemaName,
  fill: (stage: Stage, set: Fields) => Fields,
  linked: readonly string[] = [],
): Body => ({ name, schema, linked, fill })

const DAY_MS = 24 * 3600 * 1000
/** The longest time from the approval of a subscription to the end of its first charge. */
const MAX_DAYS = 60
/** The amount that the simulated bank refuses to send. */
const REFUSED_AMOUNT = 66_666

/** The bank knows no Idempotency-Key: what is tried again could be paid twice. */
const AT_BANK = { retries: 0 }

const PAYER = { name: 'Maria da Silva', taxId: '12345678909' }
const DAYS_TO_PAY = 7

export const charge = (more: Fields = {}): Step => ({
  body: bodyOf('charge', 'NewPixCharge', () => ({ amount: 1990, customer: PAYER, ...more })),
  async run({ vintem, made }, body) {
    const created = await vintem.charges.createPix(body as BodyOf<'NewPixCharge'>)
    const { id, amount, url, brCode, expiresAt } = created
    made.charge = { id, amount, url, brCode, expiresAt }
  },
})

/** A charge with a due date a week from now, by the clock of the company. */
export const dueCharge: Step = {
  body: bodyOf('charge', 'NewPixCharge', () => ({ amount: 1990, customer: PAYER })),
  async run(stage, body, set) {
    const { now } = await stage.vintem.sandbox.clock()
    const dueDate = localDateOf(new Date(Date.parse(now) + DAYS_TO_PAY * DAY_MS))
    await charge().run(stage, { dueDate, ...body }, set)
    stage.made.charge!.dueDate = String({ dueDate, ...body }.dueDate)
  },
}

/** Until the day comes on which it is due, which may be after a weekend. */
export const untilDue: Step = {
  movesClock: true,
  run: (stage) => moveTo(stage, dayOf(stage.made, lastDayInTime)),
}

/** Until the first day comes on which a fine is added. */
export const untilOverdue: Step = {
  movesClock: true,
  run: (stage) => moveTo(stage, dayOf(stage.made, firstLateDay)),
}

/** Payers are reminded on the due day. A rule that is missing is added, and stays. */
export const dueDayRule: Step = {
  async run({ vintem, notes }) {
    const { rules } = await vintem.reminders.get()
    if (rules.some(({ day, enabled }) => day === 0 && enabled)) return
    const others = rules.filter(({ day }) => day !== 0)
    const rule = { day: 0, enabled: true, channel: 'WEBHOOK' as const }
    await vintem.reminders.update({ rules: [...others, rule] })
    notes.push('A rule was added that reminds on the due day, by webhook alone.')
  },
}

/** Until nine o'clock of the due day. */
export const untilReminded: Step = {
  movesClock: true,
  run: (stage) => moveTo(stage, atHour(lastDayInTime({ dueDate: stage.made.charge!.dueDate! }), 9)),
}

const dayOf = ({ charge }: Made, day: typeof firstLateDay): Date =>
  startOfDay(day({ dueDate: charge!.dueDate! }))

export const link: Step = {
  body: bodyOf('link', 'NewLink', (_stage, set) => ({
    ...('items' in set ? {} : { total: 1990 }),
    ...('customerId' in set ? {} : { customer: PAYER }),
  })),
  async run({ vintem, made }, body) {
    const { id, total, url } = await vintem.links.create(body as BodyOf<'NewLink'>)
    made.charge = { id, amount: total, url }
  },
}

/** Pays the charge as its payer does, by its code. */
export const pay = (amount: 'in full' | 'another amount' = 'in full'): Step => ({
  body: bodyOf(
    'payment',
    'BankPayment',
    ({ made }) => (amount === 'in full' ? {} : { amount: made.charge!.amount + 100 }),
    ['brCode', 'endToEndId'],
  ),
  async run({ vintem, made }, body) {
    const order = { ...body, brCode: made.charge!.brCode }
    const receipt = await vintem.request<Static<typeof BankReceipt>>(
      'POST',
      '/bank/pix',
      { body: order },
      AT_BANK,
    )
    const { endToEndId, amount: paid, paidAt } = receipt
    made.payment = { endToEndId, amount: paid, at: paidAt }
  },
})

/** A Pix to the key of the company. */
export const receive: Step = {
  body: bodyOf('payment', 'KeyPayment', () => ({ amount: 1990, payer: PAYER })),
  async run({ vintem, made }, body) {
    const received = await vintem.sandbox.receivePayment(body as BodyOf<'KeyPayment'>)
    const { endToEndId, amount, receivedAt } = received
    made.payment = { endToEndId, amount, at: receivedAt }
  },
}

export const returnPayment = (reason: ReturnReason): Step => ({
  body: bodyOf('return', 'NewBankReturn', () => ({ reason }), ['reason']),
  async run({ vintem, made }, body) {
    const order = body as BodyOf<'NewBankReturn'>
    const { id } = await vintem.sandbox.returnPayment(made.payment!.endToEndId, order)
    made.refund = { id }
  },
})

/** The payer disputes the payment. */
export const dispute: Step = {
  body: bodyOf('dispute', 'NewDispute', () => ({})),
  async run({ vintem, made }, body) {
    const order = body as BodyOf<'NewDispute'>
    const { id, deadline } = await vintem.sandbox.openDispute(made.payment!.endToEndId, order)
    made.dispute = { id, deadline: deadline! }
  },
}

export const decideDispute = (decision: 'won' | 'lost' | 'canceled'): Step => ({
  async run({ vintem, made }) {
    await vintem.sandbox.decideDispute(made.dispute!.id, { decision })
  },
})

export const acceptDispute: Step = {
  async run({ vintem, made }) {
    await vintem.disputes.accept(made.dispute!.id)
  },
}

/** Until the last notice before the deadline. */
export const untilDeadline: Step = {
  movesClock: true,
  run: (stage) => {
    const deadline_ms = Date.parse(stage.made.dispute!.deadline)
    return moveTo(stage, new Date(deadline_ms - NOTICE_HOURS.at(-1)! * 3_600_000))
  },
}

export const refund: Step = {
  body: bodyOf('refund', 'NewRefund', () => ({})),
  async run({ vintem, made }, body) {
    const { id } = await vintem.refunds.create(made.charge!.id, body as BodyOf<'NewRefund'>)
    made.refund = { id }
  },
}

export const cancelCharge: Step = {
  async run({ vintem, made }) {
    await vintem.charges.cancel(made.charge!.id)
  },
}

/** Just past the deadline: who pays at its very moment is still in time. */
export const untilExpired: Step = {
  movesClock: true,
  run: (stage) => moveTo(stage, new Date(Date.parse(stage.made.charge!.expiresAt!) + 1)),
}

export const untilReceived: Step = {
  movesClock: true,
  run: (stage) => {
    const paidAt_ms = Date.parse(stage.made.payment!.at)
    return moveTo(stage, new Date(paidAt_ms + stage.settlementDelay * 1000))
  },
}

export const product: Step = {
  body: bodyOf(
    'product',
    'NewProduct',
    () => ({
      name: 'Clube do pão',
      description: 'Pão de queijo todo mês',
      price: 4990,
      frequency: 'MONTHLY',
      dayDue: 2,
      type: 'RECURRING',
    }),
    ['type'],
  ),
  async run({ vintem, made }, body) {
    const { id } = await vintem.products.create(body as BodyOf<'NewProduct'>)
    made.product = { id }
  },
}

export const customer: Step = {
  body: bodyOf('customer', 'NewCustomer', () => ({
    ...PAYER,
    email: 'maria@example.com',
    phone: '11988888888',
    status: 'ACTIVE',
  })),
  async run({ vintem, made }, body) {
    const { id } = await vintem.customers.create(body as BodyOf<'NewCustomer'>)
    made.customer = { id }
  },
}

export const subscription: Step = {
  async run({ vintem, made }) {
    const ids = { productId: made.product!.id, customerId: made.customer!.id }
    const { id, paymentLinkUrl: url, emv } = await vintem.subscriptions.create(ids)
    made.subscription = { id, url, code: emv! }
  },
}

/** The payer decides in the app of their bank. */
export const decide = (decision: 'approve' | 'reject' | 'cancel', funds?: boolean): Step => ({
  async run({ vintem, made }) {
    const emv = made.subscription!.code
    const body = { emv, decision, ...(funds === undefined ? {} : { funds }) }
    await vintem.request('POST', '/bank/authorizations', { body }, AT_BANK)
  },
})

/** Lets days pass until the first charge of the subscription has ended. */
export const untilCharged = (status: 'COMPLETED' | 'EXPIRED'): Step => ({
  movesClock: true,
  async run(stage) {
    const { vintem, made } = stage
    const { id } = made.subscription!
    for (let days = 0; days < MAX_DAYS; days += 1) {
      const { charges } = await vintem.subscriptions.get(id)
      const ended = charges.find((one) => one.status === status)
      if (ended) {
        made.charge = { id: ended.id, amount: Number(ended.total) }
        return
      }
      const { now } = await vintem.sandbox.clock()
      await moveTo(stage, new Date(Date.parse(now) + DAY_MS))
    }
    throw new ClientFault(`No charge of the subscription is ${status} after ${MAX_DAYS} days.`)
  },
})

/**
 * Starts a withdrawal. If the company has too little, it receives what is missing first. With
 * 'refused', it is the amount that the simulated bank refuses.
 */
export const withdraw = (amount: 'any' | 'refused' = 'any'): Step => ({
  body: bodyOf(
    'withdrawal',
    'NewWithdrawal',
    () => ({ value: amount === 'any' ? 1000 : REFUSED_AMOUNT }),
    amount === 'any' ? [] : ['value'],
  ),
  async run(stage, body) {
    const { vintem, made } = stage
    const { value } = body as BodyOf<'NewWithdrawal'>
    if (Number.isSafeInteger(value)) await provide(stage, value)
    const { withdrawId: id } = await vintem.withdrawals.start({ value })
    made.withdrawal = { id, value }
  },
})

/** Money that is accepted is available at once. */
async function provide({ vintem, notes }: Stage, value: number): Promise<void> {
  const { available } = await vintem.balance.get()
  if (available >= value) return
  const amount = value - available
  const { endToEndId } = await vintem.sandbox.receivePayment({ amount })
  await vintem.payments.accept(endToEndId)
  notes.push(`The balance was too low, so ${formatReais(amount)} were received and accepted first.`)
}

/** Confirms the withdrawal by its code, as a person does who reads the mail. */
export const confirm: Step = {
  async run({ vintem, made }) {
    const { id } = made.withdrawal!
    const { code } = await vintem.sandbox.withdrawalCode(id)
    const { approval } = await vintem.withdrawals.confirm(id, { otp: code })
    if (approval !== 'WAITING') return
    throw new ClientFault(
      `${id} is confirmed, and now a second person has to approve it in the dashboard: its value is above the limit that an owner has set.`,
    )
  },
}

/** The newest active webhook. If something of a webhook is set, another one is registered. */
export const webhook: Step = {
  body: bodyOf('webhook', 'NewWebhook', () => ({
    name: 'vintem trigger',
    events: ['charge.paid'],
  })),
  async run({ vintem, made }, body, set) {
    if (Object.keys(set).length > 0) {
      made.webhook = await vintem.webhooks.create(body as BodyOf<'NewWebhook'>)
      return
    }
    for await (const found of vintem.webhooks.list()) {
      if (found.status !== 'ACTIVE') continue
      made.webhook = { id: found.id, url: found.url }
      return
    }
    throw new ClientFault(
      'The company has no active webhook: give --set url=https://… to register one.',
    )
  },
}

export const testWebhook: Step = {
  async run({ vintem, made }) {
    await vintem.webhooks.test(made.webhook!.id)
  },
}

const PAUSE_MS = 250
/** A clock stays at a moment until all receivers were asked, which may take their time. */
const PATIENCE_MS = 10 * 60_000

type Moving = { vintem: Vintem; moved_ms: number }

/** Lets the time of the company pass until a moment. If it has passed, does nothing. */
export async function moveTo(moving: Moving, moment: Date): Promise<void> {
  const { vintem } = moving
  const deadline_ms = performance.now() + PATIENCE_MS
  for (;;) {
    const { now } = await untilReady(vintem, deadline_ms)
    const by_ms = moment.getTime() - Date.parse(now)
    if (by_ms <= 0) return
    // Whole seconds, and a moment that has passed meanwhile is no error.
    const advance = Math.ceil(by_ms / 1000)
    if (await move(vintem, advance)) {
      moving.moved_ms += advance * 1000
      await untilReady(vintem, deadline_ms)
      return
    }
  }
}

/** Returns false if somebody else moves the clock at this moment. */
async function move(vintem: Vintem, advance: number): Promise<boolean> {
  try {
    await vintem.sandbox.moveClock({ advance })
    return true
  } catch (error) {
    if (error instanceof VintemError && error.code === 'clock_advancing') return false
    throw error
  }
}

async function untilReady(vintem: Vintem, deadline_ms: number) {
  for (;;) {
    const clock = await vintem.sandbox.clock()
    if (clock.status === 'READY') return clock
    if (performance.now() > deadline_ms) {
      const work = clock.running.join(', ') || 'something'
      throw new ClientFault(`The clock of the company is still moving: ${work} is not done.`)
    }
    await pause(PAUSE_MS)
  }
}
