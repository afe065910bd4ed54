import type { Clock } from '../../lib/clock.ts'
import type { Failure, Reply } from './answers.ts'
import type { Connection } from './connection.ts'
import { fill } from './placeholders.ts'
import { CHARGES, type Profile, RESOURCES, type Resource, type TokenRules } from './profile.ts'
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
  /** The cached token, or a new one if that is about to expire. */
  current(): Promise<Token | Failure>
  /** A new token, unless there is already another one than the refused one. */
  renewed(refused: string): Promise<Token | Failure>
  /** A new token in any case, for all scopes that the bank grants now. */
  fresh(): Promise<Token | Failure>
}

/** The lifetime of a token when the bank does not say. */
const LIFETIME_S = 300
/** A token is renewed so long before it expires, or after 80 % of a short lifetime. */
const MARGIN_S = 60

/** Banks limit requests for tokens, so scopes that were refused are asked for once a day only. */
const REFUSED_ms = 86_400_000

/** What a token is for. Some banks need another one for agreements. */
type Part = 'charges' | 'agreements'

/** Caches one token. Calls that need a new one at the same time share one request. */
export function createTokens(
  connection: Connection,
  transport: Transport,
  clock: Clock,
  part: Part = 'charges',
): Tokens {
  let token: Token | null = null
  let asking: Promise<Token | Failure> | null = null
  const { url, otherUrls } = rulesOf(connection.profile, part)
  let addresses = [url, ...otherUrls]
  /** How many lists of scopes the bank has refused, and until when they are not asked for. */
  let refused = { lists: 0, until: clock.now() }

  async function ask(): Promise<Token | Failure> {
    const first = refused.until > clock.now() ? refused.lists : 0
    const { answer, at } = await askInOrder(addresses, async (address) => {
      const asked = await askFor(connection, transport, clock, part, address, first)
      const until = new Date(clock.now().getTime() + REFUSED_ms)
      if (asked.refused !== first) refused = { lists: asked.refused, until }
      return asked.answer
    })
    // The address that has given a token is asked first from now on.
    addresses = [at, ...addresses.filter((address) => address !== at)]
    token = answer.kind === 'token' ? answer : null
    return answer
  }
  function next(): Promise<Token | Failure> {
    asking ??= ask().finally(() => {
      asking = null
    })
    return asking
  }
  const cached = () => (token && token.endsAt > clock.now() ? token : null)
  return {
    current: async () => cached() ?? next(),
    async renewed(refused) {
      const known = cached()
      return known && known.text !== refused ? known : next()
    },
    async fresh() {
      refused = { lists: 0, until: clock.now() }
      return next()
    },
  }
}

/** The scope of each resource, as the Central Bank's document names it. */
const SCOPES: Record<Resource, string> = {
  cob: 'cob',
  cobv: 'cobv',
  pix: 'pix',
  webhook: 'webhook',
  locrec: 'payloadlocationrec',
  rec: 'rec',
  cobr: 'cobr',
  webhookrec: 'webhookrec',
  webhookcobr: 'webhookcobr',
}
/** How a token is requested for one part. */
function rulesOf({ token, agreements }: Profile, part: Part): TokenRules {
  if (part === 'charges' || !agreements) return token
  const { tokenUrl: url, grant } = agreements
  return { ...token, url, otherUrls: [], grant }
}

type Answered = { answer: Token | Failure; at: string }

/** The answer of the first address that gives a token, or of the first address. */
async function askInOrder(
  addresses: string[],
  ask: (address: string) => Promise<Token | Failure>,
): Promise<Answered> {
  let first: Answered | null = null
  for (const at of addresses) {
    const answer = await ask(at)
    if (answer.kind === 'token') return { answer, at }
    first ??= { answer, at }
  }
  return first!
}

const PAYOUT_SCOPES: Record<NonNullable<Profile['payouts']>, string[]> = {
  efi: ['pix.send', 'gn.pix.send.read'],
  inter: ['pagamento-pix.write', 'pagamento-pix.read'],
  sicoob: ['pixpagamentos_escrita', 'pixpagamentos_consulta'],
}

/** Without these no withdrawal can be sent through the bank. */
export const payoutScopesOf = ({ payouts }: Profile): string[] =>
  payouts === null ? [] : PAYOUT_SCOPES[payouts]

/** The scopes of all resources that a bank offers. */
export function scopesOf(
  { paths, scopes }: Profile,
  among: readonly Resource[] = RESOURCES,
): string[] {
  const offered = among.filter((resource) => paths[resource] !== null)
  const nameOf = (resource: Resource) => scopes[resource] ?? SCOPES[resource]
  return offered.flatMap((name) => [`${nameOf(name)}.read`, `${nameOf(name)}.write`])
}

/** The resources that the token of a part is for. */
export const resourcesOf = ({ agreements }: Profile, part: Part): readonly Resource[] => {
  if (!agreements) return RESOURCES
  return part === 'charges' ? CHARGES : RESOURCES.filter((name) => !CHARGES.includes(name))
}

/**
 * The scopes to request: first all, and each further list if the bank refuses those before it.
 * Many companies have no contract for due dates, withdrawals or recurrences, and some banks then
 * refuse all.
 */
function scopeLists(profile: Profile, part: Part): string[][] {
  const resources = resourcesOf(profile, part)
  if (part === 'agreements') return [scopesOf(profile, resources)]
  const payouts = payoutScopesOf(profile)
  const both = (among: readonly Resource[], more: string[]) =>
    [among, among.filter((name) => name !== 'cobv')].map((some) => [
      ...scopesOf(profile, some),
      ...more,
    ])
  const lists = [...both(resources, payouts), ...both(resources, []), ...both(CHARGES, [])]
  const texts = lists.map((list) => list.join(' '))
  return lists.filter((_, i) => texts.indexOf(texts[i]!) === i)
}

/** How a bank refuses because of scopes. Some give no reason. */
const TOO_MUCH = /scope|escopo|^the bank answers with status 40[03]$/i

/**
 * Requests a token, beginning with one of the lists of scopes. If the bank refuses because of
 * scopes, requests fewer. Returns also how many lists were refused, and 0 if all were.
 */
async function askFor(
  connection: Connection,
  transport: Transport,
  clock: Clock,
  part: Part,
  url: string,
  first: number,
): Promise<{ answer: Token | Failure; refused: number }> {
  const rules = { ...rulesOf(connection.profile, part), url }
  const lists = rules.asksScopes ? scopeLists(connection.profile, part) : [[]]
  for (let i = first; ; i++) {
    const scopes = lists[i]!
    const reply = await send(transport, requestOf(connection, rules, scopes))
    const isTooMuch = reply.kind === 'refused' && TOO_MUCH.test(reply.reason)
    const isLast = i === lists.length - 1
    if (isTooMuch && !isLast) continue
    const answer = tokenOf(reply, clock)
    if (answer.kind !== 'token' || i === 0) return { answer, refused: isTooMuch ? 0 : i }
    return { answer: { ...answer, scopes: answer.scopes ?? scopes }, refused: i }
  }
}

/** If there is no clear answer, sends again once, because a token may be requested twice. */
async function send(transport: Transport, request: Request): Promise<Reply> {
  const reply = await transport.send(request)
  const isClear =
    reply.kind !== 'unknown' || reply.isUnauthorized || reply.retryAfter_s !== undefined
  return isClear ? reply : transport.send(request)
}

function requestOf(connection: Connection, rules: TokenRules, scopes: string[]): Request {
  const { clientId, clientSecret } = connection
  const { url, client, body, grant, asksScopes, headers } = rules
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
