import { refusal } from './lookup.ts'

/**
 * One answer of HTTP/1.1, read as its bytes come. They come as a text in latin1, one character a
 * byte, since that is the cheapest to search. Who sends them may be broken or hostile: nothing is
 * guessed, and whatever is kept is bounded.
 */
export type Answer = {
  step: keyof typeof STEPS | 'done'
  /** Of the answer itself, not of those that only announce it. */
  status: number | null
  /** The beginning of the body, and how much of it has come. */
  body: string
  read: number
  /** How many seconds the server keeps the connection for another request; 0 if it does not. */
  lasts_s: number
  /** All that has come, that too which is no part of the body. */
  received: number
  /** What has come of a head or line that is not complete. */
  begun: string
  /** How much of the body, or of its present chunk, is still to come. */
  left: number
  trailer: number
}

const MAX_HEAD = 16 * 1024
/** All bytes of an answer: head and body, and what surrounds them. */
const MAX_RECEIVED = 128 * 1024
/** Of the body. */
const KEPT = 1024

export const newAnswer = (): Answer => ({
  ...{ step: 'head', status: null, body: '', read: 0, lasts_s: 0 },
  ...{ received: 0, begun: '', left: 0, trailer: 0 },
})

/** Reads on; throws where the answer makes no sense. What comes after its end condemns the rest. */
export function feed(answer: Answer, text: string): void {
  answer.received += text.length
  let at = 0
  while (at < text.length && answer.step !== 'done') at = STEPS[answer.step](answer, text, at)
  if (at < text.length) answer.lasts_s = 0
  if (answer.received > MAX_RECEIVED) throw refusal('answer too long')
}

/** The connection has ended, and with it the answer, if that is how it was to end. */
export function isWhole(answer: Answer): boolean {
  return answer.step === 'done' || answer.step === 'untilClose'
}

const STEPS = {
  head(answer: Answer, text: string, at: number): number {
    // The usual case: a head that comes as a whole.
    const whole = answer.begun === '' ? text.indexOf('\r\n\r\n', at) : -1
    if (whole >= 0) return begin(answer, text.slice(at, whole), whole + 4)
    const had = answer.begun.length
    const all = answer.begun + text.slice(at)
    const end = all.indexOf('\r\n\r\n', Math.max(0, had - 3))
    if (!'HTTP/1.'.startsWith(all.slice(0, 7))) throw notUnderstood()
    if (end < 0) return put(answer, all, MAX_HEAD, text)
    return begin(answer, all.slice(0, end), at + end + 4 - had)
  },
  length: (answer: Answer, text: string, at: number): number => {
    const end = take(answer, text, at)
    if (answer.left === 0) answer.step = 'done'
    return end
  },
  untilClose(answer: Answer, text: string, at: number): number {
    answer.left = text.length - at
    return take(answer, text, at)
  },
  chunk(answer: Answer, text: string, at: number): number {
    return line(answer, text, at, (size) => {
      answer.left = sizeOf(size)
      answer.step = answer.left > 0 ? 'data' : 'trailer'
    })
  },
  data(answer: Answer, text: string, at: number): number {
    const end = take(answer, text, at)
    if (answer.left === 0) answer.step = 'dataEnd'
    return end
  },
  dataEnd(answer: Answer, text: string, at: number): number {
    return line(answer, text, at, (rest) => {
      if (rest !== '') throw notUnderstood()
      answer.step = 'chunk'
    })
  },
  trailer(answer: Answer, text: string, at: number): number {
    return line(answer, text, at, (field) => {
      answer.trailer += field.length + 2
      if (answer.trailer > MAX_HEAD) throw notUnderstood()
      if (field === '') answer.step = 'done'
      else fieldOf(field)
    })
  },
}

const notUnderstood = () => refusal('answer not understood')

/** Keeps what has begun until the rest of it comes. */
function put(answer: Answer, all: string, most: number, text: string): number {
  if (all.length > most) throw notUnderstood()
  answer.begun = all
  return text.length
}

/** Takes one line, its end not included, once there is a whole one. */
function line(answer: Answer, text: string, at: number, act: (line: string) => void): number {
  const had = answer.begun.length
  const all = answer.begun + text.slice(at)
  const end = all.indexOf('\r\n', Math.max(0, had - 1))
  if (end < 0 && all.length > MAX_HEAD && answer.step === 'chunk') throw refusal('answer too long')
  if (end < 0) return put(answer, all, MAX_HEAD, text)
  answer.begun = ''
  act(all.slice(0, end))
  return at + end + 2 - had
}

