import type { Static } from 'typebox'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { type ErrorItem, Problem, problem } from '../../lib/problems.ts'
import type { App } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { checkDigitsFault, type Person } from '../customers/rules.ts'
import { emailIndexOf, sealPayer } from '../customers/sealing.ts'
import { find as findCustomer } from '../customers/store.ts'
import type { Product } from '../products/rules.ts'
import { findMany as findProducts } from '../products/store.ts'
import { showProduct } from '../products/view.ts'
import type { Draft } from './commands.ts'
import {
  type Charge,
  type Item,
  LINK_LIFETIME_S,
  type Payer,
  PIX_LIFETIME_S,
  totalOf,
} from './rules.ts'
import type { Duplication, NewLink, NewPixCharge } from './view.ts'

type Sealed = { payer: Payer; emailIndex: Buffer | null }

function seal({ vault }: App, { id }: Company, customer: Person): Sealed {
  const { person, emailIndex } = sealPayer(vault, id, customer)
  return { payer: { name: customer.name, ...person }, emailIndex }
}

/** Only a request with an externalId can be recognised again, so only then it is hashed. */
const reference = (externalId: string | undefined, fingerprint: () => Buffer) =>
  externalId === undefined
    ? { externalId: null, fingerprint: null }
    : { externalId, fingerprint: fingerprint() }

export function pixDraft(
  app: App,
  company: Company,
  body: Static<typeof NewPixCharge>,
  fingerprint: () => Buffer,
): Draft {
  return {
    kind: 'PIX',
    amount: toCents(body.amount),
    devMode: body.devMode ?? false,
    ...reference(body.externalId, fingerprint),
    description: body.description ?? null,
    customerId: null,
    ...seal(app, company, body.customer),
    link: null,
    lifetime_s: body.expiresIn ?? PIX_LIFETIME_S,
  }
}

type LinkBody = Static<typeof NewLink>

/** The rules of a payer and a link that their schemas cannot express. */
export function payerFault(company: Company, customer: unknown): string | null {
  const { taxId } = (customer ?? {}) as { taxId?: unknown }
  return checkDigitsFault(company, taxId, 'customer.taxId')
}

export function linkFaults(company: Company, body: Record<string, unknown>): (string | null)[] {
  const { customerId, customer, total, items } = body
  const both = customerId !== undefined && customer !== undefined
  const none = customerId === undefined && customer === undefined
  return [
    both ? 'customerId: send it or customer, not both' : null,
    none ? 'customer: send it, or the customerId of one on record' : null,
    total !== undefined || items !== undefined ? null : 'total: send it, or items to add up',
    payerFault(company, customer),
  ]
}

export async function linkDraft(
  app: App,
  company: Company,
  body: LinkBody,
  fingerprint: () => Buffer,
): Promise<Draft> {
  const items = await findItems(app, company.id, body.items ?? [])
  return {
    kind: 'LINK',
    amount: totalOf(body.total, items),
    devMode: body.devMode ?? false,
    ...reference(body.externalId, fingerprint),
    description: body.description ?? null,
    ...(await linkPayer(app, company, body)),
    link: {
      items,
      needShipping: body.needShipping ?? false,
      notifyCustomer: body.notifyCustomer ?? false,
      successUrl: body.successUrl ?? null,
      failedUrl: body.failedUrl ?? null,
    },
    lifetime_s: body.expiresIn ?? LINK_LIFETIME_S,
  }
}

async function linkPayer(
  app: App,
  company: Company,
  body: LinkBody,
): Promise<Sealed & { customerId: Uuid | null }> {
  if (body.customer) return { customerId: null, ...seal(app, company, body.customer) }
  const customerId = fromPublic('clnt', body.customerId!)
  const customer = customerId && (await findCustomer(app.db, app.vault, company.id, customerId))
  if (!customer)
    throw problem('customer_not_found', 'customerId: the company has no such customer.')
  return { customerId, ...seal(app, company, customer) }
}

/** The items of a link, with the products as they are shown now. They must be active. */
async function findItems(
  app: App,
  companyId: Uuid,
  wanted: { productId: string; quantity: number }[],
): Promise<Item[]> {
  const ids = wanted.map(({ productId }) => fromPublic('prod', productId))
  const known = ids.filter((id) => id !== null)
  const products =
    known.length > 0 ? await findProducts(app.db, companyId, known) : new Map<Uuid, Product>()
  const faults = wanted.flatMap((_, i) => itemFault(i, products.get(ids[i] ?? '')))
  const [first, ...others] = faults
  if (first) throw new Problem([first, ...others])
  return wanted.map(({ quantity }, i) => ({
    quantity,
    product: showProduct(products.get(ids[i]!)!),
  }))
}

function itemFault(i: number, product: Product | undefined): ErrorItem[] {
  const path = `items[${i}].productId`
  if (!product) {
    const description = `${path}: the company has no such product.`
    return [{ code: 'product_not_found', description }]
  }
  if (product.status === 'ACTIVE') return []
  return [{ code: 'invalid_value', description: `${path}: the product must be ACTIVE` }]
}

/** The same sale again, by default with the same lifetime. */
export function duplicate(
  app: App,
  original: Charge,
  body: Static<typeof Duplication>,
  fingerprint: () => Buffer,
): Draft {
  const { companyId, amount, devMode, payer, link, description } = original
  const lived_s = (original.expiresAt.getTime() - original.createdAt.getTime()) / 1000
  return {
    kind: original.kind === 'LINK' ? 'LINK' : 'PIX',
    amount,
    devMode,
    payer,
    link,
    description,
    emailIndex: payer && emailIndexOf(app.vault, companyId, payer),
    // The customer is found by tax id, because that of the original may be deleted.
    customerId: null,
    ...reference(body.externalId, fingerprint),
    lifetime_s: body.expiresIn ?? Math.round(lived_s),
  }
}
