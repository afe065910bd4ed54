/**
 * Receives webhooks in Next.js, as `app/webhook/route.ts`. VINTEM_WEBHOOK_SECRET holds the secret;
 * while it is rotated both, with a space between.
 */
import { unwrapWebhook, type WebhookEvent, WebhookVerificationError } from '@vintem/client/webhooks'

export async function POST(request: Request): Promise<Response> {
  const secrets = (process.env.VINTEM_WEBHOOK_SECRET ?? '').split(' ')
  try {
    // The signature is over the text as it arrived.
    const event = await unwrapWebhook(await request.text(), request.headers, secrets)
    await handle(event, request.headers.get('webhook-id')!)
    return new Response(null, { status: 204 })
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    return new Response(error.message, { status: 400 })
  }
}

/** Yours. An event comes at least once: store its id where you handle it, and skip a known one. */
async function handle(event: WebhookEvent, id: string): Promise<void> {
  if (event.event === 'Charge.Paid') console.log(`${id}: ${event.charge.id} is paid`)
}
