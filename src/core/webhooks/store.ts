import { companyTableOf } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Webhook } from './rules.ts'

/** Without the secret, which is read only to sign. */
const WEBHOOK = companyTableOf<Webhook>('webhooks', {
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  url: ['url', 'text'],
  name: ['name', 'text'],
  events: ['events', 'texts'],
  status: ['status', 'text'],
  deactivated: ['deactivated', 'text'],
  failingSince: ['failing_since', 'timestamptz'],
  pausedUntil: ['paused_until', 'timestamptz'],
  createdAt: ['created_at', 'timestamptz'],
  updatedAt: ['updated_at', 'timestamptz'],
})

export async function insert(tx: Tx, webhook: Webhook, secretSealed: Buffer): Promise<void> {
  await tx.query({
    text: `insert into webhooks
             (company_id, id, url, name, events, status, created_at, updated_at, secret_sealed)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      webhook.companyId,
      webhook.id,
      webhook.url,
      webhook.name,
      webhook.events,
      webhook.status,
      webhook.createdAt,
      webhook.updatedAt,
      secretSealed,
    ],
  })
}

/** How many webhooks a company has. Another request that adds one waits for this transaction. */
export async function countForAdding(tx: Tx, companyId: Uuid): Promise<number> {
  await tx.query({
    text: 'select 1 from companies where id = $1 for no key update',
    values: [companyId],
  })
  const [row] = await tx.query<{ count: number }>({
    text: 'select count(*)::int as count from webhooks where company_id = $1',
    values: [companyId],
  })
  return row!.count
}

export async function update(tx: Tx, webhook: Webhook): Promise<void> {
  await tx.query({
    text: `update webhooks set url = $3, name = $4, events = $5, status = $6, deactivated = $7,
             updated_at = $8
           where company_id = $1 and id = $2`,
    values: [
      webhook.companyId,
      webhook.id,
      webhook.url,
      webhook.name,
      webhook.events,
      webhook.status,
      webhook.deactivated,
      webhook.updatedAt,
    ],
  })
}

/** Deactivates all webhooks of a company. */
export async function deactivateAll(tx: Tx, companyId: Uuid, now: Date): Promise<void> {
  await tx.query({
    text: `update webhooks set status = 'INACTIVE', updated_at = $2
           where company_id = $1 and status = 'ACTIVE'`,
    values: [companyId, now],
  })
}

/** Replaces the secret. The previous one also signs until `previousUntil`. */
export async function replaceSecret(
  tx: Tx,
  { companyId, id, updatedAt }: Webhook,
  secretSealed: Buffer,
  previousUntil: Date,
): Promise<void> {
  await tx.query({
    text: `update webhooks set previous_secret_sealed = secret_sealed, secret_sealed = $3,
             previous_secret_until = $4, updated_at = $5
           where company_id = $1 and id = $2`,
    values: [companyId, id, secretSealed, previousUntil, updatedAt],
  })
}

export const { find, list } = WEBHOOK

export async function remove(tx: Tx, companyId: Uuid, id: Uuid): Promise<boolean> {
  const rows = await tx.query({
    text: 'delete from webhooks where company_id = $1 and id = $2 returning id',
    values: [companyId, id],
  })
  return rows.length === 1
}

/** Deletes previous secrets that are no longer valid, except those of some companies. */
export async function deletePreviousSecrets(tx: Tx, now: Date, except: Uuid[]): Promise<void> {
  await tx.query({
    text: `update webhooks set previous_secret_sealed = null, previous_secret_until = null
           where previous_secret_until <= $1::timestamptz + coalesce((
             select ahead_ms * interval '1 millisecond' from test_clocks t
             where t.company_id = webhooks.company_id), interval '0')
             and company_id <> all ($2::uuid[])`,
    values: [now, except],
  })
}
