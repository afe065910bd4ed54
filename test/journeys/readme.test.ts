import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type CollectionType,
  collectionEvent,
  EVENT_TYPES,
  type EventType,
  type SubscriptionType,
  subscriptionEvent,
} from '../../src/core/events.ts'
import { newId } from '../../src/lib/ids.ts'
import { dueDay, firstGeneration, generationDay } from '../../src/pix/calendar.ts'
import { isLong } from '../support/long.ts'
import { freePort, inherited, startServer, temporaryFolder } from '../support/process.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const README = read('README.md')
const GUIDE = read('docs/guides/subscriptions.md')
const blocksOf = (text: string) =>
  [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!)

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body
type Any = any

type Script = (script: string) => string

type Shell = { run: Script; start(script: string): Started }

/** A command that runs until it is stopped by Ctrl-C. */
type Started = { output(): string; stop(): Promise<unknown> }

/** A server, and a shell beside its data. What one script exports, the next ones have. */
async function openShell(): Promise<Shell> {
  const folder = temporaryFolder()
  const server = await startServer({ DATA_DIR: join(folder, '.data'), CLOCK_WAIT_SECONDS: '120' })
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  // In a clone, npx finds the command of the clone.
  const command = `#!/bin/sh\nshift\nexec ${process.execPath} ${ROOT}/src/cli/main.ts "$@"\n`
  writeFileSync(join(bin, 'npx'), command, { mode: 0o755 })
  const env = { ...inherited, HOME: folder, PATH: `${bin}:${inherited.PATH}` }
  const kept = join(folder, 'environment')
  writeFileSync(kept, '')
  const run = (script: string) => {
    const lines = [
      'set -euo pipefail',
      `. ${kept}`,
      place(script, server.url),
      `export -p > ${kept}`,
    ]
    return execFileSync('bash', ['--norc', '-c', lines.join('\n')], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
  }
  const start = (script: string) => startIn(folder, env, place(script, server.url))
  return { run, start }
}

/** A command in a terminal of its own. */
function startIn(cwd: string, env: NodeJS.ProcessEnv, script: string): Started {
  const child = spawn('bash', ['--norc', '-euc', script], {
    cwd,
    detached: true,
    env: { ...env, PORT: String(RECEIVER_PORT) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGINT')
    await ended
  }
  after(stop)
  return { output: () => output, stop }
}

/** Where a page's lines find the server, the receiver and its port here. */
const place = (script: string, url: string, port = RECEIVER_PORT) =>
  script
    .replaceAll('http://127.0.0.1:3000', url)
    .replaceAll('127.0.0.1:4000', `127.0.0.1:${port}`)
    .replaceAll('examples/', `${ROOT}/examples/`)

const RECEIVER_PORT = await freePort()

async function until<T>(find: () => T | null | undefined | false): Promise<T> {
  for (;;) {
    const found = find()
    if (found) return found
    await pause(20)
  }
}

/** The JSON answers in what a script has printed, with or without an end of line between them. */
const answersIn = (output: string): Any[] =>
  output
    .replaceAll('}{', '}\n{')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

/** The README's receiver. */
async function startReceiver({ start }: Shell, script: string) {
  const { output, stop } = start(script)
  await until(() => output().includes('waiting on'))
  /** Waits for the event of a charge and gives its line. */
  const received = (id: string) => until(() => new RegExp(`^.*"${id}".*$`, 'm').exec(output())?.[0])
  return { received, stop }
}

/** The blocks of a README that a new user pastes, one section after the other. */
function walkOf(page: string) {
  const sections = page.split(/^## /m).slice(1).map(blocksOf)
  const [first, money, subscription, webhooks, kit] = sections.filter(({ length }) => length > 0)
  return {
    first: first!.slice(1),
    money: money!,
    subscription: subscription!,
    webhooks: webhooks!,
    kit: kit!,
  }
}

test('both READMEs show the same commands', () => {
  assert.deepEqual(blocksOf(read('README.pt-BR.md')), blocksOf(README))
})

test('no address in the README needs quotes that it lacks, in zsh either', () => {
  const bare = [
    ...blocksOf(README)
      .join('')
      .matchAll(/\shttps?:\S*/g),
  ].map(([address]) => address)
  assert.ok(bare.length > 0)
  assert.deepEqual(
    bare.filter((address) => /[?*$&[\]]/.test(address)),
    [],
  )
})

test('who pastes the README gets to a paid charge, a withdrawal, a subscription and an event', async () => {
  const shell = await openShell()
  const { run } = shell
  const { first, money, subscription, webhooks, kit } = walkOf(README)
  await payAndWithdraw(run, first, money)
  subscribe(run, subscription)
  await receive(shell, webhooks)
  if (isLong) await listenAndTrigger(shell, webhooks[1]!, kit)
})

async function payAndWithdraw(run: Script, first: string[], money: string[]): Promise<void> {
  const [created, paid, charge] = first.flatMap((block) => answersIn(run(block)))
  assert.deepEqual([created.status, paid.status], [201, 201])
  assert.match(created.data.brCodeBase64, /^data:image\/png;base64,/)
  assert.deepEqual([paid.data.chargeId, paid.data.amount], [created.data.id, 1990])
  assert.deepEqual([charge.data.status, charge.data.paymentStatus], ['COMPLETED', 'PAID'])

  const [balance, withdraw, wait, audit] = money
  const [json, ...csv] = run(balance!).split(/(?<=\]\})|\r\n/)
  // What was paid is available after a minute, which a busy machine may need to get here.
  const { available, pending, ...others } = JSON.parse(json!).data
  assert.deepEqual(others, { held: 0, unmatched: 0 })
  assert.ok(pending === 1990 || pending === 0, `${pending} is pending`)
  assert.equal(available + pending, 101_990)
  assert.match(csv[1]!, /^2,.*,CHARGE_PAID,1990,bank,pending,E\w{31},charge_\w+,100000,1990,0,0$/)
  const [started, confirmed] = answersIn(run(withdraw!))
  assert.deepEqual([started.status, confirmed.data.status], [201, 'PROCESSING'])
  const [ended] = answersIn(run(wait!))
  assert.deepEqual([ended.data.status, ended.data.value], ['COMPLETED', 5000])
  const books = /R\$.(950,00 +R\$.19,90|969,90 +R\$.0,00)[\s\S]*The books agree\./
  assert.match(run(audit!), books)
}

function subscribe(run: Script, blocks: string[]): void {
  const answers = blocks.flatMap((block) => answersIn(run(block)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 201, 201, 200, 200, 200, 200, 200],
  )
  const [, , made, agreed, moved, subscription, events, balance] = answers.map(({ data }) => data)
  assert.match(made.qrCode, /^data:image\/png;base64,/)
  assert.deepEqual([agreed.recurrenceId, agreed.recurrenceAuthStatus], [made.id, 'APPROVED'])
  assert.equal(moved.status, 'READY')
  assert.deepEqual(statesOf(subscription.charges), [PAID, PAID, PAID])
  const paid = events.filter(({ type }: Any) => type === 'subscription.charge.paid')
  assert.equal(paid.length, 3)
  assert.equal(balance.available, 100_000 + 1990 - 5000 + 3 * 4990)
}

async function receive(shell: Shell, blocks: string[]): Promise<void> {
  const { run } = shell
  const [register, start, buy, replay] = blocks
  const [webhook] = answersIn(run(register!))
  assert.equal(webhook.status, 201, 'with the key of the new sandbox')
  const first = await startReceiver(shell, start!)
  const idOf = ([created]: Any[]) => created.data.id
  const line = await first.received(idOf(answersIn(run(buy!))))
  assert.match(line, /^new evt_.*"event":"Charge\.Paid".*"status":"PAID","total":2990/)
  const pending = `curl -s "http://127.0.0.1:3000/webhook/${webhook.data.id}/deliveries?status=PENDING" -H "X-API-KEY: $VINTEM_KEY"`
  await until(() => answersIn(run(pending))[0].data.length === 0)
  await first.stop()
  const missed = idOf(answersIn(run(buy!)))
  await until(() => run(pending).includes('"error"'))
  const second = await startReceiver(shell, start!)
  assert.deepEqual(answersIn(run(replay!))[0].data, { replayed: 1 })
  assert.match(await second.received(missed), /^new /)
  await second.stop()
  const [kept] = answersIn(run('curl -s http://127.0.0.1:3000/webhook -H "X-API-KEY: $VINTEM_KEY"'))
  assert.deepEqual(
    kept.data.map(({ status }: Any) => status),
    ['ACTIVE'],
    'the walk leaves its webhook active',
  )
}

/** The receiver gets a triggered event from the listener too, whose line has its answer. */
async function listenAndTrigger(shell: Shell, receive: string, kit: string[]): Promise<void> {
  const [listen, trigger] = kit
  const receiver = await startReceiver(shell, receive)
  const listener = shell.start(listen!)
  await until(() => listener.output().includes('Ready.'))
  const [, id] = /^charge +(charge_\w+)/m.exec(shell.run(trigger!))!
  assert.match(await receiver.received(id!), /^new evt_/)
  await until(() => new RegExp(`charge\\.paid +evt_.*${id}.*→ 204`).test(listener.output()))
  await listener.stop()
  await receiver.stop()
}

test('both READMEs show the client as its own page does', () => {
  const [quickstart] = /```ts\n[\s\S]*?```/.exec(read('packages/client/README.md'))!
  for (const page of ['README.md', 'README.pt-BR.md']) assert.ok(read(page).includes(quickstart))
})

const statesOf = (charges: Any[]) =>
  charges.map(({ status, paymentStatus }) => [status, paymentStatus])
const PAID = ['COMPLETED', 'RECEIVED']

/** What a subscription or its charge is when an event names it. */
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
    const ids = { companyId: newId(), id: newId() }
    const subject = {
      ...ids,
      amount: 4990,
      paymentStatus: status,
      devMode: false,
      externalId: null,
    }
    const agreed = { ...ids, authStatus: status, value: 4990 }
    const event = /charge/.test(type)
      ? collectionEvent(type as CollectionType, { ...subject, recurrenceId: newId() }, new Date())
      : subscriptionEvent(type as SubscriptionType, agreed, 'plano-7', new Date())
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
