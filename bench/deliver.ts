import { Agent } from 'undici'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { createCompany } from '../src/core/companies/commands.ts'
import { headersOf, signerOf } from '../src/core/deliveries/signing.ts'
import type { FullApp } from '../src/core/full-app.ts'
import { createWebhook } from '../src/core/webhooks/commands.ts'
import { makeSecret } from '../src/core/webhooks/rules.ts'
import { systemClock } from '../src/lib/clock.ts'
import { newId, packPair, type Uuid } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log.ts'
import { LATEST } from '../src/versions/history.ts'
import { createDeliveryWorker, type DeliveryWorker } from '../src/worker/deliver.ts'
import { openGraphileWorker, openPgBoss, type Post, type PostJob } from './deliver-jobs.ts'
import {
  benchDatabase,
  freePort,
  measureAlternately,
  median,
  medianRatio,
  ratio,
  report,
  runScript,
} from './setup.ts'

export const DELIVERIES = Number(process.env.BENCH_DELIVERIES ?? 4000)
const WEBHOOKS = 1000
/** As many requests at once as a delivery worker has to one webhook. */
const CONCURRENCY = 32
const BODY =
  '{"event":"Charge.Paid","charge":{"id":"charge_01m7f2eheke009h7vzh32jfxme","status":"PAID","total":1000}}'

/** Events and their deliveries, `DELIVERIES` in all, as a commit leaves them. */
export async function queue(app: FullApp, companyId: Uuid, webhooks: Uuid[]): Promise<void> {
  const events = Array.from({ length: DELIVERIES }, () => newId())
  const now = app.clock.now()
  await app.db.transaction(async (tx) => {
    await tx.query({
      text: `insert into events (company_id, id, type, payload, created_at, position)
             select $1, id, 'charge.paid', $3, $4, 1 from unnest($2::uuid[]) id`,
      values: [companyId, events, BODY, now],
    })
    await tx.query({
      text: `insert into deliveries (company_id, webhook_id, event_id, next_attempt_at, created_at)
             select $1, webhook, event, $4, $4 from unnest($2::uuid[], $3::uuid[]) d (webhook, event)`,
      values: [companyId, events.map((_, n) => webhooks[n % webhooks.length]), events, now],
    })
  })
}

export async function countDelivered(app: FullApp): Promise<number> {
  const [row] = await app.db.query<{ count: number }>({
    text: `select count(*) from delivery_log where status = 'DELIVERED'`,
  })
  return row!.count
}

/** Deliveries per second, signed, sent and stored, to the webhooks that answer. */
async function deliver(
  app: FullApp,
  worker: DeliveryWorker,
  companyId: Uuid,
  webhooks: Uuid[],
): Promise<number> {
  await queue(app, companyId, webhooks)
  const before = await countDelivered(app)
  const started = performance.now()
  await worker.run()
  const seconds = (performance.now() - started) / 1000
  return ((await countDelivered(app)) - before) / seconds
}

/** The same posts: one undici agent with as many connections, and each post signed. */
function createPosts(url: string) {
  const agent = new Agent({ connections: CONCURRENCY })
  const { origin, pathname: path } = new URL(url)
  const webhookId = newId()
  const signers = [signerOf(makeSecret())]
  const mode = 'live' as const
  const type = 'charge.paid' as const
  return {
    async post({ eventId, body }: PostJob): Promise<void> {
      const deliveryId = packPair(webhookId, eventId)
      const now = new Date()
      const headers = headersOf({ eventId, deliveryId, type, mode, body, signers, now })
      const answer = await agent.request({ origin, path, method: 'POST', headers, body })
      await answer.body.dump()
    },
    close: () => agent.close(),
  }
}

const newJobs = (): PostJob[] =>
  Array.from({ length: DELIVERIES }, () => ({ eventId: newId(), body: BODY }))

/** Posts per second without a database. */
async function postOnly(post: Post): Promise<number> {
  const left = newJobs().values()
  const started = performance.now()
  const postSome = async () => {
    for (const job of left) await post(job)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, postSome))
  return DELIVERIES / ((performance.now() - started) / 1000)
}

export async function makeWebhooks(app: FullApp, companyId: Uuid, urls: string[]): Promise<Uuid[]> {
  return app.db.transaction(async (tx) => {
    const ids: Uuid[] = []
    for (const url of urls) {
      const body = { url, name: 'bench', events: ['charge.expired' as const] }
      ids.push((await createWebhook(tx, app, { id: companyId } as never, body)).webhook.id)
    }
    return ids
  })
}

type Sides = Record<'one' | 'many' | 'graphile' | 'boss' | 'bare', number[]>

/** One webhook, and a thousand of which half refuse, against the same posts by job libraries. */
async function compare(
  app: FullApp,
  databaseUrl: string,
  sink: string,
  dead: string,
): Promise<void> {
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
  const worker = createDeliveryWorker(app)
  const { post, close } = createPosts(sink)
  const graphile = await openGraphileWorker(databaseUrl, post)
  const boss = await openPgBoss(databaseUrl, post)
  const measured = await measureAlternately({
    one: () => deliver(app, worker, company.id, one),
    graphile: () => graphile.measure(newJobs()),
    boss: () => boss.measure(newJobs()),
    many: () => deliver(app, worker, company.id, many),
    bare: () => postOnly(post),
  })
  for (const opened of [worker, graphile, boss]) await opened.close()
  await close()
  print(measured as Sides)
}

function print({ one, many, graphile, boss, bare }: Sides): void {
  report(`deliveries to one webhook, ${CONCURRENCY} at once`, median(one))
  report(`deliveries to the half of ${WEBHOOKS} webhooks that answers`, median(many))
  report('the same posts by jobs of graphile-worker', median(graphile))
  report('the same posts by jobs of pg-boss', median(boss))
  report('the same posts by bare undici', median(bare))
  ratio('deliveries ÷ posts by graphile-worker', medianRatio(one, graphile), 2)
  ratio('deliveries ÷ posts by pg-boss', medianRatio(one, boss), 2)
  ratio('deliveries ÷ bare posts', medianRatio(one, bare))
  ratio('deliveries, half of the webhooks dead ÷ bare', medianRatio(many, bare))
}

export async function run(): Promise<void> {
  const database = await benchDatabase()
  const secret = Buffer.alloc(32, 7).toString('base64')
  const environment = { DATABASE_URL: database.url, SECRET_KEY: secret }
  const config = { ...readConfig(environment), local: true, webhooksPerCompany: WEBHOOKS + 1 }
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
    await compare(app, database.url, `http://127.0.0.1:${sink.port}/hook`, dead)
  } finally {
    await sink.stop()
    await app.sender.close()
    await app.db.end()
    await database.stop()
  }
}
