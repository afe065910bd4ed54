import { CATALOGUE } from '../lib/problems.ts'
import { LATEST, VERSION_NAMES, VERSIONS, type Version } from '../versions/history.ts'
import { asSent } from './normalize.ts'
import { createAnswers, HEADERS } from './openapi/answers.ts'
import { type Components, createComponents, refTo } from './openapi/components.ts'
import { introduction } from './openapi/introduction.ts'
import { NAMES } from './openapi/names.ts'
import { describeWebhooks, EVENT_COMPONENTS } from './openapi/webhooks.ts'
import type { Route } from './route.ts'
import { ROUTES } from './routes/all.ts'

/** The description of each group of operations. */
export const TAGS: Record<Route['tag'], string> = {
  Charges: 'Pix charges, static codes and payment links.',
  Plans: 'Sales that are paid in several charges with due dates.',
  Links: 'Links that many payers use; each gets a charge of their own.',
  Subscriptions: 'Pix Automático: a payer agrees once, and each cycle is charged automatically.',
  Refunds: 'Money of a paid charge is returned to its payer.',
  Payments: 'Money that arrived and pays no charge.',
  Disputes: 'Claims of payers who want their money back (MED).',
  Customers: 'Payers that the company knows.',
  Products: 'What links and subscriptions sell.',
  Webhooks: 'Addresses of yours that receive events, and the log of what was sent to them.',
  Events: 'Every event in order, for clients that poll instead of receiving webhooks.',
  Balance: 'The balance, its statement, and withdrawals.',
  Recipients: 'Who gets parts of what the company is paid, what they have, and payouts to them.',
  Company: 'The company of the key.',
  Sandbox: 'What only a sandbox company can do.',
  Requests: 'The requests that the company has sent, to find out why one failed.',
}

/** Description and example of the parameter of a path, by the start of the path. */
const PATH_PARAMETERS: [path: RegExp, description: string, example: string][] = [
  [/^\/charge\/plan/, 'A plan', 'plan_01k3e8r8v0e008000000000001'],
  [/^\/link/, 'A reusable link', 'link_01k3e8r8v0e008000000000001'],
  [/^\/charge|^\/refund/, 'A charge', 'charge_01k3e8r8v0e008000000000001'],
  [/^\/client/, 'A customer', 'clnt_01k3e8r8v0e008000000000001'],
  [/^\/product/, 'A product', 'prod_01k3e8r8v0e008000000000001'],
  [/^\/webhook\/delivery/, 'A delivery', 'AZjcjCNgcACAAAAAAAAAAQGY3IwjYHAAgAAAAAAAAAI'],
  [/^\/webhook/, 'A webhook', '0198dc8c-2360-7000-8000-000000000001'],
  [/^\/event/, 'An event', 'evt_01k3e8r8v0e008000000000001'],
  [/^\/pix-automatic/, 'A subscription', 'rec_01k3e8r8v0e008000000000001'],
  [/^\/payment/, 'The scheme’s id of the payment', 'E9999999920260820150000000000001'],
  [/^\/recipient/, 'A recipient', 'rcpt_01k3e8r8v0e008000000000001'],
  [/^\/(sandbox\/)?dispute/, 'A dispute', 'dispute_01k3e8r8v0e008000000000001'],
  [/^\/account-balance/, 'A withdrawal', 'wd_01k3e8r8v0e008000000000001'],
]

function parametersOf(route: Route, { show }: Components): unknown[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  const kind = PATH_PARAMETERS.find(([path]) => path.test(route.path))
  const path = names.map((name) => ({
    name,
    in: 'path',
    required: true,
    description: kind?.[1],
    schema: { type: 'string' },
    example: kind?.[2],
  }))
  const query = Object.entries(route.query?.properties ?? {}).map(([name, field]) => {
    const { description, ...schema } = show(field)
    return { name, in: 'query', ...(description ? { description } : {}), schema }
  })
  const key = { $ref: '#/components/parameters/IdempotencyKey' }
  const version = { $ref: '#/components/parameters/ApiVersion' }
  return [...path, ...query, ...(route.method === 'GET' ? [] : [key]), version]
}

