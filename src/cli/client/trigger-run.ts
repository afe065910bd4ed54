import { type Event, type Vintem, VintemError } from '../../../packages/client/src/index.ts'
import type { UnmatchedReason } from '../../core/charges/rules.ts'
import { ANY_EVENT_TYPES, type AnyEventType } from '../../core/events.ts'
import { formatReais } from '../../lib/money.ts'
import { RETURN_REASONS, type ReturnReason } from '../../provider/port.ts'
import { type Answer, ClientFault, columns } from '../command.ts'
import { asTyped, textOfClientFault } from './faults.ts'
import { localTime, plain } from './output.ts'
import {
  type BodySchema,
  readSet,
  type SetFields,
  type Settable,
  settableFields,
  withSet,
} from './set-fields.ts'
import type { Made, Stage, Step } from './trigger-steps.ts'
import * as steps from './trigger-steps.ts'

/** What is done so that an event happens, and what of that the event is about. */
export type Scenario = {
  summary: string
  about: keyof steps.Made
  /** In order. Events that happen for several reasons have steps for each, the usual one first. */
  steps: steps.Step[] | Record<string, steps.Step[]>
}

const { charge, pay } = steps

const product = [steps.product, steps.customer, steps.subscription]

/** In the order in which they are listed. */
const UNMATCHED: Record<UnmatchedReason, steps.Step[]> = {
  DUPLICATE: [charge(), pay(), pay()],
  LATE: [charge({ expiresIn: 1 }), steps.untilExpired, pay()],
  CANCELED: [charge(), steps.cancelCharge, pay()],
  WRONG_AMOUNT: [charge(), pay('another amount')],
  UNKNOWN: [steps.receive],
}

const returned = (reason: ReturnReason) => [charge(), pay(), steps.returnPayment(reason)]

