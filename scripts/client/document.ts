import { openApiDocument } from '../../src/http/openapi.ts'
import type { Version } from '../../src/versions/history.ts'

export type Schema = { [name: string]: unknown }

export type Operation = {
  method: string
  path: string
  operationId: string
  summary: string
  description: string
  scope: string
  parameters: { name: string; in: 'path' | 'query'; required?: boolean; schema: Schema }[]
  requestBody?: { required: boolean; content: unknown }
  /** What the client gives: the resource itself, in every version. */
  data: Schema
}

type Raw = Omit<Operation, 'parameters' | 'data'> & {
  'x-scope': string
  parameters: Operation['parameters']
  responses: Record<string, { content: { 'application/json': { schema: Schema } } }>
}
type RawDocument = {
  paths: Record<string, Record<string, Raw>>
  components: { schemas: Record<string, Schema> }
}

/** The forms of an error, which the client reads by itself. */
const ERRORS = ['ApiError', 'ErrorItem', 'WithdrawalConflict']
/** Choose a file instead of records. */
const FILE_PARAMETERS = ['format', 'dialect']

function readDocument(version: Version): RawDocument {
  const success = (_status: number, data: Schema) => data
  const bare = { ...version, shapes: { ...version.shapes, success } }
  return JSON.parse(JSON.stringify(openApiDocument('http://localhost:3000', bare)))
}

/** All operations, in the order of the document. */
export function operationsOf(version: Version): Operation[] {
  return Object.entries(readDocument(version).paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, raw]) => {
      const parameters = raw.parameters.filter(
        (one) => ['path', 'query'].includes(one.in) && !FILE_PARAMETERS.includes(one.name),
      )
      const status = Object.keys(raw.responses).find((one) => one.startsWith('2'))!
      const data = raw.responses[status]!.content['application/json'].schema
      return { ...raw, method: method.toUpperCase(), path, scope: raw['x-scope'], parameters, data }
    }),
  )
}

/** The document that types are made from: what a client sends and gets, and nothing else. */
export function typesDocument(version: Version): Schema {
  const paths: Record<string, Schema> = {}
  for (const operation of operationsOf(version)) {
    const { method, path, operationId, parameters, requestBody, data } = operation
    paths[path] ??= {}
    paths[path][method.toLowerCase()] = {
      operationId,
      parameters: parameters.map(({ name, in: where, required, schema, ...rest }) => ({
        name,
        in: where,
        required,
        schema,
        description: (rest as Schema).description,
      })),
      requestBody: requestBody && { ...requestBody, content: withoutExamples(requestBody.content) },
      responses: { 200: { description: '', content: { 'application/json': { schema: data } } } },
    }
  }
  const schemas = Object.entries(readDocument(version).components.schemas)
    .filter(([name]) => !ERRORS.includes(name))
    .map(([name, { discriminator: _, ...schema }]) => [name, schema])
  const document = {
    openapi: '3.1.0',
    info: { title: 'Vintém', version: version.name },
    paths,
    components: { schemas: Object.fromEntries(schemas) },
  }
  return JSON.parse(JSON.stringify(document))
}

function withoutExamples(content: unknown): Schema {
  const { schema } = (content as { 'application/json': Schema })['application/json']
  return { 'application/json': { schema } }
}
