import { ConnectionError, VintemError } from '../../../packages/client/src/index.ts'

/** Whether the same question can be answered later. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionError) return true
  const status = error instanceof VintemError ? (error.status ?? 0) : 0
  return status >= 500 || status === 408 || status === 429
}
