import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { cloneDatabase } from '../support/database.ts'
import { readSandbox, startServer, temporaryFolder } from '../support/process.ts'

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
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  )
  const texts: string[] = []
  for (const { name } of tables) {
    const { rows } = await client.query<{ text: string }>(`select t::text as text from "${name}" t`)
    texts.push(...rows.map(({ text }) => text))
  }
  await client.end()
  return texts.join('\n')
}

/**
 * Sends something to every kind of operation, well and badly, and returns the secrets it was told.
 */
async function useEverything(url: string, apiKey: string): Promise<string[]> {
  const customer = { name: 'Maria', ...CANARY }
  const call = async (method: string, path: string, json?: unknown, key = apiKey) => {
    const headers = {
      'X-API-KEY': key,
      'Content-Type': 'application/json',
      ...(method === 'POST' ? { 'Idempotency-Key': `${method} ${path} ${key.length}` } : {}),
    }
    const body = json === undefined ? null : JSON.stringify(json)
    const reply = await fetch(url + path, { method, headers, body })
    return (await reply.json()) as { data: { id: string; secret?: string } | null }
  }
  const charge = await call('POST', '/charge/pix', { amount: 1000, customer, devMode: true })
  await call('POST', `/charge/${charge.data!.id}/simulate-payment`)
  await call('GET', `/charge/${charge.data!.id}`)
  await call('POST', '/charge/payment-link', { total: 1000, customer })
  const client = await call('POST', '/client', { ...customer, status: 'ACTIVE' })
  await call('PUT', '/client', { id: client.data!.id, district: CANARY.address })
  await call('GET', `/client?taxId=${CANARY.taxId}`)
  const webhook = await call('POST', '/webhook', {
    url: 'https://shop.example.com/pix',
    name: 'x',
    events: ['charge.paid'],
  })
  await call('POST', '/charge/pix', { amount: 1, customer: { ...customer, phone: CANARY.email } })
  await call('POST', '/charge/pix', { amount: 1000, customer }, `${apiKey.slice(0, -1)}x`)
  await call('GET', `/charge/${CANARY.taxId}`)
  await call('GET', `/nowhere/${CANARY.email}`)
  await call('DELETE', `/client/${client.data!.id}`)
  return [webhook.data!.secret!, apiKey]
}

test('no document, e-mail, phone, address, key or secret is in the logs of local mode', async () => {
  const DATA_DIR = `${temporaryFolder()}/data`
  const server = await startServer({ DATA_DIR, LOG_LEVEL: 'debug' })
  const { apiKey } = readSandbox(DATA_DIR)
  const secrets = await useEverything(server.url, apiKey)
  server.child.kill('SIGTERM')
  await server.ended
  // The key stands in the greeting of local mode, on purpose and once.
  const log = server.output().replace(apiKey, '')
  assert.ok(log.split('\n').length > 12, 'a line a request')
  for (const secret of [...Object.values(CANARY), ...secrets]) {
    assert.ok(!log.includes(secret), `${secret} is in the log`)
  }
})

test('nothing of it can be read in the database either', async () => {
  const DATABASE_URL = await cloneDatabase()
  const SECRET_KEY = Buffer.alloc(32, 5).toString('base64')
  const server = await startServer({ DATABASE_URL, SECRET_KEY })
  const { execFileSync } = await import('node:child_process')
  const made = execFileSync(
    process.execPath,
    [
      ...['src/cli/main.ts', 'company', 'create', '--name', 'Canary', '--tax-id', '11222333000181'],
      ...['--email', 'dona@example.com', '--json'],
    ],
    { env: { PATH: process.env.PATH, DATABASE_URL, SECRET_KEY }, encoding: 'utf8' },
  )
  const secrets = await useEverything(server.url, JSON.parse(made).apiKey)
  const text = await dump(DATABASE_URL)
  const hex = (secret: string) => Buffer.from(secret).toString('hex')
  assert.ok(text.includes('charge.paid') && text.includes('Maria'), 'the dump is whole')
  for (const secret of [...Object.values(CANARY), ...secrets]) {
    assert.ok(!text.includes(secret), `${secret} is in the database`)
    assert.ok(!text.includes(hex(secret)), `${secret} is in the database, as bytes`)
  }
})
