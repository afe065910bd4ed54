import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { trust } from './bank/certificates.ts'
import { hostedVintemIn } from './support/cli.ts'
import { readSandbox, startServer, temporaryFolder } from './support/process.ts'

/** The commands know nothing of the port that the server is given. */
const home = temporaryFolder()
const DATA_DIR = join(home, 'data')
const vintem = hostedVintemIn(home)
const run = (...args: string[]) => vintem(args, { DATA_DIR })

/** Runs a command that must succeed and reads its JSON. */
// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of an answer
async function answerOf(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await run(...args, '--json')
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  return JSON.parse(stdout)
}

let made: { companyId: string; apiKey: string } = await answerOf('sandbox', 'reset')
const server = await startServer({ DATA_DIR })

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
async function getCompany(key: string): Promise<{ status: number; data: any }> {
  const reply = await fetch(`${server.url}/company`, { headers: { 'X-API-KEY': key } })
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
  return { status: reply.status, data: ((await reply.json()) as any).data }
}

test('a sandbox that was reset while no server ran is the one that the next server shows', async () => {
  assert.equal(readSandbox(DATA_DIR).apiKey, made.apiKey)
  assert.ok(server.output().includes(made.apiKey))
  assert.equal((await getCompany(made.apiKey)).data.id, made.companyId)
})

test('beside a running server a reset is seen at once: the new key is shown, the old one refused', async () => {
  const { apiKey, companyId } = await answerOf('sandbox', 'reset')
  assert.equal((await getCompany(made.apiKey)).status, 401)
  assert.equal((await getCompany(apiKey)).data.id, companyId)
  assert.deepEqual(readSandbox(DATA_DIR), { companyId, apiKey, url: server.url })
  assert.ok((await (await fetch(`${server.url}/`)).text()).includes(apiKey))
  made = { apiKey, companyId }
  const { stdout } = await run('sandbox', 'reset')
  made = readSandbox(DATA_DIR)
  assert.match(stdout, new RegExp(`API key +${made.apiKey}\n`))
})

test('company update changes what is named, is seen at once, and says what else happens', async () => {
  const { companyId: id, apiKey } = made
  const before = (await getCompany(apiKey)).data
  const options = ['--name', 'Padaria Nova', '--email', 'nova@example.com', '--color', '#B45309']
  const { code, stdout } = await run(
    'company',
    'update',
    id,
    ...options,
    '--image',
    'http://x.test/1',
  )
  assert.equal(code, 0)
  assert.match(stdout, /^ {2}name +Padaria do Vintém +→ +Padaria Nova$/m)
  assert.match(stdout, /A mail informs sandbox@example\.com\./)
  const changed = { name: 'Padaria Nova', email: 'nova@example.com', color: '#b45309' }
  const { data } = await getCompany(apiKey)
  assert.deepEqual(data, { ...before, ...changed, imageUrl: 'http://x.test/1' })
  const again = await answerOf('company', 'update', id, '--no-image', '--name', 'Padaria Nova')
  assert.deepEqual(again, { companyId: id, changed: { imageUrl: null } })
  assert.equal('imageUrl' in (await getCompany(apiKey)).data, false)
})

test('a tax id is taken as it is written on paper, whatever its dashes', async () => {
  const { companyId: id, apiKey } = made
  const forms = {
    '529.982.247-25': '52998224725',
    '529 982 247–25': '52998224725',
    '11.222.333/0001−81': '11222333000181',
    '12.abc.345/01de‑35': '12ABC34501DE35',
  }
  for (const [typed, taxId] of Object.entries(forms)) {
    await answerOf('company', 'update', id, '--tax-id', typed)
    assert.equal((await getCompany(apiKey)).data.taxId, taxId, typed)
    const fields = ['--name', 'Outra', '--email', 'outra@example.com', '--tax-id', typed]
    const { companyId } = await answerOf('company', 'create', ...fields)
    assert.equal((await answerOf('company', 'show', companyId)).taxId, taxId, typed)
  }
  const { stderr } = await run('company', 'update', id, '--tax-id', '529.982.247-2')
  assert.match(stderr, /^--tax-id: must be a CPF \(11 digits\) or a CNPJ/)
  assert.doesNotMatch(stderr, /without punctuation/)
})

test('company update refuses what breaks a rule, with the options that were typed', async () => {
  const { companyId: id } = made
  const { code, stderr } = await run('company', 'update', id, '--email', 'x', '--language', 'fr')
  assert.equal(code, 1)
  assert.match(stderr, /^--email: must be an e-mail address\.\n--language: pt or en\.\n$/)
  const nothing = await run('company', 'update', id)
  assert.equal(nothing.code, 2)
  assert.match(nothing.stderr, /Nothing to change[\s\S]*Usage: vintem company update <company-id>/)
  assert.equal((await run('company', 'update', id, '--image', 'http://x', '--no-image')).code, 2)
})

test('bank show names the address of the running server, though it was given a port of its own', async () => {
  const { client } = await trust()
  for (const [name, text] of [
    ['own.pem', client.certificate],
    ['own.key', client.key],
    ['secret', 'x'],
  ] as const) {
    writeFileSync(join(home, name), text)
  }
  const fields = ['--name', 'Viva', '--email', 'viva@example.com', '--tax-id', '11222333000181']
  const live = ['--live', '--pix-key', 'viva@example.com']
  const { companyId } = await answerOf('company', 'create', ...fields, ...live)
  await run(
    'bank',
    'connect',
    '--company',
    companyId,
    '--profile',
    'custom',
    '--client-id',
    'x',
    '--client-secret-file',
    'secret',
    '--certificate',
    'own.pem',
    '--key',
    'own.key',
    '--base-url',
    'https://127.0.0.1:1/',
    '--token-url',
    'https://127.0.0.1:1/token',
  )
  const { callbackUrl } = await answerOf('bank', 'show', '--company', companyId)
  assert.ok(callbackUrl.startsWith(`${server.url}/bank/callbacks/`), callbackUrl)
  server.child.kill('SIGTERM')
  assert.equal(await server.ended, 0)
  assert.equal(existsSync(join(DATA_DIR, 'server.json')), false)
  const later = await answerOf('bank', 'show', '--company', companyId)
  assert.match(later.callbackUrl, /^http:\/\/127\.0\.0\.1:3000\//)
})

test('only local mode has a sandbox to reset', async () => {
  const { code, stderr } = await vintem(['sandbox', 'reset'], {
    DATABASE_URL: 'postgres://127.0.0.1:1/x',
    SECRET_KEY: Buffer.alloc(32).toString('base64'),
  })
  assert.equal(code, 1)
  assert.match(stderr, /only local mode has a sandbox/)
})
