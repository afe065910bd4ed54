import Type from 'typebox'
import { Timestamp } from '../fields.ts'
import { MAX_LIFETIME_S, MIN_LIFETIME_S } from './rules.ts'

export const NewSandbox = Type.Object({
  expiresIn: Type.Optional(
    Type.Integer({
      minimum: MIN_LIFETIME_S,
      maximum: MAX_LIFETIME_S,
      default: MAX_LIFETIME_S,
      description: 'Seconds until it is removed, in real time',
    }),
  ),
})

export const SandboxView = Type.Object({
  id: Type.String({ format: 'uuid', description: 'The id of the new company' }),
  apiKey: Type.String({ description: 'Its key, which only this answer shows' }),
  expiresAt: Timestamp,
})
