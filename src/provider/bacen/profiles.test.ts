import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { customProfile, PLACEHOLDERS, urlFault } from './custom-profile.ts'
import { addressOf, type Profile, RESOURCES } from './profile.ts'
import { completeProfile, findProfile, PROFILE_NAMES, withUrls } from './profiles.ts'

const known = PROFILE_NAMES.map((name) => findProfile(name)!)
const MINIMAL = { baseUrl: 'https://pix.bank.example/v2', tokenUrl: 'https://bank.example/token' }

/** All that a profile says, as an operator would write it down. */
const settingsOf = ({ title, baseUrl, token: { url, ...token }, ...rest }: Profile) => {
  const { paths, headers, query, scopes, agreements, codeFields, webhook } = rest
  const { dates, offset, marksLocalAsUtc } = rest
  return {
    title,
    baseUrl,
    tokenUrl: url,
    token,
    paths,
    headers,
    query,
    scopes,
    agreements,
    dates,
    offset,
    marksLocalAsUtc,
    codeFields,
    webhook,
  }
}

const profileOf = (settings: unknown): Profile => {
  const read = customProfile(settings)
  assert.ok('profile' in read, JSON.stringify(read))
  return read.profile
}

const faultsOf = (settings: unknown): string[] => {
  const read = customProfile(settings)
  assert.ok('faults' in read, JSON.stringify(read))
  return read.faults
}

test('the eight banks are there by the names that operators type', () => {
  const banks = ['efi', 'inter', 'itau', 'bb', 'sicredi', 'santander', 'sicoob', 'bradesco']
  assert.deepEqual(PROFILE_NAMES.slice(0, 8), banks)
  for (const name of PROFILE_NAMES) {
    assert.equal(findProfile(name)!.name, name)
    assert.match(name, /^[a-z]+(-sandbox)?$/)
  }
  for (const name of ['', 'custom', 'Efi', '__proto__', 'constructor']) {
    assert.equal(findProfile(name), null)
  }
})

test('every bank is well-formed: an operator could have written it', () => {
  for (const profile of known) {
    const expected = { ...profile, name: 'custom', payouts: null, disputes: null }
    assert.deepEqual(profileOf(settingsOf(profile)), expected, profile.name)
  }
})

test('every bank is reached over https, at paths that a resource can follow', () => {
  for (const profile of known) {
    const addresses = RESOURCES.map((resource) => addressOf(profile, resource))
    const urls = [profile.baseUrl, profile.token.url, ...addresses.filter((url) => url !== null)]
    for (const url of urls) {
      assert.equal(urlFault(url), null, url)
      assert.doesNotMatch(url, /\/$/)
    }
    for (const path of Object.values(profile.paths).filter((path) => path !== null)) {
      assert.match(path, /^(|\/.*|https:\/\/.*)$/)
    }
    assert.ok(addressOf(profile, 'cob') && addressOf(profile, 'pix'), profile.name)
  }
})

test('values that are filled in are known ones', () => {
  const values = known.flatMap(({ headers, query, token, webhook, agreements }) =>
    [headers, query, token.headers, webhook.headers, agreements?.headers ?? {}].flatMap((part) =>
      Object.values(part),
    ),
  )
  const named = values.flatMap((value) =>
    [...value.matchAll(/\{(.*?)\}/g)].map(([, name]) => name!),
  )
  assert.deepEqual(
    named.filter((name) => !PLACEHOLDERS.includes(name)),
    [],
  )
  assert.ok(named.length > 0)
})

test('a sandbox differs from its bank in its addresses only, and shares none of them', () => {
  const sandboxes = known.filter(({ name }) => name.endsWith('-sandbox'))
  assert.ok(sandboxes.length > 0)
  const hostsOf = (profile: Profile) =>
    [
      profile.token.url,
      profile.agreements?.tokenUrl ?? null,
      ...RESOURCES.map((resource) => addressOf(profile, resource)),
    ]
      .filter((url) => url !== null)
      .map((url) => new URL(url).host)
  for (const sandbox of sandboxes) {
    const real = findProfile(sandbox.name.replace('-sandbox', ''))!
    const { name, title, baseUrl, paths } = real
    const token = { ...sandbox.token, url: real.token.url }
    const agreements = sandbox.agreements && {
      ...sandbox.agreements,
      tokenUrl: real.agreements?.tokenUrl,
    }
    assert.deepEqual({ ...sandbox, name, title, baseUrl, paths, token, agreements }, real)
    const hosts = new Set(hostsOf(real))
    assert.deepEqual(
      hostsOf(sandbox).filter((host) => hosts.has(host)),
      [],
      sandbox.name,
    )
  }
})

