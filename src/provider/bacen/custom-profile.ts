import { type Profile, RESOURCES, type Resource } from './profile.ts'
import { bank, findProfile, PROFILE_NAMES, paths, withUrls } from './profiles.ts'

/** The placeholders that a value of a header or a query may contain. */
export const PLACEHOLDERS: readonly string[] = ['clientId', 'appKey', 'account', 'uuid']

const SETTINGS = [
  'title',
  'like',
  'baseUrl',
  'tokenUrl',
  'token',
  'paths',
  'headers',
  'query',
  'scopes',
  'agreements',
  'dates',
  'offset',
  'marksLocalAsUtc',
  'codeFields',
  'webhook',
]
/** The usual names of the field with the copy-and-paste text. */
const CODE_FIELDS = ['pixCopiaECola', 'textoImagemQRcode', 'brcode']
/** A bank must offer all of these for agreements. */
const AGREEMENTS: Resource[] = ['locrec', 'rec', 'cobr']

type Settings = Record<string, unknown>
type Values = Record<string, string>
type NameFault = (name: string) => string | null

const isSettings = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What is wrong with the URL of a bank; null when nothing is. */
export function urlFault(value: unknown): string | null {
  if (typeof value !== 'string' || !URL.canParse(value)) {
    return 'must be an address such as https://api.bank.example'
  }
  if (!value.startsWith('https://')) return 'must begin with https://'
  const { username, password } = new URL(value)
  if (username || password) return 'must hold neither a user nor a password'
  return /[\s?#\\]/.test(value) ? 'must hold no query, no fragment and no space' : null
}

const HEADER = /^[\w!#$%&'*+.^`|~-]+$/
const OURS =
  /^(authorization|connection|content-.*|expect|host|keep-alive|transfer-.*|upgrade|user-agent)$/i

function headerFault(name: string): string | null {
  if (!HEADER.test(name)) return 'is no name of a header'
  return OURS.test(name) ? 'is set by the service itself' : null
}

const queryFault = (name: string): string | null =>
  /^[\x21-\x7e]+$/.test(name) ? null : 'is no name of a parameter'

function valueFault(value: unknown): string | null {
  if (typeof value !== 'string' || !/^[\x20-\x7e]+$/.test(value)) {
    return 'must be a text of printable ASCII characters'
  }
  const rest = value.replace(/\{(\w+)\}/g, (all, name) => (PLACEHOLDERS.includes(name) ? '' : all))
  const known = PLACEHOLDERS.map((name) => `{${name}}`).join(', ')
  return /[{}]/.test(rest) ? `may hold ${known} and no other braces` : null
}

function pathFault(value: unknown): string | null {
  if (value === null || (typeof value === 'string' && /^(\/[\w.~-]+)*$/.test(value))) return null
  return urlFault(value) && 'must be a path such as /v2, "", an https:// address, or null'
}

/** Reads settings one by one and collects all faults. */
function reader() {
  const faults: string[] = []
  const fault = (name: string, rule: string) => {
    faults.push(`${name} ${rule}.`)
  }
  function url(value: unknown, fallback: string, name: string): string {
    if (value === undefined && fallback !== '') return fallback
    const rule = value === undefined ? 'is missing' : urlFault(value)
    if (rule) fault(name, rule)
    return rule ? fallback : String(value)
  }
  function choice<T>(value: unknown, choices: readonly T[], fallback: T, name: string): T {
    const chosen = choices.find((known) => known === value)
    if (value === undefined || chosen !== undefined) return chosen ?? fallback
    fault(name, `must be ${choices.map((known) => JSON.stringify(known)).join(' or ')}`)
    return fallback
  }
  function part(value: unknown, known: readonly string[], name: string): Settings {
    if (value === undefined) return {}
    if (!isSettings(value)) {
      fault(name, 'must be an object')
      return {}
    }
    const strange = Object.keys(value).filter((key) => !known.includes(key))
    const rule = `is not known: there are ${known.join(', ')}`
    for (const key of strange) fault(`${name} ${JSON.stringify(key)}`, rule)
    return value
  }
  function values(value: unknown, fallback: Values, name: string, nameFault: NameFault): Values {
    if (value === undefined) return fallback
    if (!isSettings(value)) {
      fault(name, 'must be an object of names and texts')
      return fallback
    }
    for (const [key, text] of Object.entries(value)) {
      const rule = nameFault(key) ?? valueFault(text)
      if (rule) fault(`${name} ${JSON.stringify(key)}`, rule)
    }
    return value as Values
  }
  return { faults, fault, url, choice, part, values }
}

type Reader = ReturnType<typeof reader>

function readPaths(read: Reader, value: unknown, fallback: Profile['paths']): Profile['paths'] {
  const given = read.part(value, RESOURCES, 'paths')
  const pairs = RESOURCES.map((resource) => {
    const path = given[resource] === undefined ? fallback[resource] : given[resource]
    const rule = pathFault(path)
    if (rule) read.fault(`paths ${resource}`, rule)
    return [resource, typeof path === 'string' ? path.replace(/\/+$/, '') : null]
  })
  const found: Profile['paths'] = Object.fromEntries(pairs)
  const needed = (['cob', 'pix'] as const).filter((resource) => given[resource] === null)
  for (const resource of needed) read.fault(`paths ${resource}`, 'must be there: charges need it')
  const lacking = AGREEMENTS.filter((resource) => found[resource] === null)
  if (lacking.length % AGREEMENTS.length !== 0) {
    read.fault('paths', `must have all of ${AGREEMENTS.join(', ')}, or null for each`)
  }
  return found
}

function readCodeFields(read: Reader, value: unknown, fallback: string[]): string[] {
  if (value === undefined) return fallback
  const isName = (name: unknown) => typeof name === 'string' && /^\w{1,60}$/.test(name)
  if (Array.isArray(value) && value.every(isName)) return value
  read.fault('codeFields', 'must be a list of names of fields, such as ["pixCopiaECola"]')
  return fallback
}

function readUrls(read: Reader, value: unknown, fallback: string[], name: string): string[] {
  if (value === undefined) return fallback
  if (Array.isArray(value) && value.every((url) => urlFault(url) === null)) return value
  read.fault(name, 'must be a list of https:// addresses')
  return fallback
}

function readScopes(read: Reader, value: unknown, fallback: Profile['scopes']): Profile['scopes'] {
  const given = read.part(value, RESOURCES, 'scopes')
  const isName = (name: unknown) => typeof name === 'string' && /^[\w.-]{1,60}$/.test(name)
  const wrong = Object.keys(given).filter((resource) => !isName(given[resource]))
  for (const resource of wrong) read.fault(`scopes ${resource}`, 'must be a name such as "locr"')
  return { ...fallback, ...given }
}

type Agreements = Profile['agreements']

function readAgreements(read: Reader, value: unknown, base: Agreements): Agreements {
  if (value === undefined || value === null) return value === null ? null : base
  const given = read.part(value, ['tokenUrl', 'grant', 'headers'], 'agreements')
  const name = 'agreements headers'
  return {
    tokenUrl: read.url(given.tokenUrl, base?.tokenUrl ?? '', 'agreements tokenUrl'),
    grant: read.choice(given.grant, ['body', 'query'], base?.grant ?? 'body', 'agreements grant'),
    headers: read.values(given.headers, base?.headers ?? {}, name, headerFault),
  }
}

function readToken(read: Reader, settings: Settings, base: Profile['token']): Profile['token'] {
  const { otherUrls, client, body, grant, asksScopes, headers } = read.part(
    settings.token,
    ['otherUrls', 'client', 'body', 'grant', 'asksScopes', 'headers'],
    'token',
  )
  const { choice } = read
  return {
    url: read.url(settings.tokenUrl, base.url, 'tokenUrl'),
    otherUrls: readUrls(
      read,
      otherUrls,
      settings.tokenUrl === undefined ? base.otherUrls : [],
      'token otherUrls',
    ),
    client: choice(client, ['basic', 'body', 'id only'], base.client, 'token client'),
    body: choice(body, ['form', 'json'], base.body, 'token body'),
    grant: choice(grant, ['body', 'query'], base.grant, 'token grant'),
    asksScopes: choice(asksScopes, [true, false], base.asksScopes, 'token asksScopes'),
    headers: read.values(headers, base.headers, 'token headers', headerFault),
  }
}

/** The profile that gives the values of missing settings. */
function readBase({ fault }: Reader, { like, baseUrl }: Settings): Profile {
  const known = typeof like === 'string' ? findProfile(like) : null
  if (like !== undefined && !known) fault('like', `must be one of ${PROFILE_NAMES.join(', ')}`)
  if (known) return urlFault(baseUrl) ? known : withUrls(known, { baseUrl: String(baseUrl) })
  return bank({
    name: 'custom',
    title: 'Custom bank',
    baseUrl: '',
    token: { url: '' },
    paths: paths('', ''),
    codeFields: CODE_FIELDS,
  })
}

function readTitle({ fault }: Reader, value: unknown, fallback: string): string {
  if (value === undefined) return fallback
  if (typeof value === 'string' && /^[^\p{C}]{1,60}$/u.test(value.trim())) return value.trim()
  fault('title', 'must be a text of 1 to 60 characters')
  return fallback
}

/**
 * The profile of another bank from an operator's JSON, or all its faults. For a bank that follows
 * the Central Bank's document, `baseUrl` and `tokenUrl` are enough.
 */
export function customProfile(settings: unknown): { profile: Profile } | { faults: string[] } {
  if (!isSettings(settings)) return { faults: ['The settings must be a JSON object.'] }
  const read = reader()
  read.part(settings, SETTINGS, 'setting')
  const base = readBase(read, settings)
  const { headers, query, dates, offset, marksLocalAsUtc } = settings
  const webhook = read.part(settings.webhook, ['headers'], 'webhook').headers
  const profile: Profile = {
    name: 'custom',
    title: readTitle(read, settings.title, base.title),
    baseUrl: read.url(settings.baseUrl, base.baseUrl, 'baseUrl').replace(/\/+$/, ''),
    token: readToken(read, settings, base.token),
    paths: readPaths(read, settings.paths, base.paths),
    headers: read.values(headers, base.headers, 'headers', headerFault),
    query: read.values(query, base.query, 'query', queryFault),
    scopes: readScopes(read, settings.scopes, base.scopes),
    agreements: readAgreements(read, settings.agreements, base.agreements),
    dates: read.choice(dates, ['milliseconds', 'seconds'], base.dates, 'dates'),
    offset: read.choice(offset, ['Z', '-03:00'], base.offset, 'offset'),
    marksLocalAsUtc: read.choice(
      marksLocalAsUtc,
      [true, false],
      base.marksLocalAsUtc,
      'marksLocalAsUtc',
    ),
    codeFields: readCodeFields(read, settings.codeFields, base.codeFields),
    webhook: {
      headers: read.values(webhook, base.webhook.headers, 'webhook headers', headerFault),
    },
    payouts: base.payouts,
    disputes: base.disputes,
  }
  return read.faults.length > 0 ? { faults: read.faults } : { profile }
}
