import Type, { type Static } from 'typebox'
import { suffixOf, timeOf } from '../../lib/ids.ts'
import { DayOrTime, PAGE, Timestamp } from '../fields.ts'
import { CLASS_NAMES, type LoggedRequest } from './rules.ts'

export const RequestQuery = Type.Object({
  ...PAGE,
  status: Type.Optional(
    Type.Enum(Object.keys(CLASS_NAMES) as (keyof typeof CLASS_NAMES)[], {
      description: 'OK (2xx), REFUSED (4xx) or FAILED (5xx)',
    }),
  ),
  operation: Type.Optional(
    Type.String({ maxLength: 64, description: 'An operationId, such as createPixCharge' }),
  ),
  keyId: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      description: 'The API key that was sent',
      'x-rule': 'must be the keyId of a request',
    }),
  ),
  from: Type.Optional(DayOrTime('Received at or after this moment, or from this day on')),
  to: Type.Optional(DayOrTime('Received before this moment, or up to the end of this day')),
})

export const RequestView = Type.Object({
  id: Type.String({ description: 'What the answer had as X-Request-Id' }),
  requestedAt: Timestamp,
  method: Type.String(),
  path: Type.String({ description: 'As in the reference, with names in place of ids' }),
  operation: Type.String({ description: 'The operationId; of an agent, mcp: and the tool' }),
  status: Type.Integer({ description: 'The status of the answer' }),
  errorCode: Type.Optional(Type.String({ description: 'The code of the first error' })),
  latencyMs: Type.Integer(),
  keyId: Type.String({ format: 'uuid', description: 'The API key that was sent' }),
})

export function showRequest(
  { id, keyId, operation, status, errorCode, ms }: LoggedRequest,
  { method, path }: { method: string; path: string },
): Static<typeof RequestView> {
  return {
    id: suffixOf(id),
    requestedAt: timeOf(id).toISOString(),
    method,
    path,
    operation,
    status,
    ...(errorCode === null ? {} : { errorCode }),
    latencyMs: ms,
    keyId,
  }
}
