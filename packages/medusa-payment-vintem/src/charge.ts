import type { Charge, NewPixCharge } from '@vintem/client'

/** The options of the provider in medusa-config. */
export type Options = {
  /** Where Vintém is. */
  url: string
  /** The API key. */
  key: string
  /** The secret of the webhook, or both while it is rotated. */
  webhookSecret: string | string[]
  /** Seconds until a code expires. Default: that of Vintém, 1800. */
  expiresIn?: number
  /** Charges that a test pays without money, at a company that has money. */
  devMode?: boolean
}

/** What a payment session has in its data for the shop's pages, and for us. */
export type SessionData = {
  session_id: string
  chargeId: string
  /** Cents. */
  amount: number
  /** Copy-and-paste code. */
  brCode: string
  /** PNG as data URL. */
  qrCode: string
  /** Payment page. */
  url: string
  expiresAt: string
}

/** `open`: may be paid. `paid`: the whole amount is there. `closed`: nothing more comes of it. */
export type State = 'open' | 'paid' | 'closed'

type Shown = Pick<Charge, 'status' | 'paymentStatus' | 'total' | 'refunded' | 'shortfall'>

/** Whether a charge has brought exactly what is asked for, and still has it. */
export function stateOf(charge: Shown, amount: number): State {
  if (charge.status === 'OPEN') return charge.total === amount ? 'open' : 'closed'
  const isPaid = charge.paymentStatus === 'PAID' || charge.paymentStatus === 'RECEIVED'
  if (charge.status !== 'COMPLETED' || !isPaid) return 'closed'
  const received = charge.total - (charge.shortfall ?? 0)
  return received === amount && !charge.refunded ? 'paid' : 'closed'
}

/** What a customer of the shop has that a payer may have, too. */
type Customer = {
  first_name?: string | null
  last_name?: string | null
  company_name?: string | null
  email?: string | null
  phone?: string | null
  metadata?: Record<string, unknown> | null
}

type Payer = NewPixCharge['customer']

/**
 * Who pays: what the shop's page has sent as `customer`, and the rest from the customer who is
 * logged in, who may have a `taxId` in the metadata. Vintém checks it.
 */
export function payerOf(sent: unknown, customer: Customer | undefined): Payer {
  const known = {
    name: customer?.company_name || fullName(customer),
    taxId: customer?.metadata?.taxId,
    email: customer?.email,
    phone: customer?.phone,
  }
  const all = { ...known, ...(typeof sent === 'object' ? sent : {}) }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value)) as Payer
}

const fullName = (customer: Customer | undefined): string =>
  [customer?.first_name, customer?.last_name].filter(Boolean).join(' ')
