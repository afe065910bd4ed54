import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { CLIENT_COMMANDS } from '../src/cli/client/commands.ts'
import { connectionOptions } from '../src/cli/client/connection.ts'
import { startApi } from './support/api.ts'
import { hostedVintemIn } from './support/cli.ts'
import { freePort, temporaryFolder } from './support/process.ts'

const api = await startApi()
const client = await api.client()
const reader = await api.client({}, { scopes: ['payments:read'] })

/** Another web server, which knows nothing of the API. */
const page = createServer((request, response) => {
  const isMoved = request.url!.startsWith('/moved')
  response.writeHead(isMoved ? 302 : 200, { location: 'http://127.0.0.1:1/' }).end('<h1>Hello</h1>')
}).listen(0, '127.0.0.1')
await once(page, 'listening')
after(() => {
  page.closeAllConnections()
  page.close()
})
const pageUrl = `http://127.0.0.1:${(page.address() as AddressInfo).port}`

/** A folder with a file of profiles, as it should not be. */
function folderWith(text: string, mode: number): string {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'vintem'))
  const path = join(folder, 'vintem', 'profiles.json')
  writeFileSync(path, text)
  chmodSync(path, mode)
  return folder
}

const vintem = hostedVintemIn(temporaryFolder())
const here = { VINTEM_URL: api.url, VINTEM_KEY: client.key, XDG_CONFIG_HOME: temporaryFolder() }
const nowhere = { XDG_CONFIG_HOME: temporaryFolder() }
const readable = { XDG_CONFIG_HOME: folderWith('{"profiles":{}}', 0o644) }
const damaged = { XDG_CONFIG_HOME: folderWith('{"profiles":{"x":{"url":7}}}', 0o600) }
const noAddress = {
  XDG_CONFIG_HOME: folderWith(
    '{"current":"x","profiles":{"x":{"url":"localhost:3000","key":"vk_1"}}}',
    0o600,
  ),
}

/** A folder with what local mode has written about its sandbox. */
function sandboxFolder(sandbox: object): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'sandbox.json'), JSON.stringify(sandbox))
  return folder
}

const closed = `http://127.0.0.1:${await freePort()}`
const NO_CHARGE = 'charge_00000000000000000000000000'
const NO_EVENT = 'evt_00000000000000000000000000'

