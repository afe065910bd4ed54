import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { createDeliveryWorker } from '../src/worker/deliver.ts'
import { startApi } from './support/api.ts'
import { CLI, hostedVintemIn } from './support/cli.ts'
import { longTest } from './support/long.ts'
import { inherited, temporaryFolder } from './support/process.ts'
import { makeReceiver } from './support/webhooks.ts'

const api = await startApi()
const client = await api.client()
const other = await api.client({ name: 'Outra Loja' })

const home = temporaryFolder()
const vintem = hostedVintemIn(home)
const env = {
  VINTEM_URL: api.url,
  VINTEM_KEY: client.key,
  XDG_CONFIG_HOME: join(home, 'config'),
}
const bare = { XDG_CONFIG_HOME: env.XDG_CONFIG_HOME }

/** Runs a command that must succeed and gives what it prints. */
async function textOf(args: string[], own: Record<string, string> = env): Promise<string> {
  const { code, stdout, stderr } = await vintem(args, own)
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  return stdout
}

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of an answer
const jsonOf = async (args: string[], own: Record<string, string> = env): Promise<any> =>
  JSON.parse(await textOf([...args, '--json'], own))

/** Runs a command in a process of its own, which reads `input`. */
function withInput(args: string[], input: string, own: Record<string, string>) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const options = { cwd: home, env: { ...inherited, ...own } }
    const child = execFile(process.execPath, [CLI, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr }),
    )
    child.stdin!.end(input)
  })
}

const PAYER = ['--name', 'Maria da Silva', '--tax-id', '529.982.247-25']

test('a charge is created, listed, shown, paid and refunded, for people and for programs', async () => {
  const options = ['--amount', '123456', '--external-id', 'order 7', '--dev-mode', '--qr']
  const repeated = ['charges', 'create', ...PAYER, ...options, '--idempotency-key', 'order-7']
  const created = await textOf(repeated)
  const id = /^Charge +(charge_\w{26})$/m.exec(created)![1]!
  assert.match(created, /^Amount +R\$ 1\.234,56$/m)
  assert.match(created, /^Code +000201/m)
  assert.match(created, /█/, 'the QR code is drawn')
  assert.equal((await jsonOf(repeated)).id, id, 'the same key makes no second charge')

  const list = await textOf(['charges', 'list', '--status', 'OPEN', '--external-id', 'order 7'])
  const [heading, row, ...rest] = list.trimEnd().split('\n')
  assert.deepEqual(rest, [])
  assert.match(heading!, /^CHARGE ID +AMOUNT +STATUS +PAYMENT +CREATED +PAYER +REFERENCE$/)
  assert.equal(row!.indexOf('R$ 1.234,56'), heading!.indexOf('AMOUNT'))
  assert.match(row!, /OPEN +PROCESSING +2026-08-20 \d\d:00:00 +Maria da Silva +order 7$/)

  const there = await withInput(['charges', 'show', id], '', { ...env, TZ: 'America/Sao_Paulo' })
  assert.match(there.stdout, /^Created +2026-08-20 12:00:00$/m, 'the time of this machine')

  assert.match(await textOf(['charges', 'pay', id]), /^The charge charge_\w+ is PAID\.\n$/)
  const refund = ['charges', 'refund', id, '--amount', '3456', '--comment', 'Troca']
  assert.match(await textOf(refund), /^The refund rfnd_\w+ of R\$ 34,56 is \w+\.\n$/)
  const shown = await textOf(['charges', 'show', id])
  assert.match(shown, /^Refunded +R\$ 34,56$/m)
  assert.match(shown, /^rfnd_\w{26} +R\$ 34,56 +\w+ +2026-08-20 \d\d:00:00 +Troca$/m)
  const { total, refunds } = await jsonOf(['charges', 'show', id])
  assert.deepEqual([total, refunds[0].value], [123456, 3456])

  const { id: open } = await jsonOf(['charges', 'create', ...PAYER, '--amount', '500'])
  assert.match(await textOf(['charges', 'cancel', open]), /is CANCELED\.\n$/)
  assert.deepEqual(await jsonOf(['charges', 'list', '--tax-id', '11144477735']), [])
  assert.equal(await textOf(['charges', 'list', '--tax-id', '11144477735']), 'No charges.\n')
})