test('what is known of how banks differ', () => {
  const of = (name: string) => findProfile(name)!
  assert.deepEqual(
    [of('efi').token.client, of('efi').token.body, of('efi').payouts],
    ['basic', 'json', 'efi'],
  )
  assert.equal(of('efi').webhook.headers['x-skip-mtls-checking'], 'true')
  assert.deepEqual([of('inter').token.client, of('inter').token.asksScopes], ['body', true])
  assert.equal(of('inter').headers['x-conta-corrente'], '{account}')
  assert.equal(new URL(of('itau').token.url).host, 'sts.itau.com.br')
  assert.equal(of('itau').headers['x-correlationID'], '{uuid}')
  assert.deepEqual(of('itau').token.otherUrls, ['https://sts.itau.com.br/api/oauth/token'])
  const { dates, offset, marksLocalAsUtc } = of('itau')
  assert.deepEqual([dates, offset, marksLocalAsUtc], ['seconds', '-03:00', true])
  assert.deepEqual(of('bb').query, { 'gw-dev-app-key': '{appKey}' })
  assert.ok(of('bb').codeFields.includes('textoImagemQRcode'))
  const { cob, pix, rec } = of('sicredi').paths
  assert.deepEqual([cob, pix, rec], ['/api/v3', '/api/v2', '/api/v1'])
  assert.deepEqual([of('santander').token.grant, of('santander').dates], ['query', 'seconds'])
  assert.equal(of('santander').agreements?.headers['X-Application-Key'], '{clientId}')
  assert.equal(of('sicoob').token.client, 'id only')
  assert.deepEqual(of('sicoob').scopes, { locrec: 'locr' })
  assert.ok(of('sicoob').codeFields.includes('brcode'))
  assert.deepEqual(
    known.filter(({ payouts }) => payouts).map(({ name }) => name),
    ['efi', 'inter', 'sicoob', 'efi-sandbox', 'inter-sandbox'],
  )
})

test('a bank at another address is there whole, and the known one stays as it was', () => {
  for (const profile of known) {
    const before = structuredClone(profile)
    const moved = withUrls(profile, {
      baseUrl: 'https://127.0.0.1:8443/',
      tokenUrl: 'https://127.0.0.1:8444/token',
    })
    assert.equal(moved.baseUrl, 'https://127.0.0.1:8443')
    assert.equal(moved.token.url, 'https://127.0.0.1:8444/token')
    assert.deepEqual(moved.token.otherUrls, [])
    const { tokenUrl } = moved.agreements ?? { tokenUrl: moved.baseUrl }
    assert.equal(new URL(tokenUrl).host, '127.0.0.1:8443')
    for (const resource of RESOURCES) {
      const [address, was] = [addressOf(moved, resource), addressOf(profile, resource)]
      assert.equal(address === null, was === null)
      if (address) assert.equal(new URL(address).host, '127.0.0.1:8443')
    }
    assert.deepEqual(profile, before)
    assert.deepEqual(withUrls(profile, {}), profile)
    const elsewhere = withUrls(profile, { tokenUrl: 'https://127.0.0.1:8444/token' })
    assert.deepEqual({ ...elsewhere, token: profile.token }, profile)
  }
})

test('a stored profile has what is known today, and keeps the addresses that were given', () => {
  const urls = { baseUrl: 'https://127.0.0.1:8443', tokenUrl: 'https://127.0.0.1:8444/token' }
  for (const profile of known) {
    const { offset: _, marksLocalAsUtc: __, ...before } = profile
    const stored = { ...before, dates: 'milliseconds', query: { old: 'x' } } as unknown as Profile
    assert.deepEqual(completeProfile(stored), profile)
    const moved = withUrls(profile, urls)
    assert.deepEqual(completeProfile({ ...stored, ...moved, headers: {} }), moved)
  }
  const { offset: _, marksLocalAsUtc: __, ...own } = profileOf({ ...MINIMAL, dates: 'seconds' })
  const complete = { ...own, offset: 'Z', marksLocalAsUtc: false }
  assert.deepEqual(completeProfile(own as Profile), complete, 'an operator’s own settings stay')
})

test('a bank of the operator’s own that was connected before there were due dates has none', () => {
  const own = profileOf(MINIMAL)
  const { cobv: _, ...paths } = own.paths
  const stored = { ...own, paths } as Profile
  assert.equal(completeProfile(stored).paths.cobv, null)
  assert.equal(addressOf(completeProfile(stored), 'cobv'), null)
  assert.equal(addressOf(completeProfile(own), 'cobv'), MINIMAL.baseUrl)
})

