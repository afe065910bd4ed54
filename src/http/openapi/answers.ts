import { LANGUAGE_TAGS } from '../../lib/language.ts'
import { CATALOGUE, Problem, type ProblemCode, problem } from '../../lib/problems.ts'
import { VERSION_NAMES, type Version } from '../../versions/history.ts'
import type { Schema } from '../../versions/shapes.ts'
import type { Route } from '../route.ts'
import type { Components } from './components.ts'
import { type Example, exampleOf, type Refusal, refusalOf, SHARED_REFUSALS } from './examples.ts'

const COMMON: ProblemCode[] = [
  'invalid_api_version',
  'missing_api_key',
  'invalid_api_key',
  'insufficient_scope',
  'rate_limited',
  'internal_error',
  'service_unavailable',
]
const WITH_BODY: ProblemCode[] = [
  'invalid_json',
  'invalid_value',
  'payload_too_large',
  'unsupported_media_type',
]
const WRITING: ProblemCode[] = [
  'company_suspended',
  'idempotency_in_progress',
  'idempotency_key_reused',
]

/** Every code a route may answer with, its own and those that come with its method. */
export function problemsOf(route: Route): ProblemCode[] {
  const writes = route.method !== 'GET'
  return [
    ...route.problems,
    ...(route.body || writes ? WITH_BODY : (['invalid_value'] as const)),
    ...(writes ? WRITING : []),
    ...COMMON,
  ]
}

const header = (description: string, schema: Schema, example: string | number) => ({
  description,
  schema,
  example,
})
const TEXT = { type: 'string' }

export const HEADERS = {
  'X-Request-Id': header(
    'Quote it when you ask about this answer',
    TEXT,
    '01k3e8r8v0e008000000000001',
  ),
  'X-Api-Version': header(
    'The version of this answer',
    { type: 'string', enum: VERSION_NAMES },
    VERSION_NAMES.at(-1)!,
  ),
  'Content-Language': header(
    'The language of an error; left out if it is a stored answer',
    { type: 'string', enum: Object.values(LANGUAGE_TAGS) },
    LANGUAGE_TAGS.en,
  ),
  'Retry-After': header('Seconds to wait before the next try', { type: 'integer', minimum: 1 }, 1),
  'Idempotent-Replayed': header(
    '`true` if this is the stored answer to an earlier request with the same Idempotency-Key',
    { type: 'string', const: 'true' },
    'true',
  ),
  'X-Ignored-Fields': header(
    'The unknown fields of the body, if there are any',
    TEXT,
    'customer.foo, items[0].bar',
  ),
  'X-Warnings': header(
    'What is allowed, but probably a mistake, in sentences. Characters that are not ASCII are percent-encoded',
    TEXT,
    'total: 1000 cents are not the sum of the items, which is 9980 cents. The payer is asked for the total.',
  ),
  Link: header(
    'The address of the next page with `rel="next"`, if there is one',
    TEXT,
    '<https://pay.example/charge?limit=100&after=charge_01k3e8r8v0e008000000000001>; rel="next"',
  ),
  'Content-Disposition': header(
    'With format=csv: the name of the file',
    TEXT,
    'attachment; filename="statement.csv"',
  ),
}

const headers = (...names: (keyof typeof HEADERS)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
const ALWAYS = headers('X-Request-Id', 'X-Api-Version')

const RETRY = ['Retry-After'] as const

/** Error responses that are the same for all operations. */
const SHARED: Record<number, string> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  413: 'PayloadTooLarge',
  415: 'UnsupportedMediaType',
  429: 'TooManyRequests',
  500: 'InternalError',
}

/** The document that is being created. */
type Draft = {
  version: Version
  components: Components
  publicUrl: string
  /** The codes whose shared example an answer refers to. */
  mentioned: Set<ProblemCode>
}

