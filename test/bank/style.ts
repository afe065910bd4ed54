import type { LocalDate } from '../../src/pix/local-time.ts'
import { type Profile, RESOURCES, type Resource } from '../../src/provider/bacen/profile.ts'
import { type Answer, type Body, notFound } from './answers.ts'
import type { Params } from './document.ts'

/** What a bank wants with every call besides the token. */
export type Demand = { name: string; place: 'header' | 'query' | 'either'; value: Expected }
type Expected = 'appKey' | 'clientId' | 'uuid' | 'anything'

/** How a bank differs from the document. `any`: nothing is known of it, and so nothing checked. */
export type Style = {
  token: {
    client: 'basic' | 'body' | 'id only' | 'any'
    body: 'form' | 'json' | 'any'
    grant: 'body' | 'query' | 'any'
    /** Whether scopes have to be asked for. */
    scopes: 'asked' | 'given'
    path: string
    /** Addresses that give no token to anybody. */
    closed: string[]
  }
  /** The token and the demands of Pix Automático, where the bank has others for it. */
  agreements: { path: string; demands: Demand[] } | null
  /** Scopes that have another name than in the document, as the profile names them. */
  scopes: Partial<Record<Resource, string>>
  /** The path before each resource; a bank may lack some. */
  paths: Record<Resource, string | null>
  demands: Demand[]
  /** The field with the copy-and-paste text; null for none. */
  code: 'pixCopiaECola' | 'textoImagemQRcode' | 'brcode' | null
  /** What is answered where 201 is due. */
  created: 200 | 201
  dates: 'milliseconds' | 'seconds'
  /** Whether the bank ignores the offset of moments and marks the time of Brasília as UTC. */
  clock: 'UTC' | 'local marked as Z'
  /** How far the bank's clock, of which every answer has the date, is ahead of the right one. */
  ahead_s: number
  errors: 'problem' | 'efi' | 'bb' | 'sicoob'
  /** What is answered where a list is empty. */
  emptyList: 200 | 204 | 404
  /** The decimals of amounts. */
  decimals: 2 | 3
  /** The ids of payments and returns whose amounts nobody can read. */
  garbled: string[]
  /** Whether returns say when they were asked for and made. */
  datesReturns: boolean
  /** Whether returns have the scheme's id. */
  namesReturns: boolean
  /** Whether callbacks go to the registered URL with `/pix`, `/rec` or `/cobr` behind it. */
  suffix: boolean
  /** Fields and values that the document does not have yet. */
  extras: boolean
  /** What comes of a PUT to a charge that exists and is active. */
  repeated: 'alters' | 400 | 409
  /** Whether lists leave out what happened at their very end. */
  lists: 'inclusive' | 'exclusive'
  /** What comes of asking for payments of which something was returned. */
  returns: 'filtered' | 'ignored' | 'refused'
  /** A page holds no more than this, however many are asked for. */
  mostPerPage: number
  /** Whether charges can be created without a txid of ours. */
  postsCharges: boolean
  /** Whether a callback URL is tried before it is taken. */
  probes: boolean
  /** The bank whose endpoints send money; null where there are none. */
  sends: Profile['payouts']
  /** Whose way the bank tells of disputes. */
  disputes: Profile['disputes']
  /** Whether new connections may speak HTTP/2. */
  http2: boolean
  /** The newest TLS that a bank speaks, from its start on; null for the newest of all. */
  tls: 'TLSv1.1' | 'TLSv1.2' | null
  /** Whether a paid charge shows its payments. Some banks show them only in their list. */
  pixInCob: boolean
  /** What is answered at /cobv by a bank that does not offer it. */
  cobv: 'offered' | 403 | 404
  /** Days without banks that are not known to anybody else, such as those of a city. */
  holidays: LocalDate[]
  /** Whether a Pix says how the amount of a charge with a due date came about. */
  namesParts: boolean
  /** How the txid is called in answers and callbacks. */
  txid: 'txid' | 'txId'
}

