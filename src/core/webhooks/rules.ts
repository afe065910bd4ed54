import { randomBytes } from 'node:crypto'
import { hostFault } from '../../lib/addresses.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { EventType } from '../events.ts'

export type Webhook = {
  companyId: Uuid
  id: Uuid
  url: string
  name: string
  events: EventType[]
  status: 'ACTIVE' | 'INACTIVE'
  /** Why it is inactive, when that was not the company's wish. */
  deactivated: 'GONE' | 'FAILING' | null
  /** Since when nothing was delivered. */
  failingSince: Date | null
  /** Until then it is left alone, since it failed again and again. */
  pausedUntil: Date | null
  createdAt: Date
  updatedAt: Date
}

export type WebhookKey = { companyId: Uuid; webhookId: Uuid }

/** The secret of the Standard Webhooks form: the base64 part is the key. */
export const makeSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** The secret is sealed for the row it belongs to, so that it signs for no other webhook. */
export const secretContext = (companyId: Uuid, id: Uuid): string => `${companyId}:webhook:${id}`

/** For how long the secret before the present one still signs beside it. */
export const OVERLAP_MS = 24 * 3600 * 1000

/** What a company can change; what is left out stays as it is. */
type Changes = Partial<Pick<Webhook, 'url' | 'name' | 'events' | 'status'>>

/**
 * The webhook after a change. One that has another address, or is made active again, is a new
 * receiver: what the former one did is forgotten.
 */
export function change(webhook: Webhook, changes: Changes, now: Date): Webhook {
  const changed: Webhook = {
    ...webhook,
    url: changes.url ?? webhook.url,
    name: changes.name ?? webhook.name,
    events: changes.events ?? webhook.events,
    status: changes.status ?? webhook.status,
    updatedAt: now,
  }
  const isActivated = webhook.status === 'INACTIVE' && changed.status === 'ACTIVE'
  if (isActivated || changed.url !== webhook.url) {
    changed.failingSince = null
    changed.pausedUntil = null
  }
  return isActivated ? { ...changed, deactivated: null } : changed
}

/**
 * Where deliveries may go: nowhere with credentials in the address, and in production only by https
 * and to public hosts.
 */
export function targetFault(url: unknown, local: boolean): string | null {
  if (typeof url !== 'string' || !URL.canParse(url)) return null
  const { protocol, hostname, username, password } = new URL(url)
  if (username !== '' || password !== '') return 'url: must not carry a user or a password'
  if (local) return null
  if (protocol !== 'https:') return 'url: must start with https://'
  const fault = hostFault(hostname)
  return fault && `url: ${fault}`
}

/**
 * From this many failures in a row, nothing is sent to a webhook for a while after each failure.
 */
export const FAILURES_BEFORE_PAUSE = 10
const MIN_PAUSE_S = 15
const MAX_PAUSE_S = 300

/**
 * Until when nothing is sent to a webhook after so many failures in a row, or null. Deliveries that
 * wait in the meantime keep all their tries.
 */
export function pauseUntil(failures: number, now: Date): Date | null {
  if (failures < FAILURES_BEFORE_PAUSE) return null
  const pause_s = Math.min(MIN_PAUSE_S * 2 ** (failures - FAILURES_BEFORE_PAUSE), MAX_PAUSE_S)
  return new Date(now.getTime() + pause_s * 1000)
}

const DAY_MS = 24 * 3600 * 1000
/** A webhook that only fails is deactivated after five days. Its company is warned a day before. */
export const WARN_AFTER_MS = 4 * DAY_MS
export const DEACTIVATE_AFTER_MS = 5 * DAY_MS

/** A failure says for so long that a webhook still fails. */
export const FAILURE_COUNTS_MS = DAY_MS

/** A webhook that has accepted no delivery since it began to fail. */
export type Failing = { failingSince: Date; failedAt: Date; warnedAt: Date | null }

/**
 * What to do about a failing webhook. If its last failure is more than a day old, it had nothing to
 * receive since then and may work again, so wait. Its company always has a day after the warning.
 */
export function failureAction({ failingSince, failedAt, warnedAt }: Failing, now: Date) {
  const since = (at: Date) => now.getTime() - at.getTime()
  if (since(failingSince) < WARN_AFTER_MS || since(failedAt) > FAILURE_COUNTS_MS) return 'wait'
  if (warnedAt === null) return 'warn'
  return now < deactivateAt(failingSince, warnedAt) ? 'wait' : 'deactivate'
}

export function deactivateAt(failingSince: Date, warnedAt: Date): Date {
  const notice_ms = DEACTIVATE_AFTER_MS - WARN_AFTER_MS
  const end_ms = failingSince.getTime() + DEACTIVATE_AFTER_MS
  return new Date(Math.max(end_ms, warnedAt.getTime() + notice_ms))
}
