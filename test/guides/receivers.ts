import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { headersOf, signerOf } from '../../src/core/deliveries/signing.ts'
import { makeSecret } from '../../src/core/webhooks/rules.ts'
import { newId } from '../../src/lib/ids.ts'
import { isLong } from '../support/long.ts'
import { startPhp } from '../support/php.ts'
import { freePort, temporaryFolder } from '../support/process.ts'
import { startPython } from '../support/python.ts'
import { register } from '../support/webhooks.ts'
import { openShop } from '../webhooks/shop.ts'
import { folderWithClient } from './client.ts'
import { ROOT } from './samples.ts'

const GUIDE = readFileSync(join(ROOT, 'docs/guides/webhooks.md'), 'utf8')
const shop = await openShop()

/** The only block of a language under a heading of the guide. */
export function blockOf(heading: string, guide = GUIDE): string {
  const section = guide.split(/^#+ /m).find((text) => text.startsWith(`${heading}\n`))
  const blocks = [...section!.matchAll(/```\w+\n([\s\S]*?)```/g)].map(([, text]) => text!)
  assert.equal(blocks.length, 1, `the guide has one receiver in ${heading}`)
  return blocks[0]!
}

/** A receiver of the guide that runs. */
type Receiver = {
  /** Waits until it has printed something, and fails when it ends without. */
  printed(text: string): Promise<void>
  stop(): Promise<unknown>
}

type Language = { name: string; run: (port: number, secrets: string) => Receiving }

type Receiving = Promise<Receiver>

const PYTHON: Language = { name: 'Python', run: runPython }
const LANGUAGES: Language[] = [
  { name: 'TypeScript', run: runTypeScript },
  { name: 'PHP', run: runPhp },
  // To start Python takes seconds.
  ...(isLong ? [PYTHON] : []),
]

async function runTypeScript(port: number, secrets: string): Receiving {
  const folder = folderWithClient()
  writeFileSync(join(folder, 'receiver.ts'), blockOf('TypeScript'))
  const child = spawn(process.execPath, ['receiver.ts'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, SECRET: secrets, PORT: String(port) },
  })
  const output = collect()
  child.stdout.on('data', output.add)
  child.stderr.on('data', output.add)
  child.once('exit', output.end)
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill()
    await ended
  }
  after(stop)
  await output.printed('listening')
  return { printed: output.printed, stop }
}

async function runPython(port: number, secrets: string): Receiving {
  const output = collect()
  const python = await startPython()
  const environment = { SECRET: secrets, PORT: String(port) }
  const ended = python.run(blockOf('Python'), environment, output.add)
  ended.then(output.end, (fault) => output.end(fault))
  await output.printed('listening')
  const stop = () => {
    python.stop()
    return ended
  }
  return { printed: output.printed, stop }
}

async function runPhp(port: number, secrets: string): Receiving {
  const output = collect()
  const php = await startPhp()
  php.write('receiver.php', blockOf('PHP'))
  const environment = { SECRET: secrets }
  const stop = await php.serve('receiver.php', port, { environment, onError: output.add })
  return { printed: output.printed, stop: async () => stop() }
}

function collect() {
  let output = ''
  let onOutput = () => {}
  let onEnd = (_reason: unknown) => {}
  return {
    add(part: unknown) {
      output += part
      onOutput()
    },
    end: (reason: unknown) => onEnd(reason),
    printed: (text: string) =>
      new Promise<void>((resolve, reject) => {
        onOutput = () => {
          if (output.includes(text)) resolve()
        }
        onEnd = (reason) => reject(new Error(`it has ended: ${reason} ${output}`))
        onOutput()
      }),
  }
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
  const receiver = await language.run(port, `${makeSecret()} ${webhook.secret}`)
  const sold = await shop.sell(1990)
  const { body: log } = await shop.client.get(`/webhook/${webhook.id}/deliveries`)
  const [delivery, ...more] = log.data
  assert.deepEqual(more, [])
  assert.deepEqual([delivery.status, delivery.attempts[0].status], ['DELIVERED', 204])
  await receiver.printed(`${delivery.eventId} ${sold.event}`)
  for (const { what, headers, text = body, status } of letters(webhook.secret)) {
    const reply = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: text })
    assert.equal(reply.status, status, what)
  }
  await receiver.stop()
  await shop.client.delete(`/webhook/${webhook.id}`)
}

/** Functions to copy, which are given letters as JSON, and give the event of each that is ours. */
const OTHERS = readFileSync(join(ROOT, 'docs/guides/other-languages.md'), 'utf8')
const SECRETS = [makeSecret(), makeSecret()] as const
const LETTERS = letters(SECRETS[1])
const asked = LETTERS.map(({ headers, text = body }) => ({ headers, body: text }))
const expected = LETTERS.map(({ status }) => (status === 204 ? 'Charge.Paid' : null))

const titled = (name: string) => name.replace(/(^|-)\w/g, (start) => start.toUpperCase())
/** As Python and PHP give them, and as a server in front may. */
const given = asked.map(({ headers, body }, index) => ({
  headers: Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [index % 2 ? titled(name) : name, value]),
  ),
  body,
}))

const python = spawnSync('python3', ['--version'], { encoding: 'utf8' })
test("the guide's verifier in Python accepts what is ours and nothing forged", {
  skip: python.status !== 0 && 'there is no python3 on this machine',
}, () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'vintem_webhooks.py'), blockOf('In Python', OTHERS))
  const program = `
import json, sys
from vintem_webhooks import verify

def judge(letter):
    try:
        return verify(letter["body"].encode(), letter["headers"], ${JSON.stringify(SECRETS)})["event"]
    except ValueError:
        return None

print(json.dumps([judge(letter) for letter in json.load(sys.stdin)]))
`
  writeFileSync(join(folder, 'program.py'), program)
  const { stdout, stderr } = spawnSync('python3', ['program.py'], {
    cwd: folder,
    input: JSON.stringify(given),
    encoding: 'utf8',
  })
  assert.equal(stderr, '')
  assert.deepEqual(JSON.parse(stdout), expected)
})

test("the guide's verifier in PHP accepts what is ours and nothing forged", async () => {
  const php = await startPhp()
  php.write('vintem_webhooks.php', blockOf('In PHP', OTHERS))
  // Some frameworks give a list for each header.
  const listed = given.map(({ headers, body }) => ({
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    body,
  }))
  php.write('letters.json', JSON.stringify([...given, ...listed]))
  const printed = await php.run(
    `<?php
require 'vintem_webhooks.php';
$judge = function (array $letter): ?string {
    try {
        return verifyVintem($letter['body'], $letter['headers'], ${JSON.stringify(SECRETS)})['event'];
    } catch (UnexpectedValueException) {
        return null;
    }
};
$letters = json_decode(file_get_contents(__DIR__ . '/letters.json'), true);
echo json_encode(array_map($judge, $letters));
`,
    {},
  )
  assert.deepEqual(JSON.parse(printed), [...expected, ...expected])
})

for (const language of LANGUAGES) {
  const title = `the guide's receiver in ${language.name} takes a real delivery and nothing forged`
  test(title, () => takesOurs(language))
}
