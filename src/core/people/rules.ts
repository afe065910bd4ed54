import type { Uuid } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { SCOPES, type Scope } from '../companies/rules.ts'

/** Somebody who signs in. */
export type Person = {
  id: Uuid
  /** In lower case. */
  email: string
  name: string
  /** A hash by argon2id. Null: none was chosen yet. */
  password: string | null
  language: Language
  /** Whether the person may see the whole installation. */
  isOperator: boolean
  totpSecret: Buffer | null
  totpConfirmedAt: Date | null
  /** The period of the last code that was accepted, because each code works once. */
  totpLastPeriod: number | null
  /** From when on their second factors count. Null: since there was one. */
  factorCountsAt: Date | null
  createdAt: Date
  updatedAt: Date
}

/** What the secret of the app that makes codes is sealed for. */
export const totpContext = ({ id }: Pick<Person, 'id'>): string => `totp:${id}`

export const MAX_NAME = 255
export const MAX_EMAIL = 254

export const ROLES = ['owner', 'finance', 'support', 'developer', 'viewer'] as const
/** What a person does in a company. */
export type Role = (typeof ROLES)[number]

const READ_SCOPES = SCOPES.filter((scope) => scope.endsWith(':read'))

/** What each role may do: the same scopes that API keys have. */
export const SCOPES_OF: Record<Role, readonly Scope[]> = {
  owner: SCOPES,
  finance: [...READ_SCOPES, 'payments:write', 'catalog:write', 'balance:write'],
  support: [
    'payments:read',
    'payments:write',
    'catalog:read',
    'catalog:write',
    'webhooks:read',
    'company:read',
  ],
  developer: [
    'payments:read',
    'payments:write',
    'catalog:read',
    'catalog:write',
    'webhooks:read',
    'webhooks:write',
    'company:read',
  ],
  viewer: READ_SCOPES,
}

/** What is needed to see a page or to do something there: a scope, or one of these roles. */
export type Needs = Scope | readonly Role[]

export const isAllowed = (role: Role, needs: Needs): boolean =>
  typeof needs === 'string' ? SCOPES_OF[role].includes(needs) : needs.includes(role)

/** Whether somebody with this role, or with none, may invite others to the company. */
export const mayInvite = (role: Role | null): boolean => role === 'owner'

/** A browser that is signed in. */
export type Session = {
  id: Uuid
  personId: Uuid
  tokenHash: Buffer
  createdAt: Date
  lastSeenAt: Date
  /** When the person has last proved who they are: by a second factor, if they have one. */
  confirmedAt: Date | null
  /** Whether a second factor was given in this session. */
  hasSecondFactor: boolean
  /** Whether it began with a link that was mailed to the person, or that the operator gave. */
  byLink: boolean
  address: string
  device: string
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** A session that is not used for so long has ended. */
export const MAX_IDLE_MS = 12 * HOUR_MS
/** A session ends after so long, however much it is used. */
export const MAX_SESSION_MS = 7 * 24 * HOUR_MS
/** For so long nobody has to prove again who they are. */
export const CONFIRMED_MS = 5 * MINUTE_MS
/**
 * A first factor that was set up with a password alone counts after so long, in which whoever has
 * the mailbox can object.
 */
export const FACTOR_WAIT_MS = 24 * HOUR_MS
/** When a session was last seen is written at most so often. */
export const SEEN_AGAIN_MS = MINUTE_MS

/** Whether a session still counts. */
export const isLive = ({ createdAt, lastSeenAt }: Session, now: Date): boolean =>
  now.getTime() - lastSeenAt.getTime() < MAX_IDLE_MS &&
  now.getTime() - createdAt.getTime() < MAX_SESSION_MS

/** Whether the person has just proved who they are. */
export const isConfirmed = ({ confirmedAt }: Session, now: Date): boolean =>
  confirmedAt !== null && now.getTime() - confirmedAt.getTime() < CONFIRMED_MS
