import type { Tx } from '../../db/database.ts'
import type { StatementEntry } from '../../ledger/columns.ts'
import type { Kind } from '../../ledger/recipes.ts'
import { findPostings } from '../../ledger/statement.ts'
import { toPublic } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Entry as ActivityEntry } from '../activity/rules.ts'
import { listOfCharge as listActivity } from '../activity/store.ts'
import type { App } from '../app.ts'
import { findOpening, type Opening } from '../charges/checkout.ts'
import { type ChargeMail, listMails, listUnsent, type UnsentMail } from '../charges/mails.ts'
import type { Charge } from '../charges/rules.ts'
import type { Scope } from '../companies/rules.ts'
import { openPerson } from '../customers/sealing.ts'
import { listOfEvents } from '../deliveries/log-store.ts'
import type { Delivery } from '../deliveries/rules.ts'
import type { Dispute } from '../disputes/rules.ts'
import { list as listDisputes } from '../disputes/store.ts'
import { listOfCharge as listEvents, type WrittenEvent } from '../feed/store.ts'
import type { Payment } from '../payments/rules.ts'
import { listUnmatchedOf } from '../payments/store.ts'
import type { Refund } from '../refunds/rules.ts'
import { listOfCharge as listRefunds } from '../refunds/store.ts'
import { listSaid as listReminders, type SentReminder } from '../reminders/store.ts'

/** Everything that is known of a charge. */
export type History = {
  charge: Charge
  opening: Opening | null
  /** The oldest first. */
  refunds: Refund[]
  /** Payments that named the charge and did not match it, or have settled it; the oldest first. */
  unmatched: Payment[]
  /** Claims of the payer for the money, the oldest first. */
  disputes: Dispute[]
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
  /** Mails that are sent by themselves, and were not, the oldest first. */
  unsent: UnsentMail[]
  /** The oldest first. */
  reminders: SentReminder[]
}

/** A charge has few of each. If it has more, the newest are left out. */
const MAX_OF_EACH = 100

/**
 * Reads everything about a charge that somebody may see: entries of the ledger and events need
 * scopes of their own.
 */
export async function historyOf(
  app: Pick<App, 'db' | 'vault'>,
  charge: Charge,
  can: (scope: Scope) => boolean,
): Promise<History> {
  const { db, vault } = app
  const { companyId, id, link } = charge
  const page = { limit: MAX_OF_EACH, after: null }
  const [opening, refunds, disputes, unmatched, activity, mails, unsent, reminders] =
    await Promise.all([
      findOpening(db, charge),
      listRefunds(db, companyId, id, page),
      listDisputes(db, companyId, { ...page, chargeId: id, status: null }),
      listUnmatchedOf(db, charge, MAX_OF_EACH),
      listActivity(db, companyId, id, MAX_OF_EACH),
      listMails(db, charge),
      listUnsent(db, charge),
      listReminders(db, charge),
    ])
  const isMailed = link?.notifyCustomer === true && emailOf(vault, charge) !== undefined
  const ofCharge = { refunds: refunds.toReversed(), disputes: disputes.toReversed() }
  const about = { charge, opening, unmatched, ...ofCharge }
  const [entries, feed] = await Promise.all([
    can('balance:read') ? entriesOf(db, about) : [],
    can('webhooks:read') ? eventsOf(db, about) : { events: [], deliveries: [] },
  ])
  const sent = { isMailed, mails: mails.toReversed(), unsent, reminders }
  return { ...about, ...sent, activity, entries, ...feed }
}

const emailOf = (vault: Vault, { companyId, payer }: Charge): string | undefined =>
  payer ? openPerson(vault, companyId, payer).email : undefined

type About = Pick<History, 'charge' | 'opening' | 'refunds' | 'disputes' | 'unmatched'>

const OF_PAYMENTS: Kind[] = [
  'CHARGE_PAID',
  'FINE_PAID',
  'INTEREST_PAID',
  'CHARGE_SETTLED',
  'SPLIT_SETTLED',
  'PAYMENT_UNMATCHED',
  'PAYMENT_ACCEPTED',
]
const OF_DISPUTES: Kind[] = ['DISPUTE_HELD', 'DISPUTE_RELEASED', 'SPLIT_TAKEN', 'SPLIT_GIVEN']
const OF_REFUNDS: Kind[] = [
  'REFUND_HELD',
  'REFUND_PAID',
  'REFUND_RELEASED',
  'BANK_RETURN',
  'DISPUTE_HELD',
  'DISPUTE_ACCEPTED',
  'DISPUTE_LOST',
  'SPLIT_TAKEN',
  'SPLIT_GIVEN',
]

/** How much of the money of a charge its payer disputes. */
export const disputedOf = ({ disputes }: Pick<History, 'disputes'>): number =>
  disputes.reduce((sum, { held }) => sum + held, 0)

/** The entries of the ledger about a charge, found by the payments and refunds that they name. */
async function entriesOf(db: Tx, about: About): Promise<StatementEntry[]> {
  const { charge, refunds, disputes, unmatched } = about
  const isBooked = ({ booked }: { booked: boolean }) => booked
  const payments = unmatched.filter(isBooked).map(({ endToEndId }) => endToEndId)
  if (charge.booked && !payments.includes(charge.endToEndId!)) payments.push(charge.endToEndId!)
  const orders = refunds.filter(isBooked).map(({ id }) => toPublic('rfnd', id))
  const found = await Promise.all([
    findPostings(db, charge.companyId, OF_PAYMENTS, payments),
    findPostings(db, charge.companyId, OF_REFUNDS, orders),
    findPostings(
      db,
      charge.companyId,
      OF_DISPUTES,
      disputes.map(({ id }) => toPublic('dispute', id)),
    ),
  ])
  return found.flat().sort((a, b) => a.entry - b.entry)
}

async function eventsOf(
  db: Tx,
  { charge, opening }: About,
): Promise<Pick<History, 'events' | 'deliveries'>> {
  const marks = [charge.id, ...(opening?.beforeEvent ? [opening.beforeEvent] : [])]
  const events = await listEvents(db, charge.companyId, charge.id, marks, MAX_OF_EACH)
  const ids = events.map(({ id }) => id)
  return { events, deliveries: await listOfEvents(db, charge.companyId, ids) }
}
