import type { Written } from '../pix/written.ts'

/** The keywords of a schema that normalization reads. */
export type Schema = {
  type?: string | string[]
  enum?: unknown[]
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  pattern?: string
  minLength?: number
  maxItems?: number
  uniqueItems?: boolean
  'x-written'?: Written
  /** Whether the operation checks each item of a list by itself. */
  'x-each'?: boolean
  /** A name that is taken for the field if its own is not sent. */
  'x-other-name'?: string
}

export type Fields = Record<string, unknown>

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a field may hold text, also as one of an enum. */
const isText = ({ type, enum: words }: Schema): boolean =>
  [type].flat().includes('string') || (words?.some((word) => typeof word === 'string') ?? false)

/**
 * Whether an empty text means that the field is absent, because clients with forms send empty
 * fields too. In a required field it is a violation.
 */
export const isBlankable = ({ required }: Schema, name: string, field: Schema): boolean =>
  isText(field) && !(required ?? []).includes(name)