test('a charge with a due date is shown with what is to be paid today', async () => {
  const shop = await api.client()
  const customer = { name: 'Maria', taxId: '52998224725' }
  const rebate = { type: 'FIXED', value: 100 }
  const body = { amount: 1990, customer, dueDate: '2026-08-28', rebate }
  const { id } = (await shop.post('/charge/pix', body)).body.data
  const { stdout } = await withInput(['charges', 'show', id], '', { ...env, VINTEM_KEY: shop.key })
  assert.match(stdout, /^Due +2026-08-28: R\$ 18,90 on 2026-08-20$/m)
})

test('a list is read page by page, as far as it was asked for', async () => {
  const few = await api.client()
  const own = { ...env, VINTEM_KEY: few.key }
  const customer = { name: 'Maria', taxId: '52998224725' }
  for (let n = 0; n < 105; n++) await few.post('/charge/pix', { amount: 1000 + n, customer })
  assert.equal((await jsonOf(['charges', 'list'], own)).length, 20)
  const many = await jsonOf(['charges', 'list', '--limit', '103'], own)
  assert.deepEqual(
    many.map(({ total }: { total: number }) => total),
    Array.from({ length: 103 }, (_, n) => 1104 - n),
  )
})

test('a webhook is created, tried, changed and deleted, and an event is sent again', async () => {
  const delivering = createDeliveryWorker(api.app)
  api.atEnd(() => delivering.close())
  const { receiver, webhook } = await makeReceiver(client, ['charge.paid'])
  const events = ['--events', 'charge.paid,charge.refunded']
  const create = ['webhooks', 'create', '--endpoint', 'https://loja.example/pix', ...events]
  const made = await textOf(create)
  assert.match(made, /^Secret +whsec_/m)
  assert.match(made, /It is shown this once/)
  const id = /^Webhook +(\S+)$/m.exec(made)![1]!
  assert.match(await textOf(['webhooks', 'list']), new RegExp(`^${id} +ACTIVE +https://loja`, 'm'))
  const change = ['--events', 'all', '--status', 'INACTIVE', '--name', 'Loja']
  const changed = await jsonOf(['webhooks', 'update', id, ...change])
  assert.deepEqual([changed.events.length, changed.status, changed.name], [25, 'INACTIVE', 'Loja'])
  assert.notEqual((await jsonOf(['webhooks', 'rotate', id])).secret, undefined)
  assert.match(await textOf(['webhooks', 'show', id]), /^Status +INACTIVE$/m)
  assert.equal(await textOf(['webhooks', 'delete', id]), `The webhook ${id} is deleted.\n`)

  const created = await jsonOf(['charges', 'create', ...PAYER, '--amount', '990', '--dev-mode'])
  await jsonOf(['charges', 'pay', created.id])
  await delivering.run()
  assert.equal(receiver.received.length, 1)
  const [event] = await jsonOf(['events', 'list', '--type', 'charge.paid', '--limit', '1'])
  assert.equal(event.data.charge.id, created.id)
  assert.match(await textOf(['events', 'list', '--limit', '1']), new RegExp(`${created.id}$`, 'm'))
  const shown = await textOf(['events', 'show', event.id])
  assert.match(shown, /^ {2}"event": "Charge\.Paid",$/m)
  assert.match(shown, /charge\.paid +DELIVERED +1 +200 in \d+ ms/)
  const [sent] = await jsonOf(['events', 'resend', event.id, '--webhook', webhook.id])
  assert.deepEqual([sent.status, sent.eventId], ['PENDING', event.id])
  await delivering.run()
  assert.deepEqual(receiver.received[1]!.body, receiver.received[0]!.body)
  const again = await jsonOf(['webhooks', 'redeliver', sent.id])
  assert.equal(again.id, sent.id)
  await delivering.run()
  const replay = ['webhooks', 'replay', webhook.id, '--status', 'ALL']
  assert.equal(await textOf(replay), '1 deliveries are sent again now.\n')
  await delivering.run()
  const kept = await textOf(['webhooks', 'deliveries', webhook.id, '--status', 'DELIVERED'])
  assert.match(kept, /charge\.paid +DELIVERED +4 +200 in/)

  const worker = setInterval(() => delivering.run(), 50)
  after(() => clearInterval(worker))
  assert.match(await textOf(['webhooks', 'test', webhook.id]), /is delivered: 200 in \d+ ms\.\n$/)
  receiver.answer = (response) => response.writeHead(500).end()
  const failed = await vintem(['webhooks', 'test', webhook.id], env)
  assert.equal(failed.code, 1)
  assert.match(failed.stdout, /is not delivered: 500 in \d+ ms\.\n$/)
  clearInterval(worker)
})

