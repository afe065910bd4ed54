import fastJson from 'fast-json-stringify'

export type Serialize = (data: unknown) => string

const serializers = new WeakMap<object, Serialize>()

/** The serializer of a schema. It is made when it is first used, once in a process. */
export function serializerOf(schema: object): Serialize {
  const serialize = serializers.get(schema) ?? writingOnce(madeLate(schema))
  serializers.set(schema, serialize)
  return serialize
}

function madeLate(schema: object): Serialize {
  let made: Serialize | undefined
  return (data) => {
    made ??= fastJson(schema as never) as Serialize
    return made(data)
  }
}

/** A longer text is not remembered: to join its parts would block the event loop. */
const MAX_WRITTEN = 16 * 1024

/** A frozen view is the same whenever it is shown, so it is written once. */
function writingOnce(serialize: Serialize): Serialize {
  const written = new WeakMap<object, string>()
  return (data) => {
    if (typeof data !== 'object' || data === null || !Object.isFrozen(data)) return serialize(data)
    const known = written.get(data)
    if (known !== undefined) return known
    const json = serialize(data)
    if (json.length > MAX_WRITTEN) return json
    // A text of many parts stays a tree of them, which whoever sends it would join every time.
    const joined = Buffer.from(json).toString()
    written.set(data, joined)
    return joined
  }
}
