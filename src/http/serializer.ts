import fastJson from 'fast-json-stringify'

export type Serialize = (data: unknown) => string

const serializers = new WeakMap<object, Serialize>()

/** The serializer of a schema. It is created once in a process, also for several servers. */
export function serializerOf(schema: object): Serialize {
  const serialize = serializers.get(schema) ?? (fastJson(schema as never) as Serialize)
  serializers.set(schema, serialize)
  return serialize
}
