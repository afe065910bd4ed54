import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { startCollector } from '../support/collector.ts'
import { cloneDatabase } from '../support/database.ts'
import { longTest } from '../support/long.ts'
import {
  freePort,
  inherited,
  readSandbox,
  secretOf,
  startServer,
  temporaryFolder,
} from '../support/process.ts'

/** Values that must not be found anywhere outside the answers to their owner. */
const CANARY = {
  taxId: '98765432100',
  email: 'canary.maria@example.com',
  phone: '11912345678',
  address: 'Rua do Canario Escondido',
}

async function dump(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows: tables } = await client.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema = current_schema()`,
  )
  const texts: string[] = []
  for (const { name } of tables) {
    const { rows } = await client.query<{ text: string }>(`select t::text as text from ${name} t`)
    texts.push(...rows.map(({ text }) => text))
  }
  await client.end()
  return texts.join('\n')
}

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Answer = { status: number; text: string; data: any }

/** A running service as its owner sees it, and what it has printed and sent. */
type Shop = {
  call(method: string, path: string, json?: unknown, key?: string): Promise<Answer>
  /** The text of every refusal. */
  refusals: string[]
  /** Where mails are kept, and so the one place where a code may be read. */
  mails: string
  /** Secrets that the owner was given. */
  secrets: string[]
  codes: string[]
}

function openShop(url: string, apiKey: string, dataDir: string): Shop {
  const refusals: string[] = []
  // The same request has the same key, in which nothing of it can be read.
  const keys = new Map<string, string>()
  async function call(method: string, path: string, json?: unknown, key = apiKey) {
    const body = json === undefined ? null : JSON.stringify(json)
    const request = `${method} ${path} ${body} ${key}`
    keys.set(request, keys.get(request) ?? `key ${keys.size}`)
    const headers = {
      'X-API-KEY': key,
      'Content-Type': 'application/json',
      ...(method === 'POST' ? { 'Idempotency-Key': keys.get(request)! } : {}),
    }
    const reply = await fetch(url + path, { method, headers, body })
    const text = await reply.text()
    if (reply.status >= 400) refusals.push(text)
    const isJson = reply.headers.get('content-type')!.startsWith('application/json')
    return { status: reply.status, text, data: isJson ? JSON.parse(text).data : null }
  }
  return { call, refusals, mails: join(dataDir, 'mail'), secrets: [apiKey], codes: [] }
}

const readMails = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.eml'))
        .map((name) => readFileSync(join(folder, name), 'utf8'))
    : []

/** Waits for a code that was not there before. */
async function nextCode({ mails, codes }: Shop): Promise<string> {
  for (;;) {
    const found = readMails(mails).flatMap((mail) => /^[0-9]{6}(?=\r?$)/m.exec(mail) ?? [])
    const fresh = found.find((code) => !codes.includes(code))
    if (fresh) {
      codes.push(fresh)
      return fresh
    }
    await pause(20)
  }
}

/** Sends something to every kind of operation, well and badly. */
async function useEverything(shop: Shop, look: () => Promise<void>): Promise<void> {
  const { call, secrets } = shop
  const customer = { name: 'Maria', ...CANARY }
  const charge = await call('POST', '/charge/pix', { amount: 1000, customer, devMode: true })
  await call('POST', `/charge/${charge.data.id}/simulate-payment`)
  await call('GET', `/charge/${charge.data.id}`)
  const link = { total: 1000, customer, notifyCustomer: true }
  assert.equal((await call('POST', '/charge/payment-link', link)).status, 201)
  const client = await call('POST', '/client', { ...customer, status: 'ACTIVE' })
  await call('PUT', '/client', { id: client.data.id, district: CANARY.address })
  await call('GET', `/client?taxId=${CANARY.taxId}`)
  const webhook = await call('POST', '/webhook', {
    url: 'https://shop.example.com/pix',
    name: 'x',
    events: ['charge.paid'],
  })
  await call('POST', '/charge/pix', { amount: 1, customer: { ...customer, phone: CANARY.email } })
  await call('POST', '/charge/pix', { amount: 1000, customer }, `${secrets[0]!.slice(0, -1)}x`)
  await call('GET', `/charge/${CANARY.taxId}`)
  await call('GET', `/nowhere/${CANARY.email}`)
  await moveMoney(shop, charge.data.brCode, charge.data.id)
  await withdraw(shop, look)
  await call('DELETE', `/client/${client.data.id}`)
  secrets.push(webhook.data.secret)
}

/** Pays twice, keeps one payment, returns another, and asks for what cannot be. */
async function moveMoney({ call }: Shop, brCode: string, id: string): Promise<void> {
  const again = async () => (await call('POST', '/bank/pix', { brCode })).data.endToEndId
  const [kept, returned] = [await again(), await again()]
  assert.equal((await call('POST', `/payment/unmatched/${kept}/accept`)).status, 200)
  assert.equal((await call('POST', `/payment/unmatched/${returned}/refund`, {})).status, 201)
  assert.equal((await call('POST', `/refund/${id}`, { value: 500 })).status, 201)
  await call('POST', `/refund/${id}`, { value: CANARY.taxId })
  await call('POST', `/refund/${CANARY.taxId}`, {})
  await call('POST', `/payment/unmatched/${CANARY.email}/accept`)
  await call('POST', '/bank/pix', { brCode: CANARY.taxId, endToEndId: CANARY.email })
  await call('GET', `/payment/unmatched?after=${CANARY.taxId}`)
  assert.equal((await call('GET', '/account-balance/statement?format=csv')).status, 200)
  await call('GET', `/account-balance/statement?type=${CANARY.taxId}`)
}

/** Withdraws with the second code, after tries of every kind with the first. */
async function withdraw(shop: Shop, look: () => Promise<void>): Promise<void> {
  const { call } = shop
  const { data } = await call('POST', '/account-balance/withdraw', { value: 5000 })
  const path = `/account-balance/withdraw/${data.withdrawId}`
  const first = await nextCode(shop)
  await look()
  for (const otp of [Number(first), `${first}0`, ` ${first}`, [first], { otp: first }]) {
    assert.equal((await call('POST', `${path}/confirm`, { otp })).status, 400)
  }
  for (const place of [`/account-balance/withdraw/${first}`, `/nowhere/${first}`]) {
    assert.equal((await call('GET', place)).status, 404)
  }
  await call('GET', `/account-balance/withdraw?after=${first}`)
  assert.equal((await call('POST', `${path}/resend`)).status, 200)
  const code = await nextCode(shop)
  assert.equal((await call('POST', `${path}/confirm`, { otp: first })).status, 400)
  assert.equal((await call('POST', `${path}/confirm`, { otp: code })).status, 200)
  assert.equal((await call('POST', `${path}/confirm`, { otp: code })).status, 200, 'the same again')
  while ((await call('GET', path)).data.status === 'PROCESSING') await pause(20)
  assert.equal((await call('GET', path)).data.status, 'COMPLETED')
  assert.equal((await call('POST', `${path}/confirm`, { otp: '000000' })).status, 409)
}

const hex = (secret: string) => Buffer.from(secret).toString('hex')

/** Six digits may be part of a longer number by chance; alone they would be the code. */
const isIn = (text: string, code: string) =>
  new RegExp(`(?<![0-9A-Za-z])${code}(?![0-9A-Za-z])`).test(text)

function assertSilent({ secrets, codes }: Shop, text: string, place: string): void {
  for (const secret of [...Object.values(CANARY), ...secrets]) {
    assert.ok(!text.includes(secret), `${secret} is in ${place}`)
    assert.ok(!text.includes(hex(secret)), `${secret} is in ${place}, as bytes`)
  }
  assert.equal(codes.length, 2)
  for (const code of codes) {
    assert.ok(!isIn(text, code), `the code ${code} is in ${place}`)
    assert.ok(!text.includes(hex(code)), `the code ${code} is in ${place}, as bytes`)
  }
}

/** Only who may read the mails reads what was sent, and to whom. */
function assertMailed({ mails, codes }: Shop, isLocal: boolean): void {
  const all = readMails(mails).join('\n')
  for (const sent of codes) assert.ok(all.includes(sent), `${sent} was mailed`)
  // On a server with real companies, a sandbox company mails its own people only.
  assert.equal(all.includes(CANARY.email), isLocal)
}

longTest(
  'no document, e-mail, phone, address, key, secret or code is in the logs of local mode',
  async () => {
    const DATA_DIR = `${temporaryFolder()}/data`
    const server = await startServer({ DATA_DIR, LOG_LEVEL: 'debug' })
    const shop = openShop(server.url, readSandbox(DATA_DIR).apiKey, DATA_DIR)
    await useEverything(shop, async () => {})
    server.child.kill('SIGTERM')
    await server.ended
    // The key is in the banner of local mode, on purpose and once.
    const log = server.output().replace(shop.secrets[0]!, '')
    assert.ok(log.split('\n').length > 40, 'a line a request')
    assertSilent(shop, log, 'the log')
    assertMailed(shop, true)
  },
)

test('no document, e-mail, phone, address, key, secret or code is in the database, a refusal, the log, a trace or a metric', async () => {
  const [DATABASE_URL, DATA_DIR] = [await cloneDatabase(), `${temporaryFolder()}/data`]
  const SECRET_KEY = secretOf('canary')
  const [collector, OPERATOR_PORT] = [await startCollector(), String(await freePort())]
  const telemetry = {
    OPERATOR_PORT,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  }
  const own = { DATABASE_URL, DATA_DIR, SECRET_KEY, LOG_LEVEL: 'debug' }
  const server = await startServer({ ...own, ...telemetry })
  const made = execFileSync(
    process.execPath,
    [
      'src/cli/main.ts',
      'company',
      'create',
      '--name',
      'Canary',
      '--tax-id',
      '11222333000181',
      '--email',
      'dona@example.com',
      '--json',
    ],
    { env: { ...inherited, DATABASE_URL, SECRET_KEY }, encoding: 'utf8' },
  )
  const shop = openShop(server.url, JSON.parse(made).apiKey, DATA_DIR)
  const dumps: string[] = []
  const look = async () => {
    dumps.push(await dump(DATABASE_URL))
  }
  await useEverything(shop, look)
  await look()
  const [during, after] = dumps as [string, string]
  assert.ok(during.includes('PENDING_OTP'), 'one look was while a code was waited for')
  for (const part of ['charge.paid', 'Maria', 'WITHDRAWAL_PAID', 'received', 'returned']) {
    assert.ok(after.includes(part), `the dump is whole: ${part}`)
  }
  for (const text of dumps) assertSilent(shop, text, 'the database')
  assert.ok(shop.refusals.length > 15)
  assertSilent(shop, shop.refusals.join('\n'), 'a refusal')
  const metrics = await (await fetch(`http://127.0.0.1:${OPERATOR_PORT}/metrics`)).text()
  assert.match(metrics, /^vintem_money_records_total\{kind="withdrawal",money="play"\} 1$/m)
  assertSilent(shop, metrics, 'a metric')
  server.child.kill('SIGTERM')
  await server.ended
  assert.ok(server.output().split('\n').length > 40, 'a line a request')
  assertSilent(shop, server.output(), 'the log')
  const names = new Set(collector.spans().map(({ name }) => name))
  for (const name of ['POST /charge/pix', 'create_charges', 'send mail', 'pay out withdrawals']) {
    assert.ok(names.has(name), `${name} is traced`)
  }
  assert.ok(collector.bodies.some(({ path }) => path === '/v1/metrics'))
  assertSilent(shop, collector.text(), 'what is sent to a collector')
  assertMailed(shop, false)
})
