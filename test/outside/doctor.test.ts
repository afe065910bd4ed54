import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request as send } from 'node:http'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import pg from 'pg'
import { inspectMail } from '../../src/cli/checks.ts'
import type { Finding } from '../../src/cli/finding.ts'
import {
  inspectBacklog,
  inspectFileLimit,
  inspectRights,
  inspectSpace,
  judgeSpace,
} from '../../src/cli/machine-checks.ts'
import {
  inspectBooks,
  inspectCertificates,
  inspectConnections,
  inspectEncryption,
  inspectIndexes,
  inspectServers,
  inspectSlots,
  inspectStandbys,
  inspectTransactions,
  inspectVacuum,
  judgeArchive,
  judgeCollation,
  judgeConnections,
  judgeEncryption,
  judgeStandbys,
  judgeVacuum,
} from '../../src/cli/postgres-checks.ts'
import {
  faultsOfArrival,
  inspectCertificate,
  inspectCollector,
  inspectProxies,
  inspectReach,
  judgeCertificate,
} from '../../src/cli/reach-checks.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { orderArrival } from '../../src/http/arrival.ts'
import { serverName } from '../../src/server-name.ts'
import { startApi } from '../support/api.ts'
import { openBanked } from '../support/bank.ts'
import { hostedVintemIn } from '../support/cli.ts'
import { cloneDatabase } from '../support/database.ts'
import { ON_PLAIN } from '../support/on-plain.ts'
import { freePort, secretOf, startServer, temporaryFolder } from '../support/process.ts'
import { serve } from '../support/servers.ts'
import { refusal, startSmtp } from '../support/smtp.ts'
import { until } from '../support/until.ts'

const api = await startApi()
const { db } = api.app
const environment = {
  DATABASE_URL: api.databaseUrl,
  SECRET_KEY: secretOf('api'),
  PUBLIC_URL: 'https://pix.example.com',
  TRUSTED_PROXIES: '10.0.0.1',
}
const configOf = (env: Record<string, string> = {}): Config =>
  readConfig({ ...environment, ...env })
const config = configOf()

function says([state, detail]: Finding, expected: Finding[0], words: RegExp): void {
  assert.equal(state, expected, detail)
  assert.match(detail, words)
}
const isSilent = ([state, detail]: Finding) => assert.equal(state, 'ok', detail)

describe('the machine', () => {
  test('secrets that others can read, and files that they can change, are named', () => {
    const folder = temporaryFolder()
    const [secret, dataDir] = [join(folder, 'secret.key'), join(folder, 'data')]
    writeFileSync(secret, 'x', { mode: 0o600 })
    mkdirSync(dataDir, { mode: 0o700 })
    const backups = join(folder, 'backup.env')
    const accounts = { users: join(folder, 'passwd'), groups: join(folder, 'group'), backups }
    const gid = statSync(secret).gid
    const look = () => inspectRights({ dataDir, local: false }, [secret], accounts)
    isSilent(look())
    chmodSync(secret, 0o640)
    says(look(), 'failed', /can read .*secret\.key: chmod 600/)
    // The recipe's file of root, in the group of the service's user.
    writeFileSync(accounts.users, `root:x:0:${gid + 1}:::\nvintem:x:999:${gid}:::\n`)
    writeFileSync(accounts.groups, `vintem:x:${gid}:\n`)
    isSilent(look())
    writeFileSync(accounts.groups, `vintem:x:${gid}:vintem,guest\n`)
    says(look(), 'failed', /can read .*secret\.key: chmod 600/)
    writeFileSync(accounts.groups, `vintem:x:${gid}:\n`)
    chmodSync(secret, 0o604)
    says(look(), 'failed', /can read .*secret\.key: chmod 600/)
    chmodSync(secret, 0o602)
    says(look(), 'failed', /can change .*secret\.key: chmod go-w/)
    chmodSync(secret, 0o600)
    // Its recipient is public, but another one could open all backups.
    writeFileSync(backups, 'RECIPIENT=age1…\n')
    chmodSync(backups, 0o644)
    isSilent(look())
    chmodSync(backups, 0o666)
    says(look(), 'failed', /can change .*backup\.env: chmod go-w/)
    chmodSync(backups, 0o600)
    chmodSync(dataDir, 0o777)
    says(look(), 'failed', /can change .*data: chmod go-w/)
  })

  test('a disk that is nearly full is named', () => {
    says(judgeSpace('/data', 99, 0), 'failed', /99 MiB free. Free some space now/)
    says(judgeSpace('/data', 1000, 0), 'warning', /Free some space soon/)
    says(judgeSpace('/data', 5000, 10), 'failed', /room for 10 files/)
    isSilent(judgeSpace('/data', 5000, 0))
    isSilent(inspectSpace({ dataDir: join(temporaryFolder(), 'none') }))
  })

  test('too few open files are named', () => {
    const path = join(temporaryFolder(), 'limits')
    const write = (most: string) =>
      writeFileSync(path, `Limit Soft Hard\nMax open files            ${most}  524288  files\n`)
    write('1024')
    says(inspectFileLimit(path), 'warning', /Only 1024 files .* LimitNOFILE=65536/)
    write('65536')
    isSilent(inspectFileLimit(path))
  })
})