export const PLAIN: Style = {
  token: {
    client: 'basic',
    body: 'form',
    grant: 'body',
    scopes: 'asked',
    path: '/oauth/token',
    closed: [],
  },
  agreements: null,
  scopes: {},
  paths: Object.fromEntries(RESOURCES.map((one) => [one, '/api/v2'])) as Style['paths'],
  demands: [],
  code: 'pixCopiaECola',
  created: 201,
  dates: 'milliseconds',
  clock: 'UTC',
  ahead_s: 0,
  errors: 'problem',
  emptyList: 200,
  decimals: 2,
  garbled: [],
  datesReturns: true,
  namesReturns: true,
  suffix: true,
  extras: false,
  repeated: 'alters',
  lists: 'inclusive',
  returns: 'filtered',
  mostPerPage: 1000,
  postsCharges: true,
  probes: false,
  sends: null,
  disputes: null,
  http2: false,
  tls: null,
  pixInCob: true,
  cobv: 'offered',
  holidays: [],
  namesParts: true,
  txid: 'txid',
}

/** The clock of a bank that knows no other time than that of Brasília. */
export const ITAU_CLOCK = { clock: 'local marked as Z', dates: 'seconds' } as const

/** What Sicoob's own document allows in answers, and the Central Bank's does not. */
export const SICOOB_DOCUMENT = {
  errors: 'sicoob',
  emptyList: 404,
  decimals: 3,
  datesReturns: false,
} as const

/** What gateways before a bank answer, in the forms that are common. */
export const GATEWAY_404: Body[] = [
  { message: 'no Route matched with those values' },
  { message: 'Not Found' },
  { statusCode: 404, message: 'Resource not found' },
  { timestamp: '2026-08-20T15:00:00.000+00:00', status: 404, error: 'Not Found', path: '/pix' },
  { type: 'about:blank', title: 'Not Found', status: 404, detail: 'No static resource pix.' },
  { fault: { faultstring: 'Unable to identify proxy', detail: { errorcode: 'NotFound' } } },
  { code: '404', type: 'Status report', message: 'No matching resource found' },
  { mensagem: 'A rota solicitada não foi encontrada.' },
  '<html><head><title>404 Not Found</title></head><body>nginx</body></html>',
]

const OPEN = { client: 'any', body: 'any', grant: 'any', scopes: 'given' } as const

type Peculiar = Partial<Omit<Style, 'token'>> & { token?: Partial<Style['token']> }

/** What is known of each bank. What is not known of one is let pass, and differs at random. */
const PECULIAR: Record<string, Peculiar> = {
  efi: {
    token: { client: 'basic', body: 'json', grant: 'body' },
    errors: 'efi',
    probes: true,
    sends: 'efi',
    disputes: 'efi',
    repeated: 409,
  },
  inter: {
    token: { client: 'body', body: 'form', grant: 'body', scopes: 'asked' },
    suffix: false,
    repeated: 400,
    mostPerPage: 2,
    sends: 'inter',
  },
  itau: {
    demands: [{ name: 'x-correlationID', place: 'header', value: 'uuid' }],
    extras: true,
    ...ITAU_CLOCK,
  },
  bb: {
    demands: [{ name: 'gw-dev-app-key', place: 'either', value: 'appKey' }],
    code: 'textoImagemQRcode',
    errors: 'bb',
    suffix: false,
    mostPerPage: 3,
  },
  sicredi: { repeated: 400, code: null },
  santander: {
    token: { grant: 'query' },
    dates: 'seconds',
    postsCharges: false,
    lists: 'exclusive',
    agreements: {
      path: '/auth/oauth/v2/token',
      demands: [{ name: 'X-Application-Key', place: 'header', value: 'clientId' }],
    },
  },
  sicoob: {
    token: { client: 'id only' },
    code: 'brcode',
    repeated: 409,
    scopes: { locrec: 'locr' },
    sends: 'sicoob',
    ...SICOOB_DOCUMENT,
  },
  bradesco: { created: 200, code: null, extras: true },
}

