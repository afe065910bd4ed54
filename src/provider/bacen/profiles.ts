import type { Profile } from './profile.ts'

type Bank = Pick<Profile, 'name' | 'title' | 'baseUrl' | 'paths'> &
  Partial<Omit<Profile, 'token'>> & { token: Partial<Profile['token']> & { url: string } }

/** Fills what a bank does not define with the Central Bank's document. */
export function bank({ token, ...rest }: Bank): Profile {
  return {
    headers: {},
    query: {},
    scopes: {},
    agreements: null,
    dates: 'milliseconds',
    offset: 'Z',
    marksLocalAsUtc: false,
    codeFields: ['pixCopiaECola'],
    webhook: { headers: {} },
    payouts: null,
    disputes: null,
    ...rest,
    token: {
      otherUrls: [],
      client: 'basic',
      body: 'form',
      grant: 'body',
      asksScopes: true,
      headers: {},
      ...token,
    },
  }
}

/** The paths of charges and of agreements. Banks often have them at different addresses. */
export function paths(charges: string, agreements: string | null): Profile['paths'] {
  return {
    cob: charges,
    cobv: charges,
    pix: charges,
    webhook: charges,
    locrec: agreements,
    rec: agreements,
    cobr: agreements,
    webhookrec: agreements,
    webhookcobr: agreements,
  }
}

/**
 * The known banks. The guide `connect-a-bank` names the source of each. If no public source shows
 * Pix Automático at a bank, it is without it here. For charges with a due date each has one.
 */
const BANKS: Profile[] = [
  bank({
    name: 'efi',
    title: 'Efí',
    baseUrl: 'https://pix.api.efipay.com.br',
    // The application has its scopes at the bank, so none are requested.
    token: {
      url: 'https://pix.api.efipay.com.br/oauth/token',
      body: 'json',
      asksScopes: false,
    },
    paths: paths('/v2', '/v2'),
    // Without this header Efí requires that we refuse callers without its certificate. That is not
    // needed, because the callback URL is secret and every callback is confirmed with the bank.
    webhook: { headers: { 'x-skip-mtls-checking': 'true' } },
    payouts: 'efi',
    disputes: 'efi',
  }),
  bank({
    name: 'inter',
    title: 'Inter',
    baseUrl: 'https://cdpj.partners.bancointer.com.br',
    token: {
      url: 'https://cdpj.partners.bancointer.com.br/oauth/v2/token',
      client: 'body',
    },
    paths: paths('/pix/v2', '/pix/v2'),
    // Needed if the integration has more than one account, and harmless otherwise.
    headers: { 'x-conta-corrente': '{account}' },
    payouts: 'inter',
  }),
  bank({
    // The product that Itaú calls regulatory. The one at secure.api.itau is being shut down.
    name: 'itau',
    title: 'Itaú',
    baseUrl: 'https://pix-pj.api.itau.com',
    token: {
      url: 'https://sts.itau.com.br/as/token.oauth2',
      otherUrls: ['https://sts.itau.com.br/api/oauth/token'],
      client: 'body',
      asksScopes: false,
    },
    paths: paths(
      '/regulatorio-pix/v2',
      'https://pixautomatico-recebimentos.api.itau.com/pixautomatico/v1',
    ),
    headers: {
      'x-itau-apikey': '{clientId}',
      'x-itau-correlationID': '{uuid}',
      'x-correlationID': '{uuid}',
    },
    // It lists nothing for a moment in UTC, and refuses milliseconds.
    dates: 'seconds',
    offset: '-03:00',
    marksLocalAsUtc: true,
  }),
  bank({
    name: 'bb',
    title: 'Banco do Brasil',
    baseUrl: 'https://api-pix.bb.com.br',
    token: { url: 'https://oauth.bb.com.br/oauth/token' },
    paths: paths('/pix/v2', '/pix/v2'),
    query: { 'gw-dev-app-key': '{appKey}' },
    codeFields: ['pixCopiaECola', 'textoImagemQRcode'],
  }),
  bank({
    name: 'sicredi',
    title: 'Sicredi',
    baseUrl: 'https://api-pix.sicredi.com.br',
    token: { url: 'https://api-pix.sicredi.com.br/oauth/token' },
    // One charge by its txid is v3, one with a due date v2. Lists of charges are not read here.
    paths: { ...paths('/api/v2', '/api/v1'), cob: '/api/v3' },
  }),
  bank({
    name: 'santander',
    title: 'Santander',
    baseUrl: 'https://trust-pix.santander.com.br',
    token: {
      url: 'https://trust-pix.santander.com.br/oauth/token',
      client: 'body',
      grant: 'query',
      asksScopes: false,
    },
    // Pix Automático is at another product of the bank, with a token of its own.
    paths: paths('/api/v1', 'https://trust-open.api.santander.com.br/api/v1'),
    agreements: {
      tokenUrl: 'https://trust-open.api.santander.com.br/auth/oauth/v2/token',
      grant: 'body',
      headers: { 'X-Application-Key': '{clientId}' },
    },
    dates: 'seconds',
  }),
  bank({
    name: 'sicoob',
    title: 'Sicoob',
    baseUrl: 'https://api.sicoob.com.br',
    token: {
      url: 'https://auth.sicoob.com.br/auth/realms/cooperado/protocol/openid-connect/token',
      client: 'id only',
    },
    paths: paths('/pix/api/v2', null),
    scopes: { locrec: 'locr' },
    headers: { client_id: '{clientId}' },
    codeFields: ['pixCopiaECola', 'brcode'],
    payouts: 'sicoob',
  }),
  bank({
    name: 'bradesco',
    title: 'Bradesco',
    baseUrl: 'https://qrpix.bradesco.com.br',
    token: {
      url: 'https://qrpix.bradesco.com.br/auth/server/oauth/token',
      asksScopes: false,
    },
    paths: paths('/v2', 'https://apipix.bradesco.com.br/v1'),
  }),
]

