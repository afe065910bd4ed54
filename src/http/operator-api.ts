import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static, type TObject, type TSchema } from 'typebox'
import type { Author } from '../core/activity/rules.ts'
import { companyFaults, SCOPES } from '../core/companies/rules.ts'
import { listAllKeys } from '../core/companies/store.ts'
import { Email, ShortText, TaxId } from '../core/fields.ts'
import type { FullFront } from '../core/full-app.ts'
import { guardOfPart, type IdempotencyRef } from '../core/idempotency.ts'
import { listForOperator } from '../core/operator/companies-store.ts'
import {
  type MadeCompany,
  type MadeKey,
  makeCompany,
  makeKey,
  placesOf,
  revokeKeys,
  suspendCompanies,
  type WantedCompany,
} from '../core/operator-companies.ts'
import { ascending, descending, listOfAll } from '../core/places/across.ts'
import { clientName } from '../lib/client-name.ts'
import { type FairQueue, inSlot } from '../lib/fair-queue.ts'
import { limitFailures } from '../lib/limits.ts'
import { invalid, problem } from '../lib/problems.ts'
import { VERSION_NAMES } from '../versions/history.ts'
import { readKey } from './idempotency.ts'
import { inputReader } from './input.ts'
import { serializerOf } from './serializer.ts'

export const OPERATOR_API = '/operator/api'

/** So many companies or keys are named by one request. */
const MOST = 100

/** How long a request waits for those before it. */
const WAIT_MS = 10_000

/** Wrong keys per address. */
const FAILED_KEYS = { perSecond: 1, burst: 20 }

const Id = Type.String({ format: 'uuid', 'x-rule': 'must be a UUID' })
const Ids = Type.Array(Id, { minItems: 1, maxItems: MOST })
const Moment = Type.String({ format: 'date-time' })
const Scopes = Type.Array(Type.Enum([...SCOPES]), { minItems: 1, uniqueItems: true })

const Wanted = Type.Object({
  id: Id,
  name: ShortText,
  taxId: TaxId,
  email: Email,
  mode: Type.Optional(Type.Enum(['sandbox', 'live'])),
  pixKey: Type.Optional(Type.String({ minLength: 1, maxLength: 77 })),
  city: Type.Optional(ShortText),
  language: Type.Optional(Type.Enum(['pt', 'en'])),
  apiVersion: Type.Optional(Type.Enum([...VERSION_NAMES])),
  settlementDelay: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  place: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
})
const WantedCompanies = Type.Object({
  companies: Type.Array(Wanted, { minItems: 1, maxItems: MOST }),
})

const Listed = Type.Object({
  id: Type.String(),
  name: Type.String(),
  taxId: Type.String(),
  mode: Type.String(),
  createdAt: Moment,
  suspendedAt: Type.Optional(Moment),
  lastActiveAt: Type.Optional(Moment),
  booksDiffer: Type.Boolean(),
})
const ListQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 255 })),
  after: Type.Optional(Id),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST })),
})

const Key = Type.Object({
  id: Type.String(),
  companyId: Type.String(),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  createdAt: Moment,
  lastUsedAt: Type.Optional(Moment),
  revokedAt: Type.Optional(Moment),
})
const KeysQuery = Type.Object({
  companyId: Type.Optional(Id),
  after: Type.Optional(Id),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST })),
})
const KeyOf = Type.Object({ companyId: Id, id: Id })
const WantedKeys = Type.Object({
  keys: Type.Array(Type.Object({ companyId: Id, name: ShortText, scopes: Type.Optional(Scopes) }), {
    minItems: 1,
    maxItems: MOST,
  }),
})

const Changed = Type.Array(Type.Object({ companyId: Type.String(), status: Type.String() }))

/** `once` is the Idempotency-Key of the request, if it has one. */
type Given = { body: never; query: never; params: never; once: IdempotencyRef | null }

/** An operation of whoever runs the installation. It is about all companies. */
type Operation = {
  method: 'GET' | 'POST'
  path: string
  query?: TObject
  body?: TObject
  data: TSchema
  message: string
  act(app: FullFront, given: Given, author: Author): Promise<unknown>
}

