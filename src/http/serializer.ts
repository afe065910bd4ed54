import fastJson from 'fast-json-stringify'

export type Serialize = (data: unknown) => string

const made = new WeakMap<object, Serialize>()

/** Writes what a schema describes. Made once in a process, however many servers it has. */
export function serializerOf(schema: object): Serialize {
  const serialize = made.get(schema) ?? (fastJson(schema as never) as Serialize)
  made.set(schema, serialize)
  return serialize
}
