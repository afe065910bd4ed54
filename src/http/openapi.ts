import { CATALOGUE, type ProblemCode } from '../lib/problems.ts'
import { LATEST, VERSION_NAMES } from '../versions/history.ts'
import type { Route } from './route.ts'
import { ROUTES } from './routes/all.ts'

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
const WITH_KEY: ProblemCode[] = ['idempotency_in_progress', 'idempotency_key_reused']

/** Every code a route may answer with, its own and those that come with its method. */
export function problemsOf(route: Route): ProblemCode[] {
  const writes = route.method !== 'GET'
  return [
    ...route.problems,
    ...(route.body || writes ? WITH_BODY : route.query ? (['invalid_value'] as const) : []),
    ...(writes ? WITH_KEY : []),
    ...COMMON,
  ]
}

/**
 * Leaves out what only our validator reads, and says what a format of ours is to everybody else.
 */
function clean(schema: unknown): unknown {
  const text = JSON.stringify(schema, (name, value) => (name === 'x-rule' ? undefined : value))
  const plain = text.replaceAll('"format":"unsafe",', '')
  return JSON.parse(plain.replaceAll('"format":"http-url"', '"format":"uri"'))
}

const envelope = (route: Route) => ({
  type: 'object',
  required: ['status', 'message', 'data', 'errors'],
  properties: {
    status: { type: 'integer', const: route.status },
    message: { type: 'string' },
    data: clean(route.data),
    errors: { type: 'array', maxItems: 0 },
  },
})

const header = (description: string) => ({ description, schema: { type: 'string' } })
const ALWAYS = {
  'X-Request-Id': header('Quote it when you ask about this answer'),
  'X-Api-Version': { schema: { type: 'string', enum: VERSION_NAMES } },
}
const RETRY_AFTER = { 'Retry-After': header('Seconds to wait before the next try') }
const REPLAYED = { 'Idempotent-Replayed': header('"true" when this is the first answer again') }
const CSV = {
  'text/csv': { schema: { type: 'string', description: 'With format=csv' } },
}
const NEXT = { Link: header('The address of the next page, with rel="next", where there is one') }

function responsesOf(route: Route): Record<string, unknown> {
  const isList = route.query !== undefined && 'after' in route.query.properties
  const own = { ...(isList ? NEXT : {}), ...(route.method === 'GET' ? {} : REPLAYED) }
  const responses: Record<string, unknown> = {
    [route.status]: {
      description: route.message,
      headers: { ...ALWAYS, ...own },
      content: { 'application/json': { schema: envelope(route) }, ...(route.csv ? CSV : {}) },
    },
  }
  for (const [status, codes] of Map.groupBy(problemsOf(route), (code) => CATALOGUE[code][0])) {
    const lines = codes.map((code) => `\`${code}\`: ${CATALOGUE[code][1]}`)
    responses[status] = {
      description: lines.join('\n\n'),
      headers: status === 409 || status === 429 ? { ...ALWAYS, ...RETRY_AFTER } : ALWAYS,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    }
  }
  return responses
}

function parametersOf(route: Route): unknown[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  const path = names.map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const query = Object.entries(route.query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    schema: clean(schema),
  }))
  const key = { $ref: '#/components/parameters/IdempotencyKey' }
  const version = { $ref: '#/components/parameters/ApiVersion' }
  return [...path, ...query, ...(route.method === 'GET' ? [] : [key]), version]
}

function operationOf(route: Route): unknown {
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    'x-scope': route.scope,
    parameters: parametersOf(route),
    ...(route.body
      ? {
          requestBody: {
            // An empty body is an empty object, and that is enough where nothing is required.
            required: ((route.body as { required?: string[] }).required ?? []).length > 0,
            content: {
              'application/json': { schema: clean(route.body), example: route.example },
            },
          },
        }
      : {}),
    responses: responsesOf(route),
  }
}

const components = {
  securitySchemes: { ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' } },
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'Makes a retry safe: the same key and request get the first answer again for 24 hours.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    },
    ApiVersion: {
      name: 'X-Api-Version',
      in: 'header',
      description: 'Answers this request in another version than the one the company is pinned to.',
      schema: { type: 'string', enum: VERSION_NAMES },
      example: LATEST.name,
    },
  },
  schemas: {
    Error: {
      type: 'object',
      required: ['status', 'message', 'data', 'errors'],
      properties: {
        status: { type: 'integer' },
        message: { type: 'string' },
        data: { type: 'null' },
        errors: {
          type: 'array',
          minItems: 1,
          items: {
            type: 'object',
            required: ['code', 'description'],
            properties: {
              code: { type: 'string', enum: Object.keys(CATALOGUE) },
              description: { type: 'string' },
              withdrawId: { type: 'string' },
            },
          },
        },
      },
    },
  },
}

/** The interface in OpenAPI 3.1, made from the same table that the server routes by. */
export function openApiDocument(publicUrl: string): unknown {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of ROUTES) {
    paths[route.path] ??= {}
    paths[route.path]![route.method.toLowerCase()] = operationOf(route)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Vintém',
      version: LATEST.name,
      description:
        'Instant payments (Pix). Amounts are integers in cents, timestamps ISO 8601. Shown is version ' +
        `${LATEST.name}; 2025-01-01 answers with the bare resource and errors as {statusCode, message, error}.`,
    },
    servers: [{ url: publicUrl }],
    security: [{ ApiKey: [] }],
    paths,
    components,
  }
}
