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
  /** What is in each name that the company shows or is given, and in no other company's. */
  mark?: string
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
  /** Those that have changed something, and said so. */
  acknowledged: number
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
  /** Had no answer until their deadline. */
  hung: number
  slowest_ms: number
}

/** A client that repeats a request, the same to the last byte, until it is answered. */
export type Caller = {
  tally: Tally
  /** Answers that showed another company's data, or said that the service is out of order. */
  leaks: string[]
  failures: string[]
  call(request: Request): Promise<Answer>
  /** Resolves when so many more requests were answered, or the load is to end. */
  progress(answers: number, signal: AbortSignal): Promise<void>
  /** Resolves when the next request that writes has succeeded. */
  written(): Promise<void>
  close(): Promise<void>
}

/** No request waits longer for its answer: a statement may take 30 s, and 5 s are for the rest. */
export const DEADLINE_MS = 35_000

const REFUSED = 'ECONNREFUSED'
const CUT = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
const HUNG = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])
const POSTPONED = new Set(['idempotency_in_progress', 'service_unavailable'])
const COME_AGAIN_MS = 100
/** How often a request is answered that the service is out of order, before it is given up. */
const MAX_FAILURES = 20

/** Why it is refused, or one charge of a batch, which the same request tries again. */
function codeIn({ body }: Answer): string {
  const refused = body?.data?.items?.find(({ errors }: { errors?: unknown }) => errors)
  return (refused?.errors ?? body?.errors)?.[0]?.code
}

/** Of all servers that work on one database, each request is sent to one that is there. */
export function createCaller(victims: Victim[]): Caller {
  const limits = { headersTimeout: DEADLINE_MS, bodyTimeout: DEADLINE_MS }
  const agent = new Agent({ connections: 128, pipelining: 1, ...limits })
  const tally: Tally = {
    answered: 0,
    acknowledged: 0,
    cut: 0,
    unknown: 0,
    resolved: 0,
    hadHappened: 0,
    refused: 0,
    postponed: 0,
    hung: 0,
    slowest_ms: 0,
  }
  const [leaks, failures]: string[][] = [[], []]
  const goals = new Set<{ at: number; reached(): void }>()
  let nextWrite = Promise.withResolvers<void>()
  let turn = 0

  function count(wasCut: boolean, { method }: Request, { replayed, status }: Answer): void {
    if (method === 'POST' && status < 300) {
      tally.acknowledged += 1
      nextWrite.resolve()
      nextWrite = Promise.withResolvers()
    }
    tally.answered += 1
    if (wasCut) tally.resolved += 1
    if (wasCut && replayed) tally.hadHappened += 1
    for (const goal of goals) if (tally.answered >= goal.at) goal.reached()
  }

  async function sendTo(url: string, asked: Request): Promise<Outcome> {
    const began_ms = performance.now()
    const outcome = await send(agent, url, asked, (text) => {
      const leak = otherMark(asked, text)
      if (leak) leaks!.push(`${asked.mark} was shown ${leak}: ${asked.method} ${asked.path}`)
    })
    tally.slowest_ms = Math.max(tally.slowest_ms, performance.now() - began_ms)
    if (outcome === 'hung') tally.hung += 1
    return outcome
  }

  async function nextServer(): Promise<Victim> {
    const serving = victims.filter((one) => one.isServing())
    if (serving.length > 0) return serving[turn++ % serving.length]!
    return Promise.race(victims.map((one) => one.serving().then(() => one)))
  }

  /** Whether it is to be sent again, because the service failed to tell why it refuses. */
  function isFailure(asked: Request, answer: Answer, times: number): boolean {
    if (answer.status < 500 || times >= MAX_FAILURES) return false
    failures!.push(`${asked.method} ${asked.path} was answered ${answer.status}`)
    return true
  }

  return {
    tally,
    leaks: leaks!,
    failures: failures!,
    async call(asked) {
      for (let [wasCut, failed] = [false, 0]; ; ) {
        const outcome = await sendTo((await nextServer()).url, asked)
        if (outcome === 'cut' || outcome === 'hung') {
          tally.cut += 1
          if (!wasCut) tally.unknown += 1
          wasCut = true
        } else if (outcome === 'refused' || POSTPONED.has(codeIn(outcome))) {
          tally[outcome === 'refused' ? 'refused' : 'postponed'] += 1
          await pause(COME_AGAIN_MS)
        } else if (isFailure(asked, outcome, failed)) {
          failed += 1
          await pause(COME_AGAIN_MS)
        } else {
          count(wasCut, asked, outcome)
          return outcome
        }
      }
    },
    written: () => nextWrite.promise,
    progress: (answers, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return resolve()
        const goal = {
          at: tally.answered + answers,
          reached() {
            clearTimeout(late)
            goals.delete(goal)
            signal.removeEventListener('abort', goal.reached)
            resolve()
          },
        }
        const late = setTimeout(() => {
          reject(new Error(`the load has stopped at ${tally.answered} answers`))
        }, MAX_WAIT_S * 1000)
        signal.addEventListener('abort', goal.reached)
        goals.add(goal)
      }),
    close: () => agent.destroy(),
  }
}

/** A mark of another company in an answer. */
function otherMark({ mark }: Request, text: string): string | undefined {
  if (mark === undefined) return undefined
  return text.match(MARKS)?.find((found) => found !== mark)
}
const MARKS = /loja\d+x/g
export const markOf = (number: number): string => `loja${number}x`

type Outcome = Answer | 'cut' | 'refused' | 'hung'

async function send(
  dispatcher: Agent,
  url: string,
  { method, path, json, apiKey, key }: Request,
  look: (text: string) => void,
): Promise<Outcome> {
  const headers = {
    ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(apiKey === null ? {} : { 'X-API-KEY': apiKey }),
    ...(key === null ? {} : { 'Idempotency-Key': key }),
  }
  const body = json === undefined ? null : JSON.stringify(json)
  try {
    const reply = await request(url + path, { dispatcher, method, headers, body })
    const text = await reply.body.text()
    look(text)
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
    if (HUNG.has(code)) return 'hung'
    throw error
  }
}
