import type { Clock } from '../../lib/clock.ts'
import type { Failure, Reply } from './answers.ts'
import type { Connection } from './connection.ts'
import { fill } from './placeholders.ts'
import { type Profile, RESOURCES, type Resource } from './profile.ts'
import { type Fields, textOf } from './text.ts'
import type { Request, Transport } from './transport.ts'

export type Token = {
  kind: 'token'
  text: string
  endsAt: Date
  /** The scopes that the bank has granted; null when it does not say. */
  scopes: string[] | null
}

export type Tokens = {
  /** The token that is kept, or a new one when it is about to expire. */
  current(): Promise<Token | Failure>
  /** A new token, unless there is already another one than the refused one. */
  renewed(refused: string): Promise<Token | Failure>
  /** A new token in any case. */
  fresh(): Promise<Token | Failure>
}

/** The lifetime of a token when the bank does not say. */
const LIFETIME_S = 300
/** A token is renewed so long before it expires, or after 80 % of a short lifetime. */
const MARGIN_S = 60

/** Keeps one token. Many who need a new one at once share one request for it. */
export function createTokens(connection: Connection, transport: Transport, clock: Clock): Tokens {
  let token: Token | null = null
  let asking: Promise<Token | Failure> | null = null

  async function ask(): Promise<Token | Failure> {
    const answer = await askFor(connection, transport, clock)
    token = answer.kind === 'token' ? answer : null
    return answer
  }
  function next(): Promise<Token | Failure> {
    asking ??= ask().finally(() => {
      asking = null
    })
    return asking
  }
  const kept = () => (token && token.endsAt > clock.now() ? token : null)
  return {
    current: async () => kept() ?? next(),
    async renewed(refused) {
      const known = kept()
      return known && known.text !== refused ? known : next()
    },
    fresh: next,
  }
}

/** The scope of each resource, as the Central Bank's document names it. */
const SCOPES: Record<Resource, string> = {
  cob: 'cob',
  pix: 'pix',
  webhook: 'webhook',
  locrec: 'payloadlocationrec',
  rec: 'rec',
  cobr: 'cobr',
  webhookrec: 'webhookrec',
  webhookcobr: 'webhookcobr',
}
/** Without these no charge can be collected. */
const BASIC: Resource[] = ['cob', 'pix', 'webhook']

/** Without these no withdrawal can be sent through the bank. */
export const payoutScopesOf = ({ payouts }: Profile): string[] =>
  payouts === 'efi' ? ['pix.send', 'gn.pix.send.read'] : []

/** The scopes of all resources that a bank offers. */
export function scopesOf({ paths }: Profile, among: readonly Resource[] = RESOURCES): string[] {
  const offered = among.filter((resource) => paths[resource] !== null)
  return offered.flatMap((name) => [`${SCOPES[name]}.read`, `${SCOPES[name]}.write`])
}

/** How a bank refuses because of scopes. Some give no reason. */
const TOO_MUCH = /scope|escopo|^the bank answers with status 40[03]$/i

/**
 * Requests a token. If the bank refuses because of scopes, requests only those for charges: many
 * companies have no contract for recurrences, and some banks then refuse all scopes.
 */
async function askFor(
  connection: Connection,
  transport: Transport,
  clock: Clock,
): Promise<Token | Failure> {
  const { profile } = connection
  const reply = await send(
    transport,
    requestOf(connection, [...scopesOf(profile), ...payoutScopesOf(profile)]),
  )
  const isTooMuch = reply.kind === 'refused' && TOO_MUCH.test(reply.reason)
  if (!isTooMuch || !profile.token.asksScopes) return tokenOf(reply, clock)
  const basic = scopesOf(profile, BASIC)
  const answer = tokenOf(await send(transport, requestOf(connection, basic)), clock)
  return answer.kind === 'token' ? { ...answer, scopes: answer.scopes ?? basic } : answer
}

/** If there is no clear answer, sends again once, because a token may be requested twice. */
async function send(transport: Transport, request: Request): Promise<Reply> {
  const reply = await transport.send(request)
  const isClear =
    reply.kind !== 'unknown' || reply.isUnauthorized || reply.retryAfter_s !== undefined
  return isClear ? reply : transport.send(request)
}

function requestOf(connection: Connection, scopes: string[]): Request {
  const { profile, clientId, clientSecret } = connection
  const { url, client, body, grant, asksScopes, headers } = profile.token
  const fields: Record<string, string> = {
    ...(grant === 'body' ? { grant_type: 'client_credentials' } : {}),
    ...(client === 'basic' ? {} : { client_id: clientId }),
    ...(client === 'body' ? { client_secret: clientSecret ?? '' } : {}),
    ...(asksScopes ? { scope: scopes.join(' ') } : {}),
  }
  const address = new URL(url)
  if (grant === 'query') address.searchParams.set('grant_type', 'client_credentials')
  const pair = Buffer.from(`${clientId}:${clientSecret ?? ''}`).toString('base64')
  return {
    method: 'POST',
    url: address,
    headers: {
      accept: 'application/json',
      'content-type': body === 'json' ? 'application/json' : 'application/x-www-form-urlencoded',
      ...(client === 'basic' ? { authorization: `Basic ${pair}` } : {}),
      ...fill(headers, connection),
    },
    body: body === 'json' ? JSON.stringify(fields) : new URLSearchParams(fields).toString(),
  }
}

/** Reads the token. If there is none, the reply is unknown. */
function tokenOf(reply: Reply, clock: Clock): Token | Failure {
  if (reply.kind !== 'done') {
    const retryAfter_s = reply.kind === 'unknown' ? reply.retryAfter_s : undefined
    const wait = retryAfter_s === undefined ? {} : { retryAfter_s, isUndone: true }
    return { kind: 'unknown', reason: `the bank gives no token: ${reply.reason}`, ...wait }
  }
  const text = textOf(reply.body.access_token)
  if (!text) return { kind: 'unknown', reason: 'the bank gives no token: its answer has none' }
  const lifetime_s = Number(reply.body.expires_in) || LIFETIME_S
  const used_s = Math.max(lifetime_s - MARGIN_S, lifetime_s * 0.8, 0)
  const endsAt = new Date(clock.now().getTime() + used_s * 1000)
  return { kind: 'token', text, endsAt, scopes: scopesIn(reply.body) }
}

function scopesIn({ scope }: Fields): string[] | null {
  const text = Array.isArray(scope) ? scope.join(' ') : textOf(scope)
  return text === null ? null : text.split(/[\s,]+/).filter((name) => name !== '')
}
