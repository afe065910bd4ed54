import type { Tx } from '../../db/database.ts'
import { lockBooks, post } from '../../ledger/post.ts'
import { chargeReleased, type Posting, splitSettled } from '../../ledger/recipes.ts'
import { enterParts, type RecipientEntry, readAccounts } from '../../ledger/recipients.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { record } from '../charges/record.ts'
import { type Charge, isReleasable, receivedOf, release } from '../charges/rules.ts'
import { givenOf } from '../charges/split.ts'
import { lockStates } from '../charges/store.ts'
import { heldFromPending as heldForDisputes } from '../disputes/store.ts'
import { heldFromPending } from '../refunds/store.ts'

/** Makes the money of paid charges withdrawable if the company's delay is over. */
export async function releaseCharges(
  tx: Tx,
  companyId: Uuid,
  ids: Uuid[],
  now: Date,
): Promise<number> {
  const locked = await lockStates(tx, companyId, ids)
  const charges = locked.filter((charge) => isReleasable(charge, now))
  const released = charges.map((charge) => release(charge, now))
  const [returned, disputed] = await Promise.all([
    heldFromPending(
      tx,
      companyId,
      charges.flatMap(({ id, refunded }) => (refunded > 0 ? [id] : [])),
    ),
    heldForDisputes(
      tx,
      companyId,
      charges.map(({ id }) => id),
    ),
    record(tx, released),
  ])
  const moneys = released.map(({ charge }): Money => {
    const held = disputed.get(charge.id) ?? 0
    const left = toCents(receivedOf(charge) - (returned.get(charge.id) ?? 0) - held)
    return { charge, disputed: held, left: charge.booked ? left : toCents(0) }
  })
  await book(tx, companyId, moneys, now)
  return charges.length
}

/** A charge that is released, with what it has in pending, and what is held for a dispute. */
type Money = { charge: Charge; left: Cents; disputed: number }

async function book(tx: Tx, companyId: Uuid, all: Money[], now: Date): Promise<void> {
  const moneys = all.filter(({ left }) => left > 0)
  if (moneys.every(({ charge }) => charge.split === null)) {
    return void (await post(tx, companyId, moneys.map(plainRelease), now))
  }
  const books = await lockBooks(tx, companyId)
  const ids = moneys.flatMap(({ charge }) => charge.split ?? []).map((term) => term.recipientId)
  const accounts = await readAccounts(tx, companyId, [...new Set(ids)])
  const [postings, parts]: [Posting[], RecipientEntry[]] = [[], []]
  for (const { charge, left, disputed } of moneys) {
    const { endToEndId, id: chargeId } = charge
    const of = { kind: 'SPLIT_SETTLED', ref: endToEndId!, chargeId } as const
    const { entries, moved } = enterParts(accounts, of, givenOf(charge, disputed))
    const payment = { endToEndId: endToEndId!, chargeId }
    if (moved > 0) postings.push(splitSettled({ ...payment, amount: toCents(moved) }))
    if (left > moved) postings.push(plainRelease({ charge, left: toCents(left - moved) }))
    parts.push(...entries)
  }
  await post(tx, companyId, postings, now, books, parts)
}

const plainRelease = ({ charge, left }: Pick<Money, 'charge' | 'left'>): Posting =>
  chargeReleased({ endToEndId: charge.endToEndId!, amount: left, chargeId: charge.id })
