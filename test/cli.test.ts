import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { Registry } from 'prom-client'
import { CHANGES, CONFIRMATIONS, LISTENER, QUESTION } from '../src/core/companies/announce.ts'
import { createSetbacks } from '../src/core/setbacks.ts'
import { openDatabase } from '../src/db/database.ts'
import { createLog } from '../src/lib/log.ts'
import { hostedVintemIn, type Result, vintemIn } from './support/cli.ts'
import { cloneDatabase, emptyDatabase } from './support/database.ts'
import { ON_PLAIN } from './support/on-plain.ts'
import { freePort, inherited, readSandbox, secretOf } from './support/process.ts'
import { startSmtp } from './support/smtp.ts'

type Environment = Record<string, string>

const sourceOf = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url))
const SECRET_KEY = secretOf('cli')

// The processes run where no .env can be found, and see nothing of the environment of the tests.
const home = mkdtempSync(join(tmpdir(), 'vintem-cli-'))
const dataDir = join(home, 'data')
const local = { DATA_DIR: dataDir }
const PUBLIC_URL = 'https://pix.example.com'
const env = { DATABASE_URL: await cloneDatabase(), SECRET_KEY, PUBLIC_URL }
after(() => rmSync(home, { recursive: true, force: true }))

const [alone, hosted] = [vintemIn(home), hostedVintemIn(home)]
const vintem = (args: string[], own: Environment = local) => hosted(args, own)