/** The answers of every operation, in one version. */
export function createAnswers(version: Version, components: Components, publicUrl: string) {
  const draft: Draft = { version, components, publicUrl, mentioned: new Set() }
  const shared = byStatus([...WITH_BODY, ...COMMON]).flatMap(([status, codes]) =>
    SHARED[status] ? [[SHARED[status], failure(draft, codes)]] : [],
  )
  return {
    answersOf: (route: Route) => answersOf(draft, route),
    responses: Object.fromEntries(shared) as Record<string, unknown>,
    /** The examples that answers have referred to so far. */
    examples: (): Record<string, unknown> =>
      Object.fromEntries(
        [...draft.mentioned].map((code) => [
          code,
          failed(version, code, SHARED_REFUSALS[code] ?? []),
        ]),
      ),
  }
}

function answersOf(draft: Draft, route: Route): Record<string, unknown> {
  const answers: Record<string, unknown> = { [route.status]: success(draft, route) }
  for (const [status, codes] of byStatus(problemsOf(route))) {
    const name = SHARED[status]
    answers[status] = name
      ? { $ref: `#/components/responses/${name}` }
      : failure(draft, codes, route.operationId)
  }
  return answers
}

const hasWarnings = ({ data }: Route): boolean =>
  'warnings' in ((data as { properties?: object }).properties ?? {})

function success({ version, components, publicUrl }: Draft, route: Route): unknown {
  const isList = route.query !== undefined && 'after' in route.query.properties
  const own = headers(
    ...(isList ? (['Link'] as const) : []),
    ...(route.method === 'GET' ? [] : (['Idempotent-Replayed'] as const)),
    ...(route.method === 'GET' || route.unknownFields ? [] : (['X-Ignored-Fields'] as const)),
    ...(hasWarnings(route) ? (['X-Warnings'] as const) : []),
    ...(route.csv ? (['Content-Disposition'] as const) : []),
  )
  const { json, file } = exampleOf(route.operationId)
  const schema = version.shapes.success(route.status, components.show(route.data))
  const csv = { schema: { type: 'string', description: 'With format=csv' }, example: file }
  const examples = named(json, (data) => rendered(version, route, data, publicUrl))
  return {
    description: route.message,
    headers: { ...ALWAYS, ...own },
    content: {
      'application/json': { schema, examples },
      ...(route.csv ? { 'text/csv': csv } : {}),
    },
  }
}

/** An example in the form of the version, with the URLs of this server. */
function rendered(version: Version, route: Route, data: unknown, publicUrl: string): unknown {
  const { status, message } = route
  const text = version.success(status, message, (value) => JSON.stringify(value), data)
  return JSON.parse(text.replaceAll('http://vintem.test', publicUrl))
}

const failed = (version: Version, code: ProblemCode, [first, ...others]: Refusal) => ({
  summary: CATALOGUE[code][1],
  value: version.failure(first ? new Problem([first, ...others]) : problem(code)),
})

/** Errors with a Retry-After header. */
const WAITING: ProblemCode[] = ['idempotency_in_progress', 'rate_limited', 'service_unavailable']

function failure(
  { version, mentioned }: Draft,
  codes: ProblemCode[],
  operationId?: string,
): unknown {
  const waits = codes.some((code) => WAITING.includes(code))
  const examples = codes.map((code) => {
    const own = operationId && refusalOf(operationId, code)
    if (!own) mentioned.add(code)
    return [code, own ? failed(version, code, own) : { $ref: `#/components/examples/${code}` }]
  })
  return {
    description: codes.map((code) => `\`${code}\`: ${CATALOGUE[code][1]}`).join('\n\n'),
    headers: { ...ALWAYS, ...headers('Content-Language', ...(waits ? RETRY : [])) },
    content: {
      'application/json': {
        schema: version.shapes.failure(codes),
        examples: Object.fromEntries(examples),
      },
    },
  }
}

const byStatus = (codes: ProblemCode[]): [number, ProblemCode[]][] => [
  ...Map.groupBy(codes, (code) => CATALOGUE[code][0]),
]

/** Examples with names that all tools accept. */
const named = (examples: Example[], show: (data: unknown) => unknown) =>
  Object.fromEntries(
    examples.map(({ name, data }) => [
      name.replaceAll(/[^A-Za-z0-9]+/g, '-'),
      { summary: name[0]!.toUpperCase() + name.slice(1), value: show(data) },
    ]),
  )
