import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { buildClient } from '../../scripts/client/build.ts'
import { headersOf, signerOf } from '../../src/core/deliveries/signing.ts'
import { makeSecret } from '../../src/core/webhooks/rules.ts'
import { newId } from '../../src/lib/ids.ts'
import { freePort, temporaryFolder } from '../support/process.ts'
import { register } from '../support/webhooks.ts'
import { openShop } from './shop.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const GUIDE = readFileSync(join(ROOT, 'docs/guides/webhooks.md'), 'utf8')
const CLIENT = temporaryFolder()
buildClient(CLIENT)
const shop = await openShop()

/** The only block of the guide in a language. */
function blockOf(language: string): string {
  const blocks = [...GUIDE.matchAll(/```(\w+)\n([\s\S]*?)```/g)]
  const own = blocks.filter(([, name]) => name === language).map(([, , text]) => text!)
  assert.equal(own.length, 1, `the guide has one block of ${language}`)
  return own[0]!
}

type Language = {
  name: string
  block: string
  file: string
  program: string
  args(file: string, port: number): string[]
  /** What it prints when it listens. */
  ready: string
}

const LANGUAGES: Language[] = [
  {
    name: 'Node.js',
    block: 'js',
    file: 'receiver.mjs',
    program: process.execPath,
    args: (file) => [file],
    ready: 'listening',
  },
  {
    name: 'Python',
    block: 'python',
    file: 'receiver.py',
    program: 'python3',
    args: (file) => [file],
    ready: 'listening',
  },
  {
    name: 'PHP',
    block: 'php',
    file: 'receiver.php',
    program: 'php',
    args: (file, port) => ['-S', `127.0.0.1:${port}`, file],
    ready: 'Development Server',
  },
]

const isThere = (program: string) => spawnSync(program, ['--version']).status === 0

type Snippet = {
  url: string
  /** Waits until it has printed something, and fails when it ends without. */
  printed(text: string): Promise<void>
  stop(): Promise<void>
}

/** Runs a block of the guide as it is there, in a folder where the client is installed. */
async function runSnippet(language: Language, port: number, secrets: string): Promise<Snippet> {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'node_modules/@vintem'), { recursive: true })
  symlinkSync(CLIENT, join(folder, 'node_modules/@vintem/client'))
  writeFileSync(join(folder, language.file), blockOf(language.block))
  const child = spawn(language.program, language.args(language.file, port), {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, SECRET: secrets, PORT: String(port) },
  })
  after(() => stop(child))
  const printed = outputOf(child)
  await printed(language.ready)
  return { url: `http://127.0.0.1:${port}/`, printed, stop: () => stop(child) }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill()
  await ended
}

function outputOf(child: ChildProcess): (text: string) => Promise<void> {
  let output = ''
  let onOutput = () => {}
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (chunk) => {
      output += chunk
      onOutput()
    })
  }
  return (text) =>
    new Promise((resolve, reject) => {
      onOutput = () => {
        if (output.includes(text)) resolve()
      }
      child.once('exit', () => reject(new Error(`it has ended: ${output}`)))
      onOutput()
    })
}

const body = '{"event":"Charge.Paid","charge":{"id":"charge_1","status":"PAID","total":1990}}'
const at = (seconds: number) => new Date(Date.now() + seconds * 1000)

function sign(secrets: string[], now = at(0)): Record<string, string> {
  const eventId = newId()
  const signers = secrets.map(signerOf)
  const about = { eventId, deliveryId: 'dlv_1', type: 'charge.paid', mode: 'live' } as const
  return headersOf({ ...about, body, signers, now })
}

type Letter = { what: string; headers: Record<string, string>; text?: string; status: number }

/** Requests of which only the first few are ours, and how each is to be answered. */
function letters(secret: string): Letter[] {
  const [good, other] = [sign([secret]), makeSecret()]
  const seconds = good['webhook-timestamp']!
  const stamped = (value: string) => ({ ...good, 'webhook-timestamp': value })
  const signed = (value: string) => ({ ...good, 'webhook-signature': value })
  const without = (name: string) => ({ ...good, [name]: '' })
  const ours: Omit<Letter, 'status'>[] = [
    { what: 'as it is', headers: good },
    { what: 'signed with a second secret too', headers: sign([other, secret]) },
    { what: 'four minutes old', headers: sign([secret], at(-240)) },
  ]
  const forged: Omit<Letter, 'status'>[] = [
    { what: 'signed with another secret', headers: sign([other]) },
    { what: 'with a changed body', headers: good, text: body.replace('1990', '1') },
    { what: 'with other bytes of the same body', headers: good, text: `${body} ` },
    { what: 'six minutes old', headers: sign([secret], at(-360)) },
    { what: 'six minutes ahead', headers: sign([secret], at(360)) },
    { what: 'with another time', headers: stamped(String(Number(seconds) + 1)) },
    { what: 'with a time that is no number', headers: stamped(`${seconds}x`) },
    { what: 'with a time beyond all numbers', headers: stamped('9'.repeat(400)) },
    { what: 'with another id', headers: { ...good, 'webhook-id': 'evt_1' } },
    { what: 'with an empty id', headers: without('webhook-id') },
    { what: 'with an empty time', headers: without('webhook-timestamp') },
    { what: 'with an empty header of signatures', headers: without('webhook-signature') },
    { what: 'with an empty signature', headers: signed('v1,') },
    { what: 'with a strange signature', headers: signed('v1,\u00e9 \u00ff') },
    { what: 'with no header of ours', headers: {} },
  ]
  return [
    ...ours.map((letter) => ({ ...letter, status: 204 })),
    ...forged.map((letter) => ({ ...letter, status: 400 })),
  ]
}

async function takesOurs(language: Language): Promise<void> {
  const port = await freePort()
  const webhook = await register(shop.client, `http://127.0.0.1:${port}/`, ['charge.paid'])
  const snippet = await runSnippet(language, port, `${makeSecret()} ${webhook.secret}`)
  const sold = await shop.sell(1990)
  const { body: log } = await shop.client.get(`/webhook/${webhook.id}/deliveries`)
  const [delivery, ...more] = log.data
  assert.deepEqual(more, [])
  assert.deepEqual([delivery.status, delivery.attempts[0].status], ['DELIVERED', 204])
  await snippet.printed(`${delivery.eventId} ${sold.event}`)
  for (const { what, headers, text = body, status } of letters(webhook.secret)) {
    const reply = await fetch(snippet.url, { method: 'POST', headers, body: text })
    assert.equal(reply.status, status, what)
  }
  await snippet.stop()
  await shop.client.delete(`/webhook/${webhook.id}`)
}

for (const language of LANGUAGES) {
  const { name, program } = language
  const skip = isThere(program) ? false : `there is no ${program} on this machine`
  const title = `the guide's receiver in ${name} takes a real delivery and nothing forged`
  test(`${title}, where ${name} is installed`, { skip }, () => takesOurs(language))
}
