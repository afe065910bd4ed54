import { Agent, request } from 'undici'
import type { FullApp } from '../../src/core/full-app.ts'
import type { Uuid } from '../../src/lib/ids.ts'

export type Shop = { id: Uuid; key: string }

/** The service that is attacked, and what an attack is prepared with. */
export type Scene = {
  url: string
  app: FullApp
  /** A new sandbox company with a key. */
  company(fields?: { email?: string }): Promise<Shop>
  world: World
  /** How large the figures are: 1 for all of them, less for the tests of every day. */
  scale: number
}

/** Who the service sends to: mail server and receivers on loopback. */
export type World = {
  smtpUrl: string
  /** A receiver answers after as many milliseconds as its path begins with. */
  receiverUrl: string
  /** Resolves when a mail to this address has arrived. */
  mailTo(address: string): Promise<void>
  /** Resolves when the receiver has got something at this path. */
  postTo(path: string): Promise<void>
  /** Answers at once what slow receivers have not answered yet. */
  release(): Promise<void>
}

/** What `open` gives to `send`, which runs in another process. */
export type Context = { keys: string[]; paths: string[] }

/** What attackers have: the address of the service, and connections to it. */
export type Outside = { url: string; agent: Agent; signal: AbortSignal }

export type Attack = {
  title: string
  /** Tries a second: what the limits allow, from so many companies or addresses as are named. */
  perSecond: number
  concurrency: number
  together?: number
  /** How tries may be answered; 0 is a connection that was closed. */
  statuses: number[]
  /** One of them that must be among the answers. */
  refusal?: number
  /** Whether tries last until they are stopped. */
  holds?: true
  /** Tries of the small version. */
  few: number
  /** Makes what the attack needs before anything is measured. */
  open(scene: Scene): Promise<Context>
  /** One try. Gives the status, or 0 when the connection was closed. */
  send(outside: Outside, context: Context, n: number): Promise<number>
  /** Begins what is not sent by attackers, and takes it back so that nothing of it is left. */
  begin?(scene: Scene, context: Context): Promise<void>
  calm?(scene: Scene, context: Context): Promise<void>
  /** Something else that a neighbour waits for, and for how long at most. */
  waiting?: { what: string; most_s: number; measure(scene: Scene): Promise<void> }
}

export type Sent = {
  method?: 'GET' | 'POST'
  path: string
  key?: string
  from?: string
  body?: string
  headers?: Record<string, string>
}

/** Sends a request and reads the answer to its end. */
export async function ask(outside: Outside, sent: Sent): Promise<number> {
  const { method = sent.body === undefined ? 'GET' : 'POST', path, key, from, body } = sent
  const { statusCode, body: answer } = await request(outside.url + path, {
    dispatcher: outside.agent,
    method,
    headers: {
      ...(key === undefined ? {} : { 'X-API-KEY': key }),
      ...(from === undefined ? {} : { 'X-Forwarded-For': from }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...sent.headers,
    },
    body: body ?? null,
  })
  await answer.dump({ limit: Number.POSITIVE_INFINITY })
  return statusCode
}

export const openAgent = (connections: number): Agent =>
  new Agent({ connections, pipelining: 1, bodyTimeout: 120_000, headersTimeout: 120_000 })

/** An address in an IPv6 network of its own, from those that are reserved for documentation. */
export const networkOf = (n: number): string =>
  `2001:db8:${((n >> 16) & 0xffff).toString(16)}:${(n & 0xffff).toString(16)}::1`

/** A figure of the full version, or of a smaller one. */
export const scaled = ({ scale }: Scene, figure: number): number => Math.ceil(figure * scale)

export const some = <T>(list: T[], n: number): T => list[n % list.length]!
