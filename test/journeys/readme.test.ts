import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort, inherited, startServer, temporaryFolder } from '../support/process.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const blocks = [...README.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text]) => text!)
const [create, payAndRead, hear, replay, balance, withdraw] = blocks.filter((text) =>
  text.includes('curl'),
)
const receive = blocks.find((text) => text.includes('receiver.mjs'))
const audit = blocks.find((text) => text.includes('ledger audit'))

/** The answers of a block's calls: one a line, or without an end of line between them. */
const answers = (output: string) =>
  output
    .replaceAll('}{', '}\n{')
    .split('\n')
    .map((line) => JSON.parse(line))

async function until<T>(find: () => T | null): Promise<T> {
  for (;;) {
    const found = find()
    if (found) return found
    await pause(20)
  }
}

type Script = (script: string) => string

const folder = temporaryFolder()
const server = await startServer({ DATA_DIR: join(folder, '.data') })

/** A shell beside the server's data that takes the README's lines for it. */
const run: Script = (script) =>
  execFileSync('bash', ['-euc', script.replaceAll('http://127.0.0.1:3000', server.url)], {
    cwd: folder,
    encoding: 'utf8',
  })

/** The line that has the key stands once, in the first block. */
const [key] = create!.split('\n')

/** Creates a charge, pays it and reads it. */
function buy() {
  const created = JSON.parse(run(create!))
  assert.equal(created.status, 201)
  const { id, brCode } = created.data
  const paying = payAndRead!.replace('charge_…', id).replace('000201…', brCode)
  const [paid, read] = answers(run(`${key}\n${paying}`))
  assert.deepEqual([paid.status, paid.data.chargeId, paid.data.amount], [201, id, 1990])
  assert.deepEqual([read.data.id, read.data.paymentStatus], [id, 'PAID'])
  return created.data
}

test('what the README shows works as it stands: pay, balance, withdraw, audit', async () => {
  assert.match(buy().brCodeBase64, /^data:image\/png;base64,/)

  const [json, ...csv] = run(`${key}\n${balance!}`).split(/(?<=\]\})|\r\n/)
  const sums = { available: 100_000, pending: 1990, held: 0, unmatched: 0 }
  assert.deepEqual(JSON.parse(json!).data, sums)
  assert.match(csv[1]!, /^2,.*,CHARGE_PAID,1990,bank,pending,E\w{31},charge_\w+,100000,1990,0,0$/)

  const at = withdraw!.indexOf('export WITHDRAW')
  const started = JSON.parse(run(`${key}\n${withdraw!.slice(0, at)}`))
  const mails = join(folder, '.data', 'mail')
  await until(() => existsSync(mails) && readdirSync(mails).find((name) => name.endsWith('.eml')))
  const rest = withdraw!.slice(at).replace('wd_…', started.data.withdrawId)
  const [confirmed] = answers(run(`${key}\n${rest}`))
  assert.equal(confirmed.data.status, 'PROCESSING')
  const ended = await until(() => {
    const { data } = answers(run(`${key}\n${rest}`)).at(-1)
    return data.status === 'PROCESSING' ? null : data
  })
  assert.deepEqual([ended.status, ended.value], ['COMPLETED', 5000])

  assert.equal(audit, 'npx vintem ledger audit\n')
  const books = execFileSync(process.execPath, [join(ROOT, 'src/cli/main.ts'), 'ledger', 'audit'], {
    cwd: folder,
    encoding: 'utf8',
    env: inherited,
  })
  assert.match(books, /R\$.950,00 +R\$.19,90[\s\S]*The books agree\./)
})

/** The README's receiver on a port, as a user starts it in the clone and stops it by Ctrl-C. */
async function startReceiver(secret: string, port: number) {
  const child = spawn('bash', ['-euc', receive!.replace('whsec_…', secret)], {
    ...{ cwd: ROOT, detached: true, env: { ...process.env, PORT: String(port) } },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGINT')
    await ended
  }
  after(stop)
  let output = ''
  child.stdout!.on('data', (chunk) => {
    output += chunk
  })
  await until(() => output.includes('waiting on'))
  /** Waits for the event of a charge and gives its line in parts. */
  const told = (id: string) =>
    until(() => new RegExp(`^(\\w+) (evt_\\w+) .*"${id}".*$`, 'm').exec(output))
  return { told, stop }
}

test('who starts the receiver of the README hears of payments, and after a pause by a replay', async () => {
  const port = await freePort()
  const registering = hear!.replace('127.0.0.1:4000', `127.0.0.1:${port}`)
  const { data: webhook } = JSON.parse(run(`${key}\n${registering}`))
  const first = await startReceiver(webhook.secret, port)
  const heard = await first.told(buy().id)
  assert.match(heard[0], /^new .*"event":"Charge\.Paid".*"status":"PAID","total":1990/)
  await first.stop()

  const { id: missed } = buy()
  const log = `curl -s http://127.0.0.1:3000/webhook/${webhook.id}/deliveries?status=PENDING`
  await until(() => run(`${key}\n${log} -H "X-API-KEY: $VINTEM_KEY"`).includes('"error"'))
  const second = await startReceiver(webhook.secret, port)
  const replaying = replay!.replace('WEBHOOK=…', `WEBHOOK=${webhook.id}`)
  const { data } = JSON.parse(run(`${key}\n${replaying}`))
  assert.deepEqual(data, { replayed: 1 })
  const [, kind] = await second.told(missed)
  assert.equal(kind, 'new')
})