/** What is typed, in which environment, and what is said of it. Each says it in one line. */
const BAD: Record<string, [line: string, says: RegExp, env?: Record<string, string>]> = {
  'a server that is away': [
    `charges list --url ${closed}`,
    /: no answer \(connect ECONNREFUSED 127\.0\.0\.1:\d+\)\. Check --url, VINTEM_URL or/,
  ],
  'another web server': [`charges list --url ${pageUrl}`, /is this its address\? Check/],
  'a server that does not encrypt': [
    `charges list --url ${pageUrl.replace('http:', 'https:')}`,
    /no encrypted connection, ERR_SSL_\w+; is the address http and not https\?\)\. Check/,
  ],
  'a server that redirects': [
    `profile add x --key vk_1 --url ${pageUrl}/moved`,
    /the server redirects to another address/,
  ],
  'an address that is none': ['charges list --url pix', /^--url: must be an address such as/],
  'an address of another kind': ['events list --url ftp://x', /^--url: must be an address/],
  'a wrong address in the environment': [
    'charges list',
    /^VINTEM_URL: must be an address/,
    { ...here, VINTEM_URL: 'x' },
  ],
  'a wrong key': ['charges list --key vk_sandbox_x', /^The server refuses the key: it is wrong/],
  'a key that is none': ['charges list --key ã', /^--key: is no API key/],
  'a file of a key that is not there': [
    'charges list',
    /^VINTEM_KEY_FILE: \/no\/file is missing/,
    { VINTEM_URL: api.url, VINTEM_KEY_FILE: '/no/file' },
  ],
  'a key without the scope': [
    'webhooks list',
    /lacks the scope webhooks:read|webhooks:read/,
    { ...here, VINTEM_KEY: reader.key },
  ],
  'no server': ['charges list', /^No server is named: give --url and --key/, nowhere],
  'a server without a key': [
    `charges list --url ${api.url}`,
    /^No key is saved for http:.*: give --key, or set VINTEM_KEY\.$/,
    nowhere,
  ],
  'an unknown profile': ['charges list --profile shop', /^No profile is called shop\./],
  'an unknown profile in the environment': [
    'charges list',
    /^No profile is called shop\./,
    { ...nowhere, VINTEM_PROFILE: 'shop' },
  ],
  'a name of a profile with a slash': [`profile add a/b --url ${api.url}`, /^<name>: 1 to 64/],
  'profiles that others can read': ['charges list', /run chmod 600 on it/, readable],
  'profiles that are damaged': ['charges list', /profiles\.json is damaged/, damaged],
  'a profile whose address is none': ['charges list', /profiles\.json is damaged/, noAddress],
  'a sandbox file that is damaged': [
    'charges list',
    /sandbox\.json is damaged: start the server again, or give --url and --key\.$/,
    { ...nowhere, DATA_DIR: sandboxFolder({}) },
  ],
  'the sandbox of a stranger': [
    'charges list',
    /^The key is not the one in .*sandbox\.json: give --url\.$/,
    {
      ...nowhere,
      DATA_DIR: sandboxFolder({ url: pageUrl, apiKey: 'vk_1' }),
      VINTEM_KEY: client.key,
    },
  ],
  'a wrong key for a profile': [
    `profile add x --url ${api.url} --key vk_sandbox_x`,
    /^The server refuses the key/,
  ],
  'an unknown charge': [`charges show ${NO_CHARGE}`, /has no charge with this id\.$/],
  'an unknown event': [`events show ${NO_EVENT}`, /has no event with this id\.$/],
  'an event to send again that is unknown': [`events resend ${NO_EVENT}`, /has no event with/],
  'an unknown webhook': ['webhooks show x', /has no webhook with this id\.$/],
  'an unknown type of a webhook': [
    'webhooks create --endpoint https://loja.example/ --events charge.eaten',
    /^--events: there is no event charge\.eaten\. There are charge\.pending, /,
  ],
  'a webhook for no event': [
    'webhooks create --endpoint https://loja.example/ --events ,',
    /^--events: names no event\.$/,
  ],
  'a listener for no event': ['listen --events ,', /^--events: names no event\.$/],
  'an endpoint that is none': [
    'webhooks create --endpoint loja --events all',
    /^--endpoint: must be an address/,
  ],
  'an amount in reais': [
    'charges create --amount 19,90 --name Maria --tax-id 52998224725',
    /^--amount: must be in cents, such as 1990 for R\$ 19,90\.$/,
  ],
  'a tax id that is none': [
    'charges create --amount 1990 --name Maria --tax-id 1',
    /^--tax-id: must be a CPF \(11 digits\)/,
  ],
  'a command that is mistyped': [
    'chargs list',
    /^Unknown command: chargs list\. Did you mean "vintem charges list"\? "vintem help" lists all/,
  ],
  'a command that is mistyped, with options': [
    'lisen --forward-to 4000',
    /^Unknown command: lisen --forward-to\. Did you mean "vintem help listen"\?/,
  ],
  'a command of another program': ['deploy', /^Unknown command: deploy\. "vintem help" lists all/],
  'a field that cannot be set so': [
    'trigger charge.paid --set amount=abc',
    /^--set amount: must be a whole number\.$/,
  ],
  'a field of the payer that cannot be set so': [
    'trigger charge.paid --set customer.taxId=123',
    /^--set customer\.taxId: must be a CPF/,
  ],
  'a field of a later request that cannot be set so': [
    'trigger charge.paid --set payment.amount=-1',
    /^--set payment\.amount: must be .* Made before: charge charge_\w{26}\.$/,
  ],
  'a field that no request has': [
    'trigger charge.paid --set foo.bar=1',
    /^--set foo\.bar: charge\.paid sends no such field\. Can be set: amount, /,
  ],
  'a field without a value': [
    'trigger charge.paid --set nonsense',
    /^--set nonsense: must be field=value, such as amount=1990\.$/,
  ],
  'a limit that is none': ['charges list --limit many', /^--limit: must be a whole number from 1/],
}

for (const [what, [line, says, env = here]] of Object.entries(BAD)) {
  test(`${what}: one clear line and the exit code 2`, async () => {
    const { code, stdout, stderr } = await vintem(line.split(' '), env)
    assert.match(stderr.trimEnd(), says)
    assert.equal(stderr.split('\n').length, 2, stderr)
    assert.deepEqual([code, stdout], [2, ''])
  })
}

