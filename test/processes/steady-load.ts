import { Agent, type IncomingMessage, request as open } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { payer } from '../support/api.ts'

/** Between two requests of a client. The rest of the processor is left to processes that start. */
const PACE_MS = 40
/** More than any request takes that is answered at all. */
const LATE_MS = 30_000

/** Sends a request over a connection of its kind, and gives the status and the body. */
type Send = (method: string, path: string, json?: unknown) => Promise<[number, string]>

/** A client: how it keeps its connections. */
type Kind = (url: string, apiKey: string) => { send: Send; close(): Promise<void> }

const headersOf = (apiKey: string) => ({ 'X-API-KEY': apiKey, 'Content-Type': 'application/json' })
const bodyOf = (json: unknown) => (json === undefined ? '' : JSON.stringify(json))

/** By Node's own client, which tells whoever uses it of each connection that is reset. */
const byNode =
  (keepAlive: boolean): Kind =>
  (url, apiKey) => {
    const agent = new Agent({ keepAlive, maxSockets: 1 })
    const send: Send = (method, path, json) =>
      new Promise((resolve, reject) => {
        const asking = open(url + path, { agent, method, headers: headersOf(apiKey) })
        asking.setTimeout(LATE_MS, () => asking.destroy(new Error('no answer in time')))
        asking.on('error', reject)
        asking.on('response', (reply: IncomingMessage) => {
          let text = ''
          reply.setEncoding('utf8').on('data', (chunk) => {
            text += chunk
          })
          reply.on('error', reject)
          reply.on('end', () => resolve([reply.statusCode!, text]))
        })
        asking.end(bodyOf(json))
      })
    return { send, close: async () => agent.destroy() }
  }

/** By the client that Node's fetch uses. */
const byUndici: Kind = (url, apiKey) => {
  const pool = new Pool(url, { connections: 2, pipelining: 1, headersTimeout: LATE_MS })
  return {
    async send(method, path, json) {
      const asking = { method: method as 'GET', path, headers: headersOf(apiKey) }
      const { statusCode, body } = await pool.request({ ...asking, body: bodyOf(json) || null })
      return [statusCode, await body.text()]
    },
    close: () => pool.close(),
  }
}

const KINDS: Record<string, Kind> = {
  'kept by Node': byNode(true),
  'kept by undici': byUndici,
  'new each time': byNode(false),
}

export type SteadyLoad = {
  answered(): number
  /** Each request that was refused, reset, late, or answered with a 5xx, in words. */
  failed: string[]
  /** The longest time that a request took. */
  slowest_ms(): number
  /** Ends it when all have their answers. */
  end(): Promise<void>
}

/** Creates and reads charges and pages by clients of all kinds. No request is tried again. */
export function startSteadyLoad(url: string, apiKey: string, clientsOfKind = 2): SteadyLoad {
  let [answered, slowest_ms, isOver] = [0, 0, false]
  const failed: string[] = []

  async function watch(kind: string, act: () => Promise<[number, string]>): Promise<string> {
    const from = performance.now()
    try {
      const [status, text] = await act()
      answered += 1
      slowest_ms = Math.max(slowest_ms, performance.now() - from)
      if (status >= 400) failed.push(`${kind}: ${status} ${text.slice(0, 200)}`)
      return status < 400 ? text : ''
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      failed.push(`${kind}: ${code ?? ''} ${message}`)
      return ''
    }
  }
  async function work(kind: string): Promise<void> {
    const { send, close } = KINDS[kind]!(url, apiKey)
    while (!isOver) {
      const charge = { amount: 1000, customer: payer(), devMode: true }
      const made = await watch(kind, () => send('POST', '/charge/pix', charge))
      if (made !== '') {
        const { id, url: page } = JSON.parse(made).data
        await watch(kind, () => send('GET', `/charge/${id}`))
        await watch(kind, () => send('GET', new URL(page).pathname))
      }
      await pause(PACE_MS)
    }
    await close()
  }
  const names = Object.keys(KINDS).flatMap((kind) => Array(clientsOfKind).fill(kind) as string[])
  const all = Promise.all(names.map(work))
  return {
    answered: () => answered,
    failed,
    slowest_ms: () => slowest_ms,
    async end() {
      isOver = true
      await all
    },
  }
}
