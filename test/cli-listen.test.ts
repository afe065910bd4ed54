import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import {
  isWebhookSecret,
  unwrapWebhook,
  WebhookVerificationError,
} from '../packages/client/src/index.ts'
import { createKey } from '../src/core/companies/commands.ts'
import { type Event, emit, testEvent } from '../src/core/events.ts'
import { newId, toPublic } from '../src/lib/ids.ts'
import { type Client, payer, startApi } from './support/api.ts'
import { CLI, hostedVintemIn } from './support/cli.ts'
import { longTest, variants } from './support/long.ts'
import { freePort, inherited, temporaryFolder } from './support/process.ts'
import { openReceiver, type Receiver, startReceiver } from './support/receiver.ts'
import { until } from './support/until.ts'
import { openDeliveryWorker, register } from './support/webhooks.ts'

const api = await startApi()
const makeEvent = ({ company }: Client): Event => testEvent(company.id, newId(), api.clock.now())
const publicId = ({ id }: Event) => toPublic('evt', id)

/** Writes events one after the other, and gives their ids. */
async function write(client: Client, count = 1): Promise<string[]> {
  const events = Array.from({ length: count }, () => makeEvent(client))
  for (const event of events) await api.app.db.transaction((tx) => emit(tx, [event]))
  return events.map(publicId)
}

type Listener = {
  child: ChildProcess
  stdout(): string
  stderr(): string
  /** Sends a signal, and gives the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>
}

const children: ChildProcess[] = []
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** `vintem listen` in a process of its own, once it is ready. */
async function listen(
  client: Client,
  args: string[],
  home: string,
  { env = {}, input = '' } = {},
): Promise<Listener> {
  const own = { VINTEM_URL: api.url, VINTEM_KEY: client.key, XDG_CONFIG_HOME: home }
  const child = spawn(process.execPath, [CLI, 'listen', ...args], {
    env: { ...inherited, ...own, ...env },
    cwd: home,
  })
  children.push(child)
  child.stdin.end(input)
  const texts = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    texts.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    texts.stderr += chunk
  })
  await until('the listener is ready', () => {
    if (child.exitCode !== null) throw new Error(`it ended: ${texts.stderr}`)
    return texts.stderr.includes('Ready.')
  })
  return {
    child,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    async end(signal = 'SIGTERM') {
      child.kill(signal)
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      return child.exitCode
    },
  }
}

const idsAt = ({ received }: Receiver) => received.map(({ headers }) => headers['webhook-id'])
const untilReceived = (receiver: Receiver, count: number) =>
  until(`${count} have arrived`, () => receiver.received.length >= count)
const secretIn = ({ stderr }: Listener): string => /whsec_\S+/.exec(stderr())![0]

test('a listener forwards what a webhook gets: the same body, headers and signatures', async () => {
  const client = await api.client()
  const [webhook, local] = [await startReceiver(), await startReceiver()]
  const { id: webhookId } = await register(client, webhook.url, [
    'charge.pending',
    'charge.processing',
    'charge.paid',
  ])
  const to = new URL(local.url).origin
  const options = ['--forward-to', to, '--route', 'charge.paid=/paid']
  const listener = await listen(client, options, temporaryFolder())
  const made = await client.post('/charge/pix', { amount: 1990, customer: payer(), devMode: true })
  await client.post(`/charge/${made.body.data.id}/simulate-payment`)
  await openDeliveryWorker(api).run()
  await untilReceived(local, 3)
  const byId = new Map(webhook.received.map((request) => [request.headers['webhook-id'], request]))
  assert.equal(byId.size, 3)
  const secret = secretIn(listener)
  for (const { path, headers, body } of local.received) {
    const real = byId.get(headers['webhook-id'])!
    assert.equal(body, real.body)
    assert.deepEqual(Object.keys(headers).toSorted(), Object.keys(real.headers).toSorted())
    for (const name of ['x-webhook-event', 'x-webhook-mode', 'user-agent', 'content-type'])
      assert.equal(headers[name], real.headers[name])
    assert.equal(path, headers['x-webhook-event'] === 'charge.paid' ? '/paid' : '/')
    for (const scheme of ['standard-webhooks', 'x-webhook-signature'] as const)
      assert.deepEqual(await unwrapWebhook(body, headers, secret, { scheme }), JSON.parse(body))
  }
  const paid = /charge\.paid +evt_\w{26} +charge_\w{26} +→ 200 in \d+ ms/
  await until('its answer is shown', () => paid.test(listener.stdout()))
  const { body } = await client.get(`/webhook/${webhookId}/deliveries`)
  const delivery = body.data.find(({ event }: { event: string }) => event === 'charge.paid')
  await client.post(`/webhook/delivery/${delivery.id}/redeliver`)
  await untilReceived(local, 4)
  assert.equal(local.received[3]!.headers['webhook-id'], delivery.eventId)
  await until('it is shown', () => /charge\.paid .*\(redelivered\) +→ 200/.test(listener.stdout()))
  assert.equal(await listener.end('SIGINT'), 0, listener.stderr())

  local.received.length = 0
  const later = await listen(client, options, temporaryFolder())
  const [next] = await write(client)
  await until('it has arrived', () => idsAt(local).includes(next))
  assert.deepEqual(idsAt(local), [next], 'what was redelivered before is not sent')
  await later.end()
})

