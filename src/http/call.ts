import type { FastifyReply, FastifyRequest } from 'fastify'
import { entryOf, recordActivity } from '../core/activity/record.ts'
import type { Change, Details } from '../core/activity/rules.ts'
import { forCompany, withCompanyClock } from '../core/companies/clock.ts'
import type { Company } from '../core/companies/rules.ts'
import type { FullApp } from '../core/full-app.ts'
import type { Act } from '../db/database.ts'
import type { Language } from '../lib/language.ts'
import { problem } from '../lib/problems.ts'
import { VERSIONS, type Version } from '../versions/history.ts'
import { canonical, canonicalInTurns } from './body.ts'
import { languageOfCall, renderFailure } from './failures.ts'
import { safeHeaders, warningHeader, warningsIn } from './headers.ts'
import {
  type Answer,
  createIdempotency,
  type Guard,
  type Idempotency,
  isStorable,
  REPLAYED,
  type Rendered,
} from './idempotency.ts'
import { IGNORED_FIELDS, type Input, inputReader } from './input.ts'
import { type Written, writeList } from './lists.ts'
import { nextLink } from './page.ts'
import type { Call, CsvDialect, CsvFile, Result, Route } from './route.ts'
import { isObject } from './schema.ts'
import { type Serialize, serializerOf } from './serializer.ts'

/** Numbers of an answer that say what was done. */
const FIGURES = ['amount', 'value', 'total', 'price', 'replayed', 'accepted', 'refused']

type Done = { params: Record<string, string>; sent: unknown; company: Company; data: unknown }

/** What an operation has changed, for the activity log. */
function changeOf(route: Route, { params, sent, company, data }: Done): Change {
  const { operationId: action, changes } = route
  const answer = isObject(data) ? data : {}
  const id = Object.values(params)[0] ?? idIn(answer) ?? company.id
  const { settled } = answer
  if (action === 'acceptPayment' && isObject(sent) && sent.chargeId && isObject(settled)) {
    const record = { type: 'charge' as const, id: String(settled.chargeId) }
    const details = { amount: Number(settled.amount), endToEndId: id }
    return { action: 'charge.settle', record, details }
  }
  return { action, record: { type: changes!.record, id }, details: detailsOf(route, sent, answer) }
}

function idIn({ endToEndId, ...answer }: Record<string, unknown>): string | undefined {
  const ids = [endToEndId, answer.id, answer.withdrawId, answer.correlationID]
  return ids.find((one) => typeof one === 'string')
}

/** Names of the fields that were sent, and figures. Other values may be private. */
function detailsOf(
  { method, body }: Route,
  sent: unknown,
  answer: Record<string, unknown>,
): Details | null {
  const details: Details = {}
  if (method === 'PUT' && isObject(sent)) {
    const known = (body as { properties?: object } | undefined)?.properties ?? {}
    const isChanged = (name: string) => name !== 'id' && Object.hasOwn(known, name)
    details.fields = Object.keys(sent).filter(isChanged)
  }
  for (const name of FIGURES) {
    const figure = answer[name]
    if (typeof figure === 'number') details[name] = figure
  }
  return Object.keys(details).length === 0 ? null : details
}

type Render = (data: unknown) => Rendered
/** A list is encoded in pieces, because it may be long. */
type RenderList = (data: unknown[]) => Promise<{ status: number; body: Buffer[] }>
type Sent = Pick<Answer, 'status' | 'headers'> & { body: string | Buffer[] }

type Rendering = {
  render: Render
  renderList: RenderList
  /** The text of a body that may be long, by which a repeated request is recognized. */
  text: string | null
}

