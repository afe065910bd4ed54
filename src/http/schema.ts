import type { Written } from '../pix/written.ts'

/** As much of a schema of ours as the edge reads to bring a body into its form. */
export type Schema = {
  type?: string | string[]
  enum?: unknown[]
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  pattern?: string
  minLength?: number
  maxItems?: number
  'x-written'?: Written
}

export type Fields = Record<string, unknown>

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a field may hold text: of any kind, or one of a list of words. */
const isText = ({ type, enum: words }: Schema): boolean =>
  [type].flat().includes('string') || (words?.some((word) => typeof word === 'string') ?? false)

/**
 * Whether an empty text in a field means that the field is absent: clients that fill in forms send
 * every field, the empty ones too. In a required field it stays a violation.
 */
export const isBlankable = ({ required }: Schema, name: string, field: Schema): boolean =>
  isText(field) && !(required ?? []).includes(name)