export const SCENARIOS: Record<AnyEventType, Scenario> = {
  'charge.pending': {
    summary: 'a payment link is created',
    about: 'charge',
    steps: [steps.link],
  },
  'charge.processing': {
    summary: 'a charge is created, with its Pix code',
    about: 'charge',
    steps: [charge()],
  },
  'charge.paid': {
    summary: 'a charge is paid at the simulated bank',
    about: 'charge',
    steps: [charge(), pay()],
  },
  'charge.received': {
    summary: 'the money of a paid charge can be withdrawn; moves the clock',
    about: 'charge',
    steps: [charge(), pay(), steps.untilReceived],
  },
  'charge.expired': {
    summary: 'nobody pays a charge of one second; moves the clock',
    about: 'charge',
    steps: [charge({ expiresIn: 1 }), steps.untilExpired],
  },
  'charge.canceled': {
    summary: 'a charge is canceled before it is paid',
    about: 'charge',
    steps: [charge(), steps.cancelCharge],
  },
  'charge.refunded': {
    summary: 'a paid charge is refunded',
    about: 'charge',
    steps: [charge(), pay(), steps.refund],
  },
  'charge.due': {
    summary: 'the due date of a charge comes; moves the clock by a week',
    about: 'charge',
    steps: [steps.dueCharge, steps.untilDue],
  },
  'charge.overdue': {
    summary: 'nobody pays a charge until its due date; moves the clock by two weeks or so',
    about: 'charge',
    steps: [steps.dueCharge, steps.untilOverdue],
  },
  'charge.reminder': {
    summary:
      'a charge is due today; may add a rule to the reminders, and moves the clock by a week',
    about: 'charge',
    steps: [steps.dueDayRule, steps.dueCharge, steps.untilReminded],
  },
  'payment.unmatched': {
    summary: 'money arrives that pays no charge; LATE moves the clock',
    about: 'payment',
    steps: UNMATCHED,
  },
  'payment.returned': {
    summary: 'the bank returns a payment by itself',
    about: 'payment',
    steps: Object.fromEntries(RETURN_REASONS.map((reason) => [reason, returned(reason)])),
  },
  'subscription.authorized': {
    summary: 'a payer approves a subscription at the simulated bank',
    about: 'subscription',
    steps: [...product, steps.decide('approve')],
  },
  'subscription.rejected': {
    summary: 'a payer rejects a subscription',
    about: 'subscription',
    steps: [...product, steps.decide('reject')],
  },
  'subscription.canceled': {
    summary: 'a payer approves a subscription and cancels it',
    about: 'subscription',
    steps: [...product, steps.decide('approve'), steps.decide('cancel')],
  },
  'subscription.charge.paid': {
    summary: 'the bank collects the first charge; moves the clock by days',
    about: 'subscription',
    steps: [...product, steps.decide('approve'), steps.untilCharged('COMPLETED')],
  },
  'subscription.charge.failed': {
    summary: 'the payer has no money for any attempt; moves the clock by two weeks or so',
    about: 'subscription',
    steps: [...product, steps.decide('approve', false), steps.untilCharged('EXPIRED')],
  },
  'dispute.opened': {
    summary: 'the payer of a paid charge disputes the payment',
    about: 'dispute',
    steps: [charge(), pay(), steps.dispute],
  },
  'dispute.deadline': {
    summary: 'nobody answers a dispute until shortly before its deadline; moves the clock by days',
    about: 'dispute',
    steps: [charge(), pay(), steps.dispute, steps.untilDeadline],
  },
  'dispute.accepted': {
    summary: 'the disputed money is returned',
    about: 'dispute',
    steps: [charge(), pay(), steps.dispute, steps.acceptDispute],
  },
  'dispute.won': {
    summary: 'the bank rejects the claim of a payer',
    about: 'dispute',
    steps: [charge(), pay(), steps.dispute, steps.decideDispute('won')],
  },
  'dispute.lost': {
    summary: 'the bank accepts the claim of a payer, and returns the money',
    about: 'dispute',
    steps: [charge(), pay(), steps.dispute, steps.decideDispute('lost')],
  },
  'dispute.canceled': {
    summary: 'a payer withdraws the claim',
    about: 'dispute',
    steps: [charge(), pay(), steps.dispute, steps.decideDispute('canceled')],
  },
  'withdrawal.completed': {
    summary: 'money is withdrawn, with its one-time code',
    about: 'withdrawal',
    steps: [steps.withdraw(), steps.confirm],
  },
  'withdrawal.failed': {
    summary: 'the simulated bank refuses to send exactly R$ 666,66',
    about: 'withdrawal',
    steps: [steps.withdraw('refused'), steps.confirm],
  },
  'webhook.test': {
    summary: 'a webhook gets a test event: the newest, or one for --set url=…',
    about: 'webhook',
    steps: [steps.webhook, steps.testWebhook],
  },
}

/** The reasons of an event, the usual one first. */
export function reasonsOf(type: AnyEventType): string[] {
  const { steps } = SCENARIOS[type]
  return Array.isArray(steps) ? [] : Object.keys(steps)
}

/** How long the event may take to be in the feed, and how long one question for it waits. */
const PATIENCE_MS = 60_000
const WAIT_S = 10
/** Longer than the slowest event takes. */
const SANDBOX_S = 3600

/** What happened: what was made, how far the clock was moved, and the event. */
export type Triggered = Pick<Stage, 'made' | 'moved_ms' | 'notes'> & {
  event: Event | null
  /** The company that was made for it, and is deleted. */
  sandbox: string | null
}

type Wanted = {
  reason?: string | undefined
  set?: string[] | undefined
  /** The client of another key. Without it time passes in the company itself. */
  withKey?: ((key: string) => Vintem) | undefined
}

/** The steps of an event for a reason; without one for the usual reason. */
export function stepsOf(type: AnyEventType, reason: string | undefined): Step[] {
  const { steps } = SCENARIOS[type]
  const reasons = reasonsOf(type)
  if (reason !== undefined && !reasons.includes(reason)) {
    const known = reasons.length > 0 ? `must be one of ${reasons.join(', ')}` : `${type} has none`
    throw new ClientFault(`--reason: ${known}.`)
  }
  return Array.isArray(steps) ? steps : steps[reason ?? reasons[0]!]!
}

