import type { Tx } from '../../db/database.ts'
import { assert } from '../../lib/assert.ts'
import type { Letter } from '../../lib/mailer.ts'
import type { Uses } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { composeWebhookDeactivated, composeWebhookFailing } from '../letters/companies.ts'
import type { MailKind } from '../mails/rules.ts'
import { queueMails } from '../mails/store.ts'
import { deactivateAt, type Failing, type Webhook, type WebhookKey } from './rules.ts'
import { type Deactivation, deactivate, find, markWarned } from './store.ts'

/** Warns the company by mail that its webhook will be deactivated unless it works again. */
export async function warnCompany(
  app: Uses<'clock' | 'db' | 'systemClock' | 'vault'>,
  webhook: WebhookKey & Pick<Failing, 'failingSince'>,
): Promise<void> {
  const now = app.clock.now()
  const { failingSince } = webhook
  const end = deactivateAt(failingSince, now)
  await app.db.transaction(async (tx) => {
    if (!(await markWarned(tx, webhook, now))) return
    await queueMail(tx, app, webhook, 'webhook-failing', (company, { name, url }) =>
      composeWebhookFailing(company, { name, url, failingSince, end }),
    )
  })
}

/** Deactivates a webhook and mails its company, once. */
export async function deactivateWebhook(
  app: Uses<'clock' | 'db' | 'log' | 'systemClock' | 'vault'>,
  webhook: WebhookKey & { url: string | null },
  reason: Deactivation,
): Promise<void> {
  const now = app.clock.now()
  const done = await app.db.transaction(async (tx) => {
    if (!(await deactivate(tx, webhook, reason, now))) return false
    await queueMail(tx, app, webhook, 'webhook-deactivated', (company, { name, url }) =>
      composeWebhookDeactivated(company, { name, url, reason }),
    )
    return true
  })
  const { companyId: company, webhookId } = webhook
  if (done) app.log.warn({ company, webhook: webhookId, reason }, 'a webhook was deactivated')
}

async function queueMail(
  tx: Tx,
  { vault, systemClock }: Uses<'systemClock' | 'vault'>,
  { companyId, webhookId }: WebhookKey,
  kind: MailKind,
  compose: (company: Company, webhook: Webhook) => Letter,
): Promise<void> {
  const [company, webhook] = [
    await findCompany(tx, companyId),
    await find(tx, companyId, webhookId),
  ]
  assert(company && webhook, 'a webhook that was just changed exists, and so does its company')
  const letter = compose(company, webhook)
  await queueMails(tx, vault, [
    { companyId, kind, letter, expiresAt: null, createdAt: systemClock.now() },
  ])
}
