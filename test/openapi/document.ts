import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { openApiDocument } from '../../src/http/openapi.ts'
import { findVersion } from '../../src/versions/history.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape is what is under test
export type Any = any

export const ajv = new Ajv2020({ allErrors: true, strict: false })
;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)

export type Operation = { method: string; path: string; operation: Any }

export type Document = {
  name: string
  json: Any
  operations: Operation[]
  operationOf(id: string): Any
  /** What a reference leads to; anything else is given back. */
  resolve(value: Any): Any
  /** The same schema without references, where no object has a field that it does not name. */
  closed(schema: Any): Any
}

/** A document as a client of it sees it. */
export function readDocument(json: Any): Document {
  const operations = Object.entries<Any>(json.paths).flatMap(([path, item]) =>
    Object.entries<Any>(item).map(([method, operation]) => ({ method, path, operation })),
  )
  const follow = (ref: string): Any =>
    ref
      .replace(/^#\//, '')
      .split('/')
      .reduce((at, part) => at?.[part], json)
  const resolve = (value: Any): Any => (value?.$ref ? follow(value.$ref) : value)

  function closed(schema: Any): Any {
    if (Array.isArray(schema)) return schema.map(closed)
    if (typeof schema !== 'object' || schema === null) return schema
    if (schema.$ref) return closed(follow(schema.$ref))
    const copy: Any = {}
    for (const [name, value] of Object.entries<Any>(schema)) {
      if (name === 'discriminator') continue
      copy[name] = name === 'properties' ? mapValues(value, closed) : closed(value)
    }
    return copy.properties ? { ...copy, additionalProperties: false } : copy
  }
  const operationOf = (id: string) =>
    operations.find(({ operation }) => operation.operationId === id)!.operation
  return { name: json.info.version, json, operations, operationOf, resolve, closed }
}

const mapValues = (fields: Record<string, Any>, change: (value: Any) => Any) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(value)]))

/** The document of a version as the server makes it, as JSON. */
export const documentOf = (version: string): Document =>
  readDocument(
    JSON.parse(JSON.stringify(openApiDocument('http://vintem.test', findVersion(version)!))),
  )

const compiled = new Map<string, ValidateFunction>()

/** Says what breaks a schema, or null. */
export function faultOf(schema: Any, value: unknown): string | null {
  const text = JSON.stringify(schema)
  const validate = compiled.get(text) ?? ajv.compile(schema)
  compiled.set(text, validate)
  return validate(value) ? null : ajv.errorsText(validate.errors)
}
