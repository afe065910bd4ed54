import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { request as open } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { formTokenOf } from '../src/core/people/sessions.ts'
import { newId, suffixOf } from '../src/lib/ids.ts'
import { trust } from './bank/certificates.ts'
import { payer, startApi, type TestApi } from './support/api.ts'
import { openBanked } from './support/bank.ts'
import { signIn } from './support/dashboard.ts'
import { openDispute } from './support/disputes.ts'
import { makePaid, pay } from './support/payments.ts'
import { freePort, temporaryFolder } from './support/process.ts'
import { until } from './support/until.ts'

/** The configurations of deploy/, by the real programs, in front of a real server. */
const DEPLOY = join(import.meta.dirname, '..', 'deploy')
const NAME = 'pix.example.com'
const MIB = 1024 * 1024

/** How each says its version. */
const HOW: Record<string, string> = {
  nginx: '-v',
  caddy: 'version',
  'systemd-analyze': '--version',
}

const has = (program: string): boolean => {
  try {
    execFileSync(program, [HOW[program]!], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

type Proxy = { port: number; plainPort: number }

/** Runs a program until the tests are over. Resolves when it listens. */
async function run(program: string, args: string[], port: number, home: string): Promise<void> {
  const env = { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home }
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const ended = once(child, 'exit')
  after(async () => {
    child.kill('SIGTERM')
    await ended
  })
  await until(`${program} listens`, async () => {
    if (child.exitCode !== null) throw new Error(said)
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return isOpen
  })
}

/** Replaces what is different here, each of which must be there. */
function adapt(file: string, changes: [from: string, to: string][]): string {
  return changes.reduce(
    (text, [from, to]) => {
      assert.ok(text.includes(from), `${file} has ${from}`)
      return text.replaceAll(from, to)
    },
    readFileSync(join(DEPLOY, file), 'utf8'),
  )
}

async function makeCertificate(folder: string): Promise<{ cert: string; key: string }> {
  const { issue } = await trust()
  const { certificate: cert, key } = issue(NAME, new Date(Date.now() + 86_400_000))
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  writeFileSync(files.cert, cert)
  writeFileSync(files.key, key)
  return files
}

/** The changes of docs/operating.md for two servers, if there are two. */
const upstreamsOf = (file: 'nginx.conf' | 'Caddyfile', servers: string[]): [string, string][] => {
  if (servers.length === 1) return [['127.0.0.1:3000', servers[0]!]]
  const named = servers.map((server, n): [string, string] => [`db${n + 1}.internal:3000`, server])
  return file === 'Caddyfile'
    ? [
        ['127.0.0.1:3000', servers.join(' ')],
        ['#2 ', ''],
      ]
    : [['    server 127.0.0.1:3000;\n', ''], ['#2 ', ''], ...named]
}

async function startNginx(...upstreams: string[]): Promise<Proxy> {
  const folder = temporaryFolder()
  const { cert, key } = await makeCertificate(folder)
  const [port, plainPort] = [await freePort(), await freePort()]
  const live = `/etc/letsencrypt/live/${NAME}`
  const site = adapt('nginx.conf', [
    ...upstreamsOf('nginx.conf', upstreams),
    ['listen 80;', `listen 127.0.0.1:${plainPort};`],
    ['listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`],
    ['    listen [::]:80;\n', ''],
    ['    listen [::]:443 ssl http2;\n', ''],
    [`${live}/fullchain.pem`, cert],
    [`${live}/privkey.pem`, key],
    ['/var/log/nginx/vintem.log', join(folder, 'vintem.log')],
  ])
  writeFileSync(join(folder, 'site.conf'), site)
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  for (const kind of kinds) mkdirSync(join(folder, kind))
  const paths = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join('\n')
  const main = [
    'daemon off;',
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    `pid ${join(folder, 'pid')};`,
    `error_log ${join(folder, 'error.log')};`,
    'events {}',
    `http {\n${paths}\ninclude ${join(folder, 'site.conf')};\n}`,
  ]
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, `${main.join('\n')}\n`)
  await run('nginx', ['-p', folder, '-e', join(folder, 'error.log'), '-c', file], port, folder)
  return { port, plainPort }
}

async function startCaddy(...upstreams: string[]): Promise<Proxy> {
  const folder = temporaryFolder()
  const { cert, key } = await makeCertificate(folder)
  const [port, plainPort] = [await freePort(), await freePort()]
  const site = adapt('Caddyfile', [
    ...upstreamsOf('Caddyfile', upstreams),
    ['\n{\n', `\n{\n\tadmin off\n\thttp_port ${plainPort}\n\thttps_port ${port}\n`],
    [`\n${NAME} {\n`, `\n${NAME} {\n\ttls ${cert} ${key}\n\tbind 127.0.0.1\n`],
  ])
  const file = join(folder, 'Caddyfile')
  writeFileSync(file, site)
  await run('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], port, folder)
  return { port, plainPort }
}

type Asked = { method?: string; headers?: Record<string, string>; body?: string | Buffer }
type Reply = { status: number; text: string; location: string | undefined }

/** Asks a proxy as a client on another address does. */
function askProxy(
  { port }: Proxy,
  path: string,
  { method = 'GET', headers = {}, body }: Asked = {},
  onText: (text: string) => void = () => {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const own = { host: '127.0.0.1', localAddress: '127.0.0.2', servername: NAME, port }
    const asking = open(
      { ...own, path, method, headers: { Host: NAME, ...headers }, rejectUnauthorized: false },
      (reply) => {
        let text = ''
        reply.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
          onText(text)
        })
        const { location } = reply.headers
        reply.on('end', () => resolve({ status: reply.statusCode!, text, location }))
      },
    )
    asking.on('error', reject)
    asking.end(body)
  })
}

const PROXIES: Record<string, (...upstreams: string[]) => Promise<Proxy>> = {
  nginx: startNginx,
  caddy: startCaddy,
}
const TRUSTED_PROXIES = '127.0.0.1'

for (const [program, start] of Object.entries(PROXIES)) {
  const skip = has(program) ? false : `${program} is not installed: apt-get install ${program}`
  test(`behind ${program} everything works, and the address of the client is right`, {
    skip,
  }, async (t) => {
    const api = await startApi({ TRUSTED_PROXIES })
    const proxy = await start(new URL(api.url).host)
    await walk(t, api, proxy)
  })

  test(`nobody can tell Vintém behind ${program} that a bank was verified`, { skip }, async () => {
    const header = 'x-client-verify: SUCCESS'
    const api = await startApi({ TRUSTED_PROXIES, CALLBACK_CLIENT_HEADER: header })
    const banked = await openBanked(api)
    const proxy = await start(new URL(api.url).host)
    const asked = { method: 'POST', headers: { 'X-Client-Verify': 'SUCCESS' }, body: '{"pix":[]}' }
    const path = new URL(banked.callback).pathname
    const { text } = await askProxy(proxy, path, asked)
    assert.match(text, /client_certificate_required|certificate is missing/)
  })
}

/** A server that is lost in the middle of each request, of which it counts those that write. */
async function startDying() {
  const state = { isReady: true, written: 0 }
  const server = createServer((request, reply) => {
    if (request.url === '/ready') {
      reply.statusCode = state.isReady ? 200 : 503
      return reply.end()
    }
    if (request.method === 'POST') state.written += 1
    request.resume().on('end', () => request.socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.close()
    server.closeAllConnections()
  }
  after(close)
  return { state, close, host: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

for (const [program, start] of Object.entries(PROXIES)) {
  const skip = has(program) ? false : `${program} is not installed: apt-get install ${program}`
  test(`${program} before two servers goes on with one, and repeats nothing that may be done`, {
    skip,
  }, async () => {
    const api = await startApi({ TRUSTED_PROXIES })
    const client = await api.client()
    const dying = await startDying()
    const proxy = await start(dying.host, new URL(api.url).host)
    const headers = { 'X-API-KEY': client.key, 'Content-Type': 'application/json' }
    const sell = async () => {
      const body = JSON.stringify({ amount: 1000, customer: payer() })
      return (await askProxy(proxy, '/charge/pix', { method: 'POST', headers, body })).status
    }
    const countCharges = async () => (await api.rows('select from charges')).length

    // Until the other is asked, and has ended the connection.
    await until('a request was lost', async () => {
      assert.ok([201, 502, 504].includes(await sell()))
      return dying.state.written > 0
    })
    const statuses: number[] = []
    const [before, lost] = [await countCharges(), dying.state.written]
    for (let n = 0; n < 20; n++) statuses.push(await sell())
    const sold = statuses.filter((status) => status === 201).length
    assert.equal(await countCharges(), before + sold, 'a charge for each that was told of one')
    assert.equal(dying.state.written - lost, 20 - sold, 'none was sent twice')
    assert.equal((await askProxy(proxy, '/health')).status, 200, 'what changes nothing is')

    if (program === 'caddy') {
      dying.state.isReady = false
      await until('it is left out', async () => {
        const written = dying.state.written
        for (let n = 0; n < 6; n++) await sell()
        return dying.state.written === written
      })
    }
    await dying.close()
    for (let n = 0; n < 20; n++) assert.equal(await sell(), 201)
  })
}

async function walk(t: TestContext, api: TestApi, proxy: Proxy): Promise<void> {
  let connections = 0
  api.service.server.server.on('connection', () => {
    connections += 1
  })
  const client = await api.client()
  const headers = { 'X-API-KEY': client.key, 'Content-Type': 'application/json' }
  const post = (path: string, json: unknown, more: Record<string, string> = {}) =>
    askProxy(proxy, path, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify(json),
    })

  await t.test('a charge is created, and its page is shown', async () => {
    const made = await post('/charge/pix', { amount: 1000, customer: payer() })
    assert.equal(made.status, 201, made.text)
    const page = new URL(JSON.parse(made.text).data.url).pathname
    const shown = await askProxy(proxy, page, { headers: { Accept: 'text/html' } })
    assert.equal(shown.status, 200)
    assert.match(shown.text, /<!doctype html>/i)
  })

  await t.test('the address is that of the client, and not what it says', async () => {
    const hook = { url: 'http://127.0.0.1:9/', name: 'Loja', events: ['charge.paid'] }
    const made = await post('/webhook', hook, { 'X-Forwarded-For': '203.0.113.9' })
    assert.equal(made.status, 201, made.text)
    const rows = await api.rows<{ address: string }>(
      'select distinct address from activity where company_id = $1',
      [client.company.id],
    )
    assert.deepEqual(rows, [{ address: '127.0.0.2' }])
  })

  await t.test('a long poll and a live page hear of a payment at once', async () => {
    const made = await post('/charge/pix', { amount: 1000, customer: payer() })
    const { id, url, brCode } = JSON.parse(made.text).data
    const poll = askProxy(proxy, '/event?type=charge.paid&wait=30', { headers })
    const begun = Promise.withResolvers<void>()
    const page = `${new URL(url).pathname}/events`
    const live = askProxy(proxy, page, {}, () => begun.resolve())
    await begun.promise
    const began_ms = performance.now()
    await pay(api, brCode)
    assert.match((await poll).text, new RegExp(id))
    assert.match((await live).text, /"state":"paid"/i)
    const took_ms = performance.now() - began_ms
    assert.ok(took_ms < 20_000, `${took_ms} ms`)
  })

  await t.test('a file of 1 MiB is taken, and a form that is too large refused', async () => {
    const owner = await signIn(api, client.company)
    const { endToEndId } = await makePaid(api, client, 1990)
    const { id } = await openDispute(client, endToEndId, { hours: 72 })
    const form = new FormData()
    form.set('token', formTokenOf(api.app.vault, owner.session))
    form.set('once', suffixOf(newId()))
    form.set('text', 'Entregue.')
    const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(MIB - 9)])
    form.set('file1', new Blob([new Uint8Array(pdf)]), 'nota.pdf')
    const encoded = new Response(form)
    const path = `${owner.home}/disputes/${id}/defend`
    const type = encoded.headers.get('content-type')!
    const cookie = { Cookie: owner.cookie, 'Content-Type': type }
    const body = Buffer.from(await encoded.arrayBuffer())
    const sent = await askProxy(proxy, path, { method: 'POST', headers: cookie, body })
    assert.match(sent.location ?? sent.text, /done=defended$/)
    const large = { method: 'POST', headers: cookie, body: Buffer.alloc(6 * MIB) }
    const refused = await askProxy(proxy, path, large).catch(() => ({ status: 413 }))
    // Caddy 2.6 calls it its own fault.
    assert.ok([413, 502].includes(refused.status), String(refused.status))
  })

  await t.test('a callback of a bank arrives', async () => {
    const banked = await openBanked(api)
    const path = new URL(banked.callback).pathname
    const type = { 'Content-Type': 'application/json' }
    const asked = { method: 'POST', headers: type, body: '{"pix":[]}' }
    assert.equal((await askProxy(proxy, path, asked)).status, 200)
    assert.equal((await askProxy(proxy, `${path.slice(0, -4)}xxxx`, asked)).status, 404)
  })

  await t.test('the proxy keeps its connections to Vintém', async () => {
    connections = 0
    for (let n = 0; n < 20; n++) assert.equal((await askProxy(proxy, '/health')).status, 200)
    assert.ok(connections <= 4, `${connections} connections for 20 requests`)
  })

  await t.test('who comes without TLS is sent to the other address', async () => {
    const reply = await fetch(`http://127.0.0.1:${proxy.plainPort}/docs`, {
      redirect: 'manual',
      headers: { Host: NAME },
    })
    assert.ok([301, 308].includes(reply.status), String(reply.status))
  })
}

const UNITS = ['vintem.service', 'vintem-backup.service', 'vintem-backup.timer']
const noSystemd = !has('systemd-analyze') && 'systemd-analyze is not installed'

test('the units of systemd have no mistake', { skip: noSystemd }, () => {
  // As they are, and with what the npm package takes in addition.
  for (const more of [[], ['npm-package']]) {
    const folder = temporaryFolder()
    for (const unit of UNITS) cpSync(join(DEPLOY, 'systemd', unit), join(folder, unit))
    for (const name of more) cpSync(join(DEPLOY, 'systemd', name), folder, { recursive: true })
    const files = UNITS.map((unit) => join(folder, unit))
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], {
      encoding: 'utf8',
      // The colon: and those of this machine, which are read too.
      env: { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` },
    })
    assert.deepEqual(
      stderr.split('\n').filter((line) => line.includes('vintem')),
      [],
    )
  }
})
