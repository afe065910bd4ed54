import { randomBytes } from 'node:crypto'
import type { Clock } from '../../src/lib/clock.ts'
import type { Answer, Body } from './answers.ts'
import type { Params } from './document.ts'
import type { Demand, Style } from './style.ts'

export type Client = { clientId: string; clientSecret: string; appKey: string }

/** `scope` is what was asked for, null when nothing was. */
export type Token = {
  token: string
  scope: string | null
  granted: string[]
  endsAt: Date
  revoked: boolean
  /** The address that gave it: a token is good for its own part of the bank only. */
  path: string
}

export type TokenRequest = { path: string; headers: Params; query: Params; text: string }

export const TOKEN_LIFE_s = 3600

export const ALL_SCOPES = [
  'cob.write',
  'cob.read',
  'cobv.write',
  'cobv.read',
  'pix.write',
  'pix.read',
  'webhook.read',
  'webhook.write',
  'rec.write',
  'rec.read',
  'cobr.write',
  'cobr.read',
  'webhookrec.read',
  'webhookrec.write',
  'webhookcobr.read',
  'webhookcobr.write',
  'payloadlocationrec.write',
  'payloadlocationrec.read',
  'locr.write',
  'locr.read',
  'pix.send',
  'gn.pix.send.read',
  'pagamento-pix.write',
  'pagamento-pix.read',
  'pixpagamentos_escrita',
  'pixpagamentos_consulta',
  'gn.infractions.read',
  'gn.infractions.write',
]

export type TokenIssuer = {
  tokens: Token[]
  issue(style: Style, request: TokenRequest): Answer
  /** Why a call is not let in, or null. */
  refusal(authorization: string | undefined, scopes: string[], path: string): Answer | null
  /** From now on no token that was given out is good any more. */
  revoke(): void
  /** What is granted from now on. */
  grant(scopes: string[]): void
}

const unauthorized = (error: string, status = 401): Answer => ({ status, body: { error } })

/** Gives out tokens for client credentials, as RFC 6749 says. */
export function createTokenIssuer(client: Client, clock: Clock): TokenIssuer {
  const tokens: Token[] = []
  let granted = ALL_SCOPES
  return {
    tokens,
    issue(style, request) {
      const read = readRequest(style, request)
      if (typeof read === 'string') return unauthorized(read, 400)
      if (!isClient(style, client, read)) return unauthorized('invalid_client')
      if (read.fields.grant_type !== 'client_credentials')
        return unauthorized('unsupported_grant_type', 400)
      const scope = read.fields.scope ?? null
      if (scope === null && style.token.scopes === 'asked')
        return unauthorized('invalid_scope', 400)
      const own = scope === null ? granted : scope.split(' ').filter((one) => granted.includes(one))
      const token = randomBytes(24).toString('base64url')
      const endsAt = new Date(clock.now().getTime() + TOKEN_LIFE_s * 1000)
      tokens.push({ token, scope, granted: own, endsAt, revoked: false, path: request.path })
      const body = { access_token: token, token_type: 'Bearer', expires_in: TOKEN_LIFE_s }
      return { status: 200, body: { ...body, scope: own.join(' ') } }
    },
    refusal(authorization, scopes, path) {
      const given = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1]
      const token = tokens.find((one) => one.token === given && one.path === path)
      if (!token || token.revoked || token.endsAt <= clock.now()) return unauthorized('token')
      const missing = scopes.filter((scope) => !token.granted.includes(scope))
      return missing.length === 0 ? null : unauthorized(`scope ${missing.join(' ')}`, 403)
    },
    revoke() {
      for (const token of tokens) token.revoked = true
    },
    grant(scopes) {
      granted = scopes
    },
  }
}

type Read = { fields: Params; basic: [string, string] | null }

/** What a request for a token says, or what is wrong with its form. */
function readRequest({ token }: Style, { headers, query, text }: TokenRequest): Read | string {
  const type = headers['content-type'] ?? ''
  const isJson = type.startsWith('application/json')
  const isForm = type.startsWith('application/x-www-form-urlencoded')
  if (token.body === 'json' && !isJson) return 'invalid_request: JSON is wanted'
  if (token.body === 'form' && text !== '' && !isForm) return 'invalid_request: a form is wanted'
  const body: Params = isJson ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text))
  if (token.grant === 'query' && (!query.grant_type || body.grant_type))
    return 'invalid_request: the grant type belongs into the query'
  if (token.grant === 'body' && (query.grant_type || !body.grant_type))
    return 'invalid_request: the grant type belongs into the body'
  const basic = /^Basic (.+)$/.exec(headers.authorization ?? '')?.[1]
  const pair = basic ? Buffer.from(basic, 'base64').toString('utf8').split(/:(.*)/s) : null
  return { fields: { ...query, ...body }, basic: pair && [pair[0]!, pair[1] ?? ''] }
}

function isClient({ token }: Style, { clientId, clientSecret }: Client, read: Read): boolean {
  const { client_id: id, client_secret: secret } = read.fields
  const byBasic = read.basic?.[0] === clientId && read.basic[1] === clientSecret
  const byBody = id === clientId && secret === clientSecret
  if (token.client === 'basic') return byBasic && secret === undefined
  if (token.client === 'body') return byBody && read.basic === null
  if (token.client === 'id only') return id === clientId && secret === undefined && !read.basic
  return byBasic || byBody
}

/** Why a call lacks what this bank wants with each, or null. */
export function demandFault(
  demands: Demand[],
  client: Client,
  { headers, query }: { headers: Params; query: Params },
): string | null {
  for (const { name, place, value } of demands) {
    const found = [
      ...(place === 'query' ? [] : [headers[name.toLowerCase()]]),
      ...(place === 'header' ? [] : [query[name]]),
    ].find((one) => one !== undefined)
    const isGood =
      value === 'uuid' ? isUuid(found) : value === 'anything' ? !!found : found === client[value]
    if (!isGood) return `${name} is missing or wrong`
  }
  return null
}

const isUuid = (text: Body): boolean => /^[0-9a-f-]{36}$/i.test(text ?? '')
