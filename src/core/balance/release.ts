import type { Tx } from '../../db/database.ts'
import { lockBooks, post } from '../../ledger/post.ts'
import { chargeReleased, type Posting, splitSettled } from '../../ledger/recipes.ts'
import { enterParts, type RecipientEntry, readAccounts } from '../../ledger/recipients.ts'
import type { Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { record } from '../charges/record.ts'
import { type Charge, isReleasable, receivedOf, release } from '../charges/rules.ts'
import { partsOfChange } from '../charges/split.ts'
import { lockStates } from '../charges/store.ts'
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
  await record(tx, released)
  const returned = await heldFromPending(
    tx,
    companyId,
    charges.flatMap(({ id, refunded }) => (refunded > 0 ? [id] : [])),
  )
  const moneys = charges.map((before, i): Money => {
    const left = toCents(receivedOf(before) - (returned.get(before.id) ?? 0))
    return { before, after: released[i]!.charge, left: before.booked ? left : toCents(0) }
  })
  await book(tx, companyId, moneys, now)
  return charges.length
}

/** A charge that is released, and what it has in pending. */
type Money = { before: Charge; after: Charge; left: Cents }

async function book(tx: Tx, companyId: Uuid, all: Money[], now: Date): Promise<void> {
  const moneys = all.filter(({ left }) => left > 0)
  if (moneys.every(({ before }) => before.split === null)) {
    return void (await post(tx, companyId, moneys.map(plainRelease), now))
  }
  const books = await lockBooks(tx, companyId)
  const ids = moneys.flatMap(({ before }) => before.split ?? []).map((term) => term.recipientId)
  const accounts = await readAccounts(tx, companyId, [...new Set(ids)])
  const [postings, parts]: [Posting[], RecipientEntry[]] = [[], []]
  for (const { before, after, left } of moneys) {
    const { endToEndId, id: chargeId } = before
    const of = { kind: 'SPLIT_SETTLED', ref: endToEndId!, chargeId } as const
    const { entries, moved } = enterParts(accounts, of, partsOfChange(before, after))
    const payment = { endToEndId: endToEndId!, chargeId }
    if (moved > 0) postings.push(splitSettled({ ...payment, amount: toCents(moved) }))
    if (left > moved) postings.push(plainRelease({ before, left: toCents(left - moved) }))
    parts.push(...entries)
  }
  await post(tx, companyId, postings, now, books, parts)
}

const plainRelease = ({ before, left }: Pick<Money, 'before' | 'left'>): Posting =>
  chargeReleased({ endToEndId: before.endToEndId!, amount: left, chargeId: before.id })
