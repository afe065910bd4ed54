import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { OPERATOR_API } from '../../src/http/operator-api.ts'
import { newId } from '../../src/lib/ids.ts'
import { vintemIn } from '../support/cli.ts'
import { startCollector } from '../support/collector.ts'
import { cloneDatabase } from '../support/database.ts'
import { longTest } from '../support/long.ts'
import { decisionOf, disputeOf } from '../support/payments.ts'
import {
  freePort,
  readSandbox,
  secretOf,
  startServer,
  temporaryFolder,
} from '../support/process.ts'
import { openSmtp } from '../support/smtp.ts'
import { RECURRENCES } from '../support/subscriptions.ts'

/** Values that must not be found anywhere outside the answers to their owner. */
const CANARY = {
  name: 'Quiteria Canarinha',
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
  url: string
  call(method: string, path: string, json?: unknown, key?: string): Promise<Answer>
  /** The text of every refusal. */
  refusals: string[]
  /** Where mails are kept, and so the one place where a code may be read. */
  mails: string
  /** Secrets that the owner was given. */
  secrets: string[]
  /** A charge of the payer. */
  charge: string
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
  return {
    url,
    call,
    refusals,
    mails: join(dataDir, 'mail'),
    secrets: [apiKey],
    charge: '',
    codes: [],
  }
}

function requireDone({ status, text, data }: Answer) {
  assert.ok(status < 300, text)
  return data
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
  const customer = { ...CANARY }
  const charge = await call('POST', '/charge/pix', { amount: 1000, customer, devMode: true })
  shop.charge = charge.data.id
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
  await sellOtherwise(shop, client.data.id)
  await moveMoney(shop, charge.data.brCode, charge.data.id)
  await withdraw(shop, look)
  await call('DELETE', `/client/${client.data.id}`)
  secrets.push(webhook.data.secret)
}

/** Sells in batches, in parts, with a share for somebody, and every month. */
async function sellOtherwise({ call }: Shop, customerId: string): Promise<void> {
  const post = (path: string, json: unknown) => call('POST', path, json)
  const customer = { ...CANARY }
  const sale = { amount: 1000, customer }
  const charges = [sale, { ...sale, amount: 1 }, { ...sale, customer: { name: CANARY.taxId } }]
  requireDone(await post('/charge/batch', { charges }))
  await post('/charge/batch', { charges: CANARY.email })
  await post('/charge/plan', { total: 10_000, count: 3, firstDueDate: CANARY.taxId, customer })
  const { name, taxId, email } = CANARY
  const recipient = requireDone(await post('/recipient', { name, taxId, pixKey: email }))
  const split = [{ recipientId: recipient.id, percent: 2500 }]
  const { brCode } = requireDone(await post('/charge/pix', { ...sale, split }))
  requireDone(await post('/bank/pix', { brCode }))
  await call('PUT', `/recipient/${recipient.id}`, { pixKey: CANARY.name })
  const monthly = { type: 'RECURRING', frequency: 'MONTHLY', price: 1990, description: 'x' }
  const product = requireDone(await post('/product', { ...monthly, name: 'Assinatura' }))
  const subscription = { productId: product.id, customerId }
  const { emv } = requireDone(await post(RECURRENCES, subscription))
  requireDone(await post('/bank/authorizations', { emv, decision: 'approve' }))
  await post(RECURRENCES, { ...subscription, customerId: CANARY.taxId })
}

/** Accepts an invitation, searches for what is secret, and writes it down as a note. */
async function useDashboard(shop: Shop, invitation: string): Promise<void> {
  const { url, charge, refusals, secrets } = shop
  const manual = { redirect: 'manual' } as const
  const password = 'trilho-abajur-quintal-47'
  const join = { method: 'POST', body: new URLSearchParams({ name: 'Dona', password }) }
  const joined = await fetch(invitation, { ...join, ...manual })
  assert.equal(joined.status, 303)
  const cookie = joined.headers.get('set-cookie')!.split(';')[0]!
  secrets.push(password, cookie.split('=')[1]!)
  const { url: home } = await fetch(`${url}/dashboard`, { headers: { cookie } })
  for (const wanted of [CANARY.taxId, CANARY.name, CANARY.email]) {
    const q = encodeURIComponent(wanted)
    for (const path of ['charges', 'customers', 'search', 'nowhere']) {
      await fetch(`${home}/${path}?q=${q}`, { headers: { cookie } })
    }
  }
  const page = await (await fetch(`${home}/charges/${charge}`, { headers: { cookie } })).text()
  assert.ok(page.includes(CANARY.name))
  const token = /name="token" value="([^"]+)"/.exec(page)![1]!
  const notes = `${home}/charges/${charge}/notes`
  const note = Object.values(CANARY).join(' ')
  const send = (form: Record<string, string>) =>
    fetch(notes, {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams(form),
      ...manual,
    })
  const once = newId().replaceAll('-', '')
  assert.equal((await send({ token, once, note })).status, 303)
  refusals.push(await (await send({ token: 'x', once, note })).text())
}

