import type { Profile } from './profile.ts'

type Bank = Pick<Profile, 'name' | 'title' | 'baseUrl' | 'paths'> &
  Partial<Omit<Profile, 'token'>> & { token: Partial<Profile['token']> & { url: string } }

/** The Central Bank's document, where nothing is said to the contrary. */
export function bank({ token, ...rest }: Bank): Profile {
  return {
    headers: {},
    query: {},
    dates: 'milliseconds',
    codeFields: ['pixCopiaECola'],
    webhook: { headers: {} },
    payouts: null,
    ...rest,
    token: {
      client: 'basic',
      body: 'form',
      grant: 'body',
      asksScopes: true,
      headers: {},
      ...token,
    },
  }
}

/** Banks place charges and agreements, which came years later, apart. */
export function paths(charges: string, agreements: string | null): Profile['paths'] {
  return {
    cob: charges,
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
 * What the guide `connect-a-bank` says of each bank, and from where it is known, holds for these.
 * Banks where no public source shows Pix Automático are without it.
 */
const BANKS: Profile[] = [
  bank({
    name: 'efi',
    title: 'Efí',
    baseUrl: 'https://pix.api.efipay.com.br',
    // The scopes are those of the application, and are not asked for.
    token: {
      url: 'https://pix.api.efipay.com.br/oauth/token',
      body: 'json',
      asksScopes: false,
    },
    paths: paths('/v2', '/v2'),
    // Efí would insist on refusing callers without its certificate. The address is a secret, and
    // what it is told is asked about; its certificate comes along all the same.
    webhook: { headers: { 'x-skip-mtls-checking': 'true' } },
    payouts: 'efi',
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
    // Needed where the integration is allowed more than one account, and harmless elsewhere.
    headers: { 'x-conta-corrente': '{account}' },
  }),
  bank({
    // The product that Itaú calls regulatory. The one at secure.api.itau is being shut down.
    name: 'itau',
    title: 'Itaú',
    baseUrl: 'https://pix-pj.api.itau.com',
    token: {
      url: 'https://sts.itau.com.br/as/token.oauth2',
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
    // One charge by its txid is v3; lists of charges, which are not read here, are v2.
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
    paths: paths('/api/v1', null),
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
    headers: { client_id: '{clientId}' },
    codeFields: ['pixCopiaECola', 'brcode'],
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

/** Where a bank lets everything be tried with credentials that move no money. */
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

/** As an operator types them. `custom` is beside them: its settings are the operator's. */
export const PROFILE_NAMES: readonly string[] = [...PROFILES.keys()]

export const findProfile = (name: string): Profile | null => PROFILES.get(name) ?? null

/**
 * The same bank at another address. What it has elsewhere moves there too: whoever tries a bank
 * out must not reach the real one by half.
 */
export function withUrls(profile: Profile, urls: { baseUrl?: string; tokenUrl?: string }): Profile {
  const { baseUrl = profile.baseUrl, tokenUrl = profile.token.url } = urls
  const near = (path: string | null) =>
    path?.startsWith('https://') ? new URL(path).pathname.replace(/\/+$/, '') : path
  const moved = Object.entries(profile.paths).map(([resource, path]) => [resource, near(path)])
  return {
    ...profile,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    token: { ...profile.token, url: tokenUrl },
    paths: urls.baseUrl === undefined ? profile.paths : Object.fromEntries(moved),
  }
}