test('an address in ./.env gets no key but the one beside it', async () => {
  const folder = temporaryFolder()
  const there = hostedVintemIn(folder)
  const list = (env: Record<string, string>, ...more: string[]) =>
    there(['charges', 'list', '--json', ...more], { ...nowhere, ...env })
  const seen: unknown[] = []
  page.on('request', ({ headers }) => seen.push(headers['x-api-key']))
  const envFile = (...lines: string[]) => writeFileSync(join(folder, '.env'), lines.join('\n'))
  const keyFile = join(folder, 'key')
  writeFileSync(keyFile, client.key)
  const refusal = 'VINTEM_URL comes from ./.env, but the key does not: give --url.\n'

  envFile(`VINTEM_URL=${pageUrl}`, 'VINTEM_KEY=vk_1')
  assert.equal((await list({ VINTEM_KEY: client.key })).stderr, refusal)
  assert.equal((await list({ VINTEM_KEY_FILE: keyFile })).stderr, refusal)
  assert.equal((await list({}, '--key', client.key)).stderr, refusal)
  envFile(`VINTEM_URL=${pageUrl}`, `VINTEM_KEY_FILE=${keyFile}`)
  assert.equal((await list({})).stderr, refusal, 'a file may be of anything')
  const profiles = { current: 'x', profiles: { x: { url: pageUrl, key: 'vk_1' } } }
  envFile(`XDG_CONFIG_HOME=${folderWith(JSON.stringify(profiles), 0o600)}`)
  const { XDG_CONFIG_HOME: _, ...unset } = nowhere
  const home = { HOME: temporaryFolder(), VINTEM_KEY: client.key, ...unset }
  assert.match((await there(['charges', 'list'], home)).stderr, /^No server is named/)
  assert.deepEqual(seen, [])

  envFile(`VINTEM_URL=${api.url}`, `VINTEM_KEY=${client.key}`)
  for (const env of [{}, { VINTEM_KEY: client.key }]) assert.equal((await list(env)).code, 0)
  envFile(`VINTEM_URL=${pageUrl}`)
  assert.equal((await list({ VINTEM_KEY: client.key, VINTEM_URL: api.url })).code, 0)
  const DATA_DIR = sandboxFolder({ url: api.url, apiKey: client.key })
  assert.equal(
    (await list({ VINTEM_KEY: client.key, DATA_DIR })).code,
    0,
    'the pair of the sandbox',
  )
  assert.deepEqual(seen, [])
})

test('what the parser refuses is followed by the usage', async () => {
  const mistyped = await vintem(['charges', 'list', '--limti', '3'], here)
  assert.match(mistyped.stderr, /^Unknown option '--limti'\. Did you mean --limit\?\n\nUsage: /)
  const noun = await vintem(['charges'], here)
  assert.match(noun.stderr, /^charges is followed by another word:\n\n[\s\S]*charges refund/)
  const { code, stderr } = await vintem(['charges', 'list', '--status', 'LOST'], here)
  assert.equal(code, 2)
  assert.match(
    stderr,
    /^--status must be one of OPEN, COMPLETED.*LOST\.\n\nUsage: vintem charges l/,
  )
  const both = await vintem(['charges', 'list', '--profile', 'a', '--url', api.url], here)
  assert.match(both.stderr, /^--profile names the server and the key/)
  const nothing = await vintem(['webhooks', 'update', 'x'], here)
  assert.match(nothing.stderr, /^Nothing to change: [\s\S]*Usage: vintem webhooks update/)
  for (const id of ['', ' ', '.', '..']) {
    const { code, stderr } = await vintem(['events', 'show', id], here)
    assert.match(
      stderr,
      /^<event-id> must not be empty or only dots\.\n\nUsage: vintem events show/,
    )
    assert.equal(code, 2)
  }
  const typed = ['--url', api.url, '--key', client.key]
  const pin = (...more: string[]) => vintem(['company', 'pin', ...more, ...typed], nowhere)
  for (const more of [[], ['--dry-run']]) {
    const { code, stderr } = await pin(client.company.id, '2025-01-01', ...more)
    assert.match(stderr, /^--url, --key and --profile go with --dry-run alone; /)
    assert.equal(code, 2)
  }
  const asked = await pin('2025-01-01', '--dry-run', '--json')
  assert.deepEqual([asked.code, JSON.parse(asked.stdout).to], [0, '2025-01-01'])
})

test('every command that asks a server refuses a wrong key in the same words', async () => {
  const asking = CLIENT_COMMANDS.filter(({ options }) => options.key === connectionOptions.key)
  assert.ok(asking.length > 15)
  for (const { name, example } of asking) {
    const words = [...example.matchAll(/'([^']*)'|(\S+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain!,
    )
    const wrong = [...words.slice(1), '--url', api.url, '--key', 'vk_sandbox_x']
    const { code, stdout, stderr } = await vintem(wrong, nowhere)
    assert.match(stderr, /^The server refuses the key: it is wrong or revoked\. [^\n]*\n$/, name)
    assert.deepEqual([code, stdout], [2, ''], name)
  }
})

test('what a server sends can do nothing to the terminal', async () => {
  const name = 'Maria\u001b[2J\u202e'
  await client.post('/charge/pix', { amount: 1990, customer: { name, taxId: '52998224725' } })
  const { stdout } = await vintem(['charges', 'list'], here)
  assert.match(stdout, /Maria\ufffd\[2J\ufffd/)
  for (const sign of ['\u001b', '\u202e']) assert.ok(!stdout.includes(sign))
})
