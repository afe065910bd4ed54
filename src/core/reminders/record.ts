import type { Tx } from '../../db/database.ts'
import { amountOn } from '../../pix/due-amount.ts'
import { addDays, localDateOf, startOfDay } from '../../pix/local-time.ts'
import type { App } from '../app.ts'
import { awakeAt } from '../charges/notices.ts'
import type { Charge } from '../charges/rules.ts'
import { toRealTime } from '../companies/clock.ts'
import { openPerson } from '../customers/sealing.ts'
import { type Event, emit, reminderEvent } from '../events.ts'
import { type SealedMail, sealMail } from '../mails/sealing.ts'
import { queueSealed } from '../mails/store.ts'
import type { Channel, FailedAttempt, Reminder, ReminderKey, Unmailed } from './rules.ts'
import { indexesOfStop } from './stops.ts'
import * as store from './store.ts'

/** What a reminder needs. The clock is the company's. */
export type Reminding = Pick<App, 'clock' | 'systemClock' | 'vault'>

/** A reminder that is to be said about a locked charge. */
export type Wanted = { charge: Charge; channel: Channel; until: Date | null } & (
  | { occasion: 'DUE_DATE'; day: number }
  | ({ occasion: 'COLLECTION_FAILED' } & FailedAttempt)
)

const keyOf = ({ charge, ...wanted }: Wanted): ReminderKey => ({
  companyId: charge.companyId,
  chargeId: charge.id,
  occasion: wanted.occasion,
  number: wanted.occasion === 'DUE_DATE' ? wanted.day : wanted.number,
})

const nameOf = ({ chargeId, occasion, number }: ReminderKey): string =>
  `${chargeId} ${occasion} ${number}`

/**
 * Writes reminders of charges of a company with their events, and queues their mails. What was said
 * before is left out; the charges are locked, so nobody says it meanwhile.
 */
export async function remind(tx: Tx, app: Reminding, wanted: Wanted[]): Promise<void> {
  const [first] = wanted
  if (!first) return
  const { companyId } = first.charge
  const said = new Set((await store.findSaid(tx, companyId, wanted.map(keyOf))).map(nameOf))
  const fresh = wanted.filter((one) => !said.has(nameOf(keyOf(one))))
  const reasons = await reasonsAgainst(tx, app, fresh)
  const made = fresh.map((one, i) => make(app, one, reasons[i]!))
  await store.insertSaid(
    tx,
    made.map(({ reminder }) => reminder),
  )
  await queueSealed(
    tx,
    made.flatMap(({ mail }) => mail ?? []),
  )
  await emit(
    tx,
    made.map(({ event }) => event),
  )
}

/** Why each gets no mail. Null: it gets one. */
async function reasonsAgainst(
  tx: Tx,
  { vault }: Reminding,
  wanted: Wanted[],
): Promise<(Unmailed | null)[]> {
  const indexes = wanted.map(({ charge: { companyId, payer }, channel }) => {
    const email = channel === 'EMAIL' && payer && openPerson(vault, companyId, payer).email
    return email ? indexesOfStop(vault, companyId, email) : null
  })
  const known = indexes.flatMap((some) => some ?? [])
  const stops = await store.findStops(tx, wanted[0]?.charge.companyId ?? null!, known)
  const stopped = new Set(stops.map((index) => index.toString('hex')))
  return wanted.map(({ channel }, i) => {
    if (channel !== 'EMAIL') return 'CHANNEL'
    const some = indexes[i]
    if (!some) return 'NO_ADDRESS'
    return some.some((index) => stopped.has(index.toString('hex'))) ? 'UNSUBSCRIBED' : null
  })
}

type Made = { reminder: Reminder; mail: SealedMail | null; event: Event }

function make(app: Reminding, wanted: Wanted, unmailed: Unmailed | null): Made {
  const now = app.clock.now()
  const { charge } = wanted
  const mail = unmailed === null ? mailOf(app, wanted) : null
  const reminder = { ...keyOf(wanted), saidAt: now, mailId: mail?.id ?? null, unmailed }
  const told = { mailed: mail !== null, ...(unmailed && { unmailed }) }
  const about =
    wanted.occasion === 'DUE_DATE'
      ? { occasion: wanted.occasion, day: wanted.day, ...told }
      : {
          occasion: wanted.occasion,
          attempt: wanted.number === 0 ? null : wanted.number,
          nextTry: wanted.nextTry,
          ...told,
        }
  const amount = charge.due && amountOn(charge.amount, charge.due.terms, localDateOf(now))
  return { reminder, mail, event: reminderEvent(charge, about, amount, now) }
}

/** The mail of a reminder. At night it waits, unless the company moves its clock. */
function mailOf(app: Reminding, wanted: Wanted): SealedMail {
  const { clock, systemClock, vault } = app
  const { companyId, chargeId, occasion, number } = keyOf(wanted)
  const now = systemClock.now()
  const nextTry = wanted.occasion === 'COLLECTION_FAILED' && { nextTry: wanted.nextTry }
  const clockAhead_ms = clock.now().getTime() - now.getTime()
  return sealMail(vault, {
    companyId,
    kind: 'reminder',
    letter: { reminder: { chargeId, occasion, number, ...nextTry, clockAhead_ms } },
    createdAt: clock === systemClock ? awakeAt(now) : now,
    expiresAt: wanted.until && toRealTime(app, wanted.until),
    chargeId,
  })
}

/**
 * Says that a debit of a subscription's charge has failed, if the company wants that. `number` says
 * which one; 0 is the end of all attempts. The charge is locked.
 */
export async function remindOfFailure(
  tx: Tx,
  app: Reminding,
  charge: Charge,
  attempt: FailedAttempt,
): Promise<void> {
  const rules = await store.listRules(tx, charge.companyId)
  const rule = rules.find(({ occasion }) => occasion === 'COLLECTION_FAILED')
  if (!rule?.enabled) return
  const until = attempt.nextTry === null ? null : startOfDay(addDays(attempt.nextTry, 1))
  const { channel } = rule
  await remind(tx, app, [{ charge, occasion: 'COLLECTION_FAILED', channel, until, ...attempt }])
}
