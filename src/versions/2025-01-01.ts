import type { Problem } from '../lib/problems.ts'

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
  return serialize(misspell(data))
}

export function failure({ status, message, code, items }: Problem): unknown {
  const withdrawId = items[0]?.withdrawId
  if (withdrawId !== undefined) return { statusCode: status, message, withdrawId }
  return { statusCode: status, message, error: code }
}

type Resource = { paymentStatus?: string; charges?: Resource[] }

function misspell(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(misspell)
  if (typeof data !== 'object' || data === null) return data
  const { paymentStatus, charges } = data as Resource
  return {
    ...data,
    ...(paymentStatus === 'RECEIVED' ? { paymentStatus: 'RECIEVED' } : {}),
    ...(charges ? { charges: charges.map(misspell) } : {}),
  }
}