/** Creates the handler of a route: validate, act, render in the client's version. */
export function compileRoute(app: FullApp, route: Route) {
  const serialize = serializerOf(route.data)
  const { items } = route.data as { items?: object }
  const serializeItem = serializerOf(items ?? route.data)
  const read = readerOf(app, route)
  const safe = Object.entries(safeHeaders(app.publicUrl)).flat()
  const headersOf = new Map(
    VERSIONS.map((version) => [version, [...safe, 'x-api-version', version.name]]),
  )

  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { version } = request
    const { app: placed, company } = session(request)
    version.upgradeQuery?.(request.query as Record<string, unknown>)
    const input = read(request, (fields) => reply.header(IGNORED_FIELDS, fields))
    const dialect = dialectOf(input.query)
    const csv = dialect ? route.csv : undefined
    const render: Render = (data) => ({
      status: route.status,
      body: version.success(route.status, route.message, serialize, data),
      warnings: warningsIn(data),
    })
    const renderList: RenderList = async (data) => {
      // A file is the same in every version, because it has no envelope.
      const writer = csv?.writers[dialect!]
      const list = writer
        ? { start: writer.heading, write: writer.line, separator: '', end: '' }
        : inEnvelope(route, version, serializeItem)
      return { status: route.status, body: await writeList(company.id, data, list) }
    }
    const own = forCompany(placed, company)
    const text = route.largeBody ? await longTextOf(request, input) : null
    const rendering = { render, renderList, text }
    const answer = await answerCall(own, route, request, input, rendering)
    if (answer.status >= 400) request.errorCode ??= errorCodeIn(answer.body)
    send(reply, answer, headersOf.get(version)!, csv)
  }
}

/** The code in an error of any version that is given again, which is known by its text only. */
const errorCodeIn = (body: string | Buffer[]): string | null =>
  /"(?:code|error)":"(\w+)"/.exec(String(body))?.[1] ?? null

function dialectOf(query: unknown): CsvDialect | null {
  const { format, dialect } = query as { format?: string; dialect?: string }
  if (format !== 'csv') return null
  return dialect === 'br' ? 'br' : 'plain'
}

/** Marks where the list is in the envelope of its answer. JSON never has this character. */
const LIST_MARK = '\0'

/** How a list is written in a version. */
function inEnvelope(
  { status, message }: Route,
  version: Version,
  serialize: Serialize,
): Written<unknown> {
  const { respell = (json) => json } = version
  const [start, end] = version.success(status, message, () => LIST_MARK, null).split(LIST_MARK)
  const write = (item: unknown) => respell(serialize(item))
  return { start: `${start}[`, write, separator: ',', end: `]${end}` }
}

/** Writes a serialized answer directly, because Fastify has nothing to add to it. */
function send(
  reply: FastifyReply,
  { status, body, headers }: Sent,
  more: string[],
  csv: CsvFile<never> | undefined,
): void {
  // The request may have been refused while it waited.
  if (reply.sent) return
  const bytes = bytesOf(body)
  const fields = [
    ...more,
    'x-request-id',
    reply.request.id,
    'content-type',
    csv ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8',
    'content-length',
    String(bytes),
  ]
  if (csv) fields.push('content-disposition', `attachment; filename="${csv.filename}"`)
  for (const name in headers) fields.push(name, headers[name]!)
  const ignored = reply.getHeader(IGNORED_FIELDS)
  if (ignored !== undefined) fields.push(IGNORED_FIELDS, String(ignored))
  if (reply.hasHeader('Connection')) fields.push('Connection', 'close')
  reply.hijack()
  reply.raw.writeHead(status, fields)
  if (typeof body === 'string') {
    // A text of as many bytes as characters is ASCII, which is written faster as Latin-1.
    reply.raw.end(body, bytes === body.length ? 'latin1' : 'utf8')
    return
  }
  for (const piece of body) reply.raw.write(piece)
  reply.raw.end()
}

const bytesOf = (body: string | Buffer[]): number =>
  typeof body === 'string'
    ? Buffer.byteLength(body)
    : body.reduce((sum, { length }) => sum + length, 0)

export function readerOf(app: FullApp, route: Route) {
  const { local } = app.config
  const { query, body, check, unknownFields } = route
  return inputReader({
    ...(unknownFields === 'refused' ? { refused: 'a field of this operation' } : {}),
    ...(query ? { query } : {}),
    ...(body ? { body } : {}),
    ...(check
      ? { check: (value, given) => check(value, { company: session(given).company, local }) }
      : {}),
  })
}