/** The bodies that are sent, with their schemas. */
export async function bodiesOf(steps: Step[]): Promise<Settable[]> {
  const schemas: Record<string, object> = await import('./trigger-schemas.ts')
  return steps.flatMap(({ body }) =>
    body ? [{ ...body, schema: schemas[body.schema] as BodySchema }] : [],
  )
}

/**
 * Makes an event happen in a sandbox, and waits for it in the feed. An event that needs time has a
 * sandbox of its own, so that nothing else falls due.
 */
export async function trigger(
  vintem: Vintem,
  type: AnyEventType,
  { reason, set = [], withKey }: Wanted = {},
): Promise<Triggered> {
  const steps = stepsOf(type, reason)
  const fields = set.length > 0 ? readSet(type, await bodiesOf(steps), set) : {}
  const { mode, settlementDelay } = await vintem.company.get()
  if (mode !== 'sandbox') {
    throw new ClientFault(
      'This is the key of a live company. Events are triggered with play money only: give the key of a sandbox company.',
    )
  }
  const happen = async (where: Vintem) => {
    const [newest] = await where.events.list({ order: 'newest', limit: 1 })
    const stage: Stage = { vintem: where, made: {}, settlementDelay, moved_ms: 0, notes: [] }
    await act(stage, steps, fields)
    const { made, moved_ms, notes } = stage
    const { about } = SCENARIOS[type]
    const payment = about === 'charge' ? made.payment?.endToEndId : undefined
    const names = { wanted: nameOf(made[about]!), payment }
    const event = await findEvent(where, type, names, newest?.id)
    return { made, moved_ms, notes, event }
  }
  if (!withKey || !steps.some(({ movesClock }) => movesClock)) {
    return { ...(await happen(vintem)), sandbox: null }
  }
  const { id, apiKey } = await makeSandbox(vintem)
  const own = withKey(apiKey)
  try {
    return { ...(await happen(own)), sandbox: id }
  } finally {
    // If it cannot be deleted now, it ends by itself.
    await own.sandbox.delete().catch(() => undefined)
  }
}

async function makeSandbox(vintem: Vintem) {
  try {
    return await vintem.sandbox.create({ expiresIn: SANDBOX_S })
  } catch (error) {
    if (!(error instanceof VintemError)) throw error
    if (error.code !== 'rate_limited' && error.code !== 'sandbox_only') throw error
    throw new ClientFault(
      `${textOfClientFault(error)} With --move-clock the time of your company passes instead.`,
    )
  }
}

/** Does the steps in order. If one fails, the fault names what was made before it. */
async function act(stage: Stage, steps: Step[], fields: SetFields): Promise<void> {
  try {
    for (const { body, run } of steps) {
      const set = body ? (fields[body.name] ?? {}) : {}
      const sent = body ? withSet(body.fill(stage, set), set) : {}
      const isFirst = body?.name === steps.find((step) => step.body)?.body?.name
      const labelOf = (field: string) => (isFirst ? field : `${body!.name}.${field}`)
      const typedAs = (field: string) =>
        field.split('.')[0]! in set ? `--set ${labelOf(field)}` : field
      await asTyped(run(stage, sent, set), typedAs)
    }
  } catch (error) {
    const made = Object.entries(stage.made).map(([noun, one]) => `${noun} ${nameOf(one)}`)
    const isFault = error instanceof VintemError || error instanceof ClientFault
    if (!isFault || made.length === 0) throw error
    throw new ClientFault(`${textOfClientFault(error)} Made before: ${made.join(', ')}.`)
  }
}

const nameOf = (made: NonNullable<Made[keyof Made]>): string =>
  'endToEndId' in made ? made.endToEndId : made.id

/**
 * Waits for the event that names a record, among those after another event. If the payment has
 * paid no charge, or the withdrawal has ended otherwise, the event never comes.
 */
async function findEvent(
  vintem: Vintem,
  type: AnyEventType,
  names: { wanted: string; payment: string | undefined },
  since: string | undefined,
): Promise<Event | null> {
  const deadline_ms = performance.now() + PATIENCE_MS
  let after = since
  while (performance.now() < deadline_ms) {
    const query = { wait: WAIT_S, limit: 100, ...(after ? { after } : {}) }
    const events = await vintem.events.list(query)
    const found = events.find((event) => event.type === type && isAbout(event, names.wanted))
    if (found) return found
    for (const event of events) requirePossible(type, event, names)
    after = events.at(-1)?.id ?? after
  }
  return null
}

