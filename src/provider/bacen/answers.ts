import type { Outcome } from '../port.ts'
import { type Fields, fieldsOf, listOf, plainWords, shortened, textOf } from './text.ts'

/** How a bank has answered one request. */
export type Reply =
  /** `isEmpty` if the status of the answer is 204. */
  | { kind: 'done'; body: Fields; isEmpty?: boolean }
  /** The bank says that it has no such record. */
  | { kind: 'missing'; reason: string }
  /** The bank has understood the request and has done nothing. */
  | { kind: 'refused'; reason: string; status: number | null }
  /** The bank may have done it or not. */
  | Unknown
export type Unknown = {
  kind: 'unknown'
  reason: string
  /** Whether the connection failed, and not the request. */
  isConnection?: boolean
  /** Whether the bank does not accept our token. */
  isUnauthorized?: boolean
  /** Whether nothing was sent, because there was no connection. */
  isUnsent?: boolean
  /** How long to wait before the next request, if the bank says so. */
  retryAfter_s?: number
  /** Whether the bank has certainly done nothing, because it gets too many requests. */
  isUndone?: boolean
}
export type Failure = Exclude<Reply, { kind: 'done' }>

export const NOT_ACCEPTED = 'the bank does not accept the certificate'

export const accept = <T>(value: T): Outcome<T> => ({ kind: 'accepted', value })
export const reject = (reason: string): Outcome<never> => ({ kind: 'rejected', reason })
export const unsure = (reason: string, retryAfter_s?: number): Outcome<never> => ({
  kind: 'unknown',
  reason,
  ...(retryAfter_s === undefined ? {} : { retryAfter_s }),
})

/** The outcome of an order that was not done. If the bank has understood it, it is rejected. */
export const notDone = (failure: Failure): Outcome<never> =>
  failure.kind === 'unknown' ? notAnswered(failure) : reject(failure.reason)

/** The outcome of a question without an answer: always unknown. */
export const notAnswered = (failure: Failure): Outcome<never> =>
  unsure(failure.reason, failure.kind === 'unknown' ? failure.retryAfter_s : undefined)

/** Statuses that say nothing about the order, because they are temporary or about access. */
const TEMPORARY = new Set([401, 407, 408, 425, 429])

const NO_CONTENT = 204
/** How web servers refuse a certificate, if they do not close the connection. */
const NO_CERTIFICATE = /SSL certificate (error|was sent)|required SSL certificate/i

/** Reads an answer. If it is a page for people, such as one of a gateway, it is unknown. */
export function replyOf(status: number, text: string): Reply {
  const body = parsed(text)
  const isDone = status >= 200 && status < 300
  if (status === NO_CONTENT) return { kind: 'done', body: {}, isEmpty: true }
  if (isDone && body) return { kind: 'done', body }
  if (isDone) return { kind: 'unknown', reason: 'the answer of the bank is not understood' }
  const isRefusal = status >= 400 && status < 500 && body !== null && !TEMPORARY.has(status)
  const isUnaccepted = body === null && NO_CERTIFICATE.test(text)
  const reason =
    (body && wordsOf(body)) ||
    (isUnaccepted ? NOT_ACCEPTED : `the bank answers with status ${status}`)
  if (!isRefusal) return { kind: 'unknown', reason, isUnauthorized: status === 401 }
  if (isMissing(status, body)) return { kind: 'missing', reason }
  return status === 404 || status === 410
    ? { kind: 'unknown', reason }
    : { kind: 'refused', reason, status }
}

/** An empty answer has no fields. Null when it is no JSON object or list. */
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

/** How banks name the fault that there is no such record. */
const NO_SUCH = /(nao_encontrad[ao]|NaoEncontrad[ao])$/
/** How banks describe it, in Portuguese. */
const NOT_FOUND =
  /(n[ãa]o( foi| foram)?|nenhuma?( \S+){0,3}) (encontrad|localizad|existe)|inexistente/i
/** If the text names a route, a gateway has not found it, and it says nothing about the bank. */
const ROUTE = /\b(rota|p[áa]gina|url|uri|endpoint|path|caminho|servi[çc]o|api|host)s?\b/i

/**
 * Whether the bank says that it has no such record. A gateway in front of the bank answers with 404
 * too, if it is set up wrongly or the bank is down, and does not know the bank's records. So a 404
 * counts only in the bank's own form: with the scheme's name of the fault, or in the bank's words.
 * Some banks answer with status 400 and the name.
 */
function isMissing(status: number, body: Fields): boolean {
  const isNamed = NO_SUCH.test(textOf(body.nome) ?? textOf(body.type) ?? '')
  if (status !== 404 && status !== 410) return status === 400 && isNamed
  const words = wordsOf(body)
  return isNamed || (NOT_FOUND.test(words) && !ROUTE.test(words))
}

const WORDS = [
  'detail',
  'detalheErro',
  'mensagem',
  'mensagemErro',
  'message',
  'error_description',
  'title',
  'error',
  'erro',
]
const LISTS = ['erros', 'errors', 'mensagens', 'erro', 'error']

/** The bank's description of what is wrong, in any of the known forms. */
export function wordsOf(body: Fields): string {
  const own = firstOf(body, WORDS)
  const inner = LISTS.flatMap((name) => [...listOf(body[name]), fieldsOf(body[name])])
  const described = own ?? inner.map((entry) => firstOf(entry, WORDS)).find((text) => text !== null)
  const violations = listOf(body.violacoes).map(violationOf)
  const texts = [described ?? '', ...violations].map(plainWords).filter((text) => text !== '')
  return shortened([...new Set(texts)].join('; '))
}

const firstOf = (fields: Fields, names: string[]): string | null =>
  names.map((name) => textOf(fields[name])).find((text) => text !== null) ?? null

/** Leaves out the wrong value, because it may be personal data. */
function violationOf({ propriedade, razao }: Fields): string {
  const where = textOf(propriedade)?.split('.').join(' ') ?? ''
  return [where, textOf(razao) ?? ''].filter((text) => text !== '').join(': ')
}