async function listCompanies(app: FullFront, { query }: { query: Static<typeof ListQuery> }) {
  const { q = '', after = null, limit = MOST } = query
  const found = await listOfAll(
    app,
    (db) => listForOperator(db, q.trim(), { limit: limit + 1, after }),
    { companyOf: ({ id }) => id, compare: descending(({ id }) => id), limit: limit + 1 },
  )
  const shown = found.slice(0, limit)
  return {
    companies: shown.map(({ id, name, taxId, mode, createdAt, difference, ...one }) => ({
      id,
      name,
      taxId,
      mode,
      createdAt: createdAt.toISOString(),
      ...momentsOf({ suspendedAt: one.suspendedAt, lastActiveAt: one.lastActiveAt }),
      booksDiffer: difference !== null,
    })),
    ...(found.length > limit ? { next: shown.at(-1)!.id } : {}),
  }
}

/** Those that there are, as texts. */
const momentsOf = (moments: Record<string, Date | null>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(moments).flatMap(([name, at]) => (at ? [[name, at.toISOString()]] : [])),
  )

type Asked = Static<typeof WantedCompanies>['companies'][number]

const wantedOf = ({ settlementDelay, mode = 'sandbox', id, ...fields }: Asked): WantedCompany => ({
  ...fields,
  id: id.toLowerCase(),
  mode,
  ...(settlementDelay !== undefined && { releaseDelay_s: settlementDelay }),
})

/** All are looked at before the first is made, so that a request with a mistake makes nothing. */
async function makeCompanies(
  app: FullFront,
  { body }: { body: Static<typeof WantedCompanies> },
  author: Author,
): Promise<MadeCompany[]> {
  const wanted = body.companies.map(wantedOf)
  const faults = wanted.flatMap((one, i) => faultsOf(app, one).map((fault) => at(i, fault)))
  const ids = new Set(wanted.map(({ id }) => id))
  if (ids.size < wanted.length) faults.push('companies: two of them have the same id')
  const [first, ...others] = faults
  if (first) throw invalid(first, ...others)
  const made: MadeCompany[] = []
  for (const one of wanted) made.push(await makeCompany(app, one, author))
  return made
}

const at = (i: number, fault: string): string => `companies[${i}].${fault}`

function faultsOf(app: FullFront, company: WantedCompany): string[] {
  const faults = companyFaults(company)?.items.map(({ description }) => description) ?? []
  const places = placesOf(app)
  return (company.place ?? 1) <= places
    ? faults
    : [...faults, `place: there are the places 1 to ${places}`]
}

const suspending =
  (isSuspended: boolean): Operation['act'] =>
  (app, { body }: { body: { ids: string[] } }, author) =>
    suspendCompanies(app, small(body.ids), isSuspended, author)

const small = (ids: string[]): string[] => [...new Set(ids.map((id) => id.toLowerCase()))]

async function listKeys(app: FullFront, { query }: { query: Static<typeof KeysQuery> }) {
  const companyId = query.companyId?.toLowerCase() ?? null
  const part = { limit: query.limit ?? MOST, after: query.after ?? null }
  const keys = await listOfAll(app, (db) => listAllKeys(db, companyId, part), {
    companyOf: (key) => key.companyId,
    compare: ascending(({ id }) => id),
    limit: part.limit,
  })
  return keys.map(({ id, companyId, name, scopes, createdAt, lastUsedAt, revokedAt }) => ({
    id,
    companyId,
    name,
    scopes,
    createdAt: createdAt.toISOString(),
    ...momentsOf({ lastUsedAt, revokedAt }),
  }))
}

/** Each key is a part of the request, so that what is sent again makes only what is missing. */
async function makeKeys(
  app: FullFront,
  { body, once }: Pick<Given, 'once'> & { body: Static<typeof WantedKeys> },
  author: Author,
): Promise<MadeKey[]> {
  const made: MadeKey[] = []
  for (const [i, { companyId, ...key }] of body.keys.entries()) {
    const wanted = { companyId: companyId.toLowerCase(), ...key }
    const own = once && guardOfPart(app.vault, once, String(i))
    made.push(await makeKey(app, wanted, author, own))
  }
  return made
}

const revoke: Operation['act'] = (app, { body }: { body: { keys: Static<typeof KeyOf>[] } }, by) =>
  revokeKeys(
    app,
    body.keys.map(({ companyId, id }) => ({
      companyId: companyId.toLowerCase(),
      id: id.toLowerCase(),
    })),
    by,
  )

