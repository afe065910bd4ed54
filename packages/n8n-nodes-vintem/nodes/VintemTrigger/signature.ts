import { createHmac, timingSafeEqual } from 'node:crypto'

const TOLERANCE_S = 5 * 60

type Headers = Record<string, string | string[] | undefined>

/**
 * Whether a delivery was signed with the secret of the webhook, and recently. See
 * https://github.com/vintem/vintem/blob/main/docs/guides/webhooks.md#verify
 */
export function isGenuine(headers: Headers, body: Buffer, secret: string): boolean {
  const text = (name: string) => String(headers[name] ?? '')
  const stamp = text('webhook-timestamp')
  if (!/^[0-9]{1,12}$/.test(stamp)) return false
  if (Math.abs(Date.now() / 1000 - Number(stamp)) > TOLERANCE_S) return false
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signed = `${text('webhook-id')}.${stamp}.`
  const own = Buffer.from(
    `v1,${createHmac('sha256', key).update(signed).update(body).digest('base64')}`,
  )
  return text('webhook-signature')
    .split(' ')
    .map((one) => Buffer.from(one))
    .some((one) => one.length === own.length && timingSafeEqual(one, own))
}