function answerCall(
  app: FullApp,
  route: Route,
  request: FastifyRequest,
  input: Input,
  { render, renderList, text }: Rendering,
): Promise<Sent> {
  const path = request.url.split('?')[0]!
  const guard = guardOf(app, request, path, text ?? input)
  const idempotency = guard && createIdempotency(app, guard, render)
  const params = request.params as Call['params']
  const { company, author, scopes } = session(request)
  // Only what changes something is written down with the address that it comes from.
  const from = { ...author, address: route.changes ? addressOf(request) : null }
  const language = languageOfCall(request)
  const asked = { route, language, path, params, company, author: from, scopes }
  const { slot, pace } = request
  const waits = { ...NO_WAITS, rest: slot!.rest, ...(pace && { pace }) }
  const call = makeCall(app, asked, input, idempotency, waits)

  const headersOf = ({ next, repeated }: Result, warnings: string | null) => ({
    ...(next == null ? {} : nextLink(app.publicUrl + path, call.query as object, next)),
    ...(repeated ? { [REPLAYED]: 'true' } : {}),
    ...warningHeader(warnings),
  })

  async function actIdempotent({ answerTo }: Idempotency): Promise<Answer> {
    try {
      const result = await route.handle(call)
      const answer = await answerTo(result)
      return { ...answer, headers: headersOf(result, answer.warnings) }
    } catch (error) {
      if (!isStorable(error)) throw error
      request.errorCode = error.code
      return { ...renderFailure(error, request.version, language), warnings: null, stored: false }
    }
  }
  async function act(): Promise<Sent> {
    const result = await route.handle(call)
    const { data } = result
    const { status, body } = Array.isArray(data) ? await renderList(data) : render(data)
    return { status, body, headers: headersOf(result, warningsIn(data)) }
  }
  return idempotency ? idempotency.run(() => actIdempotent(idempotency)) : act()
}

const longTextOf = ({ idempotencyKey, session }: FastifyRequest, { sent }: Input) =>
  idempotencyKey === null ? null : canonicalInTurns(session!.company.id, sent)

function guardOf(
  app: FullApp,
  request: FastifyRequest,
  path: string,
  sent: Input | string,
): Guard | null {
  const { idempotencyKey: key, session, method, version } = request
  if (key === null) return null
  const text = typeof sent === 'string' ? sent : canonical(sent.sent)
  const fingerprint = app.vault.fingerprint([method, path, version.name, text])
  return { companyId: session!.company.id, key, fingerprint }
}

/** An operation, whose records it is for, and who asks for it. */
type Asked = Pick<Call, 'path' | 'params' | 'company' | 'author' | 'scopes'> & {
  route: Route
  language?: Language
}

type Waits = Pick<Call, 'rest' | 'pace'>

/** Pages and agents have no key whose rate a batch would take from. */
const NO_WAITS: Waits = {
  rest: (wait) => wait(new AbortController().signal),
  pace: async () => {},
}

export function makeCall(
  app: FullApp,
  { route, language = 'en', path, params, company, author, scopes }: Asked,
  { query, body, sent }: Input,
  idempotency: Idempotency | null,
  { rest, pace }: Waits = NO_WAITS,
): Call {
  /** What it changes and its entry in the activity log are committed together. */
  const recording =
    (act: Act<Result>): Act<Result> =>
    async (tx, control) => {
      const result = await act(tx, control)
      if (result.changed === false) return result
      const change = changeOf(route, { params, sent, company, data: result.data })
      await recordActivity(tx, company.id, author, change)
      return result
    }
  return {
    app: withCompanyClock(app, company),
    company,
    author,
    scopes,
    language,
    path,
    params,
    query,
    body,
    rest,
    pace,
    fingerprint: () => app.vault.fingerprint([path, canonical(sent)]),
    commit: (act) =>
      idempotency ? idempotency.commit(recording(act)) : app.db.transaction(recording(act)),
    async commitInGroup(act) {
      const result = await (idempotency ? idempotency.commitInGroup(act) : act(null))
      if (result.repeated || result.changed === false) return result
      // The answer names the record, and the path at most the one that it is made from.
      const change = changeOf(route, { params: {}, sent, company, data: result.data })
      // A person looks at the record next, and at who has changed it.
      if (author.kind === 'person') await recordActivity(app.db, company.id, author, change)
      else await app.lateActivity.add(entryOf(company.id, author, change))
      return result
    },
    guard: idempotency?.guard ?? null,
  }
}

/** An IPv4 address in IPv6 notation is written as the IPv4 address. */
export const addressOf = ({ ip }: FastifyRequest): string => ip.replace(/^::ffff:/, '')

function session<S>({ session }: { session: S | null }): S {
  if (!session) throw problem('missing_api_key')
  return session
}
