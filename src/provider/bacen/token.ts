import type { Clock } from '../../lib/clock.ts'
import type { Failure, Reply } from './answers.ts'
import type { Connection } from './connection.ts'
import type { Line, Request } from './line.ts'
import { fill } from './placeholders.ts'
import { type Profile, RESOURCES, type Resource } from './profile.ts'
import { type Fields, textOf } from './text.ts'

export type Token = {
  kind: 'token'
  text: string
  endsAt: Date
  /** What the bank has granted, where it says so. */
  scopes: string[] | null
}

export type Tokens = {
  /** The one at hand, or a new one when it is about to end. */
  current(): Promise<Token | Failure>
  /** A new one, unless another than the one that was refused is at hand by now. */
  renewed(refused: string): Promise<Token | Failure>
  /** A new one in any case. */
  fresh(): Promise<Token | Failure>
}

/** How long a token is taken to last when the bank does not say. */
const LIFETIME_S = 300
/** A token is renewed so long before its end, or after 4 fifths of a short life. */
const MARGIN_S = 60

/** Keeps one token, and asks for one at a time however many wait for it. */
export function createTokens(connection: Connection, line: Line, clock: Clock): Tokens {
  let token: Token | null = null
  let asking: Promise<Token | Failure> | null = null

  async function ask(): Promise<Token | Failure> {
    const answer = await askFor(connection, line, clock)
    token = answer.kind === 'token' ? answer : null
    return answer
  }
  function next(): Promise<Token | Failure> {
    asking ??= ask().finally(() => {
      asking = null
    })
    return asking
  }
  const atHand = () => (token && token.endsAt > clock.now() ? token : null)
  return {
    current: async () => atHand() ?? next(),
    async renewed(refused) {
      const known = atHand()
      return known && known.text !== refused ? known : next()
    },
    fresh: next,
  }
}

/** What each part of the interface asks for, by the names of the Central Bank's document. */
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
/** Without these nothing can be collected at all. */
const BASIC: Resource[] = ['cob', 'pix', 'webhook']

/** Without these no withdrawal can be sent through the bank. */
export const payoutScopesOf = ({ payouts }: Profile): string[] =>
  payouts === 'efi' ? ['pix.send', 'gn.pix.send.read'] : []

/** All that the parts which a bank offers need. */
export function scopesOf({ paths }: Profile, among: readonly Resource[] = RESOURCES): string[] {
  const offered = among.filter((resource) => paths[resource] !== null)
  return offered.flatMap((name) => [`${SCOPES[name]}.read`, `${SCOPES[name]}.write`])
}

/** A refusal for what was asked for; some banks give no reason at all. */
const TOO_MUCH = /scope|escopo|^the bank answers with status 40[03]$/i

/**
 * Many companies have no agreement with their bank about recurrences, and some banks then refuse
 * all instead of granting less: what is needed for charges is asked for alone.
 */
async function askFor(connection: Connection, line: Line, clock: Clock): Promise<Token | Failure> {
  const { profile } = connection
  const reply = await send(
    line,
    requestOf(connection, [...scopesOf(profile), ...payoutScopesOf(profile)]),
  )
  const isTooMuch = reply.kind === 'refused' && TOO_MUCH.test(reply.reason)
  if (!isTooMuch || !profile.token.asksScopes) return tokenOf(reply, clock)
  const basic = scopesOf(profile, BASIC)
  const answer = tokenOf(await send(line, requestOf(connection, basic)), clock)
  return answer.kind === 'token' ? { ...answer, scopes: answer.scopes ?? basic } : answer
}

/** A token may be asked for twice, so a lost connection costs nobody anything. */
async function send(line: Line, request: Request): Promise<Reply> {
  const reply = await line.send(request)
  return reply.kind === 'unknown' && reply.isConnection ? line.send(request) : reply
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
    url: address.href,
    headers: {
      accept: 'application/json',
      'content-type': body === 'json' ? 'application/json' : 'application/x-www-form-urlencoded',
      ...(client === 'basic' ? { authorization: `Basic ${pair}` } : {}),
      ...fill(headers, connection),
    },
    body: body === 'json' ? JSON.stringify(fields) : new URLSearchParams(fields).toString(),
  }
}

/** Without a token nothing was ordered, and nothing is known either. */
function tokenOf(reply: Reply, clock: Clock): Token | Failure {
  if (reply.kind !== 'done') {
    return { kind: 'unknown', reason: `the bank gives no token: ${reply.reason}` }
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