test('what comes while no listener runs arrives at the next, once and in order', async () => {
  const client = await api.client()
  const local = await startReceiver()
  const home = temporaryFolder()
  await write(client, 2)
  const options = ['--forward-to', local.url, '--json']
  const first = await listen(client, options, home)
  const [seen] = await write(client)
  await untilReceived(local, 1)
  assert.deepEqual(idsAt(local), [seen], 'what was there before is not sent')
  await until('its answer is shown', () => first.stdout().includes('\n'))
  await first.end('SIGKILL')
  const missed = await write(client, 3)
  const second = await listen(client, options, home)
  await untilReceived(local, 4)
  assert.deepEqual(idsAt(local), [seen, ...missed])
  assert.equal(secretIn(second), secretIn(first), 'applications keep the secret')
  const lines = await until('four are shown', () => {
    const all = second.stdout().split('\n').filter(Boolean)
    return all.length === 3 ? all : null
  })
  const { event, forwarded, attempt } = JSON.parse(lines[0]!)
  assert.deepEqual([event.id, forwarded.status, attempt], [missed[0], 200, 1])
  await second.end()

  for (const [since, expected] of variants([
    [seen!, missed],
    ['start', null],
    ['2026-08-20T14:00:00Z', null],
  ])) {
    local.received.length = 0
    const again = await listen(client, [...options, '--since', since], home)
    await untilReceived(local, expected?.length ?? 6)
    assert.deepEqual(idsAt(local).slice(-3), missed)
    await again.end()
  }
})

for (const count of [0, 2]) {
  longTest(
    `after a first listener that saw nothing come after ${count} events, none is lost`,
    async () => {
      const client = await api.client()
      const local = await startReceiver()
      const home = temporaryFolder()
      await write(client, count)
      const first = await listen(client, ['--forward-to', local.url], home)
      await first.end('SIGKILL')
      const [missed] = await write(client)
      const second = await listen(client, ['--forward-to', local.url], home)
      await untilReceived(local, 1)
      const [next] = await write(client)
      await until('the next has arrived', () => idsAt(local).includes(next))
      assert.deepEqual(idsAt(local), [missed, next])
      await second.end()
    },
  )
}

longTest(
  'listeners for other events or routes have a position of their own, and one secret',
  async () => {
    const client = await api.client()
    const local = await startReceiver()
    const home = temporaryFolder()
    const to = ['--forward-to', local.url]
    const tests = [...to, '--events', 'webhook.test,charge.paid']
    const same = [...to, '--events', 'charge.paid,webhook.test']
    const routed = [...tests, '--route', 'webhook.test=/routed']
    const secrets = new Set<string>()
    for (const options of [tests, routed]) {
      const listener = await listen(client, options, home)
      secrets.add(secretIn(listener))
      await listener.end()
    }
    assert.equal(secrets.size, 1)
    const [id] = await write(client)
    for (const [options, path] of [
      [tests, '/hook'],
      [routed, '/routed'],
    ] as const) {
      local.received.length = 0
      const listener = await listen(client, [...options], home)
      await untilReceived(local, 1)
      assert.deepEqual([idsAt(local), local.received[0]!.path], [[id], path])
      await until('it is shown', () => listener.stdout().includes('→ 200'))
      await listener.end()
    }
    local.received.length = 0
    const listener = await listen(client, same, home)
    const [next] = await write(client)
    await until('the next has arrived', () => idsAt(local).includes(next))
    assert.deepEqual(idsAt(local), [next], 'the order of the types does not matter')
    await listener.end()
  },
)