/** The style of the bank that a profile is of, at the places that the profile has. */
export function styleOf(profile: Profile): Style {
  const peculiar = PECULIAR[profile.name.replace(/-sandbox$/, '')] ?? {}
  const base = new URL(profile.baseUrl).pathname.replace(/\/$/, '')
  const paths = Object.entries(profile.paths).map(([resource, prefix]) => [
    resource,
    // What a bank has at another host the stand-in has at its own.
    prefix === null ? null : base + prefix.replace(/^https:\/\/[^/]+/, ''),
  ])
  return {
    ...PLAIN,
    ...peculiar,
    token: { ...OPEN, ...peculiar.token, ...tokenPathsOf(profile) },
    paths: Object.fromEntries(paths),
  }
}

/** If a bank has several addresses for tokens, those but the last give none here. */
function tokenPathsOf({ token }: Profile): Pick<Style['token'], 'path' | 'closed'> {
  const paths = [token.url, ...token.otherUrls].map((url) => new URL(url).pathname)
  return { path: paths.at(-1)!, closed: paths.slice(0, -1) }
}

/** The path of an address, without a slash at its end. */
const placeOf = (address: string): string => new URL(address).pathname.replace(/\/$/, '')

/** A profile that is of another bank, as this one: every address is this bank's. */
export function movedTo(url: string, profile: Profile): Profile {
  const moved = (address: string) => url + placeOf(address)
  const paths = Object.entries(profile.paths).map(([resource, prefix]) => [
    resource,
    prefix?.startsWith('https:') ? moved(prefix) : prefix,
  ])
  const { url: tokenUrl, otherUrls } = profile.token
  const token = { ...profile.token, url: moved(tokenUrl), otherUrls: otherUrls.map(moved) }
  const agreements = profile.agreements && {
    ...profile.agreements,
    tokenUrl: moved(profile.agreements.tokenUrl),
  }
  const places = { baseUrl: moved(profile.baseUrl), paths: Object.fromEntries(paths) }
  return { ...profile, ...places, token, agreements }
}

/** A profile that says of this bank what it is like. */
export function profileOf(style: Style, url: string): Profile {
  const known = <T extends string>(value: T | 'any', otherwise: T): T =>
    value === 'any' ? otherwise : (value as T)
  const placed = (place: 'header' | 'query') =>
    Object.fromEntries(
      style.demands
        .filter((one) => (place === 'query') === (one.place === 'query'))
        .map(({ name, value }) => [name, value === 'anything' ? 'x' : `{${value}}`]),
    )
  return {
    name: 'custom',
    title: 'Banco de teste',
    baseUrl: url,
    token: {
      url: url + style.token.path,
      otherUrls: [],
      client: known(style.token.client, 'basic'),
      body: known(style.token.body, 'form'),
      grant: known(style.token.grant, 'body'),
      asksScopes: style.token.scopes === 'asked',
      headers: {},
    },
    paths: style.paths,
    scopes: style.scopes,
    agreements: null,
    headers: placed('header'),
    query: placed('query'),
    dates: style.dates,
    offset: style.clock === 'UTC' ? 'Z' : '-03:00',
    marksLocalAsUtc: style.clock !== 'UTC',
    codeFields: style.code === null ? [] : [style.code],
    webhook: { headers: style.probes ? { 'x-skip-mtls-checking': 'true' } : {} },
    payouts: style.sends,
    disputes: style.disputes,
  }
}

/** An answer of the document as this bank gives it. */
export function inStyle(style: Style, { status, body }: Answer): Answer {
  const given = status === 201 ? style.created : status
  if (body === undefined) return { status: given }
  if (status >= 400) return { status: given, body: problemIn(style, body) }
  const { emptyList } = style
  if (emptyList === 204 && isEmptyList(body)) return { status: 204 }
  if (emptyList === 404 && isEmptyList(body)) return inStyle(style, notFound('NaoEncontrado'))
  const shown = mapTree(body, (node, name) => valueIn(style, node, name))
  const coded = withTxid(style, withCode(style, shown))
  return { status: given, body: style.extras ? withExtras(coded) : coded }
}

const isEmptyList = (body: Body): boolean =>
  'parametros' in body && Object.values(body).some((one) => Array.isArray(one) && one.length === 0)

