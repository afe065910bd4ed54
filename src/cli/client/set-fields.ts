import { ClientFault } from '../command.ts'

/** A schema of a body, as far as fields are found in it. */
export type BodySchema = {
  type?: string
  enum?: readonly unknown[]
  anyOf?: BodySchema[]
  properties?: Record<string, BodySchema>
}

/** A body that a scenario sends, as far as its fields can be set. */
export type Settable = {
  name: string
  schema: BodySchema
  /** Fields that the scenario fills in itself, because they tie its requests together. */
  linked: readonly string[]
}

/** Fields of one body that were set, such as `{ customer: { name: 'Ana' } }`. */
export type Fields = { [name: string]: unknown }

/** What was set, by the name of the body. */
export type SetFields = Record<string, Fields>

type Leaf = { label: string; body: string; path: string[]; schema: BodySchema }

/**
 * The fields that can be set. Those of the first body are written as they are, those of another
 * body after its name: `amount`, `customer.name`, `payment.amount`.
 */
function leavesOf(bodies: readonly Settable[]): Leaf[] {
  const first = bodies[0]?.name
  const distinct = [...new Map(bodies.map((body) => [body.name, body])).values()]
  return distinct.flatMap(({ name, schema, linked }) =>
    pathsOf(schema)
      .filter(({ path }) => !linked.includes(path[0]!))
      .map(({ path, schema }) => {
        const label = (name === first ? path : [name, ...path]).join('.')
        return { label, body: name, path, schema }
      }),
  )
}

function pathsOf({ properties }: BodySchema): Pick<Leaf, 'path' | 'schema'>[] {
  return Object.entries(properties ?? {}).flatMap(([name, schema]) => {
    if (!schema.properties) return [{ path: [name], schema }]
    return pathsOf(schema).map((leaf) => ({ ...leaf, path: [name, ...leaf.path] }))
  })
}

export const settableFields = (bodies: readonly Settable[]): string[] =>
  leavesOf(bodies).map(({ label }) => label)

/** Reads what was typed as `--set field=value`. `what` names the scenario. */
export function readSet(what: string, bodies: readonly Settable[], typed: string[]): SetFields {
  const leaves = new Map(leavesOf(bodies).map((leaf) => [leaf.label, leaf]))
  const all: SetFields = {}
  for (const text of typed) {
    const at = text.indexOf('=')
    if (at < 1) throw new ClientFault(`--set ${text}: must be field=value, such as amount=1990.`)
    const [field, value] = [text.slice(0, at).trim(), text.slice(at + 1)]
    const leaf = leaves.get(field)
    if (!leaf) {
      const known = [...leaves.keys()].join(', ')
      throw new ClientFault(`--set ${field}: ${what} sends no such field. Can be set: ${known}.`)
    }
    all[leaf.body] = put(all[leaf.body] ?? {}, leaf.path, readValue(leaf.schema, value))
  }
  return all
}

function put(fields: Fields, [name, ...rest]: string[], value: unknown): Fields {
  const inner = rest.length === 0 ? value : put((fields[name!] ?? {}) as Fields, rest, value)
  return { ...fields, [name!]: inner }
}

const takesText = ({ type, enum: values, anyOf = [] }: BodySchema): boolean =>
  type === 'string' || values?.some((one) => typeof one === 'string') || anyOf.some(takesText)

/** Numbers, truth values and lists are JSON. If it is none, the server says what is wrong. */
function readValue(schema: BodySchema, text: string): unknown {
  if (takesText(schema)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The body that is sent: what the scenario would send, changed by what was set. */
export function withSet(body: Fields, set: Fields): Fields {
  const changed = { ...body }
  for (const [name, value] of Object.entries(set)) {
    const before = changed[name]
    const isNested = isFields(before) && isFields(value)
    changed[name] = isNested ? withSet(before, value) : value
  }
  return changed
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
