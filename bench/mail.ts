import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { sealPerson } from '../src/core/customers/sealing.ts'
import type { FullApp } from '../src/core/full-app.ts'
import { sharesOf } from '../src/core/mails/rules.ts'
import { systemClock } from '../src/lib/clock.ts'
import type { Uuid } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log.ts'
import { sendDueMails } from '../src/worker/mail.ts'
import { makeCompanies, match, prepare } from './settle.ts'
import { benchDatabase, progress, ratio, report } from './setup.ts'

const MAILS = Number(process.env.BENCH_MAILS ?? 1000)
const WARM_UP = 200
const COMPANIES = 100
/** What the mail server takes for a mail. */
const DELAY_MS = 300
const BAR = 100

/** Pays charges whose payers have an address, so that as many receipts wait. */
async function queueReceipts(app: FullApp, companies: Uuid[], count: number): Promise<void> {
  const arrived = await prepare(app, companies, count)
  for (const companyId of companies) {
    const payer = { name: 'Maria da Silva', taxId: '52998224725', email: 'maria@example.com' }
    const { index, sealed } = sealPerson(app.vault, companyId, payer)
    await app.db.query({
      text: `update charges set payer_name = 'Maria da Silva', payer_index = $2, payer_sealed = $3
             where company_id = $1 and payer_name is null`,
      values: [companyId, index, sealed],
    })
  }
  await match(app, arrived)
}

type Sent = { perSecond: number; cpu_us: number }

/** How many receipts a worker has composed, counted, sent and stored in a second. */
async function sendAll(app: FullApp, companies: Uuid[], count: number): Promise<Sent> {
  progress(`${count} receipts of ${companies.length} companies`)
  await queueReceipts(app, companies, count)
  const started = performance.now()
  const cpu = process.threadCpuUsage()
  await sendDueMails(app)
  const { user, system } = process.threadCpuUsage(cpu)
  const seconds = (performance.now() - started) / 1000
  const [row] = await app.db.query<{ count: number }>({
    text: `select count(*) from mails where kind = 'receipt' and outcome is null`,
  })
  if (row!.count > 0) throw new Error(`${row!.count} receipts were not sent`)
  return { perSecond: count / seconds, cpu_us: (user + system) / count }
}

async function measure(app: FullApp): Promise<void> {
  const [one] = await makeCompanies(app, 1)
  const many = await makeCompanies(app, COMPANIES)
  await sendAll(app, many, WARM_UP)
  const { payers, ofOneCompany } = sharesOf(app.config.mailConnections)
  const most = (connections: number) => connections / (DELAY_MS / 1000)
  const spread = await sendAll(app, many, MAILS)
  const alone = await sendAll(app, [one!], MAILS)
  const cost = ({ cpu_us }: Sent) => `${Math.round(cpu_us)} µs of the processor each`
  const slower = Math.min(spread.perSecond, alone.perSecond)
  report(
    `receipts of ${COMPANIES} companies, ${DELAY_MS} ms a mail`,
    spread.perSecond,
    cost(spread),
  )
  report('receipts of one company', alone.perSecond, cost(alone))
  ratio(`the slower ÷ ${BAR} a second`, slower / BAR, 1)
  ratio(
    `${COMPANIES} companies ÷ all that ${payers} connections can`,
    spread.perSecond / most(payers),
  )
  ratio(`one company ÷ all that its ${ofOneCompany} can`, alone.perSecond / most(ofOneCompany))
}

/** Receipts by SMTP to a server that takes its time, with the settings of a fresh install. */
export async function run(): Promise<void> {
  const database = await benchDatabase()
  const server = new Worker(join(import.meta.dirname, 'mail-server.ts'), {
    workerData: { delay_ms: DELAY_MS },
  })
  const [port] = await once(server, 'message')
  const config = readConfig({
    DATABASE_URL: database.url,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    SMTP_URL: `smtp://127.0.0.1:${port}`,
    // All receipts go to one address, and are counted like those of a fresh install.
    MAILS_PER_RECIPIENT: '10000000',
  })
  const app = createApp({
    config: { ...config, local: true },
    databaseUrl: database.url,
    clock: systemClock,
    log: createLog('error'),
    publicUrl: 'http://127.0.0.1:3000',
  })
  try {
    await measure(app)
  } finally {
    app.mailer.close()
    await app.db.end()
    await server.terminate()
    await database.stop()
  }
}
