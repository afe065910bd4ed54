import type { Event } from '../../../packages/client/src/index.ts'
import { subjectOf } from './events.ts'
import type { Forwarded } from './listen-forward.ts'
import { localTime, plain, plainLines } from './output.ts'

/** An event, and how it was answered. */
export type Entry = {
  event: Event
  /** Null if events are only shown, or while it is being sent. */
  forwarded: Forwarded | null
  /** How often it was sent. */
  attempt: number
  /** Whether it is being sent again. */
  isSending?: boolean
}

/** Where a listener shows what happens. */
export type View = {
  /** Adds an event, or shows its new answer. */
  show(entry: Entry): Promise<void>
  /** A sentence for people. */
  note(text: string): void
  close(): void
}

const TYPE_WIDTH = 26
/** The day before a time, and a space. */
const DAY_WIDTH = 11

/** One line about an event. */
export function lineOf(entry: Entry): string {
  const { time, type, answer, about, url } = wordsOf(entry)
  return lineWith([time, type, ...about, ...answer.slice(0, 1), url, ...answer.slice(1)])
}

/** The same for a screen, which cuts what is too long: how it was answered comes first. */
export function screenLineOf(entry: Entry): string {
  const { time, type, answer, about, url } = wordsOf(entry)
  return lineWith([time.slice(DAY_WIDTH), type, ...answer, ...about, url])
}

function wordsOf({ event, forwarded, attempt, isSending }: Entry) {
  const again = attempt > 1 ? `(sent ${attempt} times)` : ''
  const outcome = isSending ? '→ …' : forwarded ? `→ ${answerOf(forwarded)}` : ''
  return {
    time: localTime(event.createdAt),
    type: event.type.padEnd(TYPE_WIDTH),
    answer: [outcome, again],
    about: [event.id, subjectOf(event), event.redelivery ? '(redelivered)' : ''],
    url: forwarded?.url ?? '',
  }
}

const lineWith = (words: string[]): string => plain(words.filter(Boolean).join('  '))

function answerOf({ status, error, latency_ms }: Forwarded): string {
  const outcome = status === null ? `no answer: ${error}` : String(status)
  const why = status !== null && error ? ` (${error})` : ''
  return `${outcome}${why} in ${latency_ms} ms`
}

/** All about an event: its body, the request that was sent and its answer. */
export function detailsOf({ event, forwarded }: Entry): string {
  const lines = [
    `${event.type}  ${event.id}  ${localTime(event.createdAt)}`,
    JSON.stringify(event.data, null, 2),
  ]
  if (forwarded) {
    lines.push('', `POST ${forwarded.url}`)
    for (const [name, value] of Object.entries(forwarded.headers)) lines.push(`${name}: ${value}`)
    lines.push('', `→ ${answerOf(forwarded)}`, forwarded.response)
  }
  return plainLines(lines.join('\n'))
}

/** The same for programs. */
export const jsonOf = ({ event, forwarded, attempt }: Entry): string =>
  JSON.stringify({
    event,
    attempt,
    forwarded: forwarded && {
      url: forwarded.url,
      status: forwarded.status,
      error: forwarded.error,
      latencyMs: forwarded.latency_ms,
      response: forwarded.response,
    },
  })

/** Prints a line for each event. Sentences go to standard error: programs read the lines. */
export function lineView(
  print: (text: string) => Promise<void>,
  warn: (text: string) => void,
  isJson: boolean,
): View {
  return {
    show: (entry) => print(`${isJson ? jsonOf(entry) : lineOf(entry)}\n`),
    note: (text) => warn(`${plain(text)}\n`),
    close() {},
  }
}
