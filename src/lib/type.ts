import type * as Typebox from 'typebox'
import type { TProperties, TSchema } from 'typebox'

type Builders =
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Object'
  | 'Optional'
  | 'Partial'
  | 'String'
  | 'Unsafe'

const optional = new WeakSet<object>()

/** Marks a copy, because the same schema may be required elsewhere. */
function asOptional(schema: TSchema): TSchema {
  const copy = { ...schema }
  optional.add(copy)
  return copy
}

function object(properties: TProperties, options: object = {}): TSchema {
  const required = Object.keys(properties).filter((name) => !optional.has(properties[name]!))
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
}

type ObjectSchema = TSchema & { required?: string[]; properties: TProperties }

function partial({ required: _, properties, ...rest }: ObjectSchema): TSchema {
  const fields = Object.entries(properties).map(([name, field]) => [name, asOptional(field)])
  return { ...rest, properties: Object.fromEntries(fields) }
}

/**
 * Makes JSON schemas with the types of TypeBox. These few functions are our own, because to load
 * TypeBox takes a tenth of the time in which the service starts.
 */
export const Type = {
  Array: (items: TSchema, options?: object) => ({ type: 'array', items, ...options }),
  Boolean: (options?: object) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly string[], options?: object) => ({ enum: values, ...options }),
  Integer: (options?: object) => ({ type: 'integer', ...options }),
  Object: object,
  Optional: asOptional,
  Partial: partial,
  String: (options?: object) => ({ type: 'string', ...options }),
  Unsafe: (schema: object) => ({ ...schema }),
} as unknown as Pick<typeof Typebox, Builders>
