import { after } from 'node:test'
import { createApp } from '../../src/app.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { createCompany, createKey } from '../../src/core/companies/commands.ts'
import type { Company, NewCompany, Scope } from '../../src/core/companies/rules.ts'
import type { FullApp, FullFront } from '../../src/core/full-app.ts'
import { requirePlaces, requireSameSecret } from '../../src/core/installation.ts'
import { appsOf } from '../../src/core/places/front.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import type { Lookup } from '../../src/lib/lookup.ts'
import type { Limits } from '../../src/provider/bacen/bacen.ts'
import { createService, type Service } from '../../src/service.ts'
import { LATEST } from '../../src/versions/history.ts'
import { changesTables, changeTables } from '../citus/cluster.ts'
import { cloneDatabase } from './database.ts'
import { PATIENT } from './patience.ts'
import { secretOf, temporaryFolder } from './process.ts'

/** A clock that stops until a test moves it. */
export type ManualClock = Clock & { advance(seconds: number): void }

export function manualClock(start = '2026-08-20T15:00:00.000Z'): ManualClock {
  let now = new Date(start)
  return {
    now: () => new Date(now),
    advance: (seconds) => {
      now = new Date(now.getTime() + seconds * 1000)
    },
  }
}

export type Reply = {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
  body: any
}

export type Client = {
  company: Company
  key: string
  call(method: string, path: string, options?: CallOptions): Promise<Reply>
  get(path: string, options?: CallOptions): Promise<Reply>
  post(path: string, json?: unknown, options?: CallOptions): Promise<Reply>
  put(path: string, json: unknown, options?: CallOptions): Promise<Reply>
  delete(path: string, options?: CallOptions): Promise<Reply>
}

export type CallOptions = {
  json?: unknown
  raw?: string | Buffer
  headers?: Record<string, string>
}

export type TestApi = {
  /** Of the place in which companies are made. It is in front of the others too. */
  app: FullFront
  clock: ManualClock
  service: Service
  url: string
  databaseUrl: string
  /** The addresses of all places. */
  places: string[]
  /** What names them to another process. */
  databases: Record<string, string>
  /** Closes what a test has opened on the app, before the app itself is closed. */
  atEnd(close: () => Promise<unknown>): void
  /** A new company with a key, and a client that sends it. */
  client(fields?: Partial<NewCompany>, options?: ClientOptions): Promise<Client>
  /** A request without a company. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>
  /** A question of an operator. */
  operator(path: string): Promise<Pick<Reply, 'status' | 'text' | 'body'>>
  rows<R = Record<string, unknown>>(text: string, values?: unknown[]): Promise<R[]>
  /** The same where the tables of people are. */
  peopleRows<R = Record<string, unknown>>(text: string, values?: unknown[]): Promise<R[]>
}

export type ClientOptions = {
  apiVersion?: string
  scopes?: Scope[] /** Instead of the last place. */
  app?: FullApp
}

const SECRET_KEY = secretOf('api')
/** How many places there are in tests that do not say so. */
const TEST_PLACES = process.env.TEST_PLACES === '2' ? 2 : 1

/** Where the service runs, and who knows names there instead of this machine. */
export type ApiOptions = {
  local?: boolean
  lookup?: Lookup
  bankLimits?: Partial<Limits>
  databaseTime?: () => Promise<Date>
  publicUrl?: string
  /** In place of a clone of the template, which ends with the test file. */
  databaseUrl?: string
  /**
   * With two places the people are in the first, and all companies in the second. Databases that
   * exist already are named by their addresses.
   */
  places?: 1 | 2 | [first: string, second: string]
}