export const OPERATIONS: Operation[] = [
  {
    method: 'GET',
    path: '/companies',
    query: ListQuery,
    data: Type.Object({ companies: Type.Array(Listed), next: Type.Optional(Type.String()) }),
    message: 'Companies.',
    act: listCompanies,
  },
  {
    method: 'POST',
    path: '/companies',
    body: WantedCompanies,
    data: Type.Array(
      Type.Object({
        companyId: Type.String(),
        isNew: Type.Boolean(),
        key: Type.Optional(Type.Object({ id: Type.String(), text: Type.String() })),
      }),
    ),
    message: 'Companies made.',
    act: async (app, given, author) =>
      (await makeCompanies(app, given, author)).map(({ key, ...made }) =>
        key ? { ...made, key } : made,
      ),
  },
  {
    method: 'POST',
    path: '/companies/suspend',
    body: Type.Object({ ids: Ids }),
    data: Changed,
    message: 'Companies suspended.',
    act: suspending(true),
  },
  {
    method: 'POST',
    path: '/companies/resume',
    body: Type.Object({ ids: Ids }),
    data: Changed,
    message: 'Companies resumed.',
    act: suspending(false),
  },
  {
    method: 'GET',
    path: '/keys',
    query: KeysQuery,
    data: Type.Array(Key),
    message: 'Keys.',
    act: listKeys,
  },
  {
    method: 'POST',
    path: '/keys',
    body: WantedKeys,
    data: Type.Array(
      Type.Object({
        companyId: Type.String(),
        status: Type.String(),
        id: Type.Optional(Type.String()),
        text: Type.Optional(Type.String()),
      }),
    ),
    message: 'Keys made.',
    act: makeKeys,
  },
  {
    method: 'POST',
    path: '/keys/revoke',
    body: Type.Object({ keys: Type.Array(KeyOf, { minItems: 1, maxItems: MOST }) }),
    data: Type.Array(
      Type.Object({ companyId: Type.String(), id: Type.String(), status: Type.String() }),
    ),
    message: 'Keys revoked.',
    act: revoke,
  },
]

/** Without OPERATOR_KEY there is no such API, and its paths are as unknown as any other. */
export function registerOperatorApi(server: FastifyInstance, app: FullFront): void {
  const { operatorKey } = app.config
  if (operatorKey === null) return
  const isKey = keyCheck(operatorKey)
  const attempt = limitFailures(
    app.limits.rate('operator keys', FAILED_KEYS.perSecond, FAILED_KEYS.burst),
  )
  const onRequest = async (request: FastifyRequest) => {
    const sent = request.headers['x-api-key']
    if (sent === undefined) throw problem('missing_api_key')
    const find = async () => (isKey(String(sent)) ? true : null)
    const found = await attempt(clientName(request.ip), requireNoWait, find)
    if (!found) throw problem('invalid_api_key')
  }
  const slots = app.limits.queue('operator API', { size: 1, perOwner: 1 })
  for (const operation of OPERATIONS) {
    const { method, path } = operation
    const handler = handlerOf(app, operation, slots)
    server.route({ method, url: OPERATOR_API + path, onRequest, handler })
  }
}

/** Hashes have one length, so the time of a comparison tells nothing. */
function keyCheck(key: string): (sent: string) => boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  const known = hash(key)
  return (sent) => timingSafeEqual(hash(sent), known)
}

function requireNoWait(wait_s: number): void {
  if (wait_s > 0) {
    throw problem('rate_limited', undefined, { 'Retry-After': String(Math.ceil(wait_s)) })
  }
}

/** One after the other, because each may make a hundred records, and companies have to work. */
function handlerOf(
  app: FullFront,
  { path, query, body, data, message, act }: Operation,
  slots: FairQueue,
) {
  const refused = 'a field of this operation'
  const read = inputReader({ ...(query && { query }), ...(body && { body }), refused })
  const serialize = serializerOf(data)
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { body, query, sent } = read(request)
    const key = readKey(request.raw)
    const fingerprint = () => app.vault.fingerprint([path, JSON.stringify(sent)])
    const once = key === null ? null : { key: `operator:${key}`, fingerprint: fingerprint() }
    const given = { body, query, params: request.params, once } as Given
    const run = () => act(app, given, authorOf(request))
    const done = await inSlot(slots, 'operator', { most_ms: WAIT_MS, late: tooMany }, run)
    const { version } = request
    const answer = version.success(200, message, serialize, done)
    reply.headers({ 'X-Api-Version': version.name, 'Cache-Control': 'no-store' })
    return reply.type('application/json; charset=utf-8').send(answer)
  }
}

const tooMany = () =>
  problem('service_unavailable', 'Another request of the operator is not finished yet.', {
    'Retry-After': '5',
  })

const authorOf = ({ ip }: FastifyRequest): Author => ({
  kind: 'service',
  id: null,
  name: 'operator API',
  address: ip,
})
