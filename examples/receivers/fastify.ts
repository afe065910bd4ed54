/**
 * Receives webhooks in Fastify:
 *
 *     app.register(receiveVintem, { secret: process.env.VINTEM_WEBHOOK_SECRET!, prefix: '/webhook' })
 */
import { unwrapWebhook, type WebhookEvent, WebhookVerificationError } from '@vintem/client/webhooks'
import type { FastifyPluginAsync } from 'fastify'

/** While a secret is rotated, `secret` holds both with a space between. */
export const receiveVintem: FastifyPluginAsync<{ secret: string }> = async (scope, { secret }) => {
  // The signature is over the bytes as they arrived. Other routes parse JSON as ever.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => body,
  )
  scope.post('/', async (request, reply) => {
    try {
      const body = (request.body as Buffer | undefined) ?? ''
      const event = await unwrapWebhook(body, request.headers, secret.split(' '))
      await handle(event, String(request.headers['webhook-id']))
      return reply.code(204).send()
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error
      return reply.code(400).send(error.message)
    }
  })
}

/** Yours. An event comes at least once: store its id where you handle it, and skip a known one. */
async function handle(event: WebhookEvent, id: string): Promise<void> {
  if (event.event === 'Charge.Paid') console.log(`${id}: ${event.charge.id} is paid`)
}
