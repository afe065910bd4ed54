import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after } from 'node:test'
import { createApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createCompany } from '../../src/core/companies/commands.ts'
import type { Company } from '../../src/core/companies/rules.ts'
import type { Attempt } from '../../src/core/deliveries/rules.ts'
import { chargeEvent, type Event, emit } from '../../src/core/events.ts'
import type { FullApp, FullFront } from '../../src/core/full-app.ts'
import { createWebhook } from '../../src/core/webhooks/commands.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { createSender, type SenderOptions } from '../../src/lib/http-sender.ts'
import { newId, toPublic, type Uuid } from '../../src/lib/ids.ts'
import { createLog } from '../../src/lib/log.ts'
import { LATEST } from '../../src/versions/history.ts'
import { createDeliveryWorker, type DeliveryWorker } from '../../src/worker/deliver.ts'
import { startWorker, TASKS, type Worker } from '../../src/worker/worker.ts'
import { temporaryFolder } from '../support/process.ts'
import type { Received } from '../support/receiver.ts'

let opened: (() => Promise<unknown>)[] | null = null

/**
 * The first line of a file that opens anything here: it is closed at the end of that file, before
 * the databases, whose ends are registered later.
 */
export function beginScene(): void {
  const own: NonNullable<typeof opened> = []
  opened = own
  after(async () => {
    opened = null
    for (const close of own.toReversed()) await close()
  })
}

export function atEnd(close: () => Promise<unknown>): void {
  if (opened === null) throw new Error('The file has to call beginScene first.')
  opened.push(close)
}

const SECRET_KEY = Buffer.alloc(32, 5).toString('base64')

const DATA_DIR = temporaryFolder()

/** What a process of its own needs to work on a database together with `openApp`. */
export const environmentOf = (databaseUrl: string) => ({
  DATABASE_URL: databaseUrl,
  DATA_DIR,
  SECRET_KEY,
  WEBHOOKS_PER_COMPANY: '2000',
})

/** An app of its own: to the database this is another process. */
export function openApp(databaseUrl: string, clock: Clock = systemClock): FullFront {
  const config = { ...readConfig(environmentOf(databaseUrl)), local: true }
  const log = createLog('silent')
  const app = createApp({ config, databaseUrl, clock, log, publicUrl: 'http://vintem.test' })
  atEnd(async () => {
    app.mailer.close()
    await app.sender.close()
    await app.db.end()
  })
  return app
}

export const makeCompany = (app: FullApp): Promise<Company> =>
  app.db.transaction((tx) =>
    createCompany(
      tx,
      {
        name: 'Padaria São João',
        taxId: '11222333000181',
        email: 'dona@example.com',
        mode: 'sandbox',
        apiVersion: LATEST.name,
      },
      app.clock.now(),
    ),
  )

/** The engine under test. */
export function openEngine(app: FullApp): DeliveryWorker {
  const engine = createDeliveryWorker(app)
  atEnd(() => engine.close())
  return engine
}

/** A worker that is stopped at the end at the latest. */
export function openWorker(app: FullApp, tasks = TASKS): Worker {
  const worker = startWorker(app, tasks)
  atEnd(() => worker.stop())
  return worker
}

/** The same app with a sender that has other limits. */
export function withSenderLimits(
  app: FullApp,
  limits: NonNullable<SenderOptions['limits']>,
): FullApp {
  const sender = createSender({ guarded: false, limits })
  atEnd(() => sender.close())
  return { ...app, sender }
}

export type Hook = { companyId: Uuid; webhookId: Uuid; secret: string }

/** Registers webhooks that subscribe to paid charges. */
export async function registerAll(app: FullApp, company: Company, urls: string[]): Promise<Hook[]> {
  return app.db.transaction(async (tx) => {
    const hooks: Hook[] = []
    for (const url of urls) {
      const fields = { url, name: 'test', events: ['charge.paid' as const] }
      const { webhook, secret } = await createWebhook(tx, app, company, fields)
      hooks.push({ companyId: company.id, webhookId: webhook.id, secret })
    }
    return hooks
  })
}

export async function register(app: FullApp, company: Company, url: string): Promise<Hook> {
  const [hook] = await registerAll(app, company, [url])
  return hook!
}

const PAID = { amount: 1990, paymentStatus: 'PAID', devMode: false }

/** Commits events of a company together. */
export async function commitEvents(app: FullApp, companyId: Uuid, count = 1): Promise<Event[]> {
  const at = app.clock.now()
  const events = Array.from({ length: count }, () =>
    chargeEvent('charge.paid', { companyId, id: newId(), ...PAID }, at),
  )
  await app.db.transaction((tx) => emit(tx, events))
  return events
}

export const publicId = ({ id }: Event): string => toPublic('evt', id)

export type Waiting = { event_id: Uuid; tries: number; attempts: Attempt[]; next_attempt_at: Date }

/** What still waits for a webhook, in the order in which it came about. */
export const waitingOf = (app: FullApp, { companyId, webhookId }: Hook): Promise<Waiting[]> =>
  app.db.query<Waiting>({
    text: `select event_id, tries, attempts, next_attempt_at from deliveries
           where company_id = $1 and webhook_id = $2 order by event_id`,
    values: [companyId, webhookId],
  })

export type Ended = { event_id: Uuid; status: string; attempts: Attempt[] }

/** What has come to an end for a webhook, in the order in which it came about. */
export const endedOf = (app: FullApp, { companyId, webhookId }: Hook): Promise<Ended[]> =>
  app.db.query<Ended>({
    text: `select event_id, status, attempts from delivery_log
           where company_id = $1 and webhook_id = $2 order by event_id`,
    values: [companyId, webhookId],
  })

export type Health = {
  status: string
  deactivated: string | null
  failures: number
  failing_since: Date | null
  paused_until: Date | null
}

export async function healthOf(app: FullApp, { companyId, webhookId }: Hook): Promise<Health> {
  const [row] = await app.db.query<Health>({
    text: `select status, deactivated, failures, failing_since, paused_until from webhooks
           where company_id = $1 and id = $2`,
    values: [companyId, webhookId],
  })
  return row!
}

const hmac = (key: string | Buffer, text: string, form: 'hex' | 'base64') =>
  createHmac('sha256', key).update(text).digest(form)

/** Checks both signatures as the interface and Standard Webhooks describe them. */
export function assertSigned({ headers, body }: Received, secret: string): void {
  assert.equal(headers['x-webhook-signature'], `sha256=${hmac(secret, body, 'hex')}`)
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  assert.equal(headers['webhook-signature'], `v1,${hmac(key, signed, 'base64')}`)
}