/** Makes a company of a person for operators, and asks for what cannot be. */
async function useOperatorApi({ call, secrets }: Shop, key: string): Promise<void> {
  const { name, taxId, email } = CANARY
  const ask = (path: string, json?: unknown) =>
    call(json ? 'POST' : 'GET', OPERATOR_API + path, json, key)
  const wanted = { id: newId(), name: 'Loja', taxId: '11222333000181', email: 'loja@example.com' }
  const [made] = requireDone(await ask('/companies', { companies: [wanted] }))
  if (made.key) secrets.push(made.key.text)
  await ask('/companies', { companies: [{ ...wanted, name, taxId, email: taxId }] })
  requireDone(await ask(`/companies?q=${encodeURIComponent(email)}`))
  await ask(`/companies?after=${taxId}`)
  assert.equal((await call('GET', `${OPERATOR_API}/companies`, undefined, `${key}x`)).status, 401)
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
  const data = requireDone(await call('POST', disputeOf(kept)))
  await call('POST', disputeOf(kept), { reason: CANARY.name })
  const defense = { text: `${CANARY.name}, ${CANARY.taxId}, ${CANARY.address}` }
  await call('POST', `/dispute/${data.id}/defense`, defense)
  await call('POST', `/dispute/${CANARY.taxId}/defense`, defense)
  requireDone(await call('POST', decisionOf(data.id), { decision: 'won' }))
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

/** Names are searched, so they can be read in the database, and there alone. */
function assertSilent({ secrets, codes }: Shop, text: string, place: string): void {
  const { name, ...sealed } = CANARY
  const people = place === 'the database' ? Object.values(sealed) : [name, ...Object.values(sealed)]
  for (const secret of [...people, ...secrets]) {
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
  'no name, document, e-mail, phone, address, key, secret or code is in the logs of local mode',
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

/** A mail server that asks for a password, and leaves what it takes where mails are looked for. */
async function startMailbox(folder: string, password: string) {
  const state = { refuses: false }
  mkdirSync(folder, { recursive: true })
  let count = 0
  const smtp = await openSmtp(
    {
      disabledCommands: ['STARTTLS'],
      authOptional: false,
      allowInsecureAuth: true,
      onAuth({ username, password: given }, _session, callback) {
        const isRight = !state.refuses && given === password
        callback(isRight ? null : new Error(`${username} is refused`), { user: 'x' })
      },
    },
    ({ mail }) => writeFileSync(join(folder, `${++count}.eml`), `${mail.text}`),
  )
  after(smtp.stop)
  return { url: `smtp://vintem:${password}@${new URL(smtp.url).host}`, state }
}

/** What the doctor says of a healthy server, of refused mails and of a missing database. */
async function askDoctor(env: Record<string, string>, mailbox: { refuses: boolean }) {
  const vintem = vintemIn(temporaryFolder())
  const lost = new URL(env.DATABASE_URL!)
  lost.port = String(await freePort())
  const healthy = await vintem(['doctor'], env)
  mailbox.refuses = true
  const said = [healthy, await vintem(['doctor', '--json'], env)]
  said.push(await vintem(['doctor'], { ...env, DATABASE_URL: lost.href }))
  return said.map(({ stdout, stderr }) => stdout + stderr)
}

test('nothing of a payer, no key, secret, password or code is in the database, a refusal, the log, a trace, a metric or what the doctor says', async () => {
  const DATA_DIR = `${temporaryFolder()}/data`
  const SECRET_KEY = secretOf('canary')
  const OPERATOR_KEY = 'canary-operator-key-0123456789abcdefgh'
  const DATABASE_URL = await cloneDatabase()
  const passwords = [new URL(DATABASE_URL).password, 'canaryOfTheMailServer'] as const
  assert.ok(passwords[0].length > 8, 'nobody finds the password of the database by chance')
  const mailbox = await startMailbox(join(DATA_DIR, 'mail'), passwords[1])
  const [collector, OPERATOR_PORT] = [await startCollector(), String(await freePort())]
  const telemetry = {
    OPERATOR_PORT,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  }
  const keys = { SECRET_KEY, OPERATOR_KEY, SMTP_URL: mailbox.url }
  const own = { DATABASE_URL, DATA_DIR, ...keys, MAIL_FROM: 'pix@example.com', LOG_LEVEL: 'debug' }
  const server = await startServer({ ...own, ...telemetry })
  const vintem = vintemIn(temporaryFolder())
  const told = { ...own, PUBLIC_URL: server.url, ALLOW: 'http' }
  const answerOf = async (...args: string[]) => {
    const { code, stdout, stderr } = await vintem([...args, '--json'], told)
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  const who = ['--name', 'Canary', '--tax-id', '11222333000181', '--email', 'dona@example.com']
  const made = await answerOf('company', 'create', ...who)
  const shop = openShop(server.url, made.apiKey, DATA_DIR)
  shop.secrets.push(SECRET_KEY, OPERATOR_KEY, ...passwords)
  const dumps: string[] = []
  const look = async () => {
    dumps.push(await dump(DATABASE_URL))
  }
  await useEverything(shop, look)
  const owner = ['--email', 'dona@example.com', '--company', made.companyId, '--role', 'owner']
  await useDashboard(shop, (await answerOf('person', 'invite', ...owner, '--print')).url)
  await useOperatorApi(shop, OPERATOR_KEY)
  await look()
  const [during, later] = dumps as [string, string]
  assert.ok(during.includes('PENDING_OTP'), 'one look was while a code was waited for')
  for (const part of ['charge.paid', CANARY.name, 'WITHDRAWAL_PAID', 'received', 'returned']) {
    assert.ok(later.includes(part), `the dump is whole: ${part}`)
  }
  for (const text of dumps) assertSilent(shop, text, 'the database')
  assert.ok(shop.refusals.length > 20)
  assertSilent(shop, shop.refusals.join('\n'), 'a refusal')
  const metrics = await (await fetch(`http://127.0.0.1:${OPERATOR_PORT}/metrics`)).text()
  assert.match(metrics, /^vintem_money_records_total\{kind="withdrawal",money="play"\} 1$/m)
  assertSilent(shop, metrics, 'a metric')
  for (const text of await askDoctor({ ...told, ...telemetry }, mailbox.state)) {
    assert.match(text, /database/i)
    assertSilent(shop, text, 'what the doctor says')
  }
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
