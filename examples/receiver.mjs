/**
 * Receives webhooks, verifies them, and prints each event:
 *
 *     SECRET=whsec_… node examples/receiver.mjs
 *
 * It listens on PORT, or 4000. While a secret is rotated, SECRET holds both with a space between.
 */
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
// In your shop: from '@vintem/client'.
import { unwrapWebhook, WebhookVerificationError } from '../packages/client/src/webhooks.js'

const { SECRET, PORT = '4000' } = process.env
const print = (line) => process.stdout.write(`${line}\n`)

/** Deliveries come at least once: what was handled is remembered, in your shop in its database. */
const handled = new Set()

function handle(id, event) {
  const isNew = !handled.has(id)
  handled.add(id)
  print(`${isNew ? 'new' : 'again'} ${id} ${JSON.stringify(event)}`)
}

const server = createServer(async (request, response) => {
  try {
    const body = await buffer(request)
    const event = await unwrapWebhook(body, request.headers, SECRET.split(' '))
    handle(request.headers['webhook-id'], event)
    response.writeHead(204).end()
  } catch (fault) {
    print(`refused: ${fault.message}`)
    response.writeHead(fault instanceof WebhookVerificationError ? 400 : 500).end()
  }
})

if (SECRET) {
  server.listen(PORT, '127.0.0.1', () => print(`waiting on http://127.0.0.1:${PORT}`))
} else {
  print('Give it the secret of the webhook: SECRET=whsec_… node examples/receiver.mjs')
  process.exitCode = 1
}