longTest('another key of the company continues with the same position and secret', async () => {
  const client = await api.client()
  const local = await startReceiver()
  const home = temporaryFolder()
  const first = await listen(client, ['--forward-to', local.url], home)
  await first.end()
  const [missed] = await write(client)
  const { text: key } = await api.app.db.transaction((tx) =>
    createKey(tx, api.app.vault, client.company, { name: 'new' }, api.clock.now()),
  )
  const second = await listen({ ...client, key }, ['--forward-to', local.url], home)
  await untilReceived(local, 1)
  assert.deepEqual(idsAt(local), [missed])
  assert.equal(secretIn(second), secretIn(first))
  await second.end()
})

longTest('a secret that is given signs, and is neither shown nor stored', async () => {
  const client = await api.client()
  const local = await startReceiver()
  const home = temporaryFolder()
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const options = ['--forward-to', local.url]
  const byEnvironment = [options, { env: { VINTEM_WEBHOOK_SECRET: secret } }] as const
  const byInput = [[...options, '--secret', '-'], { input: `${secret}\n` }] as const
  const typed = [[...options, '--secret', secret], {}] as const
  for (const [args, given] of [byEnvironment, byInput, typed]) {
    local.received.length = 0
    const listener = await listen(client, [...args], home, given)
    await write(client)
    await untilReceived(local, 1)
    const { body, headers } = local.received[0]!
    await unwrapWebhook(body, headers, secret)
    await until('it is shown', () => listener.stdout().includes('→ 200'))
    await listener.end()
    assert.match(listener.stderr(), /signed with the given secret/)
    assert.ok(!`${listener.stderr()}${listener.stdout()}`.includes(secret))
  }
  const files = () => globSync(join(home, 'vintem/listen/*')).toSorted()
  assert.equal(files().length, 1)
  assert.ok(!readFileSync(files()[0]!, 'utf8').includes('whsec_'))

  const making = await listen(client, options, home)
  await making.end()
  assert.deepEqual(
    files().map((path) => statSync(path).mode & 0o777),
    [0o600, 0o600],
  )
  const holder = files().find((path) => readFileSync(path, 'utf8').includes(secretIn(making)))!
  chmodSync(holder, 0o644)
  const own = { VINTEM_URL: api.url, VINTEM_KEY: client.key, XDG_CONFIG_HOME: home }
  const { code, stderr } = await vintem(['listen', ...options], own)
  assert.equal(code, 2)
  assert.match(stderr, /^Other users can read the secret in .*: run chmod 600 on it/)
})

longTest(
  'an application that is started again misses no event, and failures are shown',
  async () => {
    const client = await api.client()
    const port = await freePort()
    const first = await openReceiver(port)
    const options = ['--forward-to', first.url, '--events', 'webhook.*']
    const listener = await listen(client, options, temporaryFolder())
    first.answer = (response) => response.writeHead(500).end('out of order')
    await client.post('/charge/pix', { amount: 500, customer: payer() })
    await write(client)
    await until('the failure is shown', () => /→ 500 in/.test(listener.stdout()))
    assert.equal(first.received.length, 1, 'other types are left out')
    // It dies while it handles an event.
    first.answer = () => first.close()
    const ids = await write(client, 2)
    const away = /does not answer \(connection closed\)/
    await until('it is noticed', () => away.test(listener.stderr()))
    assert.deepEqual(idsAt(first).slice(1), ids.slice(0, 1))
    const again = await openReceiver(port)
    after(() => again.close())
    await untilReceived(again, 2)
    assert.deepEqual(idsAt(again), ids)
    await listener.end()
  },
)

