import type { FastifyReply, FastifyRequest } from 'fastify'
import { MAX_SESSION_MS } from '../../core/people/rules.ts'

/**
 * A browser accepts the prefix only over TLS. Without TLS, as in local mode, the cookie has a plain
 * name, because some browsers refuse secure cookies there.
 */
const nameOf = (publicUrl: string): string => (isSecure(publicUrl) ? '__Host-vintem' : 'vintem')

const isSecure = (publicUrl: string): boolean => publicUrl.startsWith('https:')

export function readCookie(publicUrl: string, { headers }: FastifyRequest): string | null {
  const name = `${nameOf(publicUrl)}=`
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(name))?.slice(name.length) ?? null
}

const setCookie = (reply: FastifyReply, publicUrl: string, value: string, age_s: number) =>
  reply.header(
    'Set-Cookie',
    `${nameOf(publicUrl)}=${value}; Path=/; Max-Age=${age_s}; HttpOnly; SameSite=Lax${isSecure(publicUrl) ? '; Secure' : ''}`,
  )

export const giveCookie = (reply: FastifyReply, publicUrl: string, token: string): FastifyReply =>
  setCookie(reply, publicUrl, token, MAX_SESSION_MS / 1000)

export const removeCookie = (reply: FastifyReply, publicUrl: string): FastifyReply =>
  setCookie(reply, publicUrl, '', 0)
