import type { INodeProperties, INodePropertyRouting } from 'n8n-workflow'
import { addIdempotencyKey, requireValues } from './before-sending'
import type { Field, Operation } from './operation'
import { readPages } from './pages'

const EMPTY = { string: '', number: 0, boolean: false, dateTime: '', json: '' }

/** `payOut` is Pay Out. */
const titleOf = (name: string): string =>
  name[0]!.toUpperCase() + name.slice(1).replace(/[A-Z]/g, (letter) => ` ${letter}`)

const byName = (a: { name: string }, b: { name: string }): number => a.name.localeCompare(b.name)
const byTitle = (a: Field, b: Field): number => a.title.localeCompare(b.title)

function routingOf({ in: where, type, sentAs }: Field): INodePropertyRouting | undefined {
  if (where === 'path') return undefined
  const asJson = "={{ typeof $value === 'string' ? JSON.parse($value) : $value }}"
  return {
    send: {
      type: where,
      property: sentAs,
      ...(type === 'json' && { value: asJson }),
    },
  }
}

function propertyOf(field: Field): INodeProperties {
  const { name, title, type, about, options, min } = field
  const routing = routingOf(field)
  const values = options?.map((value) => ({ name: value, value }))
  return {
    displayName: title,
    name,
    type,
    default: type === 'options' ? (options?.[0] ?? '') : EMPTY[type],
    ...(about && { description: about }),
    ...(values && { options: values }),
    ...(type === 'number' && min !== undefined && { typeOptions: { minValue: min } }),
    ...(routing && { routing }),
  }
}

function urlOf({ path }: Operation): string {
  const parts = path.replace(/\{(\w+)\}/g, '{{ encodeURIComponent($parameter["$1"]) }}')
  return parts === path ? path : `=${parts}`
}

function routingOfOperation(operation: Operation): INodePropertyRouting {
  const { method, isList } = operation
  return {
    request: { method, url: urlOf(operation) },
    output: { postReceive: [{ type: 'rootProperty', properties: { property: 'data' } }] },
    send: { preSend: method === 'POST' ? [requireValues, addIdempotencyKey] : [requireValues] },
    ...(isList && { operations: { pagination: readPages } }),
  }
}

/** How much of a list is read. */
function pageProperties(displayOptions: INodeProperties['displayOptions']): INodeProperties[] {
  return [
    {
      displayName: 'Return All',
      name: 'returnAll',
      type: 'boolean',
      default: false,
      description: 'Whether to return all results or only up to a given limit',
      displayOptions,
      routing: { send: { paginate: '={{ $value }}' } },
    },
    {
      displayName: 'Limit',
      name: 'limit',
      type: 'number',
      typeOptions: { minValue: 1, maxValue: 1000 },
      default: 50,
      description: 'Max number of results to return',
      displayOptions: { show: { ...displayOptions?.show, returnAll: [false] } },
      routing: { send: { type: 'query', property: 'limit' } },
    },
  ]
}

function operationProperties(operation: Operation): INodeProperties[] {
  const { resource, name, method, isList, required, optional } = operation
  const displayOptions = { show: { resource: [resource], operation: [name] } }
  const needed = required.map((field) => ({
    ...propertyOf(field),
    required: true,
    displayOptions,
  }))
  const more: INodeProperties = {
    displayName: method === 'GET' ? 'Filters' : 'Additional Fields',
    name: 'more',
    type: 'collection',
    placeholder: method === 'GET' ? 'Add Filter' : 'Add Field',
    default: {},
    displayOptions,
    options: optional.toSorted(byTitle).map(propertyOf),
  }
  return [
    ...needed,
    ...(isList ? pageProperties(displayOptions) : []),
    ...(optional.length > 0 ? [more] : []),
  ]
}

/** What the editor shows of the operations. */
export function propertiesOf(operations: Operation[]): INodeProperties[] {
  const resources = [...new Set(operations.map(({ resource }) => resource))]
  const choices = resources.map((value) => ({ name: titleOf(value), value })).sort(byName)
  const choice: INodeProperties = {
    displayName: 'Resource',
    name: 'resource',
    type: 'options',
    noDataExpression: true,
    options: choices,
    default: 'charge',
  }
  const ofResource = (resource: string): INodeProperties => {
    const own = operations.filter((one) => one.resource === resource)
    const choice: INodeProperties = {
      displayName: 'Operation',
      name: 'operation',
      type: 'options',
      noDataExpression: true,
      displayOptions: { show: { resource: [resource] } },
      options: own
        .map((one) => ({
          name: titleOf(one.name),
          value: one.name,
          action: one.summary,
          description: one.summary,
          routing: routingOfOperation(one),
        }))
        .sort(byName),
      default: '',
    }
    return { ...choice, default: own[0]!.name }
  }
  return [choice, ...resources.map(ofResource), ...operations.flatMap(operationProperties)]
}