/** Takes what there is of the body. */
function take(answer: Answer, text: string, at: number): number {
  const end = Math.min(text.length, at + answer.left)
  const missing = KEPT - answer.body.length
  if (missing > 0) answer.body += text.slice(at, Math.min(end, at + missing))
  answer.read += end - at
  answer.left -= end - at
  return end
}

const SIZE = /^([0-9a-f]{1,8})[ \t]*(;[\t\x20-\x7e\x80-\xff]*)?$/i

function sizeOf(line: string): number {
  const found = SIZE.exec(line)
  if (!found) throw notUnderstood()
  return Number.parseInt(found[1]!, 16)
}

/** What a head says of its answer. */
type Head = { status: number; lasts_s: number; framing: Framing; length: number }
type Framing = 'done' | 'length' | 'chunk' | 'untilClose'

function begin(answer: Answer, text: string, end: number): number {
  const { status, lasts_s, framing, length } = headOf(text)
  answer.begun = ''
  // It only says that the answer itself is still to come.
  if (status < 200) return end
  Object.assign(answer, { status, lasts_s, left: length, step: framing })
  return end
}

/** The same server says nearly the same each time, so that its last head often is the next one. */
let last: { text: string; head: Head } | null = null

function headOf(text: string): Head {
  if (last?.text === text) return last.head
  if (text.length > MAX_HEAD) throw notUnderstood()
  const head = understood(text.split('\r\n'))
  last = { text, head }
  return head
}

const STATUS = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
/** Unless it says otherwise, a server keeps a connection for longer than we do. */
const LASTS_S = 3600

function understood([first, ...lines]: string[]): Head {
  const found = STATUS.exec(first!)
  // Nobody was asked to change the protocol.
  if (!found || found[2] === '101') throw notUnderstood()
  const fields = fieldsOf(lines)
  const status = Number(found[2])
  const framed = framingOf(status, fields)
  const isOpen = found[1] === '1' && !/(^|[ \t,])close($|[ \t,])/i.test(fields.connection ?? '')
  const offered = /(?:^|[ \t,])timeout=(\d{1,6})/i.exec(fields['keep-alive'] ?? '')
  const lasts_s = isOpen && framed.framing !== 'untilClose' ? Number(offered?.[1] ?? LASTS_S) : 0
  return { status, lasts_s, ...framed }
}

type Fields = Record<'connection' | 'keep-alive' | 'content-length' | 'transfer-encoding', string>

/** The fields by which an answer is read. Where one comes twice, so do its values. */
function fieldsOf(lines: string[]): Partial<Fields> {
  const fields: Partial<Fields> = {}
  for (const line of lines) {
    const [given, value] = fieldOf(line)
    const name = given.toLowerCase() as keyof Fields
    if (!READ.includes(name)) continue
    fields[name] = fields[name] === undefined ? value : `${fields[name]},${value}`
  }
  return fields
}

const READ = ['connection', 'keep-alive', 'content-length', 'transfer-encoding']
const FIELD = /^([!#$%&'*+\-.^_`|~\w]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/

function fieldOf(line: string): [name: string, value: string] {
  const found = FIELD.exec(line)
  if (!found) throw notUnderstood()
  return [found[1]!, found[2]!.trimEnd()]
}

/** How the end of the body is known. Two ways to tell are one too many. */
function framingOf(status: number, fields: Partial<Fields>): Pick<Head, 'framing' | 'length'> {
  const { 'content-length': length, 'transfer-encoding': coding } = fields
  if (length !== undefined && (coding !== undefined || !/^\d{1,15}$/.test(length))) {
    throw notUnderstood()
  }
  if (status < 200 || status === 204 || status === 304) return { framing: 'done', length: 0 }
  if (coding !== undefined) {
    return { framing: /(^|[ \t,])chunked$/i.test(coding) ? 'chunk' : 'untilClose', length: 0 }
  }
  if (length === undefined) return { framing: 'untilClose', length: 0 }
  return { framing: Number(length) > 0 ? 'length' : 'done', length: Number(length) }
}
