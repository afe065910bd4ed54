/**
 * Receives webhooks in Express. Put it before what parses JSON:
 *
 *     app.use('/webhook', receiveVintem(process.env.VINTEM_WEBHOOK_SECRET!))
 *     app.use(express.json())
 */
import { unwrapWebhook, type WebhookEvent, WebhookVerificationError } from '@vintem/client/webhooks'
import express, { type Router } from 'express'

/** While a secret is rotated, `secret` holds both with a space between. */
export function receiveVintem(secret: string): Router {
  const router = express.Router()
  // The signature is over the bytes as they arrived.
  router.post('/', express.raw({ type: '*/*' }), async (request, response) => {
    try {
      const event = await unwrapWebhook(request.body ?? '', request.headers, secret.split(' '))
      await handle(event, request.get('webhook-id')!)
      response.sendStatus(204)
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error
      response.status(400).send(error.message)
    }
  })
  return router
}

/** Yours. An event comes at least once: store its id where you handle it, and skip a known one. */
async function handle(event: WebhookEvent, id: string): Promise<void> {
  if (event.event === 'Charge.Paid') console.log(`${id}: ${event.charge.id} is paid`)
}
