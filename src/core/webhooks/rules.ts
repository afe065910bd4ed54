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
