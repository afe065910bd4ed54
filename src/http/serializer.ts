import fastJson from 'fast-json-stringify'

export type Serialize = (data: unknown) => string

const serializers = new WeakMap<object, Serialize>()

/** The serializer of a schema. It is created once in a process, also for several servers. */
export function serializerOf(schema: object): Serialize {
  const serialize = serializers.get(schema) ?? writingOnce(fastJson(schema as never) as Serialize)
  serializers.set(schema, serialize)
  return serialize
}

/** A frozen view is the same whenever it is shown, so it is written once. */
function writingOnce(serialize: Serialize): Serialize {
  const written = new WeakMap<object, string>()
  return (data) => {
    if (typeof data !== 'object' || data === null || !Object.isFrozen(data)) return serialize(data)
    const known = written.get(data)
    if (known !== undefined) return known
    // A text of many parts stays a tree of them, which whoever sends it would join every time.
    const json = Buffer.from(serialize(data)).toString()
    written.set(data, json)
    return json
  }
}