const isAbout = ({ data }: Event, name: string | undefined): boolean =>
  JSON.stringify(data).includes(`"${name}"`)

function requirePossible(
  type: AnyEventType,
  event: Event,
  { wanted, payment }: { wanted: string; payment: string | undefined },
): void {
  const isUnmatched = event.type === 'payment.unmatched' && isAbout(event, payment)
  const isOtherEnd = /^withdrawal\./.test(event.type) && isAbout(event, wanted)
  if (!isUnmatched && !isOtherEnd) return
  const { payment: money } = event.data as { payment?: { reason?: string } }
  const reason = money?.reason ? ` (${money.reason})` : ''
  throw new ClientFault(`It became ${event.type}${reason}, not ${type}.`)
}

/** All events, or one with the fields that can be set. */
export async function listed(only: AnyEventType | undefined): Promise<Answer> {
  const types = only ? [only] : ANY_EVENT_TYPES
  const json = types.map((event) => ({
    event,
    summary: SCENARIOS[event].summary,
    reasons: reasonsOf(event),
  }))
  const rows = json.map(({ event, summary, reasons }) => [
    event,
    summary + (reasons.length > 0 ? ` (--reason ${reasons.join(', ')})` : ''),
  ])
  if (!only) return { json, text: columns(rows) }
  const fields = settableFields(await bodiesOf(stepsOf(only, undefined)))
  const text = `${columns(rows)}\nCan be set: ${fields.join(', ')}.\n`
  return { json: { ...json[0], fields }, text }
}

const APART =
  'It happened in a sandbox of its own, which is deleted: your webhooks and listeners did not get it. With --move-clock it happens in your company, and so does all that falls due by then.'

/** What was made, for programs and for people. */
export function answerOf(type: AnyEventType, triggered: Triggered): Answer {
  const { made, moved_ms, notes, event, sandbox } = triggered
  const clock = moved_ms > 0 ? { movedBySeconds: moved_ms / 1000 } : null
  const json = { type, made, clock, sandbox, notes, event }
  const rows = Object.entries(made).flatMap(([noun, one]) => rowsOf(noun, one))
  if (clock) rows.push(['clock', `moved forward by ${duration(clock.movedBySeconds)}`])
  if (event) rows.push(['event', event.id, localTime(event.createdAt)])
  const remarks = [...notes]
  if (sandbox) remarks.push(APART)
  else if (clock) remarks.push('All that falls due by then in this company has happened too.')
  if (!event) remarks.push(`${type} is not in the feed after ${PATIENCE_MS / 1000} seconds.`)
  const table = columns(rows.map(([name, ...cells]) => [name!, plain(cells.join('  '))]))
  const body = event ? `\n${plain(JSON.stringify(event.data))}\n` : ''
  const text = table + remarks.map((remark) => `${plain(remark)}\n`).join('') + body
  return event ? { json, text } : { json, text, failed: true }
}

function rowsOf(noun: string, one: NonNullable<Made[keyof Made]>): string[][] {
  const amount = 'amount' in one ? one.amount : 'value' in one ? one.value : null
  const main = [noun, nameOf(one), ...(amount === null ? [] : [formatReais(amount)])]
  const page = 'url' in one && one.url ? [[noun === 'webhook' ? 'address' : 'page', one.url]] : []
  const secret = 'secret' in one && one.secret ? [['secret', one.secret]] : []
  return [main, ...page, ...secret]
}

const UNITS: [seconds: number, name: string][] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
]

/** Such as "2 days 3 hours". */
export function duration(seconds: number): string {
  let left = seconds
  const parts = UNITS.flatMap(([unit, name]) => {
    const count = Math.floor(left / unit)
    left -= count * unit
    return count === 0 ? [] : [`${count} ${name}${count === 1 ? '' : 's'}`]
  })
  return parts.slice(0, 2).join(' ') || 'less than a second'
}