test('all known banks have due dates, each beside its other charges', () => {
  const places = known.map((profile) => [profile.name, addressOf(profile, 'cobv')])
  assert.deepEqual(Object.fromEntries(places), {
    efi: 'https://pix.api.efipay.com.br/v2',
    inter: 'https://cdpj.partners.bancointer.com.br/pix/v2',
    itau: 'https://pix-pj.api.itau.com/regulatorio-pix/v2',
    bb: 'https://api-pix.bb.com.br/pix/v2',
    sicredi: 'https://api-pix.sicredi.com.br/api/v2',
    santander: 'https://trust-pix.santander.com.br/api/v1',
    sicoob: 'https://api.sicoob.com.br/pix/api/v2',
    bradesco: 'https://qrpix.bradesco.com.br/v2',
    'efi-sandbox': 'https://pix-h.api.efipay.com.br/v2',
    'inter-sandbox': 'https://cdpj-sandbox.partners.uatinter.co/pix/v2',
    'bb-sandbox': 'https://api-pix.hm.bb.com.br/pix/v2',
    'sicredi-sandbox': 'https://api-pix-h.sicredi.com.br/api/v2',
    'santander-sandbox': 'https://trust-pix-h.santander.com.br/api/v1',
    'bradesco-sandbox': 'https://qrpix-h.bradesco.com.br/v2',
  })
})

test('two addresses suffice for a bank that keeps to the document', () => {
  const profile = profileOf(MINIMAL)
  assert.equal(profile.name, 'custom')
  assert.equal(profile.baseUrl, MINIMAL.baseUrl)
  assert.deepEqual(profile.token, {
    url: MINIMAL.tokenUrl,
    otherUrls: [],
    client: 'basic',
    body: 'form',
    grant: 'body',
    asksScopes: true,
    headers: {},
  })
  assert.deepEqual(new Set(Object.values(profile.paths)), new Set(['']))
  assert.equal(addressOf(profile, 'cob'), 'https://pix.bank.example/v2')
  assert.deepEqual(
    [profile.dates, profile.codeFields[0], profile.payouts],
    ['milliseconds', 'pixCopiaECola', null],
  )
})

test('a bank that is like a known one says only what differs', () => {
  const agreements = { locrec: '/pix/api/v2', rec: '/pix/api/v2', cobr: '/pix/api/v2' }
  const sicoob = findProfile('sicoob')!
  const profile = profileOf({ like: 'sicoob', title: 'Sicoob Centro', paths: agreements })
  const paths = { ...sicoob.paths, ...agreements }
  assert.deepEqual(profile, { ...sicoob, name: 'custom', title: 'Sicoob Centro', paths })
  const moved = profileOf({ like: 'itau', baseUrl: 'https://pix.bank.example/' })
  assert.equal(addressOf(moved, 'rec'), 'https://pix.bank.example/pixautomatico/v1')
})

test('a profile that an older version has stored gets the settings that it lacks', () => {
  for (const profile of known) {
    const { scopes: _, agreements: __, token, ...rest } = profile
    const { otherUrls: ___, ...older } = token
    assert.deepEqual(completeProfile({ ...rest, token: older } as Profile), profile)
    assert.deepEqual(completeProfile(profile), profile)
    const own = completeProfile({ ...rest, name: 'custom', token: older } as Profile)
    const empty = { scopes: {}, agreements: null, token: { ...token, otherUrls: [] } }
    assert.deepEqual(own, { ...profile, name: 'custom', ...empty })
  }
})

test('all faults are returned at once, each with its name', () => {
  const faults = faultsOf({
    title: '',
    like: 'nubank',
    baseUrl: 'http://bank.example',
    token_url: 'x',
    token: {
      client: 'secret',
      body: 'xml',
      grant: 'header',
      asksScopes: 'yes',
      url: 'x',
      otherUrls: 'x',
    },
    paths: { cob: null, pix: 'v2', rec: null, boleto: '/v1' },
    headers: { 'x y': 'a', authorization: 'Bearer x', 'x-key': '{secret}', 'x-n': 1 },
    query: { '': 'a' },
    scopes: { rec: 'a b', boleto: 'x' },
    agreements: { tokenUrl: 'http://x.example', url: 'x' },
    dates: 'iso',
    codeFields: 'emv',
    webhook: { headers: { 'x-a': 'a\r\nb: c' }, url: 'x' },
  })
  const named = [
    'title must',
    'like must',
    'baseUrl must begin',
    'tokenUrl is missing',
    'setting "token_url" is not known',
    'token client',
    'token body',
    'token grant',
    'token asksScopes',
    'token "url" is not known',
    'token otherUrls',
    'paths cob must be there',
    'paths pix',
    'paths must have all of',
    'paths "boleto"',
    'headers "x y"',
    'headers "authorization"',
    'headers "x-key"',
    'headers "x-n"',
    'query ""',
    'scopes rec',
    'scopes "boleto"',
    'agreements tokenUrl',
    'agreements "url"',
    'dates',
    'codeFields',
    'webhook headers "x-a"',
    'webhook "url"',
  ]
  for (const name of named) {
    assert.equal(faults.filter((fault) => fault.startsWith(name)).length, 1, `${name}: ${faults}`)
  }
  assert.equal(faults.length, named.length)
})

