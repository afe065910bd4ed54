import { toPlain } from '../pix/written.ts'
import { type Fields, isBlankable, isObject, type Schema } from './schema.ts'

type Change = (value: unknown) => unknown

/**
 * Creates the function that normalizes a body by its schema. Empty optional text is removed,
 * punctuation of tax ids, phones and postal codes is removed, and a field that is sent under its
 * other name gets its own. Nothing else changes, and no types.
 * It does not change the given body.
 */
export function bodyNormalizer(schema: Schema): Change {
  return changeOf(schema, 'absent') ?? ((value) => value)
}

/**
 * The same for a query. There an empty filter stays and is refused, because without it the list
 * would have all records.
 */
export function queryNormalizer(schema: Schema): Change {
  return changeOf(schema, 'kept') ?? ((value) => value)
}

/** Whether an empty optional text is removed or kept. */
type Blank = 'absent' | 'kept'

/** Null if values of this schema never change. */
function changeOf(schema: Schema, blank: Blank): Change | null {
  const { properties, items, 'x-written': kind, 'x-each': isEach } = schema
  if (isEach) return null
  if (properties) return changeOfObject(schema, blank)
  if (items) return changeOfItems(items, blank)
  return kind ? (value) => (typeof value === 'string' ? toPlain(kind, value) : value) : null
}

function changeOfItems(items: Schema, blank: Blank): Change | null {
  const change = changeOf(items, blank)
  if (!change) return null
  return (value) => (Array.isArray(value) ? value.map(change) : value)
}

type Field = {
  name: string
  otherName: string | undefined
  isBlankable: boolean
  change: Change | null
}

function changeOfObject(schema: Schema, blank: Blank): Change | null {
  const fields = Object.entries(schema.properties ?? {})
    .map(
      ([name, field]): Field => ({
        name,
        otherName: field['x-other-name'],
        isBlankable: blank === 'absent' && isBlankable(schema, name, field),
        change: changeOf(field, blank),
      }),
    )
    .filter((field) => field.isBlankable || field.change || field.otherName)
  if (fields.length === 0) return null
  return (value) => (isObject(value) ? changeFields(value, fields) : value)
}

/** A copy with the changes, or the object itself if there are none, as in most requests. */
function changeFields(given: Fields, fields: Field[]): Fields {
  let copy: Fields | null = null
  for (const { name, otherName, isBlankable, change } of fields) {
    const sentAs = Object.hasOwn(given, name) ? name : otherName
    if (sentAs === undefined || !Object.hasOwn(given, sentAs)) continue
    const value = given[sentAs]
    const isBlank = isBlankable && value === ''
    const changed = change ? change(value) : value
    if (!isBlank && changed === value && sentAs === name) continue
    copy ??= { ...given }
    if (isBlank || sentAs !== name) delete copy[sentAs]
    if (!isBlank) copy[name] = changed
  }
  return copy ?? given
}

/**
 * The schema for the OpenAPI document. Its patterns and lengths allow the empty text, which counts
 * as absent, and it lists the other names of fields. A required field stays required there, because
 * generated clients would otherwise lose its type.
 */
export function asSent(schema: Schema): Schema {
  const { properties, items } = schema
  return {
    ...schema,
    ...(items ? { items: asSent(items) } : {}),
    ...(properties ? { properties: fieldsAsSent(schema, properties) } : {}),
  }
}

function fieldsAsSent(schema: Schema, properties: Record<string, Schema>): Record<string, Schema> {
  const fields = Object.entries(properties).flatMap(([name, field]): [string, Schema][] => {
    const sent = isBlankable(schema, name, field) ? allowBlank(field) : asSent(field)
    const { 'x-other-name': other } = field
    if (other === undefined) return [[name, sent]]
    const description = `Another name of \`${name}\`; both at once are refused`
    return [
      [name, sent],
      [other, { ...sent, description } as Schema],
    ]
  })
  return Object.fromEntries(fields)
}

function allowBlank({ pattern, minLength, ...field }: Schema): Schema {
  return pattern === undefined ? field : { ...field, pattern: `^$|${pattern}` }
}
