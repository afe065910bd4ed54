import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { CHARGES, type Resource } from '../../src/provider/bacen/profile.ts'
import { type Answer, type Call, type Handlers, refuse } from './answers.ts'
import type { Books } from './books.ts'
import { charges } from './charges.ts'
import { collections } from './collections.ts'
import { DISPUTE_OPERATIONS, disputes } from './disputes.ts'
import { apiPix, type Operation, type Params } from './document.ts'
import type { Fault, FaultSchedule } from './faults.ts'
import { type Client, demandFault, type TokenIssuer } from './oauth.ts'
import { received } from './pix.ts'
import { recurrences } from './recurrences.ts'
import { SEND_OPERATIONS, sends } from './sends.ts'
import { GATEWAY_404, inStyle, type Style, understood } from './style.ts'
import { type CallbackSender, webhooks } from './webhooks.ts'

export type Parts = {
  books: Books
  tokenIssuer: TokenIssuer
  faultSchedule: FaultSchedule
  client: Client
  violations: string[]
  callbackSender: CallbackSender
}

/** A request that was received; its status is null if it was not answered. */
export type HandledRequest = {
  operation: string
  path: string
  status: number | null
  fault: Fault | null
  userAgent: string | null
}

type Found = {
  operation: string
  scopes: string[]
  params: Params
  /** Null for what the document does not have. */
  known: Operation | null
}

type Incoming = { method: string; path: string; query: Params; headers: Params; text: string }

const TOKEN = 'POST token'
const PAGE = '<!doctype html><title>Manutenção</title><h1>Serviço indisponível</h1>'

export function createRequestHandler(parts: Parts) {
  const { books, faultSchedule } = parts
  const seen: HandledRequest[] = []
  const handlers: Handlers = {
    ...charges(books),
    ...received(books),
    ...recurrences(books),
    ...collections(books),
    ...webhooks(books, () => parts.callbackSender),
    ...sends(books),
    ...disputes(books),
  }
  const serve = async (request: IncomingMessage, reply: ServerResponse): Promise<void> => {
    const incoming = await read(request)
    const { method, path } = incoming
    const isToken = method === 'POST' && tokenPathsOf(books).includes(path)
    const found = isToken ? null : find(books, method, path)
    const operation = isToken ? TOKEN : (found?.operation ?? `${method} ${path}`)
    const fault = faultSchedule.ofCall(operation)
    const userAgent = incoming.headers['user-agent'] ?? null
    const entry: HandledRequest = { operation, path, status: null, fault, userAgent }
    seen.push(entry)
    if (fault === 'drop') return void request.socket.destroy()
    if (fault === 'expired token') parts.tokenIssuer.revoke()
    const answer =
      answerOfFault(fault, seen.length) ?? (await act(parts, handlers, found, incoming))
    if (fault === 'lose answer') return void request.socket.destroy()
    if (fault === 'slow')
      await Promise.race([faultSchedule.held(), gone(request.socket as TLSSocket)])
    entry.status = fault === '5xx after effect' ? 500 : answer.status
    const { clock, style } = books
    reply.setHeader('date', new Date(clock.now().getTime() + style.ahead_s * 1000).toUTCString())
    write(reply, answerAfter(fault, answer))
  }
  return { seen, serve }
}

const answerAfter = (fault: Fault | null, answer: Answer): Answer => {
  if (fault === '5xx after effect') return unavailable(500)
  return fault === 'empty after effect' ? { status: 200, body: {} } : answer
}

const gone = (socket: TLSSocket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) resolve()
    else socket.once('close', () => resolve())
  })

const unavailable = (status: number): Answer =>
  refuse(status, 'ServicoIndisponivel', 'Serviço não está disponível no momento.')

/** The answer of a fault, if it replaces the one of the bank: then no handler runs. */
function answerOfFault(fault: Fault | null, n: number): Answer | null {
  if (fault === '5xx') return unavailable(503)
  if (fault === 'refuse') return refuse(400, 'RequisicaoRecusada', 'A operação não é permitida.')
  if (fault === 'conflict') return refuse(409, 'RequisicaoEmConflito', 'Há outra em andamento.')
  const wait = (seconds: number) => ({ headers: { 'retry-after': String(seconds) } })
  if (fault === 'too many') return { ...refuse(429, 'MuitasRequisicoes'), ...wait(0) }
  if (fault === 'busy') return { ...unavailable(503), ...wait(0) }
  if (fault === 'busy for long') return { ...unavailable(503), ...wait(3600) }
  if (fault === 'html') return { status: 502, body: PAGE }
  if (fault === 'html 200') return { status: 200, body: PAGE }
  if (fault === 'gateway 404') return { status: 404, body: GATEWAY_404[n % GATEWAY_404.length] }
  return null
}

