import type { TObject } from 'typebox'
import { inputReader } from '../http/input.ts'

/** The keywords that agents read. Their validators do not know our own keywords and formats. */
const KEYWORDS = new Set([
  'type',
  'enum',
  'description',
  'properties',
  'required',
  'items',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'pattern',
  'default',
])

export type JsonSchema = { type: 'object'; [keyword: string]: unknown }

/** A schema of ours as plain JSON Schema. */
export const schemaOf = (schema: TObject): JsonSchema =>
  ({ ...plain(schema), type: 'object' }) as JsonSchema

function plain(schema: object): object {
  const entries = Object.entries(schema).filter(([keyword]) => KEYWORDS.has(keyword))
  return Object.fromEntries(
    entries.map(([keyword, value]) => {
      if (keyword === 'items') return [keyword, plain(value)]
      if (keyword !== 'properties') return [keyword, value]
      const fields = Object.entries(value as object).map(([name, field]) => [name, plain(field)])
      return [keyword, Object.fromEntries(fields)]
    }),
  )
}

/**
 * Creates the reader of a tool's arguments. All violations are reported together. An argument that
 * the tool does not have is refused, because an agent may rely on it.
 */
export function argumentsReader(schema: TObject): (given: unknown) => object {
  // Made when the tool is first called, because it takes long and most servers have no agents.
  let read: ReturnType<typeof inputReader> | undefined
  return (given) => {
    read ??= inputReader({ body: schema, refused: 'an argument of this tool' })
    return read({ body: { value: given, faults: [] }, query: {}, session: null }).body as object
  }
}
