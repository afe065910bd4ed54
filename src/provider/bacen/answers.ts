import type { Outcome } from '../port.ts'
import { type Fields, fieldsOf, listOf, plainWords, shortened, textOf } from './text.ts'

/** How a bank has answered one request. */
export type Reply =
  | { kind: 'done'; body: Fields }
  /** It says that there is no such thing. */
  | { kind: 'missing'; reason: string }
  /** It has understood and has done nothing. */
  | { kind: 'refused'; reason: string; status: number | null }
  /** It may have done it or not. */
  | Unknown
export type Unknown = {
  kind: 'unknown'
  reason: string
  /** The connection failed, and with it nothing but the connection. */
  isConnection?: boolean
  /** It does not take our token. */
  isUnauthorized?: boolean
}
export type Failure = Exclude<Reply, { kind: 'done' }>

export const accept = <T>(value: T): Outcome<T> => ({ kind: 'accepted', value })
export const reject = (reason: string): Outcome<never> => ({ kind: 'rejected', reason })
export const unsure = (reason: string): Outcome<never> => ({ kind: 'unknown', reason })

/** Of an order that was not carried out: a bank that has understood it has refused it. */
export const notDone = ({ kind, reason }: Failure): Outcome<never> =>
  kind === 'unknown' ? unsure(reason) : reject(reason)

/** Of a question: a bank that refuses to answer says nothing about what was asked. */
export const notTold = ({ reason }: Failure): Outcome<never> => unsure(reason)

/** Whatever passes is no word about the order: too slow, too many, or not let in. */
const PASSING = new Set([401, 407, 408, 425, 429])

/** Reads an answer. Pages for people, of a gateway or in a time of maintenance, say nothing. */
export function replyOf(status: number, text: string): Reply {
  const body = parsed(text)
  const isDone = status >= 200 && status < 300
  if (isDone && body) return { kind: 'done', body }
  if (isDone) return { kind: 'unknown', reason: 'the answer of the bank is not understood' }
  const isRefusal = status >= 400 && status < 500 && body !== null && !PASSING.has(status)
  const reason = (body && wordsOf(body)) || `the bank answers with status ${status}`
  if (!isRefusal) return { kind: 'unknown', reason, isUnauthorized: status === 401 }
  return isMissing(status, body) ? { kind: 'missing', reason } : { kind: 'refused', reason, status }
}

/** An empty answer is one without fields; null is what is no JSON of fields. */
function parsed(text: string): Fields | null {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value)) return { errors: value }
    return typeof value === 'object' && value !== null ? (value as Fields) : null
  } catch {
    return null
  }
}

/** Some say so with another status than 404, by the name of the fault. */
function isMissing(status: number, body: Fields): boolean {
  if (status === 404 || status === 410) return true
  const name = textOf(body.nome) ?? textOf(body.type) ?? ''
  return status === 400 && /(nao_encontrad[ao]|NaoEncontrad[ao])$/.test(name)
}

const WORDS = ['detail', 'mensagem', 'message', 'error_description', 'title', 'error', 'erro']
const LISTS = ['erros', 'errors', 'mensagens', 'erro', 'error']

/** What a bank says is wrong, in whichever of the known shapes it says so. */
export function wordsOf(body: Fields): string {
  const own = firstOf(body, WORDS)
  const inner = LISTS.flatMap((name) => [...listOf(body[name]), fieldsOf(body[name])])
  const said = own ?? inner.map((entry) => firstOf(entry, WORDS)).find((text) => text !== null)
  const violations = listOf(body.violacoes).map(violationOf)
  const texts = [said ?? '', ...violations].map(plainWords).filter((text) => text !== '')
  return shortened([...new Set(texts)].join('; '))
}

const firstOf = (fields: Fields, names: string[]): string | null =>
  names.map((name) => textOf(fields[name])).find((text) => text !== null) ?? null

/** The value that broke the rule may be somebody's, so it is left out. */
function violationOf({ propriedade, razao }: Fields): string {
  const where = textOf(propriedade)?.split('.').join(' ') ?? ''
  return [where, textOf(razao) ?? ''].filter((text) => text !== '').join(': ')
}