test('the requests of the company are listed, and followed as they come', async () => {
  const shop = await api.client()
  const own = { ...env, VINTEM_KEY: shop.key }
  await shop.get('/product')
  await shop.post('/product', { name: 7 })
  await api.app.requestLog.idle()
  const refused = await textOf(['logs', 'list', '--status', 'REFUSED'], own)
  assert.match(refused, /400 +POST \/product +\d+ ms +invalid_value +\w{26}$/m)
  const [newest] = await jsonOf(['logs', 'list', '--operation', 'listProducts'], own)
  assert.deepEqual([newest.method, newest.path, newest.status], ['GET', '/product', 200])

  const args = [CLI, 'logs', 'tail', '--last', '1', '--json']
  const tail = spawn(process.execPath, args, {
    cwd: home,
    env: { ...inherited, ...own },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  after(() => tail.kill('SIGKILL'))
  const lines = createInterface(tail.stdout)[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value!).operation
  assert.equal(await next(), 'createProduct')
  await shop.get('/company')
  await shop.get('/client')
  assert.deepEqual([await next(), await next()], ['getCompany', 'listCustomers'])
  await shop.get('/product')
  assert.equal(await next(), 'listProducts', 'no request is shown twice, and none of its own')
  tail.kill('SIGINT')
  const [, signal] = await once(tail, 'exit')
  assert.equal(signal, 'SIGINT')
})

longTest('who follows the requests goes on after the server has refused for a while', async () => {
  let asked = 0
  const server = createServer((request, response) => {
    request.resume()
    const busy = asked > 0 && asked < 4
    asked += 1
    const data = asked > 4 ? [{ id: 'z', requestedAt: new Date(), operation: 'getCompany' }] : []
    response.writeHead(busy ? 429 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ message: 'later', data, errors: [] }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const args = [CLI, 'logs', 'tail', '--json', '--url', url, '--key', 'vk_1']
  const tail = spawn(process.execPath, args, { cwd: home, env: { ...inherited, ...bare } })
  after(() => tail.kill('SIGKILL'))
  const [line] = await once(createInterface(tail.stdout), 'line')
  assert.equal(JSON.parse(line).operation, 'getCompany')
  assert.match(String(tail.stderr.read()), /It is asked again\.\n$/)
})

test('profiles are saved for this user alone, and a key goes to its own server only', async () => {
  const add = ['profile', 'add', 'shop', '--url', `${api.url}/`]
  const added = await withInput(add, `${client.key}\n`, bare)
  assert.deepEqual([added.code, added.stderr], [0, ''])
  assert.match(added.stdout, /^The profile shop is saved in .*the sandbox Padaria São João\. It is/)
  await textOf(['profile', 'add', 'other', '--url', api.url, '--key', other.key], bare)
  const folder = join(env.XDG_CONFIG_HOME, 'vintem')
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  assert.equal(statSync(join(folder, 'profiles.json')).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(folder), ['profiles.json'])
  const listed = await textOf(['profile', 'list'], bare)
  assert.match(listed, /^\* +shop +http:\S+ +vk_sandbox_\w{4}…\n +other /m)
  for (const { key } of [client, other]) assert.ok(!listed.includes(key))

  const ownerOf = async (own: Record<string, string>, ...args: string[]) =>
    (await jsonOf(['charges', 'create', ...PAYER, '--amount', '500', ...args], own)).id
  const isOf = async (who: typeof client, id: string) =>
    (await who.get(`/charge/${id}`)).status === 200
  assert.ok(await isOf(client, await ownerOf(bare)))
  assert.ok(await isOf(other, await ownerOf(bare, '--profile', 'other')))
  assert.ok(await isOf(other, await ownerOf({ ...bare, VINTEM_PROFILE: 'other' })))
  assert.ok(await isOf(other, await ownerOf({ ...bare, VINTEM_KEY: other.key })))
  assert.ok(await isOf(client, await ownerOf(bare, '--url', api.url)))
  const elsewhere = await vintem(['charges', 'list', '--url', 'http://127.0.0.1:1'], bare)
  assert.match(elsewhere.stderr, /^No key is saved for http:\/\/127\.0\.0\.1:1: give --key/)

  await textOf(['profile', 'use', 'other'], bare)
  assert.ok(await isOf(other, await ownerOf(bare)))
  await textOf(['profile', 'remove', 'other'], bare)
  assert.equal((await vintem(['charges', 'list'], bare)).code, 2)
  assert.match(
    (await vintem(['profile', 'use', 'other'], bare)).stderr,
    /^No profile is called other/,
  )
})

test('a key can come from a file or from standard input, and from the sandbox of this folder', async () => {
  const list = ['charges', 'list', '--url', api.url, '--key', '-', '--json']
  const read = await withInput(list, `${client.key}\n`, bare)
  assert.deepEqual([read.code, read.stderr], [0, ''])
  writeFileSync(join(home, 'key'), `${client.key}\n`)
  const own = { VINTEM_URL: api.url, VINTEM_KEY_FILE: join(home, 'key') }
  assert.ok((await jsonOf(['charges', 'list'], own)).length > 0)
  const folder = temporaryFolder()
  const sandbox = { url: api.url, apiKey: other.key, companyId: other.company.id }
  writeFileSync(join(folder, 'sandbox.json'), JSON.stringify(sandbox))
  const local = { DATA_DIR: folder, XDG_CONFIG_HOME: folder }
  const { id } = await jsonOf(['charges', 'create', ...PAYER, '--amount', '500'], local)
  assert.equal((await other.get(`/charge/${id}`)).status, 200)
})

longTest('the script for bash is valid and completes commands, options and values', async () => {
  const script = await textOf(['completion', 'bash'])
  const path = join(home, 'completion.bash')
  writeFileSync(path, script)
  execFileSync('bash', ['-n', path])
  const complete = (...words: string[]) => {
    const typed = words.map((word) => `'${word}'`).join(' ')
    const line = `source ${path}; COMP_WORDS=(vintem ${typed}); COMP_CWORD=${words.length}; _vintem; printf '%s\\n' "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['--norc', '-c', line], { encoding: 'utf8' }).trim().split('\n')
  }
  assert.deepEqual(complete('ch'), ['charges'])
  assert.deepEqual(complete('charges', ''), ['list', 'show', 'create', 'pay', 'cancel', 'refund'])
  assert.deepEqual(complete('charges', 'list', '--st'), ['--status'])
  assert.deepEqual(complete('charges', 'list', '--status', 'O'), ['OPEN'])
  assert.deepEqual(complete('events', 'list', '--type', 'charge.p'), [
    'charge.pending',
    'charge.processing',
    'charge.paid',
  ])
  assert.deepEqual(complete('export', 'charges', '--f'), ['--from', '--format'])
  assert.deepEqual(complete('completion', 'f'), ['fish'])
  assert.deepEqual(complete('help', 'profile', 'a'), ['add'])
  assert.deepEqual(complete('doctor', '--'), ['--json'])
  for (const shell of ['zsh', 'fish']) {
    const other = await textOf(['completion', shell])
    for (const word of ['charges', 'refund', 'idempotency-key', 'OPEN'])
      assert.ok(other.includes(word))
  }
})

test('help has the commands of clients and of operators, and an example of each', async () => {
  const all = await textOf(['help'])
  assert.match(all, /^Commands of a client[\s\S]*charges list[\s\S]*^Commands of the operator/m)
  const ofNoun = await textOf(['charges', '--help'])
  assert.doesNotMatch(ofNoun, /company create/)
  const help = await textOf(['charges', 'create', '--help'])
  assert.match(help, /other users of this machine can see a key that is typed here/)
  assert.match(help, /\nExample:\n {2}vintem charges create --amount 1990 /)
})
