import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse } from 'yaml'
import { noteBackup, requireSameSecret } from '../../src/core/installation.ts'
import { receiveCallback } from '../../src/core/payments/callbacks.ts'
import { newId } from '../../src/lib/ids.ts'
import { sendDueMails } from '../../src/worker/mail.ts'
import { payer, startApi } from '../support/api.ts'
import { openBanked } from '../support/bank.ts'
import { cloneDatabase } from '../support/database.ts'
import { makeCharge } from '../support/payments.ts'
import { freePort, secretOf, startServer, temporaryFolder } from '../support/process.ts'
import { findProgram, NO_PROGRAM, type Rule } from '../support/prometheus.ts'
import { until } from '../support/until.ts'
import { openDeliveryWorker, register } from '../support/webhooks.ts'
import { confirmed, liveWithMoney } from '../support/withdrawals.ts'

/**
 * A real Prometheus asks real servers, which are brought into the condition of each alert. Its
 * rules are those of deploy/, without the time for which a condition must last.
 */
const ROOT = join(import.meta.dirname, '../..')
const program = findProgram('prometheus')
const rules: Rule[] = parse(readFileSync(join(ROOT, 'deploy/prometheus/alerts.yml'), 'utf8'))
  .groups[0].rules

const AHEAD_S = 10
const DAY_MS = 86_400_000
const E2E = 'E00000000202608201500abcdefghijk'
let ahead_s = 0
const api = await startApi(
  { DATABASE_POOL_SIZE: '2', SERVER_REQUESTS: '4' },
  { databaseTime: async () => new Date(api.clock.now().getTime() - ahead_s * 1000) },
)
const { app } = api
const ports = { own: await freePort(), closed: await freePort(), several: await freePort() }
const portOfOther = await freePort()
const addressOf = (port: number) => `127.0.0.1:${port}`
let prometheus: ChildProcess
let url = ''

