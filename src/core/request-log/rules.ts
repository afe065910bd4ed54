import { timeOf, type Uuid } from '../../lib/ids.ts'

/** A request to the API, without its body. */
export type LoggedRequest = {
  companyId: Uuid
  /** The request id. Newer requests have greater ids. */
  id: Uuid
  keyId: Uuid
  operation: string
  status: number
  /** Of the catalogue. Null for a success. */
  errorCode: string | null
  ms: number
  /** What the caller calls the request, in its own X-Request-Id. */
  callerId: string | null
}

const DAY_MS = 24 * 3600 * 1000
/** Requests are shown for so long. */
const KEPT_MS = 7 * DAY_MS
/** The table has a part for each day on which a kept request can have come, and for tomorrow. */
const PARTS = 9

/** The part of the table that has the requests of a day. */
const partAt = (at: Date): number => Math.floor(at.getTime() / DAY_MS) % PARTS

export const partOf = ({ id }: Pick<LoggedRequest, 'id'>): number => partAt(timeOf(id))

/** The part of tomorrow. What it has is older than 7 days. */
export const expiredPart = (now: Date): number => partAt(new Date(now.getTime() + DAY_MS))

export const oldestKept = (now: Date): Date => new Date(now.getTime() - KEPT_MS)

/** Answers by their status. */
export const STATUS_CLASSES = { ok: [200, 299], refused: [400, 499], failed: [500, 599] } as const
export type StatusClass = keyof typeof STATUS_CLASSES

/** The names of classes of answers, as the API has them. */
export const CLASS_NAMES = {
  OK: 'ok',
  REFUSED: 'refused',
  FAILED: 'failed',
} as const satisfies Record<string, StatusClass>
