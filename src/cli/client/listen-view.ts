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
function lineOf(entry: Entry): string {
  const { time, type, answer, about, url } = wordsOf(entry)
  return lineWith([time, type, ...about, ...answer.slice(0, 1), url, ...answer.slice(1)])
}

/** The same for a screen, which cuts what is too long: how it was answered comes first. */
function screenLineOf(entry: Entry): string {
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
function detailsOf({ event, forwarded }: Entry): string {
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
const jsonOf = ({ event, forwarded, attempt }: Entry): string =>
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

/** The parts of a terminal that are used. */
export type Terminal = {
  input: {
    setRawMode(isRaw: boolean): unknown
    on(event: 'data', listener: (chunk: Buffer) => void): unknown
    off(event: 'data', listener: (chunk: Buffer) => void): unknown
    resume(): unknown
    pause(): unknown
  }
  output: {
    write(text: string): unknown
    columns?: number
    rows?: number
    on(event: 'resize', listener: () => void): unknown
    off(event: 'resize', listener: () => void): unknown
  }
}

/** What a person asks for by a key. */
export type Wishes = {
  retry(entry: Entry): void
  open(entry: Entry): void
  quit(): void
}

const HINT = '↑ ↓ select   r send again   d details   o open the page of the charge   q quit'
/** So many events can be selected. */
const MAX_ENTRIES = 500
/** Lines of the screen that the list leaves free. */
const FREE_LINES = 3
const [ESCAPE, CTRL_C] = ['\x1b', '\x03']
const [HIDE_CURSOR, SHOW_CURSOR, CLEAR_BELOW] = ['\x1b[?25l', '\x1b[?25h', '\x1b[J']
const [BOLD, DIM, PLAIN] = ['\x1b[1m', '\x1b[2m', '\x1b[0m']

type Line = { text: string; style: string }
type Size = Pick<Terminal['output'], 'columns' | 'rows'>

const widthOf = ({ columns = 80 }: Size): number => Math.max(20, columns - 1)

/** The events around the selected one, as many as there is room for. */
function linesOf(entries: Entry[], selected: number, size: Size): Line[] {
  const height = Math.max(3, (size.rows ?? 24) - FREE_LINES)
  const first = Math.max(0, Math.min(selected - height + 1, entries.length - height))
  return entries.slice(first, first + height).map((entry, i) => {
    const isSelected = first + i === selected
    const text = `${isSelected ? '❯' : ' '} ${screenLineOf(entry)}`.slice(0, widthOf(size))
    return { text, style: isSelected ? BOLD : '' }
  })
}

/** A terminal that has become narrower has broken the lines that are too long for it. */
function eraseOf(drawn: Line[], { columns = 80 }: Size): string {
  const rows = drawn.reduce((sum, { text }) => sum + Math.ceil(text.length / columns), 0)
  return rows > 0 ? `\x1b[${rows}A\r${CLEAR_BELOW}` : ''
}

/** A list of events at the end of the terminal, of which one is selected. */
export function openScreen({ input, output }: Terminal, wishes: Wishes): View {
  const entries: Entry[] = []
  let selected = 0
  let drawn: Line[] = []

  /** Draws the list again, after a text that stays above it. */
  function draw(above = '', hint = HINT): void {
    const lines = linesOf(entries, selected, output)
    if (hint !== '') lines.push({ text: hint.slice(0, widthOf(output)), style: DIM })
    const shown = lines.map(({ text, style }) => `${style}${text}${style && PLAIN}\n`)
    output.write(`${eraseOf(drawn, output)}${above}${shown.join('')}`)
    drawn = lines
  }

  function add(entry: Entry): void {
    const isAtEnd = selected >= entries.length - 1
    entries.push(entry)
    if (entries.length > MAX_ENTRIES) {
      entries.shift()
      selected = Math.max(0, selected - 1)
    }
    // Whoever has selected an older event keeps it.
    if (isAtEnd) selected = entries.length - 1
  }

  function press(key: string): void {
    const entry = entries[selected]
    let above = ''
    if (key === 'q' || key === CTRL_C) wishes.quit()
    else if (key === 'up') selected = Math.max(0, selected - 1)
    else if (key === 'down') selected = Math.max(0, Math.min(entries.length - 1, selected + 1))
    else if (entry && key === 'r') wishes.retry(entry)
    else if (entry && key === 'o') wishes.open(entry)
    else if (entry && key === 'd') above = `${detailsOf(entry)}\n`
    else return
    draw(above)
  }
  const receive = (chunk: Buffer) => {
    for (const key of keysOf(chunk.toString())) press(key)
  }
  const redraw = () => draw()

  input.setRawMode(true)
  input.on('data', receive)
  input.resume()
  output.on('resize', redraw)
  output.write(HIDE_CURSOR)
  draw()
  return {
    async show(entry) {
      if (!entries.includes(entry)) add(entry)
      draw()
    },
    note: (text) => draw(`${plain(text)}\n`),
    close() {
      input.off('data', receive)
      output.off('resize', redraw)
      input.setRawMode(false)
      input.pause()
      // The events stay, as what other commands print.
      draw('', '')
      output.write(SHOW_CURSOR)
    },
  }
}

/** Arrows are sent in two forms, and several keys may come together. */
const ARROW = `${ESCAPE}[[O]([A-D])`
const KEY = new RegExp(`${ARROW}|[\\s\\S]`, 'g')
const ARROWS: Record<string, string> = { A: 'up', B: 'down' }

const keysOf = (text: string): string[] =>
  [...text.matchAll(KEY)].map(([key, arrow]) => (arrow ? (ARROWS[arrow] ?? '') : key))
