// What an integrator does first, with nothing but what all runtimes have.
import {
  AuthenticationError,
  ConnectionError,
  NotFoundError,
  TimeoutError,
  unwrapWebhook,
  Vintem,
  WebhookVerificationError,
} from '@vintem/client'

const customer = { name: 'Maria da Silva', taxId: '12345678909' }

/**
 * Creates a charge, pays it, lists, fails and verifies. Gives what happened.
 *
 * @param {{ url: string; key: string; secret: string; body: string; headers: Record<string, string> }} given
 *   a server, and a request that a webhook has got
 */
export async function quickstart({ url, key, secret, body, headers }) {
  const vintem = new Vintem({ url, key })
  const made = vintem.charges.createPix({ amount: 1990, customer, devMode: true })
  const { data: charge, status, requestId } = await made.withResponse()
  await vintem.charges.simulatePayment(charge.id)
  const { paymentStatus } = await vintem.charges.get(charge.id)
  let listed = 0
  for await (const { id } of vintem.charges.list({ limit: 1 })) listed += id === charge.id ? 1 : 0
  const missing = await vintem.charges.get(`charge_${'0'.repeat(26)}`).catch((error) => error)
  const stranger = new Vintem({ url, key: 'vk_sandbox_x' })
  const refused = await stranger.charges.list().catch((error) => error)
  const nobody = new Vintem({ url: 'http://127.0.0.1:1', key, retries: 0 })
  const away = await nobody.balance.get().catch((error) => error)
  const waiting = vintem.events.list(
    { after: headers['webhook-id'], type: 'webhook.test', wait: 5 },
    { retries: 0, timeout_ms: 300 },
  )
  const late = await waiting.catch((error) => error)
  const signed = []
  for (const scheme of ['standard-webhooks', 'x-webhook-signature']) {
    const { event } = await unwrapWebhook(body, headers, secret, { scheme })
    const changed = body.replace('1990', '9990')
    const forged = await unwrapWebhook(changed, headers, secret, { scheme }).catch((error) => error)
    const isForged = forged instanceof WebhookVerificationError && changed !== body
    signed.push(event, isForged && forged.reason)
  }
  return {
    made: [status, typeof requestId, paymentStatus, listed],
    missing: missing instanceof NotFoundError && [missing.status, missing.code],
    refused: refused instanceof AuthenticationError && refused.status,
    away: away instanceof ConnectionError && away.code,
    late: late instanceof TimeoutError && late.code,
    signed,
  }
}
