import { violatedConstraint } from '../../db/database.ts'
import { describeError } from '../../lib/log.ts'
import { createRecent } from '../../lib/memo.ts'
import { problem } from '../../lib/problems.ts'
import type { Uses } from '../app.ts'
import type { Draft } from '../charges/drafts.ts'
import type { AppWithCharges } from '../charges/group.ts'
import { createInTransaction } from '../charges/in-transaction.ts'
import { forgetRequest, record } from '../charges/record.ts'
import { type Charge, asOf as chargeAsOf, type Item } from '../charges/rules.ts'
import { type Shipping, sealShipping } from '../charges/shipping.ts'
import { requireWithin } from '../charges/split.ts'
import { requireActive } from '../charges/split-recipients.ts'
import { findOpenByRequest } from '../charges/store.ts'
import type { Company } from '../companies/rules.ts'
import type { Person } from '../customers/rules.ts'
import { sealPayer } from '../customers/sealing.ts'
import type { WholeLink } from './commands.ts'
import { describe, type Order, type ReusableLink, stateOf, totalOf } from './rules.ts'
import { countMade, countOpened, find } from './store.ts'

/** What a payer orders by a link. */
export type Purchase = Order & {
  person: Person
  shipping: Shipping | null
  /** The text that one form has for itself. If it is sent again, it makes no other charge. */
  once: string
}

function draftOf(
  app: Uses<'vault'>,
  company: Company,
  { link, items }: WholeLink,
  purchase: Purchase,
): Draft {
  const { person, quantity, amount, shipping, once } = purchase
  const sealed = sealPayer(app.vault, company.id, person)
  const sold = items.map((item): Item => ({ ...item, quantity: item.quantity * quantity }))
  const total = totalOf(link, items, purchase)
  const asked = JSON.stringify([person, quantity, amount, shipping, total])
  return {
    kind: 'LINK',
    amount: total,
    devMode: false,
    // The same form finds its charge again by these, as a request of the API does.
    externalId: link.slug,
    fingerprint: app.vault.fingerprint([link.id, once, asked]),
    description: describe(link, quantity),
    customerId: null,
    payer: { name: person.name, ...sealed.person },
    emailIndex: sealed.emailIndex,
    link: {
      items: sold,
      needShipping: link.needShipping,
      notifyCustomer: false,
      successUrl: link.successUrl,
      failedUrl: null,
    },
    due: null,
    split: link.split,
    lifetime_s: link.lifetime_s,
    linkId: link.id,
  }
}

/**
 * Sells once by a link: makes a charge with its code for the payer. The row of the link is locked
 * while its stock is compared, so that no two payers get the last place. Throws if the link does
 * not sell any more, or has other terms than were shown.
 */
export async function sell(
  app: AppWithCharges,
  company: Company,
  whole: WholeLink,
  purchase: Purchase,
): Promise<Charge> {
  const { link } = whole
  const draft = draftOf(app, company, whole, purchase)
  for (;;) {
    const earlier = await findEarlier(app, company, draft)
    if (earlier) return earlier
    requireOpen(link, app.clock.now())
    requireWithin(draft)
    await requireActive(app, { companyId: company.id, split: link.split })
    try {
      return await createInTransaction(app, company, draft, {
        async before(tx) {
          const current = await find(tx, company.id, link.id, 'for update')
          if (current?.updatedAt.getTime() !== link.updatedAt.getTime()) {
            throw problem('link_changed')
          }
          requireOpen(current, app.clock.now())
          await countMade(tx, link)
        },
        async after(tx, charge) {
          if (purchase.shipping === null) return
          const shipping = sealShipping(app.vault, charge, purchase.shipping)
          await record(tx, [{ charge: { ...charge, shipping }, event: null, at: charge.createdAt }])
        },
      })
    } catch (error) {
      // If the same form was sent twice at the same moment, return the charge of the other one.
      if (violatedConstraint(error) !== 'charges_open_external_id') throw error
    }
  }
}

function requireOpen(link: ReusableLink, now: Date): void {
  if (stateOf(link, now) !== 'OPEN') throw problem('link_closed')
}

/** The open charge that the same form has made before. */
async function findEarlier(
  app: Uses<'clock' | 'db' | 'vault'>,
  { id: companyId }: Company,
  { externalId, fingerprint }: Draft,
): Promise<Charge | null> {
  const fingerprints = app.vault.formsOf(fingerprint!)
  const request = { companyId, externalId: externalId!, fingerprints }
  const earlier = await findOpenByRequest(app.db, request)
  if (!earlier || chargeAsOf(earlier, app.clock.now()).status === 'OPEN') return earlier
  // It has expired, which is not written yet.
  await forgetRequest(app.db, earlier)
  return null
}

/** Who has opened which link of late. A page that is read again is not counted again. */
const noted = createRecent<true>(4096)

/** Counts that somebody has opened a link. If that fails, the page is shown anyway. */
export async function noteLinkOpening(
  app: Uses<'db' | 'log'>,
  link: ReusableLink,
  address: string,
): Promise<void> {
  const name = `${link.id} ${address}`
  if (noted.get(name)) return
  noted.set(name, true)
  try {
    await countOpened(app.db, link)
  } catch (error) {
    app.log.warn(describeError(error), 'the opening of a link could not be counted')
  }
}