/** The test environments of banks, which move no money. */
const SANDBOXES: [name: string, baseUrl: string, tokenUrl: string, agreements?: string][] = [
  ['efi', 'https://pix-h.api.efipay.com.br', 'https://pix-h.api.efipay.com.br/oauth/token'],
  [
    'inter',
    'https://cdpj-sandbox.partners.uatinter.co',
    'https://cdpj-sandbox.partners.uatinter.co/oauth/v2/token',
  ],
  ['bb', 'https://api-pix.hm.bb.com.br', 'https://oauth.hm.bb.com.br/oauth/token'],
  ['sicredi', 'https://api-pix-h.sicredi.com.br', 'https://api-pix-h.sicredi.com.br/oauth/token'],
  [
    'santander',
    'https://trust-pix-h.santander.com.br',
    'https://trust-pix-h.santander.com.br/oauth/token',
  ],
  [
    'bradesco',
    'https://qrpix-h.bradesco.com.br',
    'https://qrpix-h.bradesco.com.br/auth/server/oauth/token',
    'https://apipix-h.bradesco.com.br/v1',
  ],
]

function sandboxOf([name, baseUrl, tokenUrl, agreements]: (typeof SANDBOXES)[number]): Profile {
  const real = BANKS.find((known) => known.name === name)!
  const { title, ...rest } = withUrls(real, { baseUrl, tokenUrl })
  const moved = agreements ? { paths: paths(rest.paths.cob!, agreements) } : {}
  return { ...rest, ...moved, name: `${name}-sandbox`, title: `${title} (sandbox)` }
}

const PROFILES: ReadonlyMap<string, Profile> = new Map(
  [...BANKS, ...SANDBOXES.map(sandboxOf)].map((profile) => [profile.name, profile]),
)

/** The names that an operator can type. `custom` is another one, with the operator's settings. */
export const PROFILE_NAMES: readonly string[] = [...PROFILES.keys()]

export const findProfile = (name: string): Profile | null => PROFILES.get(name) ?? null

/**
 * The same bank at another address. All its resources get that address, so that a test never
 * reaches the real bank.
 */
export function withUrls(profile: Profile, urls: { baseUrl?: string; tokenUrl?: string }): Profile {
  const { baseUrl = profile.baseUrl, tokenUrl = profile.token.url } = urls
  const near = (path: string | null) =>
    path?.startsWith('https://') ? new URL(path).pathname.replace(/\/+$/, '') : path
  const moved = Object.entries(profile.paths).map(([resource, path]) => [resource, near(path)])
  return {
    ...profile,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    token: {
      ...profile.token,
      url: tokenUrl,
      otherUrls: urls.tokenUrl === undefined ? profile.token.otherUrls : [],
    },
    ...(urls.baseUrl === undefined
      ? {}
      : { paths: Object.fromEntries(moved), agreements: agreementsAt(profile, urls.baseUrl) }),
  }
}

function agreementsAt({ agreements }: Profile, baseUrl: string): Profile['agreements'] {
  if (!agreements) return null
  const { pathname } = new URL(agreements.tokenUrl)
  return { ...agreements, tokenUrl: new URL(pathname, baseUrl).href }
}

/**
 * A profile as it was stored, with what is known of the bank today. If the operator has given other
 * addresses, they stay. Settings of the operator's own stay as a whole. If they are older than due
 * dates, the bank is used without them.
 */
export function completeProfile(stored: Profile): Profile {
  const known = findProfile(stored.name)
  if (!known)
    return bank({ ...stored, paths: { ...stored.paths, cobv: stored.paths.cobv ?? null } })
  const { baseUrl, token } = stored
  return withUrls(known, {
    ...(baseUrl === known.baseUrl ? {} : { baseUrl }),
    ...(token.url === known.token.url ? {} : { tokenUrl: token.url }),
  })
}
