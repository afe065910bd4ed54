import type { Client, Reply, TestApi } from '../support/api.ts'

/** One request to one operation. `made` holds the ids of what was prepared for it. */
export type Try = {
  operationId: string
  name: string
  ask(client: Client, made: Made, api: TestApi): Promise<Reply>
}

type Charges = 'open' | 'paid' | 'canceled' | 'received' | 'refunded' | 'link'
type Payments = 'unmatched' | 'returnable' | 'accepted'
type Withdrawals = 'completed' | 'failed' | 'expired' | 'called off'

type Webhooks = 'webhook' | 'listening' | 'inactive' | 'delivered' | 'retrying'

export type Made = Record<Charges | Payments | Withdrawals | Webhooks, string> &
  Record<'customer' | 'product', string>

export const on = (operationId: string, tries: Record<string, Try['ask']>): Try[] =>
  Object.entries(tries).map(([name, ask]) => ({ operationId, name, ask }))

/** What an answer of either version brings. */
export const dataOf = ({ body }: Reply) => body.data ?? body

export const NO_CHARGE = 'charge_00000000000000000000000000'
export const NO_CUSTOMER = 'clnt_00000000000000000000000000'
export const NO_PRODUCT = 'prod_00000000000000000000000000'