test('connections that cannot wait are named', () => {
  const path = join(temporaryFolder(), 'somaxconn')
  const look = (local = false) => inspectBacklog({ local }, path)
  isSilent(look())
  writeFileSync(path, '4096\n')
  isSilent(look())
  writeFileSync(path, '128\n')
  isSilent(look(true))
  says(look(), 'warning', /Only 128 .*net\.core\.somaxconn=4096/)
})

describe('mails', () => {
  const MAIL_FROM = 'pix@example.com'
  const at = (url: string) => inspectMail(configOf({ SMTP_URL: url, MAIL_FROM }))

  test('a server that takes them is given none', async () => {
    const smtp = await startSmtp()
    isSilent(await at(smtp.url))
    assert.equal(smtp.received.length, 0)
  })

  test('a server that takes none from us, or none for us, is named', async () => {
    const said: string[] = []
    const noSender = await startSmtp({
      onMailFrom({ address }, _, done) {
        said.push(address)
        done(refusal(553))
      },
    })
    says(await at(noSender.url), 'failed', /takes no mails from pix@example.com \(553 .*MAIL_FROM/)
    assert.deepEqual(said, [MAIL_FROM])
    const noAnswers = await startSmtp({ onRcptTo: (_, __, done) => done(refusal(550)) })
    says(await at(noAnswers.url), 'warning', /takes no mails for pix@example.com \(550 /)
  })

  test('the login is that of the mails', async () => {
    const smtp = await startSmtp({
      disabledCommands: ['STARTTLS'],
      authOptional: false,
      onAuth: ({ password }, _, done) =>
        password === 's€same' ? done(null, { user: 'u' }) : done(refusal(535)),
    })
    const url = (password: string) => smtp.url.replace('//', `//u:${encodeURIComponent(password)}@`)
    isSilent(await at(url('s€same')))
    const refused = await at(url('wrong'))
    says(refused, 'failed', /accepts no mails/)
    assert.doesNotMatch(refused[1], /wrong/)
  })
})

describe('the way to the server', () => {
  test('a certificate that ends, has ended or is not trusted is named', () => {
    const now = new Date('2026-08-20T12:00:00Z')
    const judge = (end: string, fault: string | null = null) =>
      judgeCertificate('pix.example.com', new Date(end), fault, now)
    isSilent(judge('2026-11-01'))
    says(judge('2026-08-30'), 'warning', /ends on 2026-08-30, in 9 days: renew it/)
    says(judge('2026-08-19'), 'failed', /so nobody connects/)
    says(judge('2026-11-01', 'SELF_SIGNED'), 'failed', /not trusted \(SELF_SIGNED\)/)
  })

  test('an address without TLS has no certificate to look at', async () => {
    isSilent(await inspectCertificate({ publicUrl: 'http://127.0.0.1:3000' }))
  })

  test('a proxy that ends TLS and is not trusted is named', () => {
    says(inspectProxies(configOf({ TRUSTED_PROXIES: '' })), 'warning', /TRUSTED_PROXIES is empty/)
    isSilent(inspectProxies(config))
  })

  const arrival = {
    peer: '10.0.0.1',
    ip: '198.51.100.4',
    host: 'pix.example.com',
    headers: {
      'x-api-key': 'vintem-doctor',
      authorization: 'Bearer vintem-doctor',
      'idempotency-key': 'vintem-doctor',
      'x-api-version': 'vintem-doctor',
      'x-request-id': 'vintem-doctor',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'x-forwarded-for': '203.0.113.77, 198.51.100.4',
    } as Record<string, string>,
  }

  test('what a proxy does to requests is named, each with what to do', () => {
    assert.deepEqual(faultsOfArrival(config, arrival), [])
    const { authorization: _, ...others } = arrival.headers
    const lost = { ...others, 'idempotency-key': 'x' }
    const faultOf = (change: Partial<typeof arrival>, own = config) =>
      faultsOfArrival(own, { ...arrival, ...change }).join(' ')
    assert.match(faultOf({ headers: lost }), /drops or changes authorization, idempotency-key/)
    assert.match(faultOf({ host: '10.0.0.9:3000' }), /Host: 10\.0\.0\.9:3000 instead of pix/)
    const passed = { ...arrival.headers, 'x-forwarded-for': '203.0.113.77' }
    const believed = { ip: '203.0.113.77', headers: passed }
    assert.match(faultOf(believed), /believe what clients send as X-Forwarded-For/)
    // The proxy has appended the address of this machine, which it trusts too.
    assert.equal(faultOf({ ip: '203.0.113.77' }), '')
    const { 'x-forwarded-for': __, ...unnamed } = arrival.headers
    assert.match(faultOf({ headers: unnamed }), /drops X-Forwarded-For/)
    const unknown = { peer: '10.0.0.2', ip: '10.0.0.2' }
    assert.match(faultOf(unknown), /name 10\.0\.0\.2 in TRUSTED_PROXIES/)
    const callbacks = configOf({ CALLBACK_CLIENT_HEADER: 'x-client-verify: SUCCESS' })
    const claimed = { ...arrival.headers, 'x-client-verify': 'SUCCESS' }
    assert.match(faultOf({ headers: claimed }, callbacks), /anybody can be a bank/)
    assert.equal(faultOf({}, callbacks), '')
  })

  test('a real server behind a proxy says how a request arrives, to who knows the secret alone', async () => {
    const port = await freePort()
    let strips: string[] = []
    const proxy = await serve((request, response) => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).filter(([name]) => !strips.includes(name)),
      )
      const from = request.socket.remoteAddress!
      const forwarded = [headers['x-forwarded-for'], from].filter(Boolean).join(', ')
      const passed = send(
        { port, path: request.url, headers: { ...headers, 'x-forwarded-for': forwarded } },
        (reply) => {
          response.writeHead(reply.statusCode!, reply.headers)
          reply.pipe(response)
        },
      )
      passed.on('error', () => response.destroy())
      request.pipe(passed)
    })
    const publicUrl = `http://127.0.0.1:${proxy.port}`
    const env = {
      ...environment,
      SECRET_KEY: secretOf('reach'),
      DATABASE_URL: await cloneDatabase(),
      PUBLIC_URL: publicUrl,
      TRUSTED_PROXIES: '127.0.0.1',
    }
    const OPERATOR_KEY = 'operator-key-of-a-test-0123456789abcdef'
    const own = { ...readConfig(env), local: false }
    says(await inspectReach(own), 'warning', /cannot be reached .*Start the server/)
    await startServer({ ...env, OPERATOR_KEY, PORT: String(port) })
    isSilent(await inspectReach(own))
    strips = ['authorization', 'idempotency-key']
    says(await inspectReach(own), 'warning', /drops or changes authorization, idempotency-key/)
    strips = []
    const other = { ...own, secretKey: Buffer.from(secretOf('another'), 'base64') }
    says(await inspectReach(other), 'warning', /another server, with another SECRET_KEY/)
    says(await inspectReach({ ...own, trustedProxies: [] }), 'ok', /unchanged/)
    const reached = await inspectReach({ ...own, operatorKey: OPERATOR_KEY })
    says(reached, 'warning', /\/operator\/api through .*let the proxy pass it only/)
  })

  test('without an order that is tagged and fresh, /health is as ever', async () => {
    const { vault, systemClock } = api.app
    const now_ms = systemClock.now().getTime()
    const ask = async (order: string) => (await api.call('GET', `/health?doctor=${order}`)).body
    const order = orderArrival(vault, now_ms)
    assert.ok((await ask(order)).arrival.headers.host)
    const [until, tag] = order.split('.') as [string, string]
    const forged = [
      '',
      'x',
      `${until}.${'A'.repeat(20)}`,
      `${Number(until) + 1}.${tag}`,
      orderArrival(vault, now_ms - 61_000),
      orderArrival(vault, now_ms + 61_000),
    ]
    for (const one of forged) assert.deepEqual(await ask(one), { status: 'ok' })
  })

  test('a collector that does not answer is named', async () => {
    const names = ['', 'METRICS_'].map((kind) => `OTEL_EXPORTER_OTLP_${kind}ENDPOINT`)
    const before = names.map((name) => [name, process.env[name]] as const)
    const { port } = await serve((_, response) => response.writeHead(405).end())
    const lookAt = async (env: Record<string, string>) => {
      for (const name of names) delete process.env[name]
      Object.assign(process.env, env)
      return inspectCollector(configOf(env))
    }
    const look = (address: string) => lookAt({ OTEL_EXPORTER_OTLP_ENDPOINT: address })
    isSilent(await inspectCollector(config))
    isSilent(await look(`http://127.0.0.1:${port}`))
    says(await look(`http://127.0.0.1:${await freePort()}`), 'warning', /does not answer/)
    // One for metrics alone.
    const metricsTo = (port: number) =>
      lookAt({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `http://127.0.0.1:${port}/v1/metrics` })
    isSilent(await metricsTo(port))
    says(await metricsTo(await freePort()), 'warning', /so metrics are lost/)
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
})

describe('PostgreSQL', ON_PLAIN, () => {
  test('standbys that no commit waits for are named', async () => {
    const judge = (mode: string, names: string, sync: number, hosts = 2) =>
      judgeStandbys(hosts, { mode, names, sync })
    isSilent(judge('on', '', 0, 1))
    isSilent(judge('on', '*', 1))
    says(judge('on', '', 0), 'failed', /2 servers are named, and no commit waits/)
    says(judge('local', '*', 1), 'failed', /synchronous_commit is local/)
    says(judge('remote_write', '*', 1), 'failed', /can lose payments/)
    says(judge('on', '*', 0), 'warning', /No standby follows now/)
    isSilent(await inspectStandbys(db, config))
  })

  test('an archive that has stopped is named', () => {
    const [early, late] = [new Date('2026-08-19'), new Date('2026-08-20')]
    isSilent(judgeArchive({ mode: 'off', archivedAt: null, failedAt: null }))
    isSilent(judgeArchive({ mode: 'on', archivedAt: late, failedAt: early }))
    const stopped = judgeArchive({ mode: 'on', archivedAt: early, failedAt: late })
    says(stopped, 'failed', /not archived any more. The last one was on 2026-08-19/)
    says(
      judgeArchive({ mode: 'on', archivedAt: null, failedAt: late }),
      'failed',
      /archive_command/,
    )
  })

  test('a slot that keeps the write-ahead log is named', async () => {
    isSilent(await inspectSlots(db))
    const name = `doctor_${process.pid}`
    await api.rows('select pg_create_physical_replication_slot($1, true)', [name])
    try {
      says(
        await inspectSlots(db, 0),
        'warning',
        new RegExp(`${name} \\(.*pg_drop_replication_slot`),
      )
      isSilent(await inspectSlots(db))
    } finally {
      await api.rows('select pg_drop_replication_slot($1)', [name])
    }
  })

  test('indexes that are missing or cannot be used are named', async () => {
    isSilent(await inspectIndexes(db))
    await api.rows(
      `update pg_index set indisvalid = false where indexrelid = 'events_feed'::regclass`,
    )
    says(await inspectIndexes(db), 'warning', /cannot be used: events_feed. reindex/)
    await api.rows(
      `update pg_index set indisvalid = true where indexrelid = 'events_feed'::regclass`,
    )
    await api.rows('alter index events_feed rename to events_away')
    says(await inspectIndexes(db), 'failed', /missing: events_feed/)
    await api.rows('alter index events_away rename to events_feed')
  })

  test('texts that are in another order than their indexes are named', () => {
    const judge = (encoding: string, made: string | null, present: string | null) =>
      judgeCollation({ encoding, made, present })
    isSilent(judge('UTF8', '2.36', '2.36'))
    isSilent(judge('UTF8', null, null))
    says(judge('UTF8', '2.31', '2.36'), 'warning', /\(2\.36\).*\(2\.31\).*reindex database/)
    says(judge('SQL_ASCII', null, null), 'failed', /need UTF8/)
  })

  test('transactions that are open for long are named', async () => {
    const client = new pg.Client({ connectionString: api.databaseUrl, application_name: 'sleeper' })
    await client.connect()
    await client.query('begin')
    await client.query('select 1')
    says(
      await inspectTransactions(db, 0),
      'warning',
      /sleeper \(idle in transaction, \d+ s; pg_term/,
    )
    isSilent(await inspectTransactions(db))
    await client.end()
  })

  test('rows that autovacuum leaves are named', async () => {
    isSilent(judgeVacuum({ age: 1000, dead: [] }))
    says(judgeVacuum({ age: 600_000_000, dead: [] }), 'failed', /vacuum \(freeze\)/)
    says(judgeVacuum({ age: 1, dead: ['charges'] }), 'warning', /keep up with charges/)
    isSilent(await inspectVacuum(db))
  })

  test('connections that run out are named', async () => {
    says(
      judgeConnections({ used: 80, most: 97 }, 36),
      'warning',
      /80 of 97 .*raise max_connections/,
    )
    isSilent(judgeConnections({ used: 40, most: 97 }, 36))
    assert.match((await inspectConnections(db, config))[1], /connections are used/)
  })

  test('a connection that others can read is named', async () => {
    const judge = (address: string | null, isEncrypted = false) =>
      judgeEncryption({ address, isEncrypted })
    isSilent(judge(null))
    isSilent(judge('127.0.0.1'))
    isSilent(judge('::1'))
    isSilent(judge('10.0.0.5', true))
    says(judge('10.0.0.5'), 'warning', /at 10\.0\.0\.5 is not encrypted.*sslmode=verify-full/)
    isSilent(await inspectEncryption(db))
  })

  test('books that differ, and books that nobody audits, are named', async () => {
    const now = api.clock.now()
    isSilent(await inspectBooks(db, now))
    const { company } = await api.client()
    const audited = (minutes: number, difference: string | null) =>
      api.rows(
        `insert into audits (company_id, checked_entry, difference, audited_at) values ($1, 0, $2, $3)
         on conflict (company_id) do update set difference = $2, audited_at = $3`,
        [company.id, difference, new Date(now.getTime() - minutes * 60_000)],
      )
    await audited(59, null)
    isSilent(await inspectBooks(db, now))
    await audited(61, null)
    says(
      await inspectBooks(db, now),
      'warning',
      /last audited on .*Start a server that is a worker/,
    )
    await audited(0, 'x')
    says(await inspectBooks(db, now), 'failed', /books of a company differ.*ledger audit/)
    await audited(0, null)
  })

  test('servers with another version or other settings are named', async () => {
    const own = { ...api.app.config }
    isSilent(await inspectServers(db, own))
    const elsewhere = { publicUrl: 'https://other.example.com', isPublicUrlDefault: false }
    const other = { ...own, ...elsewhere, webhooksPerCompany: 7 }
    const sent = async (name: string) => {
      const client = new pg.Client({ connectionString: api.databaseUrl, application_name: name })
      await client.connect()
      return client
    }
    const client = await sent(serverName(other))
    const differs = /another PUBLIC_URL, another WEBHOOKS_PER_COMPANY work on this database/
    says(await inspectServers(db, own), 'warning', differs)
    await client.end()
    const old = await sent(
      serverName(own).replace(/vintem \S+ schema \d+/, 'vintem 0.0.1 schema 3'),
    )
    says(await inspectServers(db, own), 'warning', /version 0\.0\.1 with schema 3/)
    await old.end()
    await until('it is gone', async () => (await inspectServers(db, own))[0] === 'ok')
    assert.ok(serverName(own).length < 64, 'PostgreSQL cuts longer names')
  })

  test('certificates of banks that end are named', async () => {
    isSilent(await inspectCertificates(db))
    const { company } = await openBanked(api)
    isSilent(await inspectCertificates(db))
    await api.rows(`update bank_connections set certificate_ends_at = now() + '9 days'`)
    says(await inspectCertificates(db), 'warning', new RegExp(`${company.id} at .*bank connect`))
  })
})

test('the guide to operation names everything that doctor looks at, and nothing else', async () => {
  const vintem = hostedVintemIn(temporaryFolder())
  const { PUBLIC_URL: _, ...env } = environment
  const { stdout } = await vintem(['doctor', '--json'], { ...env, DATA_DIR: temporaryFolder() })
  const checks: { name: string }[] = JSON.parse(stdout).checks
  const looked = checks.map(({ name }) => name.replace(/ of place \d+$/, ''))
  const guide = readFileSync(join(import.meta.dirname, '../../docs/operating.md'), 'utf8')
  const [, table = ''] = /^\| it looks at \|.*\n\|-.*\n((?:\|.*\n)+)/m.exec(guide) ?? []
  const named = table
    .trim()
    .split('\n')
    .flatMap((row) => row.split('|')[1]!.trim().split(', '))
  // With one place there is nothing to compare.
  const expected = new Set([...looked, 'places'])
  assert.deepEqual(named.toSorted(), [...expected].sort())
})
