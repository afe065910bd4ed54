import { Agent } from 'undici'
import { readConfig } from '../src/config.ts'
import type { App } from '../src/core/app.ts'
import { createCompany } from '../src/core/companies/commands.ts'
import { headersOf, signerOf } from '../src/core/deliveries/signing.ts'
import { createWebhook } from '../src/core/webhooks/commands.ts'
import { makeSecret } from '../src/core/webhooks/rules.ts'
import { systemClock } from '../src/lib/clock.ts'
import { newId, packPair, type Uuid } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log.ts'
import { createApp } from '../src/service.ts'
import { LATEST } from '../src/versions/history.ts'
import { createDeliveryWorker, type DeliveryWorker } from '../src/worker/deliver.ts'
import {
  benchDatabase,
  freePort,
  median,
  medianRatio,
  ratio,
  report,
  runScript,
  takeTurns,
} from './setup.ts'

const DELIVERIES = Number(process.env.BENCH_DELIVERIES ?? 40_000)
const WEBHOOKS = 1000
const BODY =
  '{"event":"Charge.Paid","charge":{"id":"charge_01m7f2eheke009h7vzh32jfxme","status":"PAID","total":1000}}'

/** Events and their deliveries, `DELIVERIES` in all, as a commit leaves them. */
async function queue(app: App, companyId: Uuid, webhooks: Uuid[]): Promise<void> {
  const events = Array.from({ length: DELIVERIES }, () => newId())
  const now = app.clock.now()
  await app.db.transaction(async (tx) => {
    await tx.query({
      text: `insert into events (company_id, id, type, payload, created_at, position)
             select $1, id, 'charge.paid', $3, $4, event_position() from unnest($2::uuid[]) id`,
      values: [companyId, events, BODY, now],
    })
    await tx.query({
      text: `insert into deliveries (company_id, webhook_id, event_id, next_attempt_at, created_at)
             select $1, webhook, event, $4, $4 from unnest($2::uuid[], $3::uuid[]) d (webhook, event)`,
      values: [companyId, events.map((_, n) => webhooks[n % webhooks.length]), events, now],
    })
  })
}

async function countDelivered(app: App): Promise<number> {
  const [row] = await app.db.query<{ count: number }>({
    text: `select count(*) from delivery_log where status = 'DELIVERED'`,
  })
  return row!.count
}

/** Deliveries a second, signed, sent and written down, to the webhooks that are alive. */
async function deliver(
  app: App,
  delivering: DeliveryWorker,
  companyId: Uuid,
  webhooks: Uuid[],
): Promise<number> {
  await queue(app, companyId, webhooks)
  const before = await countDelivered(app)
  const started = performance.now()
  await delivering.run()
  const seconds = (performance.now() - started) / 1000
  return ((await countDelivered(app)) - before) / seconds
}

/** The same posts, with as many headers of the same lengths, by nothing but undici. */
async function postBarely(url: string, connections: number): Promise<number> {
  const agent = new Agent({ connections })
  const { origin, pathname: path } = new URL(url)
  const headers = headersOf({
    eventId: newId(),
    deliveryId: packPair(newId(), newId()),
    type: 'charge.paid',
    mode: 'live',
    body: BODY,
    signers: [signerOf(makeSecret())],
    now: new Date(),
  })
  let left = DELIVERIES
  const started = performance.now()
  const post = async () => {
    while (left-- > 0) {
      const { body } = await agent.request({ origin, path, method: 'POST', headers, body: BODY })
      await body.dump()
    }
  }
  await Promise.all(Array.from({ length: connections }, post))
  const seconds = (performance.now() - started) / 1000
  await agent.close()
  return DELIVERIES / seconds
}

async function makeWebhooks(app: App, companyId: Uuid, urls: string[]): Promise<Uuid[]> {
  return app.db.transaction(async (tx) => {
    const ids: Uuid[] = []
    for (const url of urls) {
      const body = { url, name: 'bench', events: ['charge.expired' as const] }
      ids.push((await createWebhook(tx, app, { id: companyId } as never, body)).webhook.id)
    }
    return ids
  })
}

/** One webhook, and a thousand of which half are dead, against bare posts of the same number. */
async function compare(app: App, sink: string, dead: string): Promise<void> {
  const company = await app.db.transaction((tx) =>
    createCompany(
      tx,
      {
        name: 'Bench',
        taxId: '11222333000181',
        email: 'bench@example.com',
        mode: 'sandbox',
        apiVersion: LATEST.name,
      },
      app.clock.now(),
    ),
  )
  const one = await makeWebhooks(app, company.id, [sink])
  const urls = Array.from({ length: WEBHOOKS }, (_, n) => (n % 2 === 0 ? `${sink}/${n}` : dead))
  const many = await makeWebhooks(app, company.id, urls)
  const delivering = createDeliveryWorker(app)
  const measured = await takeTurns({
    one: () => deliver(app, delivering, company.id, one),
    bare: () => postBarely(sink, 32),
    many: () => deliver(app, delivering, company.id, many),
  })
  await delivering.close()
  const {
    one: single,
    bare,
    many: thousand,
  } = measured as Record<string, number[]> & {
    [side in 'one' | 'bare' | 'many']: number[]
  }
  report('deliveries to one webhook, 32 at once', median(single))
  report(`deliveries to the living half of ${WEBHOOKS} webhooks`, median(thousand))
  report('bare undici posts, 32 at once', median(bare))
  ratio('deliveries ÷ bare posts', medianRatio(single, bare), 0.5)
  ratio('deliveries, half of the webhooks dead ÷ bare posts', medianRatio(thousand, bare), 0.5)
}

export async function run(): Promise<void> {
  const database = await benchDatabase()
  const secret = Buffer.alloc(32, 7).toString('base64')
  const environment = { DATABASE_URL: database.url, SECRET_KEY: secret }
  const config = { ...readConfig(environment), local: true, webhooksPerCompany: WEBHOOKS }
  const log = createLog('error')
  const publicUrl = 'http://127.0.0.1:3000'
  const app = createApp({
    config,
    databaseUrl: database.url,
    clock: systemClock,
    log,
    publicUrl,
  })
  const sink = await runScript('sink', database.url)
  const dead = `http://127.0.0.1:${await freePort()}/dead`
  try {
    await compare(app, `http://127.0.0.1:${sink.port}/hook`, dead)
  } finally {
    await sink.stop()
    await app.sender.close()
    await app.db.end()
    await database.stop()
  }
}
