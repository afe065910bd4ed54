import type { StatusClass } from './rules.ts'

/** The names of classes of answers, as the API has them. */
export const CLASS_NAMES = {
  OK: 'ok',
  REFUSED: 'refused',
  FAILED: 'failed',
} as const satisfies Record<string, StatusClass>
