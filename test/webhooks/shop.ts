import { after } from 'node:test'
import { createDeliveryWorker, type DeliveryWorker } from '../../src/worker/deliver.ts'
import { type Client, startApi } from '../support/api.ts'
import { makePaid } from '../support/payments.ts'

export type Shop = {
  client: Client
  /** Sells something, delivers its event, and returns the body of the delivery. */
  sell(amount: number): Promise<{ event: 'Charge.Paid'; charge: object }>
}

/** A company on a service whose clock is the real time, since receivers have no other. */
export async function openShop(): Promise<Shop> {
  let delivering: DeliveryWorker | null = null
  // What is to be closed first is named first: the service's own hooks take the database away.
  after(() => delivering?.close())
  const api = await startApi()
  const engine = createDeliveryWorker(api.app)
  delivering = engine
  api.clock.advance((Date.now() - api.clock.now().getTime()) / 1000)
  const client = await api.client()
  return {
    client,
    async sell(amount) {
      const { id } = await makePaid(api, client, amount)
      await engine.run()
      return { event: 'Charge.Paid', charge: { id, status: 'PAID', total: amount } }
    },
  }
}
