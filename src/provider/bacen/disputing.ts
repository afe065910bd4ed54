import type { Provider } from '../port.ts'
import type { Bank } from './client.ts'

/** How one bank tells of disputes. API Pix has nothing for it, so each bank has its own way. */
export type Disputing = {
  list(bank: Bank, ...rest: Tail<Provider['listDisputes']>): ReturnType<Provider['listDisputes']>
  send(bank: Bank, ...rest: Tail<Provider['sendDefense']>): ReturnType<Provider['sendDefense']>
}
type Tail<F> = F extends (payee: never, ...rest: infer Rest) => unknown ? Rest : never
