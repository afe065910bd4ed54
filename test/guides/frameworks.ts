import assert from 'node:assert/strict'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { makeSecret } from '../../src/core/webhooks/rules.ts'
import { startApi } from '../support/api.ts'
import { longTest } from '../support/long.ts'
import { startPhp } from '../support/php.ts'
import { freePort } from '../support/process.ts'
import { startPython } from '../support/python.ts'
import { folderWithClient } from './client.ts'
import { letters, runReceiver, sendAll } from './receiving.ts'
import { blocksOf, ROOT, textOf } from './samples.ts'

/** The server between a page and us. */
export const BROWSERS_SERVER = /```ts\n([\s\S]*?)```/.exec(textOf('browsers'))![1]!

const PATH = '/webhooks/vintem'
const api = await startApi()
const secret = makeSecret()
const secrets = `${makeSecret()} ${secret}`

test('the guide’s receiver in Fastify takes what is ours, and nothing forged', async () => {
  const port = await freePort()
  const folder = folderWithClient()
  symlinkSync(join(ROOT, 'node_modules/fastify'), join(folder, 'node_modules/fastify'))
  const [code] = blocksOf('Fastify')
  const receiver = await runReceiver(code!, port, secrets, folder)
  await sendAll(letters(secret), `http://127.0.0.1:${port}${PATH}`)
  await receiver.printed('Charge.Paid')
  await receiver.stop()
})

test('the guide’s route handler for Next takes what is ours, and nothing forged', async (t) => {
  const file = join(folderWithClient(), 'route.ts')
  const [code] = blocksOf('Next')
  writeFileSync(file, code!)
  const { POST } = (await import(pathToFileURL(file).href)) as {
    POST(request: Request): Promise<Response>
  }
  process.env.SECRET = secrets
  const print = t.mock.method(console, 'log', () => {})
  const all = letters(secret)
  for (const { what, headers, text, status } of all) {
    const given = { method: 'POST', headers, body: text }
    const { status: answered } = await POST(new Request(`http://shop.example${PATH}`, given))
    assert.equal(answered, status, what)
  }
  assert.equal(print.mock.callCount(), all.filter(({ status }) => status === 204).length)
})

/** Headers as a browser or a server may send them: a byte for each character. */
const encoded = () => Buffer.from(JSON.stringify(letters(secret))).toString('base64')
const expected = () => letters(secret).map(({ status }) => status)

test('the guide’s class for Laravel takes what is ours, and nothing forged', async () => {
  const php = await startPhp()
  const [code] = blocksOf('Laravel')
  php.write('Webhook.php', code!)
  const program = `<?php
require '/samples/Webhook.php';
foreach (json_decode(base64_decode(getenv('LETTERS')), true) as $letter) {
    $header = fn (string $name): string => $letter['headers'][$name] ?? '';
    try {
        App\\Vintem\\Webhook::verify(explode(' ', getenv('SECRET')), $header('webhook-id'),
            $header('webhook-timestamp'), $header('webhook-signature'), $letter['text']);
        echo "204\\n";
    } catch (UnexpectedValueException $refusal) {
        echo "400\\n";
    }
}
`
  const printed = await php.run(program, { SECRET: secrets, LETTERS: encoded() })
  assert.deepEqual(printed.trim().split('\n').map(Number), expected())
})

// To start Python takes seconds.
longTest('the guide’s function for Django takes what is ours, and nothing forged', async () => {
  const python = await startPython()
  const [code] = blocksOf('Django')
  python.write('vintem_webhook.py', code!)
  const program = `
import base64, json, os
from vintem_webhook import verify

for letter in json.loads(base64.b64decode(os.environ["LETTERS"])):
    try:
        verify(os.environ["SECRET"].split(), letter["headers"], letter["text"].encode())
        print(204)
    except ValueError:
        print(400)
`
  const printed = await python.run(program, { SECRET: secrets, LETTERS: encoded() })
  assert.deepEqual(printed.trim().split('\n').map(Number), expected())
})

test('the guide’s server for a page creates a charge and tells of its payment', async () => {
  const { key } = await api.client()
  const port = await freePort()
  const environment = { VINTEM_URL: api.url, VINTEM_KEY: key }
  const server = await runReceiver(BROWSERS_SERVER, port, '', folderWithClient(), environment)
  const ask = async (method: string, path: string) => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, { method })
    return { status: reply.status, data: (await reply.json()) as Record<string, string> }
  }
  const { id, brCode, brCodeBase64 } = (await ask('POST', '/checkout')).data
  assert.match(brCodeBase64!, /^data:image\/png;base64,/)
  assert.equal((await ask('GET', `/checkout/${id}`)).data.paymentStatus, 'PROCESSING')
  await api.call('POST', '/bank/pix', { json: { brCode } })
  assert.equal((await ask('GET', `/checkout/${id}`)).data.paymentStatus, 'PAID')
  assert.equal((await ask('GET', '/checkout/charge_unknown')).status, 404)
  await server.stop()
})