async function startPrometheus(): Promise<void> {
  const folder = temporaryFolder()
  const eager = rules.map(({ for: _, ...rule }) => rule)
  writeFileSync(
    join(folder, 'rules.yml'),
    JSON.stringify({ groups: [{ name: 'vintem', rules: eager }] }),
  )
  const all = [ports.own, ports.closed, ports.several, portOfOther].map(addressOf)
  const config = {
    // A process that is just starting is waited for.
    global: { scrape_interval: '5s', evaluation_interval: '1s', scrape_timeout: '5s' },
    rule_files: ['rules.yml'],
    scrape_configs: [{ job_name: 'vintem', static_configs: [{ targets: all }] }],
  }
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config))
  const port = await freePort()
  url = `http://${addressOf(port)}`
  prometheus = spawn(
    program!,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${addressOf(port)}`,
    ],
    { stdio: 'ignore' },
  )
  await until('Prometheus is ready', () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
}

type Alert = { labels: Record<string, string>; state: string }

async function firing(): Promise<Set<string>> {
  const reply = await fetch(`${url}/api/v1/alerts`)
  const { data } = (await reply.json()) as { data: { alerts: Alert[] } }
  return new Set(
    data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname!),
  )
}

/** Brings about a condition again and again, because an increase is only seen between two looks. */
async function fires(alert: string, act: () => Promise<unknown> = async () => {}): Promise<void> {
  await until(
    `${alert} fires`,
    async () => {
      await act()
      return (await firing()).has(alert)
    },
    300,
  )
  fired.add(alert)
}

const fired = new Set<string>()
const several = { server: null as Awaited<ReturnType<typeof startServer>> | null }

const environment = async (port: number) => ({
  DATABASE_URL: await cloneDatabase(),
  SECRET_KEY: secretOf('alerts'),
  DATA_DIR: temporaryFolder(),
  OPERATOR_PORT: String(port),
})

/** A clone of this version that says it is another. */
function otherVersion(): string {
  const root = temporaryFolder()
  for (const name of ['src', 'packages', 'web', 'migrations', 'docs', 'tsconfig.json']) {
    cpSync(join(ROOT, name), join(root, name), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  writeFileSync(join(root, 'package.json'), JSON.stringify({ ...own, version: '9.9.9' }))
  return root
}

describe('an alert fires when a real server is in its condition', {
  skip: program === null && NO_PROGRAM,
}, () => {
  before(async () => {
    await api.service.operator.listen({ host: '127.0.0.1', port: ports.own })
    await startPrometheus()
  })
  after(async () => {
    prometheus.kill('SIGTERM')
    await once(prometheus, 'exit')
  })

  test('a server that does not answer', () => fires('VintemDown'))

  test('no worker, so that nothing is audited', () => fires('VintemNotAudited'))

  test('a company that was not audited for long, whatever the task says', async () => {
    const { company } = await api.client()
    await api.rows(
      `insert into audits (company_id, checked_entry, audited_at)
       values ($1, 0, $2::timestamptz - interval '2 hours')`,
      [company.id, api.clock.now()],
    )
    const [byAge] = rules.find(({ alert }) => alert === 'VintemNotAudited')!.expr.split(' or ')
    await until('the oldest audit is seen', async () => {
      const reply = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(byAge!)}`)
      const { data } = (await reply.json()) as { data: { result: unknown[] } }
      return data.result.length === 1
    })
  })

  test('requests that are refused, because there are too many', async () => {
    const client = await api.client()
    await fires('VintemErrors', () =>
      Promise.all(Array.from({ length: 30 }, () => client.get('/charge?limit=100'))),
    )
  })

  test('requests that wait for a lock', async () => {
    const client = await api.client()
    const { id } = await makeCharge(client, 1000)
    await fires('VintemSlow', () =>
      app.db.tasks.transaction(async (tx) => {
        const values = [client.company.id]
        await tx.query({ text: 'select from charges where company_id = $1 for update', values })
        const cancel = () => client.post(`/charge/${id}/cancel`)
        await Promise.all([cancel(), cancel(), cancel()])
      }),
    )
  })

  test('due work that nobody does', async () => {
    await makeCharge(await api.client(), 1000, { expiresIn: 60 })
    api.clock.advance(3600)
    await fires('VintemWorkLate')
  })

  test('books that differ', async () => {
    const { company } = await api.client()
    await api.rows(
      `insert into audits (company_id, checked_entry, difference, audited_at)
       values ($1, 0, 'x', now())`,
      [company.id],
    )
    await fires('VintemBooksDiffer')
  })

  test('a bank that has not answered for an hour, fails, and whose certificate ends', async () => {
    const shop = await openBanked(api)
    const { id } = shop.company
    const before = new Date(api.clock.now().getTime() - 7_200_000)
    await api.rows(
      `update bank_connections set connected_at = $2, certificate_ends_at = now() + '9 days'
       where company_id = $1`,
      [id, before],
    )
    const text = 'update reconciliations set asked_until = $2 where company_id = $1'
    await api.rows(text, [id, before])
    await fires('VintemBankSilent')
    await fires('VintemCertificateEnds')
    await shop.bank.close()
    const company = await shop.fresh()
    await fires('VintemBankErrors', () => app.providers.bacen.findReceived(company, [E2E]))
  })

  test('callbacks that the bank does not confirm', async () => {
    const { company } = await api.client()
    await fires('VintemCallbacksFail', async () => {
      const endToEndId = `E${newId().replaceAll('-', '').slice(0, 31)}`
      const body = { pix: [{ endToEndId }] }
      const { processed } = await receiveCallback(app, company.id, 'simulator', body)
      await processed
    })
  })

  test('a withdrawal that an operator must send', async () => {
    await confirmed(api, await liveWithMoney(api), 5000)
    await fires('VintemWithdrawalsByHand')
  })

  test('a clock that is ahead of the database’s', async () => {
    ahead_s = AHEAD_S
    await fires('VintemClock', async () => api.clock.advance(60))
    ahead_s = 0
    api.clock.advance(60)
  })

  test('statements that wait for connections', () =>
    fires('VintemConnectionsWait', () => {
      const text = 'select pg_sleep(0.02)'
      return Promise.all(Array.from({ length: 400 }, () => app.db.query({ text })))
    }))

  test('a loop that is blocked', () =>
    fires('VintemEventLoopBlocked', async () => {
      const end_ms = performance.now() + 600
      while (performance.now() < end_ms);
    }))

  test('processes that end again and again', async () => {
    several.server = await startServer({ ...(await environment(ports.several)), PROCESSES: '2' })
    const { output } = several.server
    const killed = new Set<string>()
    await fires('VintemProcessRestarts', async () => {
      for (const [, pid] of output().matchAll(/"started":"api \d","pid":(\d+)/g)) {
        if (killed.has(pid!) || killed.size >= 6) continue
        killed.add(pid!)
        process.kill(Number(pid), 'SIGKILL')
      }
    })
  })

  test('two versions', async () => {
    const own = await environment(portOfOther)
    await startServer(own, [], () => {}, { root: otherVersion() })
    await fires('VintemVersionsDiffer')
  })

  test('companies that are set aside', async () => {
    const { company } = await api.client()
    await app.setbacks.failed('bill charges', company.id, new Error('x'))
    await fires('VintemCompaniesSetAside')
  })

  test('a request log that cannot be written', async () => {
    const client = await api.client()
    await api.rows('alter table api_requests rename to requests_away')
    await fires('VintemLogsLost', async () => {
      await client.get('/company')
      await app.requestLog.idle()
    })
    await api.rows('alter table requests_away rename to api_requests')
  })

  test('mails that expire before they are sent', async () => {
    const client = await api.client()
    await fires('VintemMailsFail', async () => {
      await client.post('/charge/payment-link', {
        total: 1000,
        customer: payer(),
        notifyCustomer: true,
      })
      await api.rows(`update mails set expires_at = now() - interval '1 year'`)
      await sendDueMails(app)
    })
  })

  test('deliveries that fail', async () => {
    const worker = openDeliveryWorker(api)
    const client = await api.client()
    await register(client, `http://${addressOf(ports.closed)}/`, ['charge.pending'])
    await fires('VintemDeliveriesFail', async () => {
      await makeCharge(client, 1000)
      await worker.run()
    })
  })

  test('a company that is on its way', async () => {
    const { company } = await api.client()
    await api.rows(
      `insert into company_moves (company_id, state, other_place) values ($1, 'leaving', 2)`,
      [company.id],
    )
    await fires('VintemMoveUnfinished')
  })

  test('a backup that is long ago', async () => {
    await requireSameSecret(app.db, app.vault)
    await noteBackup(app.db, new Date(Date.now() - 3 * DAY_MS))
    await fires('VintemNoBackup')
  })

  test('and that was every alert', () => {
    assert.deepEqual(
      rules.map(({ alert }) => alert).filter((alert) => !fired.has(alert)),
      [],
    )
  })
})
