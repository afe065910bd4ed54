import type { Static } from 'typebox'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import { isOfPlainPages, readPageToken } from '../charges/addresses.ts'
import type { AppWithCharges } from '../charges/group.ts'
import { type Charge, asOf as chargeAsOf, isSubscriptionLink } from '../charges/rules.ts'
import { forCompany, withCompanyClock } from '../companies/clock.ts'
import { findCompany } from '../companies/store.ts'
import { checkDigitsFault } from '../customers/rules.ts'
import { type Offer, subscribe } from './commands.ts'
import { asOf, DEFAULT_DAY_DUE, type Recurrence, type Terms } from './rules.ts'
import { find } from './store.ts'
import { type NewSubscription, type SubscriptionView, showToPayer } from './view.ts'

/** Starts the agreement of a payer who subscribes through a link. */
export async function subscribeThrough(
  app: AppWithCharges,
  { customer }: Static<typeof NewSubscription>,
  { token }: { token: string },
): Promise<Static<typeof SubscriptionView>> {
  const named = readPageToken(app.vault, token)
  const company = named && (await findCompany(app.db, named.companyId))
  const isOurs = company && (!named.isPlain || (await isOfPlainPages(app, named.id)))
  if (!isOurs) throw unknownLink()
  if (company.suspendedAt !== null) throw problem('company_suspended')
  const own = withCompanyClock(forCompany(app, company), company)
  const fault = checkDigitsFault(company, customer?.taxId, 'customer.taxId')
  if (fault) throw invalid(fault)
  const offer = await findOffer(own, company.id, named.id)
  const agreement = await subscribe(own, company, offer, customer ?? null)
  return showToPayer(agreement, own.clock.now())
}

const unknownLink = () =>
  problem('recurrence_not_found', 'There is no subscription link with this address.')

async function findOffer(app: AppWithCharges, companyId: Uuid, id: Uuid): Promise<Offer> {
  const now = app.clock.now()
  const template = await find(app.db, companyId, id)
  if (template?.isTemplate) return offerOfTemplate(asOf(template, now))
  const charge = await app.charges.find({ companyId, id })
  if (!charge || !isSubscriptionLink(charge)) throw unknownLink()
  return offerOfLink(chargeAsOf(charge, now))
}

const closed = (status: string) =>
  problem('recurrence_not_decidable', `The link is ${status}: nobody can subscribe through it.`)

function offerOfTemplate(template: Recurrence): Offer {
  if (template.status !== 'OPEN') throw closed(template.status)
  const { id: originId, payer, customerId } = template
  return { originId, terms: template, payer, customerId }
}

function offerOfLink(charge: Charge): Offer {
  const { id: originId, status, payer, customerId } = charge
  if (status !== 'OPEN') throw closed(status)
  return { originId, terms: termsOfLink(charge), payer, customerId }
}

/** The terms of a link: its product as it was when the link was created, for its total. */
export function termsOfLink({ amount, link }: Charge): Terms {
  const { product } = link!.items[0]!
  return {
    productId: fromPublic('prod', product.id)!,
    productName: product.name,
    value: amount,
    frequency: product.frequency!,
    dayDue: product.dayDue ?? DEFAULT_DAY_DUE,
    dayGenerateCharge: product.dayGenerateCharge ?? null,
  }
}
