import { randomBytes } from 'node:crypto'
import type { Uuid } from '../../lib/ids.ts'
import type { EventType } from '../events.ts'

export type Webhook = {
  companyId: Uuid
  id: Uuid
  url: string
  name: string
  events: EventType[]
  status: 'ACTIVE' | 'INACTIVE'
  createdAt: Date
  updatedAt: Date
}

/** The secret of the Standard Webhooks form: the base64 part is the key. */
export const makeSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** The secret is sealed for the row it belongs to, so that it signs for no other webhook. */
export const secretContext = (companyId: Uuid, id: Uuid): string => `${companyId}:webhook:${id}`

/**
 * Where deliveries may go: nowhere with credentials in the address, and only https in production.
 */
export function targetFault(url: unknown, local: boolean): string | null {
  if (typeof url !== 'string' || !URL.canParse(url)) return null
  const { protocol, username, password } = new URL(url)
  if (username !== '' || password !== '') return 'url: must not carry a user or a password'
  return local || protocol === 'https:' ? null : 'url: must start with https://'
}
