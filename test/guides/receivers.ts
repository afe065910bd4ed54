import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeSecret } from '../../src/core/webhooks/rules.ts'
import { isLong } from '../support/long.ts'
import { startPhp } from '../support/php.ts'
import { freePort, temporaryFolder } from '../support/process.ts'
import { startPython } from '../support/python.ts'
import { register } from '../support/webhooks.ts'
import { openShop } from '../webhooks/shop.ts'
import { body, collect, letters, type Receiving, runReceiver, sendAll } from './receiving.ts'
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

type Language = { name: string; run: (port: number, secrets: string) => Receiving }

const PYTHON: Language = { name: 'Python', run: runPython }
const LANGUAGES: Language[] = [
  { name: 'TypeScript', run: runTypeScript },
  { name: 'PHP', run: runPhp },
  // To start Python takes seconds.
  ...(isLong ? [PYTHON] : []),
]

function runTypeScript(port: number, secrets: string): Receiving {
  return runReceiver(blockOf('TypeScript'), port, secrets)
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
  await sendAll(letters(webhook.secret), `http://127.0.0.1:${port}/`)
  await receiver.stop()
  await shop.client.delete(`/webhook/${webhook.id}`)
}

/** Functions to copy, which are given letters as JSON, and give the event of each that is ours. */
const OTHERS = readFileSync(join(ROOT, 'docs/guides/other-languages.md'), 'utf8')
/** More is not copied, but installed. */
const MAX_LINES = 30

test('the functions to copy are short', () => {
  const lengths = ['In Python', 'In PHP'].map(
    (heading) => blockOf(heading, OTHERS).trim().split('\n').length,
  )
  assert.ok(Math.max(...lengths) <= MAX_LINES, `${lengths} lines`)
})

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
