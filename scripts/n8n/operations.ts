import type {
  Field,
  FieldType,
  Operation,
} from '../../packages/n8n-nodes-vintem/nodes/Vintem/operation.ts'
import { EVENT_REFERENCE } from '../../src/http/openapi/webhooks.ts'
import { openApiDocument } from '../../src/http/openapi.ts'
import { METHODS } from '../client/names.ts'

/** Choose a page or a file, which n8n does by itself, or wait, which the trigger does. */
const NOT_ASKED = ['limit', 'after', 'wait', 'format', 'dialect']

type Schema = {
  $ref?: string
  type?: string | string[]
  enum?: (string | null)[]
  format?: string
  description?: string
  minimum?: number
  maximum?: number
  required?: string[]
  properties?: Record<string, Schema>
}
type Parameter = {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Schema
}
type RawOperation = {
  operationId: string
  summary: string
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
}
type Document = {
  paths: Record<string, Record<string, RawOperation>>
  components: { schemas: Record<string, Schema> }
}

const SPELLED: Record<string, string> = { id: 'ID', url: 'URL', qr: 'QR', sku: 'SKU' }

/** `customer.taxId` is Customer Tax ID. */
export const titleOf = (name: string): string =>
  name
    .split('.')
    .flatMap((part) => part.split(/(?=[A-Z])/))
    .map((word) => word.toLowerCase())
    .map((word) => SPELLED[word] ?? word[0]!.toUpperCase() + word.slice(1))
    .join(' ')

const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/s$/, '')

/** The operations of the node, from the OpenAPI document. */
export function operationsOfNode(): Operation[] {
  const document = JSON.parse(JSON.stringify(openApiDocument('http://127.0.0.1:3000'))) as Document
  const resolve = (schema: Schema): Schema =>
    schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)!]! : schema

  const fieldOf = (from: Parameter): Field => {
    const { description, ...schema } = resolve(from.schema)
    const about = from.description ?? from.schema.description ?? description
    const isCents = /^Cents\b/.test(about ?? '')
    const options = schema.enum?.filter((one) => one !== null)
    return {
      name: from.name.replaceAll('.', '_'),
      title: titleOf(from.name) + (isCents ? ' (Cents)' : ''),
      type: typeOf(schema),
      in: from.in as Field['in'],
      sentAs: from.name,
      ...(about && { about }),
      ...(options && { options }),
      ...(schema.minimum !== undefined && { min: schema.minimum }),
    }
  }

  /** The fields of a body. Those of a record in it are fields of their own. */
  const bodyParameters = (schema: Schema, prefix = '', isNeeded = true): Parameter[] =>
    Object.entries(schema.properties ?? {}).flatMap(([key, one]) => {
      const name = prefix + key
      const required = isNeeded && (schema.required?.includes(key) ?? false)
      const inner = one.$ref ? resolve(one) : null
      if (inner?.properties) return bodyParameters(inner, `${name}.`, required)
      return [{ name, in: 'body', required, schema: one }]
    })

  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, raw]) => {
      const [resources, name] = METHODS[raw.operationId]!
      const body = raw.requestBody?.content['application/json'].schema
      const given = (raw.parameters ?? []).filter((one) => ['path', 'query'].includes(one.in))
      const parameters = [
        ...given.filter((one) => !NOT_ASKED.includes(one.name)),
        // Another name of `value`.
        ...(body ? bodyParameters(resolve(body)) : []).filter((one) => !isAnotherName(one)),
      ]
      const isList = given.some((one) => one.name === 'after')
      const fields = (required: boolean) =>
        parameters.filter((one) => (one.required ?? false) === required).map(fieldOf)
      return [
        {
          resource: singular(resources),
          name,
          summary: raw.summary,
          method: method.toUpperCase() as Operation['method'],
          path,
          isList,
          required: fields(true),
          optional: fields(false),
        },
      ]
    }),
  )
}

const isAnotherName = ({ schema }: Parameter): boolean =>
  /^Another name of /.test(schema.description ?? '')

function typeOf({ type, enum: values, format }: Schema): FieldType {
  const [kind] = [type].flat().filter((one) => one !== 'null')
  if (values) return 'options'
  if (format === 'date-time') return 'dateTime'
  if (kind === 'integer' || kind === 'number') return 'number'
  return kind === 'string' || kind === 'boolean' ? kind : 'json'
}

const PACKAGE = 'packages/n8n-nodes-vintem/nodes'

const linesOf = (list: readonly unknown[]): string =>
  `[\n${list.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`

/** What the nodes know of the API, one operation or event in each line. */
export const nodeFiles = (): Record<string, string> => ({
  [`${PACKAGE}/Vintem/operations.json`]: linesOf(operationsOfNode()),
  [`${PACKAGE}/VintemTrigger/events.json`]: linesOf(eventsOfTrigger()),
})

/** What a webhook can subscribe to. */
function eventsOfTrigger(): object[] {
  return EVENT_REFERENCE.filter(({ type }) => type !== 'webhook.test')
    .map(({ type, when }) => ({
      name: titleOf(type),
      value: type,
      description: when.replace(/\.$/, ''),
    }))
    .sort((a, b) => a.name.localeCompare(b.name))
}
