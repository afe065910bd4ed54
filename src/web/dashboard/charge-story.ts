import { listOfCharge as listActivity } from '../../core/activity/charge-store.ts'
import type { Entry as ActivityEntry } from '../../core/activity/rules.ts'
import { findCharge } from '../../core/charges/commands.ts'
import { type ChargeMail, listMails } from '../../core/charges/mail-store.ts'
import { findOpening, type Opening } from '../../core/charges/openings-store.ts'
import { asOf, type Charge } from '../../core/charges/rules.ts'
import { openPerson } from '../../core/customers/sealing.ts'
import { listOfEvents } from '../../core/deliveries/browse-store.ts'
import type { Delivery } from '../../core/deliveries/rules.ts'
import { listOfCharge as listEvents, type WrittenEvent } from '../../core/feed/store.ts'
import type { Payment } from '../../core/payments/rules.ts'
import { listUnmatchedOf } from '../../core/payments/store.ts'
import type { Refund } from '../../core/refunds/rules.ts'
import { listOfCharge as listRefunds } from '../../core/refunds/store.ts'
import type { Kind } from '../../ledger/recipes.ts'
import { findPostings, type StatementEntry } from '../../ledger/statement.ts'
import { fromPublic, toPublic } from '../../lib/ids.ts'
import type { Visit } from './visit.ts'

/** Everything that is known of a charge. */
export type Story = {
  charge: Charge
  opening: Opening | null
  /** The oldest first. */
  refunds: Refund[]
  /** Payments that named the charge and did not pay it, the oldest first. */
  unmatched: Payment[]
  /** Empty if the person may not see the balance. */
  entries: StatementEntry[]
  /** Empty if the person may not see webhooks. */
  events: WrittenEvent[]
  deliveries: Delivery[]
  activity: ActivityEntry[]
  /** Whether the payer was sent the link when the charge was created. */
  isMailed: boolean
  /** Mails that people have sent, the oldest first. */
  mails: ChargeMail[]
}

/** A charge has few of each. If it has more, the newest are left out. */
const MAX_OF_EACH = 100

/** The charge that the URL names. Whoever asks for that of another company finds nothing. */
export async function chargeOf({ app, company, params }: Visit): Promise<Charge> {
  const charge = await findCharge(app, company.id, fromPublic('charge', params.id ?? ''))
  return asOf(charge, app.clock.now())
}

export async function storyOf(visit: Visit, charge: Charge): Promise<Story> {
  const { app, company, can } = visit
  const { db } = app
  const page = { limit: MAX_OF_EACH, after: null }
  const [opening, refunds, unmatched, activity, mails] = await Promise.all([
    findOpening(db, charge),
    listRefunds(db, company.id, charge.id, page),
    listUnmatchedOf(db, company.id, charge.id, MAX_OF_EACH),
    listActivity(db, company.id, charge.id, MAX_OF_EACH),
    listMails(db, charge),
  ])
  const isMailed = charge.link?.notifyCustomer === true && emailOf(visit, charge) !== undefined
  const about = { charge, opening, refunds: refunds.toReversed(), unmatched }
  const [entries, feed] = await Promise.all([
    can('balance:read') ? entriesOf(visit, about) : [],
    can('webhooks:read') ? eventsOf(visit, about) : { events: [], deliveries: [] },
  ])
  return { ...about, isMailed, activity, mails: mails.toReversed(), entries, ...feed }
}

const emailOf = ({ app }: Visit, { companyId, payer }: Charge): string | undefined =>
  payer ? openPerson(app.vault, companyId, payer).email : undefined

type About = Pick<Story, 'charge' | 'opening' | 'refunds' | 'unmatched'>

const OF_PAYMENTS: Kind[] = [
  'CHARGE_PAID',
  'CHARGE_SETTLED',
  'PAYMENT_UNMATCHED',
  'PAYMENT_ACCEPTED',
]
const OF_REFUNDS: Kind[] = ['REFUND_HELD', 'REFUND_PAID', 'REFUND_RELEASED', 'BANK_RETURN']

/** The entries of the ledger about a charge, found by the payments and refunds that they name. */
async function entriesOf(
  { app: { db }, company }: Visit,
  { charge, refunds, unmatched }: About,
): Promise<StatementEntry[]> {
  const isBooked = ({ booked }: { booked: boolean }) => booked
  const payments = unmatched.filter(isBooked).map(({ endToEndId }) => endToEndId)
  if (charge.booked) payments.push(charge.endToEndId!)
  const orders = refunds.filter(isBooked).map(({ id }) => toPublic('rfnd', id))
  const found = await Promise.all([
    findPostings(db, company.id, OF_PAYMENTS, payments),
    findPostings(db, company.id, OF_REFUNDS, orders),
  ])
  return found.flat().sort((a, b) => a.entry - b.entry)
}

async function eventsOf(
  { app: { db }, company }: Visit,
  { charge, opening }: About,
): Promise<Pick<Story, 'events' | 'deliveries'>> {
  const marks = [charge.id, ...(opening?.beforeEvent ? [opening.beforeEvent] : [])]
  const events = await listEvents(db, company.id, charge.id, marks, MAX_OF_EACH)
  const ids = events.map(({ id }) => id)
  return { events, deliveries: await listOfEvents(db, company.id, ids) }
}
