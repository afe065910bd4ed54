import type { Schema } from '../../versions/shapes.ts'

export const refTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

export type Components = {
  /** The schema as the document shows it, with references to named schemas. */
  show(schema: object): Schema
  /** The named schemas that were referred to so far. */
  used(): Record<string, Schema>
}

/**
 * Collects the named schemas that a document refers to. `change` may replace a named
 * schema with another.
 */
export function createComponents(
  names: Record<string, object>,
  change: (name: string, schema: Schema) => Schema,
): Components {
  const byContents = new Map<string, string>()
  for (const [name, schema] of Object.entries(names)) {
    const other = byContents.get(contentsOf(schema))
    if (other !== undefined) throw new Error(`${name} and ${other} are the same schema`)
    byContents.set(contentsOf(schema), name)
  }
  const used: Record<string, Schema> = {}

  function show(schema: object): Schema {
    const name = byContents.get(contentsOf(schema))
    if (name === undefined) return withParts(schema)
    // Set it first, because a schema may contain itself.
    if (!used[name]) used[name] = {}
    if (Object.keys(used[name]).length === 0) {
      used[name] = change(name, withParts(names[name]!))
    }
    return { ...refTo(name), ...ownDescription(schema as Schema, names[name] as Schema) }
  }
  const withParts = (schema: object): Schema => mapParts(plain(schema as Schema), show)

  const sorted = () => Object.fromEntries(Object.entries(used).sort(([a], [b]) => (a < b ? -1 : 1)))
  return { show, used: sorted }
}

/**
 * Removes the keywords that only our validator and serializer read. A default is told in the
 * description, because from the keyword openapi-typescript concludes that a field is required.
 */
function plain(schema: Schema): Schema {
  const description = descriptionOf(schema)
  const shown: Schema = description === undefined ? {} : { description }
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'default' || name === 'description') continue
    if (name.startsWith('x-') || (name === 'format' && value === 'unsafe')) continue
    shown[name] = name === 'format' && value === 'http-url' ? 'uri' : value
  }
  const { type = typeOfEnum(shown.enum), ...others } = shown
  return type === undefined ? others : { type, ...others }
}

/** Our validator needs no type beside an enum, but generators of clients do. */
function typeOfEnum(values: unknown): unknown {
  if (!Array.isArray(values)) return undefined
  return values.includes(null) ? ['string', 'null'] : 'string'
}

/** Shows every schema inside a schema, one level down. */
function mapParts(schema: Schema, show: (part: object) => Schema): Schema {
  const shown = { ...schema }
  if (schema.items) shown.items = show(schema.items as object)
  if (schema.properties) {
    const fields = Object.entries(schema.properties as Record<string, object>)
    shown.properties = Object.fromEntries(fields.map(([name, field]) => [name, show(field)]))
  }
  return shown
}

function descriptionOf({ description, default: fallback }: Schema): string | undefined {
  const parts = [description, ...(fallback === undefined ? [] : [`Default: ${fallback}`])]
  return parts.filter((part) => part !== undefined).join('. ') || undefined
}

/** Two schemas that differ only in their description count as the same schema. */
function contentsOf(schema: object): string {
  const inside = (part: object): Schema => mapParts(plain(part as Schema), inside)
  const { description: _, ...contents } = inside(schema)
  return JSON.stringify(contents)
}

function ownDescription(schema: Schema, component: Schema): Schema {
  const description = descriptionOf(schema)
  return description === undefined || description === descriptionOf(component)
    ? {}
    : { description }
}
