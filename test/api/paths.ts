type Json = Record<string, unknown>

const steps = (path: string) => path.replaceAll(/\[(\d+)\]/g, '.$1').split('.')

/** The body with one field set, by its path; the given one stays as it is. */
export function put(body: Json, path: string, value: unknown): Json {
  const copy = structuredClone(body)
  const parts = steps(path)
  const holder = parts.slice(0, -1).reduce((at, part) => at[part] as Json, copy)
  holder[parts.at(-1)!] = value
  return copy
}

export function without(body: Json, path: string): Json {
  const copy = structuredClone(body)
  const parts = steps(path)
  const holder = parts.slice(0, -1).reduce((at, part) => at[part] as Json, copy)
  delete holder[parts.at(-1)!]
  return copy
}

type Schema = {
  type?: string | string[]
  properties?: Record<string, Schema>
  items?: Schema
  'x-each'?: boolean
}

/** The path of every field in a schema; the items of an array of objects are shown by the first. */
export function fieldsOf(schema: object, at = ''): string[] {
  const { properties = {} } = schema as Schema
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = at ? `${at}.${name}` : name
    // Items that an operation checks by themselves are no fields of the body.
    const item =
      field.items?.properties && !field['x-each']
        ? [`${path}[0]`, ...fieldsOf(field.items, `${path}[0]`)]
        : []
    return [path, ...fieldsOf(field, path), ...item]
  })
}
