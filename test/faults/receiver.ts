import { createHash } from 'node:crypto'
import { LIFE_HEADER } from '../deliveries/life.ts'
import { openReceiver } from '../support/receiver.ts'

/** What has arrived at the webhooks of all companies, each of which has one. */
export type Arrivals = {
  url: string
  /** By company and event, as `/3 evt_…`: when, from whom, and a hash of what came under which name. */
  byEvent: Map<string, Arrival[]>
  close(): Promise<void>
}

/** `life` is that of the worker that has sent it, if it says so. */
export type Arrival = { at_ms: number; digest: string; life: string }

/** Receivers take their time, so that a fault meets deliveries on their way. */
const THINKING_MS = 8

export async function openArrivals(): Promise<Arrivals> {
  const byEvent = new Map<string, Arrival[]>()
  const receiver = await openReceiver()
  receiver.answer = (response, { path, headers, body, at_ms }) => {
    // All that is needed of it is kept below.
    receiver.received.length = 0
    const hook = path.slice('/hook'.length)
    const name = `${hook} ${headers['webhook-id']}`
    const digest = createHash('sha256')
      .update(`${headers['x-webhook-delivery']} ${body}`)
      .digest('hex')
    const life = String(headers[LIFE_HEADER] ?? '')
    byEvent.set(name, [...(byEvent.get(name) ?? []), { at_ms, digest, life }])
    setTimeout(() => response.writeHead(200).end(), Math.random() * THINKING_MS)
  }
  return {
    url: receiver.url,
    byEvent,
    close: receiver.close,
  }
}
