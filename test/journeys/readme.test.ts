import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  collectionEvent,
  EVENT_TYPES,
  type EventType,
  subscriptionEvent,
} from '../../src/core/events.ts'
import { newId } from '../../src/lib/ids.ts'
import { dueDay, firstGeneration, generationDay } from '../../src/pix/calendar.ts'
import { freePort, inherited, startServer, temporaryFolder } from '../support/process.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const GUIDE = readFileSync(join(ROOT, 'docs/guides/subscriptions.md'), 'utf8')
const blocksOf = (text: string) =>
  [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!)
const blocks = blocksOf(README)
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

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Any = any

/** A server, and a shell beside its data that takes the README's lines for it. */
async function openShell(): Promise<{ folder: string; run: Script }> {
  const folder = temporaryFolder()
  const server = await startServer({ DATA_DIR: join(folder, '.data') })
  const run = (script: string) =>
    execFileSync('bash', ['-euc', script.replaceAll('http://127.0.0.1:3000', server.url)], {
      cwd: folder,
      encoding: 'utf8',
    })
  return { folder, run }
}

const { folder, run } = await openShell()

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

test('the README finds the code in a mail, whatever digits its other lines begin with', () => {
  const found = /^export OTP=.*$/m.exec(withdraw!)![0]
  const place = temporaryFolder()
  mkdirSync(join(place, '.data/mail'), { recursive: true })
  const lines = ['153027', '97251607-a61b-4181-b588-43fe7a807308', '8196026fc8</td>', '123456-90ab']
  for (const end of ['\r\n', '\n']) {
    writeFileSync(join(place, '.data/mail/1.eml'), lines.join(end) + end)
    const script = `${found}; printf %s "$OTP"`
    assert.equal(execFileSync('bash', ['-euc', script], { cwd: place, encoding: 'utf8' }), '153027')
  }
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

type Told = { request: string; status: number; data: Any }

/**
 * Does what a page shows from its first line to its last. An `export` with a … gets the field of the
 * answer before it that its comment names.
 */
function follow(run: Script, page: string): Told[] {
  const told: Told[] = []
  const exported = [key]
  for (const part of blocksOf(page).flatMap((block) => block.trim().split('\n\n'))) {
    if (part.startsWith('export')) {
      for (const [, name, field] of part.matchAll(/^export (\w+)=.*….*# (?:the|its) (\w+)/gm)) {
        exported.push(`export ${name}='${told.at(-1)!.data[field!]}'`)
      }
    } else {
      const { status, data } = JSON.parse(run([...exported, part].join('\n')))
      told.push({ request: part, status, data })
    }
  }
  return told
}

const section = (page: string, title: string) =>
  new RegExp(`^## ${title}\\n[\\s\\S]*?(?=^## )`, 'm').exec(page)![0]

const statesOf = (charges: Any[]) =>
  charges.map(({ status, paymentStatus }) => [status, paymentStatus])
const PAID = ['COMPLETED', 'RECEIVED']

test('who follows the README sees a subscription paid three times, and a receiver hears of it', async () => {
  const { run } = await openShell()
  const port = await freePort()
  const registering = hear!.replace('127.0.0.1:4000', `127.0.0.1:${port}`)
  const { data: webhook } = JSON.parse(run(`${key}\n${registering}`))
  const receiver = await startReceiver(webhook.secret, port)
  const told = follow(run, section(README, 'Subscriptions'))
  assert.deepEqual(
    told.map(({ status }) => status),
    [201, 201, 201, 200, 200, 200, 200, 200],
  )
  const [, , made, agreed, moved, subscription, events, balance] = told.map(({ data }) => data)
  assert.match(made.qrCode, /^data:image\/png;base64,/)
  assert.deepEqual([agreed.recurrenceId, agreed.recurrenceAuthStatus], [made.id, 'APPROVED'])
  assert.equal(moved.status, 'READY')
  assert.deepEqual(statesOf(subscription.charges), [PAID, PAID, PAID])
  const types = events.map(({ type }: Any) => type)
  const cycle = ['pending', 'processing', 'paid', 'received'].map((step) => `charge.${step}`)
  const paid = cycle.toSpliced(3, 0, 'subscription.charge.paid')
  assert.deepEqual(types, ['subscription.authorized', ...paid, ...paid, ...paid])
  assert.equal(balance.available, 100_000 + 3 * 4990)
  for (const { id } of subscription.charges) {
    assert.match((await receiver.told(id))[0], /^new .*"event":"Charge\.Paid"/)
  }
})

test('what the guide to subscriptions shows works as it stands', async () => {
  const { run } = await openShell()
  const told = follow(run, GUIDE)
  assert.deepEqual(
    told.filter(({ status }) => status >= 300),
    [],
  )
  const answersTo = (part: string) =>
    told.filter(({ request }) => request.includes(part)).map(({ data }) => data)
  const [, played] = answersTo('/recurrences/$SUBSCRIPTION -H')
  assert.deepEqual(statesOf(played.charges), [PAID, PAID, PAID])
  const [failed] = answersTo('paymentStatus=EXPIRED')
  assert.deepEqual(statesOf(failed), [
    ['EXPIRED', 'EXPIRED'],
    ['EXPIRED', 'EXPIRED'],
  ])
  const [ended] = answersTo('/cancel')
  assert.deepEqual([ended.status, ended.recurrenceAuthStatus], ['CANCELED', 'CANCELED'])
  const [begun] = answersTo('$LINK/subscription')
  assert.match(begun.emv, /^000201/)
})

/** What a subscription or its charge is when an event tells of it. */
const ENDS: Record<string, string> = {
  'subscription.authorized': 'APPROVED',
  'subscription.rejected': 'REJECTED',
  'subscription.canceled': 'CANCELED',
  'subscription.charge.paid': 'PAID',
  'subscription.charge.failed': 'EXPIRED',
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

test('the days in the guide to subscriptions are those of the calendar', () => {
  const rows = [...GUIDE.matchAll(/^\| \w{3} (\d+ \w{3}).*? \| \w{3} (\d+ \w{3})/gm)]
  const first = firstGeneration('2026-12-31', null)
  const days = Array.from({ length: 5 }, (_, n) => generationDay(first, 'MONTHLY', n))
  const short = (day: string) => `${Number(day.slice(8))} ${MONTHS[Number(day.slice(5, 7)) - 1]}`
  assert.deepEqual(
    rows.map(([, generated, due]) => [generated, due]),
    days.map((day) => [short(day), short(dueDay(day, 3))]),
  )
})

test('the bodies of events in the guide to subscriptions are those that are sent', () => {
  const rows = [...GUIDE.matchAll(/^\| `(subscription\.[\w.]+)` \| `(.*)` \|$/gm)]
  const bodies = rows.map(([, name]) => {
    const [type, status] = [name as EventType, ENDS[name!]!]
    const subject = { companyId: newId(), id: newId(), amount: 4990, paymentStatus: status }
    const event = /charge/.test(type)
      ? collectionEvent(type, { ...subject, recurrenceId: newId() }, new Date())
      : subscriptionEvent(type, { ...subject, authStatus: status, value: 4990 }, new Date())
    return event.payload.replace(/(rec|charge)_\w+/g, '$1_…')
  })
  assert.deepEqual(
    rows.map(([, , body]) => body),
    bodies,
  )
  assert.deepEqual(
    rows.map(([, name]) => name),
    EVENT_TYPES.filter((type) => type.startsWith('subscription')),
  )
})