test('an event at which the application always closes the connection keeps no other back', async () => {
  const client = await api.client()
  const local = await startReceiver()
  const [fatal, ...others] = [makeEvent(client), makeEvent(client), makeEvent(client)]
  const refuses = publicId(fatal!)
  local.answer = (response, { headers }) => {
    if (headers['webhook-id'] === refuses) response.socket!.destroy()
    else response.writeHead(200).end()
  }
  const home = temporaryFolder()
  const listener = await listen(client, ['--forward-to', local.url, '--json'], home)
  for (const event of [fatal!, ...others]) {
    await api.app.db.transaction((tx) => emit(tx, [event]))
  }
  const lines = await until('three are shown', () => {
    const all = listener.stdout().split('\n').filter(Boolean)
    return all.length === 3 && all.map((line) => JSON.parse(line))
  })
  assert.deepEqual(idsAt(local), [refuses, refuses, refuses, ...others.map(publicId)])
  const { event, attempt, forwarded } = lines[0]
  assert.deepEqual([event.id, attempt, forwarded.status], [refuses, 3, null])
  assert.match(forwarded.error, /^connection (closed|reset)$/)
  assert.deepEqual([lines[1].attempt, lines[1].forwarded.status], [1, 200])
  await listener.end()
})

test('one check of secrets is that of the listener and of who verifies', async () => {
  const event = JSON.stringify({})
  const base64 = fc.stringMatching(/^[A-Za-z0-9+/]{0,92}={0,3}$/)
  const whole = fc
    .uint8Array({ minLength: 20, maxLength: 68 })
    .map((bytes) => Buffer.from(bytes).toString('base64'))
  await fc.assert(
    fc.asyncProperty(fc.oneof(base64, whole), async (text) => {
      const secret = `whsec_${text}`
      const refusal = await unwrapWebhook(event, {}, secret).catch((error) => error)
      assert.equal(isWebhookSecret(secret), refusal instanceof WebhookVerificationError)
      const bytes = Buffer.from(text, 'base64').length
      if (isWebhookSecret(secret)) assert.ok(bytes >= 24 && bytes <= 64, `${bytes} bytes`)
    }),
  )
})

const CLOSED = `http://127.0.0.1:${await freePort()}`
const client = await api.client()
const here = { VINTEM_URL: api.url, VINTEM_KEY: client.key, XDG_CONFIG_HOME: temporaryFolder() }
const vintem = hostedVintemIn(temporaryFolder())
const BAD: Record<string, [args: string[], says: RegExp, env?: Record<string, string>]> = {
  'a server that is away': [[], /no answer .*Check --url/, { VINTEM_URL: CLOSED }],
  'a wrong key': [[], /The server refuses the key/, { VINTEM_KEY: `${client.key.slice(0, -1)}x` }],
  'nobody who listens': [['--forward-to', CLOSED], /^Nobody listens at http:\/\/127/],
  'an address that is none': [['--forward-to', 'ftp://x y'], /^--forward-to: must be an address/],
  'an unknown event': [['--events', 'charge.payed'], /^--events: there is no event charge\.payed/],
  'an unknown route': [['--route', 'charge.payed=/x'], /^--route: /],
  'a time that is none': [['--since', 'yesterday'], /^--since: must be an event such as/],
  'an event of nobody': [['--since', `evt_${'0'.repeat(26)}`], /^--since: the company of this key/],
  'a secret that is none': [['--secret', 'secret'], /^--secret: must be whsec_/],
  'a secret that is cut': [['--secret', `whsec_${'a'.repeat(33)}`], /^--secret: must be whsec_/],
  'a secret in the environment that is none': [
    [],
    /^VINTEM_WEBHOOK_SECRET: must be whsec_/,
    { VINTEM_WEBHOOK_SECRET: 'secret' },
  ],
}

for (const [what, [args, says, env]] of Object.entries(BAD)) {
  longTest(`${what} is one sentence, and exit code 2`, async () => {
    const { code, stdout, stderr } = await vintem(['listen', ...args], { ...here, ...env })
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, says)
    assert.equal(stderr.trimEnd().split('\n').length, 1, stderr)
  })
}
