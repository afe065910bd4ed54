import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Vault } from '../lib/vault.ts'

/**
 * How a request has arrived, for `vintem doctor`, which sends one through the public address: what a
 * proxy has taken away or changed. It is told only to who knows the secret key.
 */
export type Arrival = {
  /** Who has connected, and whom limits count it for. */
  peer: string
  ip: string
  host: string
  headers: Record<string, string>
}

/** An order is valid for a minute, because proxies write addresses into their logs. */
const VALID_MS = 60_000
const FORM = /^(\d{13})\.([\w-]{20})$/

const tagOf = (secret: Pick<Vault, 'tag'>, until: string): string => secret.tag(`arrival ${until}`)

export function orderArrival(vault: Vault, now_ms: number): string {
  const until = String(now_ms + VALID_MS)
  return `${until}.${tagOf(vault, until)}`
}

/** Null: it was not ordered by who knows the secret key, or that is too long ago. */
export function arrivalOf(request: FastifyRequest, vault: Vault, now_ms: number): Arrival | null {
  const { doctor } = request.query as { doctor?: unknown }
  const [, until, tag] = FORM.exec(String(doctor)) ?? []
  if (!until || !tag || Number(until) < now_ms || Number(until) > now_ms + VALID_MS) return null
  // Only servers are told which of two secrets is present.
  const isOf = (secret: Pick<Vault, 'tag'>) =>
    timingSafeEqual(Buffer.from(tag), Buffer.from(tagOf(secret, until)))
  if (!vault.each.some(isOf)) return null
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
  return {
    peer: request.raw.socket.remoteAddress ?? '',
    ip: request.ip,
    host: request.headers.host ?? '',
    headers: Object.fromEntries(headers),
  }
}