/** Runs a command with --json and reads its whole stdout as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of an answer
async function answerOf(args: string[], own = local as Environment, run = hosted): Promise<any> {
  const { code, stdout, stderr } = await run([...args, '--json'], own)
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  return JSON.parse(stdout)
}

function company(fields: Environment = {}, ...switches: string[]): string[] {
  const all = { name: 'Padaria', 'tax-id': '11222333000181', email: 'dona@example.com', ...fields }
  const options = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value])
  return ['company', 'create', ...options, ...switches]
}

function assertSentence({ code, stdout, stderr }: Result, expected: RegExp): void {
  assert.match(stderr, expected)
  assert.doesNotMatch(stderr, /\n\s+at |node:internal/, 'no stack trace')
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
}

describe('what was typed wrongly', () => {
  const mistyped = async (args: string[], ...expected: RegExp[]) => {
    const { code, stdout, stderr } = await vintem(args)
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' })
    for (const part of expected) assert.match(stderr, part)
  }

  test('an unknown command is answered with the commands there are', () =>
    mistyped(['company', 'destroy'], /Unknown command: company destroy/, /company create/))

  test('a missing option is named, the usage follows, and the process ends with 2', async () => {
    const args = ['company', 'create', '--name', 'x']
    await mistyped(args, /--tax-id, --email/, /Usage: vintem company cr/)
    assert.deepEqual(await alone(args, local), await hosted(args, local))
  })

  test('an unknown option and an argument too many are refused', async () => {
    await mistyped(['key', 'list', '--nmae', 'x'], /Unknown option '--nmae'/, /Usage: vintem key l/)
    await mistyped(['company', 'list', 'all'], /Not understood: all/)
  })

  test('help and version are answers, not faults', async () => {
    const help = await vintem(['key', 'create', '--help'])
    assert.equal(help.code, 0)
    assert.match(help.stdout, /--company COMPANY_ID[\s\S]*--scopes LIST[\s\S]*--json/)
    assert.match((await vintem(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
    assert.equal(existsSync(dataDir), false, 'neither touches the data directory')
  })
})

let first: { companyId: string; apiKey: string }

test('on a fresh data directory, company create prints JSON only and leaves nothing running', async () => {
  const created = await answerOf(company(), local, alone)
  first = created
  assert.deepEqual(Object.keys(created), ['companyId', 'apiKey'])
  assert.match(created.companyId, /^[0-9a-f-]{36}$/)
  assert.match(created.apiKey, /^vk_sandbox_/)
  assert.equal(existsSync(join(dataDir, 'postgres', 'postmaster.pid')), false)
})

test('bad input is refused with every violation, and nothing is stored', async () => {
  const bad = { 'tax-id': '11.222.333/0001-82', email: 'dona', 'settlement-delay': '1.5' }
  const refused = await vintem(company({ ...bad, 'api-version': '2020-01-01' }, '--live'))
  assertSentence(refused, /--tax-id: has wrong check digits/)
  for (const fault of [/--email: /, /--pix-key: /, /--settlement-delay: /, /2025-01-01, 2026-/]) {
    assert.match(refused.stderr, fault)
  }
  const companies = await answerOf(['company', 'list'])
  assert.deepEqual(
    companies.map(({ mode }: { mode: string }) => mode),
    ['sandbox'],
  )
})

describe('beside a running server', () => {
  let server: ChildProcess
  let url: string

  before(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    server = spawn(process.execPath, [sourceOf('main.ts')], {
      cwd: home,
      env: { ...inherited, ...local, PORT: String(port), LOG_LEVEL: 'silent' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines = createInterface(server.stdout!)
    for await (const line of lines) if (line.startsWith('Vintém is running')) break
  })
  after(async () => {
    if (server.exitCode === null && server.kill('SIGTERM')) await once(server, 'exit')
  })

  async function getCompany(key: string) {
    const reply = await fetch(`${url}/company`, { headers: { 'X-API-KEY': key } })
    // biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
    return { status: reply.status, body: (await reply.json()) as any }
  }

  test('a new company is served, a pin changes the next answer, a revoked key gets none', async () => {
    const asked = company({ 'tax-id': '12.abc.345/01de-35' })
    const { companyId, apiKey } = await answerOf(asked)
    const { status, body } = await getCompany(apiKey)
    assert.deepEqual([status, body.data.id, body.data.taxId], [200, companyId, '12ABC34501DE35'])

    await answerOf(['company', 'pin', companyId, '2025-01-01'])
    assert.equal((await getCompany(apiKey)).body.id, companyId)

    const { keys } = await answerOf(['company', 'show', companyId])
    await answerOf(['key', 'revoke', '--company', companyId, keys[0].id])
    assert.equal((await getCompany(apiKey)).status, 401)
  })

  test('a company mails receipts to its payers unless it was made without', async () => {
    const mails = async (...options: string[]) =>
      (await getCompany((await answerOf([...company(), ...options])).apiKey)).body.data
        .mailsReceipts
    assert.deepEqual([await mails(), await mails('--receipts=off')], [true, false])
    await assert.rejects(mails('--strict-tax-ids=maybe'), /--strict-tax-ids: on or off/)
  })

  test('a further key has the scopes asked for, and no command shows a hash', async () => {
    const id = first.companyId
    const asked = ['--company', id, '--name', 'till', '--scopes', 'payments:read,company:read']
    const { keyId, apiKey } = await answerOf(['key', 'create', ...asked])
    assert.equal((await getCompany(apiKey)).status, 200)
    const keys = await answerOf(['key', 'list', '--company', id])
    const key = keys.find((key: { id: string }) => key.id === keyId)
    assert.deepEqual([key.name, key.scopes], ['till', ['payments:read', 'company:read']])
    assert.ok(apiKey.startsWith(key.start))
    assert.equal('hash' in key, false)
    const unknown = await vintem(['key', 'create', '--company', id, '--scopes', 'money:print'])
    assertSentence(unknown, /"money:print" is not one of payments:read, /)
  })

  test('unknown ids and versions are reported in a sentence', async () => {
    const id = '01a1dd72-59aa-7000-95e6-7e9739663010'
    assertSentence(await vintem(['company', 'show', id]), /No company has the id 01a1dd72/)
    assertSentence(await vintem(['company', 'pin', id, '1']), /Choose one of 2025-01-01, 2026/)
  })

  test('a sandbox that is reset is seen at once: the new key is shown, the old one refused', async () => {
    const before = readSandbox(dataDir)
    const { apiKey, companyId } = await answerOf(['sandbox', 'reset'])
    assert.equal((await getCompany(before.apiKey)).status, 401)
    assert.equal((await getCompany(apiKey)).body.data.id, companyId)
    assert.deepEqual(readSandbox(dataDir), { companyId, apiKey, url })
    assert.ok((await (await fetch(`${url}/`)).text()).includes(apiKey))
  })

  test('person link signs in the person of the sandbox once', async () => {
    const { email, url: link } = await answerOf(['person', 'link'])
    assert.equal(email, 'ana@example.com')
    assert.ok(link.startsWith(`${url}/sign-in/link/`), link)
    const signIn = () => fetch(link, { method: 'POST', redirect: 'manual' })
    assert.match((await signIn()).headers.get('set-cookie')!, /^vintem=/)
    assert.equal((await signIn()).status, 410)
  })

  test('doctor finds everything well', async () => {
    const { ok, checks } = await answerOf(['doctor'])
    const states = new Set(checks.map(({ state }: { state: string }) => state))
    assert.deepEqual([ok, [...states]], [true, ['ok']], JSON.stringify(checks))
  })
})

describe('on a database of one’s own', () => {
  before(async () => {
    const { stdout } = await hosted(company({ 'pix-key': 'dona@example.com' }, '--live'), env)
    assert.match(stdout, /The live company Padaria is created[\s\S]*vk_live_[\s\S]*shown this once/)
  })

  test('a command that changes a company ends when every server knows of it', async () => {
    const { companyId } = await answerOf(company(), env)
    const server = new pg.Client({ connectionString: env.DATABASE_URL, application_name: LISTENER })
    await server.connect()
    const received: string[] = []
    server.on('notification', ({ payload = '' }) => {
      received.push(payload.startsWith(QUESTION) ? 'question' : payload)
      if (!payload.startsWith(QUESTION)) return
      server.query('select pg_notify($1, $2)', [CONFIRMATIONS, payload.slice(QUESTION.length)])
    })
    await server.query(`listen ${CHANGES}`)
    const [key] = await answerOf(['key', 'list', '--company', companyId], env)
    for (const args of [
      ['company', 'pin', companyId, '2025-01-01'],
      ['company', 'update', companyId, '--name', 'Padaria Nova'],
      ['key', 'revoke', '--company', companyId, key.id],
    ]) {
      received.length = 0
      await answerOf(args, env)
      assert.deepEqual(received, [companyId, 'question'], args.join(' '))
    }
    await server.end()
  })

  test('doctor names companies that are set aside, and the task that failed', async () => {
    const { companyId } = await answerOf(company(), env)
    const db = openDatabase(env.DATABASE_URL, 1)
    let ahead_s = 0
    const clock = { now: () => new Date(Date.now() + ahead_s * 1000) }
    const setbacks = createSetbacks(db, clock, new Registry(), createLog('silent'))
    const fault = Object.assign(new Error('x'), { code: '23514', constraint: 'balance_is_full' })
    await setbacks.failed('receive charges', companyId, fault)
    // What fails while the company is set aside does not count.
    ahead_s = 60
    await setbacks.failed('receive charges', companyId, fault)
    const { stdout } = await vintem(['doctor'], env)
    const named = new RegExp(
      `^warning +work .*receive charges. of ${companyId} .*is_full, 2 times`,
      'm',
    )
    assert.match(stdout, named)
    await setbacks.worked('receive charges', companyId)
    assert.match((await vintem(['doctor'], env)).stdout, /^ok +work +No company is set aside/m)
    await db.end()
  })

  test('doctor names rows that an upgrade has found without their company', ON_PLAIN, async () => {
    const db = openDatabase(env.DATABASE_URL, 1)
    const texts = [
      'alter table static_codes drop constraint static_codes_company',
      `insert into static_codes (company_id, id, amount, dev_mode, br_code, created_at)
       values (gen_random_uuid(), gen_random_uuid(), 100, true, '000201', now())`,
      `alter table static_codes add constraint static_codes_company
         foreign key (company_id) references companies not valid`,
    ]
    for (const text of texts) await db.query({ text })
    const { stdout } = await vintem(['doctor'], env)
    assert.match(stdout, /^warning +migrations +static_codes has 1 row of companies that are not/m)
    await db.query({ text: `delete from static_codes where br_code = '000201'` })
    await db.query({ text: 'alter table static_codes validate constraint static_codes_company' })
    assert.match((await vintem(['doctor'], env)).stdout, /^ok +migrations +The database is up/m)
    await db.end()
  })

  test('doctor misses no bank of a company that is only arriving', async () => {
    const { companyId } = await answerOf(company({ 'pix-key': 'dona@example.com' }, '--live'), env)
    const db = openDatabase(env.DATABASE_URL, 1)
    const missed = async () => (await vintem(['doctor'], env)).stdout.includes(`(${companyId})`)
    assert.ok(await missed())
    await db.query({
      text: `insert into company_moves (company_id, state, other_place) values ($1, 'arriving', 2)`,
      values: [companyId],
    })
    assert.equal(await missed(), false)
    await db.query({ text: 'delete from company_moves' })
    await db.end()
  })

  test('another secret than the one it was set up with is refused', async () => {
    const other = { ...env, SECRET_KEY: secretOf('another') }
    assertSentence(await vintem(['company', 'list'], other), /SECRET_KEY is not the one/)
    const { code, stdout } = await vintem(['doctor'], other)
    assert.match(stdout, /^failed +secret key +SECRET_KEY is not the one/m)
    assert.equal(code, 1)
  })

  test('migrate says when there is nothing to do', async () => {
    assert.deepEqual(await answerOf(['migrate'], env), { applied: [] })
  })

  // The database of the tests does not wait for the disk, which is just what doctor warns about.
  test('doctor warns about lost durability, live companies without a bank, and mails to nobody', async () => {
    const refused = await vintem(['doctor'], env)
    assert.equal(refused.code, 1)
    assert.match(refused.stdout, /^failed +safety +SMTP_URL is missing.*ALLOW=mail-files/m)
    const { code, stdout } = await vintem(['doctor'], { ...env, ALLOW: 'mail-files' })
    assert.equal(code, 0)
    assert.match(stdout, /^warning +safety +ALLOW lets a server start with mail-files/m)
    assert.match(stdout, /^ok +settings +All settings of PostgreSQL are right/m)
    assert.match(stdout, /^warning +monitoring .*set OPERATOR_PORT/m)
    assert.match(stdout, /^warning +durability .*fsync/m)
    assert.match(stdout, /^warning +provider .*no bank is connected/m)
    assert.match(stdout, /^warning +mail .*one-time codes to nobody: set SMTP_URL/m)
  })

  test('doctor refuses a public address that leads payers to their own machine', async () => {
    const { PUBLIC_URL: _, ...bare } = env
    const own = ['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:3000']
    const given = [bare, ...own.map((url) => ({ ...env, PUBLIC_URL: url }))]
    for (const environment of given) {
      const { code, stdout } = await vintem(['doctor'], environment)
      assert.match(
        stdout,
        /^failed +safety +PUBLIC_URL (?:is missing|.*own machine).*https address/m,
      )
      assert.equal(code, 1)
    }
    const { stdout } = await vintem(['doctor'], env)
    assert.match(stdout, /^ok +public address +Links start with https:\/\/pix\.example\.com\./m)
  })

  test('doctor tries the mail server, and does not show its password', async () => {
    const smtp = await startSmtp()
    const there = await vintem(['doctor'], { ...env, SMTP_URL: smtp.url })
    assert.match(there.stdout, /^ok +mail +The mail server at 127\.0\.0\.1:\d+ accepts the login/m)
    const away = { ...env, SMTP_URL: 'smtp://u:sesame@127.0.0.1:1' }
    const { code, stdout } = await vintem(['doctor'], away)
    assert.match(stdout, /^failed +mail .*127\.0\.0\.1:1 accepts no mails .*Check SMTP_URL/m)
    assert.doesNotMatch(stdout, /sesame/)
    assert.equal(code, 1)
  })

  test('a database that is away or refuses us is reported in a sentence, without the password', async () => {
    const away = { ...env, DATABASE_URL: 'postgres://u:sesame@127.0.0.1:1/x' }
    assertSentence(await vintem(['company', 'list'], away), /127\.0\.0\.1:1 refuses connections/)
    const wrong = new URL(await emptyDatabase())
    wrong.password = 'sesame'
    const refused = await vintem(['company', 'list'], { ...env, DATABASE_URL: wrong.href })
    assertSentence(refused, /does not let the user vintem in/)
    assert.doesNotMatch(refused.stderr, /sesame/)
  })
})

test('doctor names settings that are probably misspelt', async () => {
  const { stdout } = await hosted(['doctor'], { ...env, PROCESES: '4' })
  assert.match(
    stdout,
    /^warning +configuration +PROCESES is not a setting; did you mean PROCESSES\?/m,
  )
})

test('doctor lists every fault of the configuration, where other commands stop at them', async () => {
  const faulty = { DATABASE_URL: 'mysql://x', PORT: 'http', LOG_LEVEL: 'loud' }
  const { code, stdout } = await hosted(['doctor', '--json'], faulty)
  const { ok, checks } = JSON.parse(stdout)
  assert.deepEqual([code, ok], [1, false])
  const faults = checks.map(({ detail }: { detail: string }) => detail.split(' ')[0])
  assert.deepEqual(faults.sort(), ['DATABASE_URL', 'LOG_LEVEL', 'PORT', 'SECRET_KEY'])
  assertSentence(await vintem(['company', 'list'], faulty), /PORT[\s\S]*LOG_LEVEL/)
})