function bodyOf({ body, example }: Route, { show }: Components): unknown {
  if (!body) return {}
  return {
    requestBody: {
      // An empty body is an empty object, and that is enough where nothing is required.
      required: ((body as { required?: string[] }).required ?? []).length > 0,
      content: { 'application/json': { schema: show(asSent(body)), example } },
    },
  }
}

function descriptionOf({ description = '', scope, unknownFields }: Route): string {
  const refusing = unknownFields ? '\n\nUnknown fields of the body are refused.' : ''
  return `${description}${refusing}\n\nScope: \`${scope}\``.trim()
}

/** The named schemas, of which those of bodies without unknown fields say that they have none. */
function schemasOf({ show, used }: Components): Record<string, unknown> {
  const closed = ROUTES.flatMap(({ unknownFields, body }) =>
    unknownFields && body ? [show(asSent(body)).$ref] : [],
  )
  const entries = Object.entries(used()).map(([name, schema]) => {
    const isClosed = closed.includes(refTo(name).$ref)
    return [name, isClosed ? { ...schema, additionalProperties: false } : schema]
  })
  return Object.fromEntries(entries)
}

const parameters = (version: Version) => ({
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes a retry safe. For 24 hours the same key and request get the first answer again, with `Idempotent-Replayed: true`. Another request with the key is 422 `idempotency_key_reused`; while the first still runs it is 409 `idempotency_in_progress`. An empty key counts as none.',
    schema: { type: 'string', maxLength: 255 },
    example: '6f9619ff-8b86-4d01-b42d-00cf4fc964ff',
  },
  ApiVersion: {
    name: 'X-Api-Version',
    in: 'header',
    description: 'Answers this request in another version than the one the company is pinned to.',
    schema: { type: 'string', enum: VERSION_NAMES },
    example: version.name,
  },
})

const SECURITY = {
  ApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-KEY',
    description: 'The key of a company. Each operation names the scope that the key needs.',
  },
}

const ERROR_CODE = { type: 'string', enum: Object.keys(CATALOGUE) }

/** Where the document of a version is served. */
export const documentPath = (version: Version): string =>
  version === LATEST ? '/openapi.json' : `/openapi-${version.name}.json`

const others = (version: Version): string =>
  VERSIONS.filter((other) => other !== version)
    .map((other) => `${other.name} is described at \`${documentPath(other)}\``)
    .join('; ')

/** The OpenAPI 3.1 document, made from the same table of routes as the server. */
export function openApiDocument(publicUrl: string, version: Version = LATEST): unknown {
  const { shapes } = version
  const components = createComponents(NAMES, (name, schema) =>
    shapes.change(name, EVENT_COMPONENTS[name] ?? schema),
  )
  const answers = createAnswers(version, components, publicUrl)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of ROUTES) {
    paths[route.path] ??= {}
    paths[route.path]![route.method.toLowerCase()] = {
      operationId: route.operationId,
      tags: [route.tag],
      summary: route.summary,
      description: descriptionOf(route),
      'x-scope': route.scope,
      security: [{ ApiKey: [route.scope] }],
      parameters: parametersOf(route, components),
      ...(bodyOf(route, components) as object),
      responses: answers.answersOf(route),
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Vintém',
      version: version.name,
      description: introduction(version.name, others(version)).trim(),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    security: [{ ApiKey: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: describeWebhooks(),
    components: {
      securitySchemes: SECURITY,
      parameters: parameters(version),
      headers: HEADERS,
      responses: answers.responses,
      examples: answers.examples(),
      schemas: {
        ...schemasOf(components),
        ...EVENT_COMPONENTS,
        ...shapes.components,
        ErrorCode: ERROR_CODE,
      },
    },
  }
}