/** The whole service on a real socket and a real database, with a clock that the test moves. */
export async function startApi(
  environment: Record<string, string> = {},
  { local = true, databaseUrl: own, places: asked, ...options }: ApiOptions = {},
): Promise<TestApi> {
  const named = Array.isArray(asked) ? asked : null
  const places = named ? 2 : (asked ?? TEST_PLACES)
  const closers: (() => Promise<unknown>)[] = []
  // Registered before the end of the database, and so over before it.
  after(async () => {
    for (const close of closers.toReversed()) await close()
  })
  const databaseUrl = own ?? named?.[1] ?? (await cloneDatabase())
  const first = named?.[0] ?? (places === 2 ? await cloneDatabase() : databaseUrl)
  const databases =
    first === databaseUrl
      ? { DATABASE_URL: databaseUrl }
      : { PLACES: `${first} ${databaseUrl}`, DATABASE_URL: '' }
  const config: Config = {
    ...readConfig({
      ...databases,
      DATA_DIR: temporaryFolder(),
      SECRET_KEY,
      RATE_LIMIT: 'off',
      CODE_MAILS_PER_HOUR: '1000',
      CODE_MAILS_PER_DAY: '1000',
      MAILS_PER_RECIPIENT: '10000000',
      ...environment,
    }),
    local,
  }
  const clock = manualClock()
  const { publicUrl = 'http://vintem.test' } = options
  const log = createLog('silent')
  const parts = { config, databaseUrl: first, clock, log, publicUrl }
  const bankLimits = { ...PATIENT, ...options.bankLimits }
  const root = createApp({ ...options, ...parts, bankLimits })
  const app = { ...appsOf(root).at(-1)!, places: root.places }
  // Another server of the same database has people of its own, and is no part of the installation.
  if (places === 2 && own === undefined) {
    const all = appsOf(root).map(({ db }) => db)
    for (const db of all) await requireSameSecret(db, root.vault)
    await requirePlaces(all)
  }
  const service = await createService(root, first)
  const url = await service.server.listen({ host: '127.0.0.1', port: 0 })
  closers.push(async () => {
    // Nobody asks any more: what fetch keeps open would only hold up the end.
    service.server.server.closeAllConnections()
    await service.close()
    app.mailer.close()
    await app.sender.close()
    for (const { providers, db } of appsOf(root)) {
      await providers.bacen.close()
      await db.end()
    }
  })
  const call = caller(url)
  return {
    app,
    clock,
    service,
    url,
    databaseUrl,
    places: [...new Set([first, databaseUrl])],
    databases,
    call,
    atEnd: (close) => {
      closers.push(close)
    },
    operator: async (path) => {
      const { statusCode: status, payload } = await service.operator.inject(path)
      const text = asked === undefined ? withoutPlace(payload) : payload
      return { status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
    },
    client: (fields, options) => makeClient(options?.app ?? app, call, fields, options),
    rows: <R>(text: string, values: unknown[] = []) =>
      changesTables(text)
        ? (changeTables(databaseUrl, text) as Promise<R[]>)
        : (app.db.query({ text, values }) as Promise<R[]>),
    peopleRows: <R>(text: string, values: unknown[] = []) =>
      app.db.control.query({ text, values }) as Promise<R[]>,
  }
}

/** What an operator is shown, as if there were one place, for tests that expect one. */
const withoutPlace = (text: string): string =>
  text
    .replaceAll('Place 2: ', '')
    .replaceAll(/(\{)?(,)?place="2"(,)?(\})?/g, (_, open, before, after, end) =>
      open && end ? '' : `${open ?? ''}${before && after ? ',' : ''}${end ?? ''}`,
    )

export function caller(url: string): TestApi['call'] {
  return async (method, path, { json, raw, headers = {} } = {}) => {
    const body = raw ?? (json === undefined ? null : JSON.stringify(json))
    const type = body === null ? {} : { 'content-type': 'application/json' }
    const reply = await fetch(url + path, { method, body, headers: { ...type, ...headers } })
    const text = await reply.text()
    const isJson = reply.headers.get('content-type')?.startsWith('application/json')
    return {
      status: reply.status,
      headers: reply.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    }
  }
}

/** A company of its own, and its key at whatever server is called. */
export async function makeClient(
  app: FullApp,
  callAny: TestApi['call'],
  fields: Partial<NewCompany> = {},
  { apiVersion = LATEST.name, scopes }: ClientOptions = {},
): Promise<Client> {
  const now = app.clock.now()
  const { company, key } = await app.db.transaction(async (tx) => {
    const company = await createCompany(
      tx,
      {
        name: 'Padaria São João',
        taxId: '11222333000181',
        email: 'dona@example.com',
        mode: 'sandbox',
        apiVersion,
        ...fields,
      },
      now,
    )
    const options = { name: 'test', ...(scopes ? { scopes } : {}) }
    const { text } = await createKey(tx, app.vault, company, options, now)
    return { company, key: text }
  })
  const call: Client['call'] = (method, path, options = {}) =>
    callAny(method, path, { ...options, headers: { 'X-API-KEY': key, ...options.headers } })
  return {
    company,
    key,
    call,
    get: (path, options) => call('GET', path, options),
    post: (path, json, options) => call('POST', path, { json, ...options }),
    put: (path, json, options) => call('PUT', path, { json, ...options }),
    delete: (path, options) => call('DELETE', path, options),
  }
}

/** The events of a company in the order they were written: type and parsed payload. */
export async function eventsOf(api: TestApi, companyId: string) {
  const rows = await api.rows<{ type: string; payload: string }>(
    'select type, payload from events where company_id = $1 order by id',
    [companyId],
  )
  return rows.map(({ type, payload }) => ({ type, payload: JSON.parse(payload) }))
}

export const payer = (fields: Record<string, unknown> = {}) => ({
  name: 'Maria da Silva',
  taxId: '52998224725',
  email: 'maria@example.com',
  phone: '11988888888',
  ...fields,
})
