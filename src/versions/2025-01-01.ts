import type { Failure } from '../lib/problems.ts'
import type { Query, Schema, Shapes } from './shapes.ts'

/**
 * The initial contract: a success is the bare resource or array, an error has a legacy form, and
 * the payment status RECEIVED is spelled RECIEVED, as its published schema spells it.
 */
export function success(
  _status: number,
  _message: string,
  serialize: (data: unknown) => string,
  data: unknown,
): string {
  return respell(serialize(withoutWarnings(data)))
}

/** Clients of this version have them in the header X-Warnings only. */
function withoutWarnings(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || !('warnings' in data)) return data
  const { warnings: _, ...shown } = data
  return shown
}

/**
 * Spells RECEIVED as this version does. Text of a client cannot match, because its quotes are
 * escaped.
 */
export const respell = (json: string): string =>
  json.replaceAll('"paymentStatus":"RECEIVED"', '"paymentStatus":"RECIEVED"')

export function failure({ status, message, code, items }: Failure): unknown {
  const withdrawId = items[0]?.withdrawId
  if (withdrawId !== undefined) return { statusCode: status, message, withdrawId }
  return { statusCode: status, message, error: code }
}

/** Clients filter by the spelling that answers show them. */
export function upgradeQuery(query: Query): void {
  if (query.paymentStatus === 'RECIEVED') query.paymentStatus = 'RECEIVED'
}

function withoutProperty(schema: Schema, name: string): Schema {
  const { [name]: _, ...properties } = schema.properties as Record<string, Schema>
  return { ...schema, properties }
}

const Conflict = { $ref: '#/components/schemas/WithdrawalConflict' }
const ApiError = { $ref: '#/components/schemas/ApiError' }

export const shapes: Shapes = {
  success: (_status, data) => data,
  failure: (codes) =>
    codes.includes('withdrawal_pending') ? { oneOf: [Conflict, ApiError] } : ApiError,
  components: {
    ApiError: {
      type: 'object',
      required: ['statusCode', 'message', 'error'],
      properties: {
        statusCode: { type: 'integer', description: 'The HTTP status' },
        message: { type: 'string', description: 'What is wrong, in a sentence' },
        error: { $ref: '#/components/schemas/ErrorCode' },
      },
    },
    WithdrawalConflict: {
      type: 'object',
      description: 'A withdrawal is already waiting for its one-time code.',
      required: ['statusCode', 'message', 'withdrawId'],
      properties: {
        statusCode: { type: 'integer', const: 409 },
        message: { type: 'string' },
        withdrawId: { type: 'string', description: 'The withdrawal that is waiting' },
      },
    },
  },
  change(name: string, schema: Schema): Schema {
    if (name === 'CreatedPaymentLink') return withoutProperty(schema, 'warnings')
    if (name !== 'PaymentStatus') return schema
    const values = schema.enum as string[]
    return { ...schema, enum: values.map((value) => (value === 'RECEIVED' ? 'RECIEVED' : value)) }
  },
}
