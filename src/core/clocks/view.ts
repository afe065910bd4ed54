import Type, { type Static } from 'typebox'
import { orNull } from '../fields.ts'
import type { ShownClock } from './commands.ts'
import { MAX_ADVANCE_S } from './rules.ts'

export const ClockMove = Type.Object({
  advance: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_ADVANCE_S,
      description: 'Seconds to move forward by, up to 5 years. This or `now`.',
    }),
  ),
  now: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'The moment to move to, later than the present one and at most 5 years after it',
      'x-rule': 'must be a date and time such as 2026-08-16T12:00:00Z',
    }),
  ),
})

export const ClockView = Type.Object({
  now: Type.String({ format: 'date-time', description: 'What time it is for the company' }),
  target: orNull(
    Type.String({
      format: 'date-time',
      description: 'Where its time is on its way to; null when it has arrived',
    }),
  ),
  status: Type.Enum(['READY', 'ADVANCING']),
  running: Type.Array(Type.String(), {
    description: 'What is still being done at this moment before time goes on',
  }),
})

export const showClock = ({ now, target, running }: ShownClock): Static<typeof ClockView> => ({
  now: now.toISOString(),
  target: target?.toISOString() ?? null,
  status: target === null ? 'READY' : 'ADVANCING',
  running,
})