async function act(
  parts: Parts,
  handlers: Handlers,
  found: Found | null,
  incoming: Incoming,
): Promise<Answer> {
  const { books, tokenIssuer, violations } = parts
  const { method, path, query, headers, text } = incoming
  if (method === 'POST' && books.style.token.closed.includes(path)) return refuse(404, 'NaoExiste')
  if (method === 'POST' && tokenPathsOf(books).includes(path))
    return tokenIssuer.issue(styleAt(books, path), { path, query, headers, text })
  const refused = admission(parts, found, incoming)
  if (refused) return inStyle(books.style, refused)
  if (!found) return inStyle(books.style, refuse(404, 'NaoEncontrado'))
  const call: Call = { params: found.params, query: ownQuery(books, query), headers, body: null }
  const faults = readBody(call, text)
  faults.push(...(found.known ? apiPix().requestFaults(found.known, call) : []))
  faults.push(...dateFaults(books, call.query))
  violations.push(...faults.map((fault) => `${found.operation} ${fault}`))
  if (faults.length > 0) return inStyle(books.style, refuse(400, 'RequisicaoInvalida', ...faults))
  call.query = understood(books.style, call.query)
  const answer = await handlers[found.operation]!(call)
  violations.push(...answerFaults(found, answer).map((fault) => `${found.operation} ${fault}`))
  return inStyle(books.style, answer)
}

/** The answer that refuses a call before its handler runs, or null. */
function admission(parts: Parts, found: Found | null, incoming: Incoming): Answer | null {
  const { books, tokenIssuer, client, violations } = parts
  const { method, path, headers } = incoming
  if (!found) {
    violations.push(`${method} ${path}: the document has no such operation`)
    return null
  }
  const apart = isOfAgreements(found) ? books.style.agreements : null
  const tokenPath = apart?.path ?? books.style.token.path
  const denied = tokenIssuer.refusal(headers.authorization, found.scopes, tokenPath)
  if (denied) return refuse(denied.status, 'AcessoNegado', denied.body.error)
  const demands = [...books.style.demands, ...(apart?.demands ?? [])]
  const demanded = demandFault(demands, client, incoming)
  if (!demanded) return null
  violations.push(`${found.operation}: ${demanded}`)
  return refuse(403, 'AcessoNegado', demanded)
}

/** The resources that are part of an operation's path, by what it begins with. */
const resourceOf = (path: string): Resource => path.split('/')[1] as Resource

function find({ style }: Books, method: string, path: string): Found | null {
  for (const [resource, prefix] of Object.entries(style.paths)) {
    if (prefix === null || !path.startsWith(`${prefix}/`)) continue
    const own = path.slice(prefix.length)
    const found = resourceOf(own) === resource ? apiPix().find(method, own) : null
    if (!found) continue
    const { operation, params } = found
    const name = `${method} ${operation.path}`
    const scopes = operation.scopes.map((scope) => ownScope(style, scope))
    return { operation: name, scopes, params, known: operation }
  }
  const beside = [
    ...(style.sends ? SEND_OPERATIONS[style.sends] : []),
    ...(style.disputes ? DISPUTE_OPERATIONS[style.disputes] : []),
  ]
  for (const one of beside) {
    const match = one.method === method ? one.form.exec(path) : null
    const operation = `${method} ${one.path}`
    if (match) return { operation, scopes: one.scopes, params: { ...match.groups }, known: null }
  }
  return null
}

/** All addresses that are asked for tokens. */
const tokenPathsOf = ({ style: { token, agreements } }: Books): string[] => [
  token.path,
  ...token.closed,
  ...(agreements ? [agreements.path] : []),
]

/** How tokens are requested at an address: for agreements apart, everything is in the body. */
function styleAt({ style }: Books, path: string): Style {
  if (path !== style.agreements?.path) return style
  return { ...style, token: { ...style.token, client: 'body', body: 'form', grant: 'body' } }
}

const isOfAgreements = ({ known }: Found): boolean =>
  known !== null && !CHARGES.includes(resourceOf(known.path))

/** The name that a bank has for a scope of the document. */
const ownScope = ({ scopes }: Style, scope: string): string =>
  scopes.locrec === undefined ? scope : scope.replace(/^payloadlocationrec/, scopes.locrec)

/** Without the fields that a bank demands in every query, because the document has none of them. */
function ownQuery({ style }: Books, query: Params): Params {
  const own = { ...query }
  for (const { name, place } of style.demands) if (place !== 'header') delete own[name]
  return own
}

function readBody(call: Call, text: string): string[] {
  call.body = undefined
  if (text === '') return []
  if (!call.headers['content-type']?.startsWith('application/json')) return ['body: not JSON']
  try {
    call.body = JSON.parse(text)
    return []
  } catch {
    return ['body: not JSON']
  }
}

function dateFaults({ style }: Books, { inicio = '', fim = '' }: Params): string[] {
  return style.dates === 'seconds' && /\.\d+/.test(inicio + fim) ? ['query: milliseconds'] : []
}

/** Of refusals that the document does not list, the form at least is the one of a problem. */
function answerFaults({ known }: Found, { status, body }: Answer): string[] {
  if (!known || (status >= 400 && !(status in known.tree.responses))) return []
  return apiPix().answerFaults(known, status, body)
}

async function read(request: IncomingMessage): Promise<Incoming> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const { pathname, searchParams } = new URL(request.url!, 'https://bank')
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
  return {
    method: request.method!,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: Object.fromEntries(headers),
    text: Buffer.concat(parts).toString('utf8'),
  }
}

function write(reply: ServerResponse, { status, body, headers = {} }: Answer): void {
  if (body === undefined) return void reply.writeHead(status, headers).end()
  const isPage = typeof body === 'string'
  const json = status >= 400 ? 'application/problem+json' : 'application/json'
  const type = isPage ? 'text/html; charset=utf-8' : json
  reply.writeHead(status, { ...headers, 'content-type': type })
  reply.end(isPage ? body : JSON.stringify(body))
}