/** A value of an answer as this bank writes it. */
function valueIn(style: Style, node: Body, name: string): Body {
  if (typeof node === 'string') {
    const isAmount = style.decimals === 3 && /^\d+\.\d\d$/.test(node)
    return isAmount ? `${node}0` : momentIn(style, node)
  }
  if (name === 'horario' && !style.datesReturns) return {}
  if (node?.rtrId && !style.namesReturns) return { ...node, rtrId: undefined }
  const id = node?.rtrId ?? node?.endToEndId
  return style.garbled.includes(id) ? { ...node, valor: 'R$ 5,00' } : node
}

function problemIn({ errors }: Style, { type, title, status, detail, violacoes }: Body): Body {
  const name = String(type).split('/').at(-1)
  if (errors === 'efi')
    return { nome: name!.replace(/\B[A-Z]/g, '_$&').toLowerCase(), mensagem: detail ?? title }
  if (errors === 'sicoob')
    return {
      nomeServico: 'pix',
      codigoErro: status,
      mensagemErro: title,
      codigoDetalheErro: 1,
      detalheErro: violacoes?.[0]?.razao ?? detail,
    }
  if (errors === 'bb')
    return {
      statusCode: status,
      error: title,
      message: detail,
      erros: (violacoes ?? [{ razao: detail }]).map(({ razao }: Body) => ({
        codigo: '4769515',
        versao: '1',
        mensagem: razao,
        ocorrencia: 'CHOM00000062715',
      })),
    }
  return { type, title, status, detail, ...(violacoes ? { violacoes } : {}) }
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const BEHIND_ms = 3 * 3_600_000

/** A moment of an answer as this bank writes it; any other text as it is. */
function momentIn({ clock, dates }: Style, text: string): string {
  if (!MOMENT.test(text)) return text
  const shown_ms = Date.parse(text) - (clock === 'UTC' ? 0 : BEHIND_ms)
  const shown = new Date(shown_ms).toISOString()
  return dates === 'seconds' ? shown.replace(/\.\d{3}Z$/, 'Z') : shown
}

/** The moments of a query as this bank understands them, in UTC. */
export function understood({ clock }: Style, query: Params): Params {
  if (clock === 'UTC') return query
  const read = (text: string) => Date.parse(text.replace(/(Z|[+-]\d\d:\d\d)$/, 'Z')) + BEHIND_ms
  const moments = Object.entries(query).filter(([name]) => name === 'inicio' || name === 'fim')
  const shown = moments.map(([name, text]) => [name, new Date(read(text)).toISOString()])
  return { ...query, ...Object.fromEntries(shown) }
}

function mapTree(node: Body, change: (node: Body, name: string) => Body, name = ''): Body {
  if (Array.isArray(node)) return node.map((one) => mapTree(one, change, name))
  if (node === null || typeof node !== 'object') return change(node, name)
  const fields = Object.entries(node).map(([key, held]) => [key, mapTree(held, change, key)])
  return change(Object.fromEntries(fields), name)
}

/** A body as this bank calls its txid. */
export const withTxid = ({ txid: name }: Style, body: Body): Body =>
  name === 'txid'
    ? body
    : mapTree(body, (node) => {
        if (node === null || typeof node !== 'object' || node.txid === undefined) return node
        const { txid, ...rest } = node
        return { ...rest, [name]: txid }
      })

function withCode({ code }: Style, body: Body): Body {
  return mapTree(body, (node, name) => {
    if (node === null || typeof node !== 'object' || node.pixCopiaECola === undefined) return node
    const { pixCopiaECola, ...rest } = node
    // Only charges were there before the document had a name for it.
    const field = name === 'dadosQR' ? 'pixCopiaECola' : code
    return code === null ? rest : { ...rest, [field!]: pixCopiaECola }
  })
}

/** Enumerations of which nothing depends: they may have new values any day. */
const OPEN_ENUMS = ['natureza', 'tipo', 'tipoCob', 'tipoJornada', 'jornada', 'tipoConta']

const withExtras = (body: Body): Body =>
  mapTree(body, (node, name) => {
    if (OPEN_ENUMS.includes(name)) return 'NOVIDADE'
    if (node === null || typeof node !== 'object') return node
    return { ...node, campoNovo: { valor: 1, lista: [null, 'x'] } }
  })
