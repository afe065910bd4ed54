import { isObject, type Schema } from './schema.ts'

/** Bounds of the header: proxies refuse large ones, and a body may hold thousands of names. */
const MAX_NAMED = 20
const MAX_NAME = 64
const MAX_HEADER = 1000

/**
 * The value of X-Ignored-Fields: the paths of the fields that the schema does not have, such as
 * `customer.foo, items[0].bar`. Null if there are none. It has names only, never values. A list
 * that is cut off ends with `...`.
 */
export function ignoredFields(schema: Schema | undefined, body: unknown): string | null {
  const paths: string[] = []
  find(schema, body, '', paths)
  const shown: string[] = []
  let length = 0
  for (const path of paths.slice(0, MAX_NAMED)) {
    length += path.length + 2
    if (length > MAX_HEADER) break
    shown.push(path)
  }
  if (shown.length < paths.length) shown.push('...')
  return shown.length > 0 ? shown.join(', ') : null
}

/** Collects paths, one more than the header lists, so that the cut is known. */
function find(schema: Schema | undefined, value: unknown, path: string, found: string[]): void {
  if (Array.isArray(value)) {
    if (!schema?.items) return
    const most = Math.min(value.length, schema.maxItems ?? value.length)
    for (let i = 0; i < most && found.length <= MAX_NAMED; i++) {
      find(schema.items, value[i], `${path}[${i}]`, found)
    }
  } else if (isObject(value) && (schema?.properties || path === '')) {
    const known = schema?.properties ?? {}
    for (const name of Object.keys(value)) {
      if (found.length > MAX_NAMED) return
      const isKnown = Object.hasOwn(known, name)
      const own = isKnown ? name : encodeName(name)
      const at = path === '' ? own : `${path}.${own}`
      if (!isKnown) found.push(at)
      else find(known[name], value[name], at, found)
    }
  }
}

/**
 * Makes a client's name safe for a header or a message. It is cut and percent-encoded, so that no
 * character of it ends a line, a path or an item of a list.
 */
export function encodeName(name: string): string {
  if (name === '') return '""'
  const short = name.length > MAX_NAME ? name.slice(0, MAX_NAME) : name
  return encodeURIComponent(short.toWellFormed()).replaceAll('.', '%2E')
}
