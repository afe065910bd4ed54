import type { ProblemCode } from '../lib/problems.ts'

export type Schema = Record<string, unknown>
export type Query = Record<string, unknown>

/** What the OpenAPI document of a version says about the shape of its answers. */
export type Shapes = {
  /** The schema of a success whose resource has the schema `data`. */
  success(status: number, data: Schema): Schema
  /** The schema of an error with one of these codes. */
  failure(codes: ProblemCode[]): Schema
  /** The named schemas that the two refer to. */
  components: Record<string, Schema>
  /** A named schema of the newest version as this version shows it. */
  change(name: string, schema: Schema): Schema
}

export const envelope: Shapes = {
  success: (status, data) => ({
    type: 'object',
    required: ['status', 'message', 'data', 'errors'],
    properties: {
      status: { type: 'integer', const: status },
      message: { type: 'string' },
      data,
      errors: { type: 'array', maxItems: 0, items: { $ref: '#/components/schemas/ErrorItem' } },
    },
  }),
  failure: () => ({ $ref: '#/components/schemas/ApiError' }),
  components: {
    ApiError: {
      type: 'object',
      required: ['status', 'message', 'data', 'errors'],
      properties: {
        status: { type: 'integer', description: 'The HTTP status' },
        message: { type: 'string', description: 'What is wrong, in a sentence' },
        data: { type: 'null' },
        errors: {
          type: 'array',
          minItems: 1,
          items: { $ref: '#/components/schemas/ErrorItem' },
        },
      },
    },
    ErrorItem: {
      type: 'object',
      required: ['code', 'description'],
      properties: {
        code: { $ref: '#/components/schemas/ErrorCode' },
        description: {
          type: 'string',
          description: 'Which rule is broken and what to do; starts with the path of the field',
        },
        withdrawId: {
          type: 'string',
          description: 'With `withdrawal_pending`: the withdrawal that is waiting',
        },
      },
    },
  },
  change: (_name, schema) => schema,
}
