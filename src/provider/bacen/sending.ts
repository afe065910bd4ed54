import type { Outcome, Payee, SendOrder, Sent, StoreReference } from '../port.ts'
import type { Bank } from './client.ts'

/** How one bank sends money. API Pix has nothing for it, so each bank has its own way. */
export type Sending = {
  send(bank: Bank, payee: Payee, order: SendOrder, store: StoreReference): Promise<Outcome<Sent>>
  find(bank: Bank, order: SendOrder): Promise<Outcome<Sent | null>>
}
