import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { MAX_WAIT_S } from '../support/until.ts'
import type { Victim } from './victim.ts'

export type Request = {
  method: 'GET' | 'POST'
  path: string
  json?: unknown
  /** Null for the bank, which knows no keys. */
  apiKey: string | null
  /** Its Idempotency-Key. */
  key: string | null
}

export type Answer = {
  status: number
  replayed: boolean
  /** Of the body's bytes. */
  digest: string
  // biome-ignore lint/suspicious/noExplicitAny: a client reads what it expects of a body
  body: any
}

/** What became of requests on the wire. */
export type Tally = {
  answered: number
  /** Connections that were lost while an answer was awaited. */
  cut: number
  /** Requests of which, after that, nobody knew whether they had been carried out. */
  unknown: number
  /** Of those: whose retry was answered, and whose retry said that they had been. */
  resolved: number
  hadHappened: number
  /** Came while the server was away. */
  refused: number
  /** Were asked to come again later. */
  postponed: number
}

/** A client that repeats a request, the same to the last byte, until it is answered. */
export type Caller = {
  tally: Tally
  call(request: Request): Promise<Answer>
  /** Resolves when so many more requests were answered. */
  progress(answers: number): Promise<void>
  /** Resolves when the next request that writes has succeeded. */
  written(): Promise<void>
  close(): Promise<void>
}

const REFUSED = 'ECONNREFUSED'
const CUT = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
const POSTPONED = new Set(['idempotency_in_progress', 'service_unavailable'])
const COME_AGAIN_MS = 100

const isPostponed = ({ body }: Answer): boolean => POSTPONED.has(body?.errors?.[0]?.code)

export function createCaller(victim: Victim): Caller {
  const agent = new Agent({ connections: 128, pipelining: 1 })
  const tally: Tally = {
    answered: 0,
    cut: 0,
    unknown: 0,
    resolved: 0,
    hadHappened: 0,
    refused: 0,
    postponed: 0,
  }
  const goals = new Set<{ at: number; reached(): void }>()
  let nextWrite = Promise.withResolvers<void>()

  function count(wasCut: boolean, { method }: Request, { replayed, status }: Answer): void {
    if (method === 'POST' && status < 300) {
      nextWrite.resolve()
      nextWrite = Promise.withResolvers()
    }
    tally.answered += 1
    if (wasCut) tally.resolved += 1
    if (wasCut && replayed) tally.hadHappened += 1
    for (const goal of goals) if (tally.answered >= goal.at) goal.reached()
  }

  return {
    tally,
    async call(asked) {
      for (let wasCut = false; ; ) {
        await victim.serving()
        const outcome = await send(agent, victim.url, asked)
        if (outcome === 'cut') {
          tally.cut += 1
          if (!wasCut) tally.unknown += 1
          wasCut = true
        } else if (outcome === 'refused' || isPostponed(outcome)) {
          tally[outcome === 'refused' ? 'refused' : 'postponed'] += 1
          await pause(COME_AGAIN_MS)
        } else {
          count(wasCut, asked, outcome)
          return outcome
        }
      }
    },
    written: () => nextWrite.promise,
    progress: (answers) =>
      new Promise((resolve, reject) => {
        const goal = {
          at: tally.answered + answers,
          reached() {
            clearTimeout(late)
            goals.delete(goal)
            resolve()
          },
        }
        const late = setTimeout(() => {
          reject(new Error(`the load has stopped at ${tally.answered} answers`))
        }, MAX_WAIT_S * 1000)
        goals.add(goal)
      }),
    close: () => agent.close(),
  }
}

async function send(
  dispatcher: Agent,
  url: string,
  { method, path, json, apiKey, key }: Request,
): Promise<Answer | 'cut' | 'refused'> {
  const headers = {
    ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(apiKey === null ? {} : { 'X-API-KEY': apiKey }),
    ...(key === null ? {} : { 'Idempotency-Key': key }),
  }
  const body = json === undefined ? null : JSON.stringify(json)
  try {
    const reply = await request(url + path, { dispatcher, method, headers, body })
    const text = await reply.body.text()
    return {
      status: reply.statusCode,
      replayed: reply.headers['idempotent-replayed'] === 'true',
      digest: createHash('sha256').update(text).digest('hex'),
      body: JSON.parse(text),
    }
  } catch (error) {
    const { code = '' } = error as { code?: string }
    if (code === REFUSED) return 'refused'
    if (CUT.has(code)) return 'cut'
    throw error
  }
}
