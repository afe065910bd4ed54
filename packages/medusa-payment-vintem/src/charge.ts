import type { NewPixCharge } from '@vintem/client'
import { type Code, payerOf } from '../../shop/src/charge.ts'

/** What a payment session has in its data for the shop's pages, and for us. */
export type SessionData = Code & { session_id: string }

/** What a customer of the shop has that a payer may have, too. */
type Customer = {
  first_name?: string | null
  last_name?: string | null
  company_name?: string | null
  email?: string | null
  phone?: string | null
  metadata?: Record<string, unknown> | null
}

/**
 * Who pays: what the shop's page has sent as `customer`, and the rest from the customer who is
 * logged in, who may have a `taxId` in the metadata.
 */
export const payerOfSession = (
  sent: unknown,
  customer: Customer | undefined,
): NewPixCharge['customer'] =>
  payerOf(sent, {
    name: customer?.company_name || fullName(customer),
    taxId: customer?.metadata?.taxId,
    email: customer?.email,
    phone: customer?.phone,
  })

const fullName = (customer: Customer | undefined): string =>
  [customer?.first_name, customer?.last_name].filter(Boolean).join(' ')
