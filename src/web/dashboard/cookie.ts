import type { FastifyReply, FastifyRequest } from 'fastify'
import { MAX_SESSION_MS } from '../../core/people/rules.ts'

/**
 * A browser accepts the prefix only over TLS. Without TLS, as in local mode, the cookie has a plain
 * name, because some browsers refuse secure cookies there.
 */
const nameOf = (publicUrl: string): string => (isSecure(publicUrl) ? '__Host-vintem' : 'vintem')

const isSecure = (publicUrl: string): boolean => publicUrl.startsWith('https:')

export const readCookie = (publicUrl: string, request: FastifyRequest): string | null =>
  readNamed(nameOf(publicUrl), request)

function readNamed(name: string, { headers }: FastifyRequest): string | null {
  const start = `${name}=`
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length) ?? null
}

type Cookie = { name: string; value: string; path: string; age_s: number }

const write = (reply: FastifyReply, publicUrl: string, { name, value, path, age_s }: Cookie) =>
  reply.header(
    'Set-Cookie',
    `${name}=${value}; Path=${path}; Max-Age=${age_s}; HttpOnly; SameSite=Lax${isSecure(publicUrl) ? '; Secure' : ''}`,
  )

const setCookie = (reply: FastifyReply, publicUrl: string, value: string, age_s: number) =>
  write(reply, publicUrl, { name: nameOf(publicUrl), value, path: '/', age_s })

export const giveCookie = (reply: FastifyReply, publicUrl: string, token: string): FastifyReply =>
  setCookie(reply, publicUrl, token, MAX_SESSION_MS / 1000)

export const removeCookie = (reply: FastifyReply, publicUrl: string): FastifyReply =>
  setCookie(reply, publicUrl, '', 0)

/** When the shift at this phone's counter began. Each company's counter has its own. */
const SHIFT = 'vintem-shift'

export const readShift = (request: FastifyRequest): string | null => readNamed(SHIFT, request)

export const keepShift = (
  reply: FastifyReply,
  publicUrl: string,
  cookie: Pick<Cookie, 'value' | 'path' | 'age_s'>,
): FastifyReply => write(reply, publicUrl, { name: SHIFT, ...cookie })
