export type FieldType = 'string' | 'number' | 'boolean' | 'options' | 'dateTime' | 'json'

/** Something that an operation is given. */
export type Field = {
  name: string
  title: string
  type: FieldType
  in: 'path' | 'query' | 'body'
  /** Its name in the request, with dots for records in records. */
  sentAs: string
  about?: string
  options?: string[]
  min?: number
}

/** An operation of the API. operations.json has all, made from the OpenAPI document. */
export type Operation = {
  resource: string
  name: string
  summary: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  isList: boolean
  required: Field[]
  optional: Field[]
}