test('an address with a secret, a query or a space in it is refused', () => {
  const wrong = [
    'https://user:password@bank.example',
    'https://bank.example/?key=1',
    'ftp://bank.example',
    'https://bank.example/#a',
    ' https://bank.example',
    'bank.example',
    'https://',
    null,
    7,
  ]
  for (const baseUrl of wrong) {
    const faults = faultsOf({ ...MINIMAL, baseUrl })
    assert.equal(faults.length, 1, String(baseUrl))
    assert.match(faults[0]!, /^baseUrl /)
    assert.doesNotMatch(faults[0]!, /password@|key=1/)
  }
})

test('any JSON gives a profile or faults, and never throws', () => {
  const json = fc.jsonValue({ depthSize: 'small' })
  const name = fc.constantFrom('', '/v2', 'form', 'seconds', 'efi', MINIMAL.baseUrl, null, true)
  const value = fc.oneof(json, name, fc.dictionary(fc.string(), fc.oneof(name, fc.string())))
  const part = fc.dictionary(
    fc.oneof(fc.constantFrom(...RESOURCES, 'client', 'headers', '__proto__'), fc.string()),
    value,
  )
  const keys = Object.keys(settingsOf(known[0]!))
  const settings = fc.record(
    Object.fromEntries(['like', 'other', ...keys].map((key) => [key, fc.oneof(part, value)])),
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.oneof(json, settings), fc.boolean(), (written, isMinimal) => {
      const read = customProfile(isMinimal ? Object.assign({ ...MINIMAL }, written) : written)
      if ('faults' in read) assert.ok(read.faults.length > 0 && read.faults.every(Boolean))
      else assert.deepEqual(profileOf(settingsOf(read.profile)).paths, read.profile.paths)
    }),
  )
})

test('what an operator may write is what the profile says', () => {
  const path = fc.constantFrom('', '/v1', '/pix/api/v2', 'https://other.bank.example/v1')
  const letters = [...'abcXYZ019-_.~!#$&*+|^ ', '{clientId}', '{uuid}']
  const text = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 9 })
  const name = fc.string({ unit: fc.constantFrom(...'abcXYZ09_'), minLength: 1, maxLength: 9 })
  const values = fc.dictionary(
    name.map((given) => `x-${given}`),
    text,
  )
  const settings = fc.record({
    baseUrl: fc.constantFrom('https://bank.example', 'https://127.0.0.1:8443', MINIMAL.baseUrl),
    tokenUrl: fc.constant(MINIMAL.tokenUrl),
    token: fc.record({
      client: fc.constantFrom('basic', 'body', 'id only'),
      body: fc.constantFrom('form', 'json'),
      grant: fc.constantFrom('body', 'query'),
      asksScopes: fc.boolean(),
      headers: values,
      otherUrls: fc.constantFrom([], ['https://bank.example/oauth/token']),
    }),
    paths: fc.record(Object.fromEntries(RESOURCES.map((resource) => [resource, path]))),
    headers: values,
    query: values,
    scopes: fc.constantFrom({}, { locrec: 'locr', rec: 'rec-1' }),
    agreements: fc.option(
      fc.record({
        tokenUrl: fc.constant('https://other.bank.example/token'),
        grant: fc.constantFrom('body', 'query'),
        headers: values,
      }),
    ),
    dates: fc.constantFrom('milliseconds', 'seconds'),
    offset: fc.constantFrom('Z', '-03:00'),
    marksLocalAsUtc: fc.boolean(),
    codeFields: fc.array(name, { maxLength: 3 }),
    webhook: fc.record({ headers: values }),
  })
  fc.assert(
    fc.property(settings, (record) => {
      const written = JSON.parse(JSON.stringify(record))
      const { title, ...read } = settingsOf(profileOf(written))
      assert.deepEqual(read, written)
      assert.equal(title, 'Custom bank')
    }),
  )
})

test('the guide names every bank, and all settings that it shows are right', () => {
  const path = join(import.meta.dirname, '../../../docs/guides/connect-a-bank.md')
  const guide = readFileSync(path, 'utf8')
  for (const name of PROFILE_NAMES) {
    const shown = name.endsWith('-sandbox') ? `\`${name}\`` : `--profile ${name} `
    assert.ok(guide.includes(shown), name)
  }
  const settings = [...guide.matchAll(/[`\n](\{"(?:like|baseUrl)"[^`]*\})/g)].map(
    ([, json]) => json!,
  )
  assert.ok(settings.length >= 4)
  for (const json of settings) profileOf(JSON.parse(json))
})
