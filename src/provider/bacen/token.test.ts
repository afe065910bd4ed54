import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../lib/ids.ts'
import { given, newAgreement, newCharge, openScene } from './scene.test-support.ts'
import { createTokens } from './token.ts'
import type { Transport } from './transport.ts'

const TOKEN = 'POST token'
const BASIC = ['cob.read', 'cob.write', 'pix.read', 'pix.write', 'webhook.read', 'webhook.write']

test('however many wait for a token, it is asked for once', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  const orders = Array.from({ length: 20 }, () => bacen.issueCharge(payee, newCharge(scene)))
  for (const issued of await Promise.all(orders)) given(issued)
  given(await bacen.findPaid(payee, { id: newId() }))
  assert.equal(bank.seen(TOKEN), 1)
})

for (const fault of ['5xx', 'html', 'drop'] as const) {
  test(`${fault}: a token is requested once more`, async () => {
    const { bank, bacen, payee } = await openScene()
    bank.faults.next(TOKEN, fault)
    given(await bacen.findPaid(payee, { id: newId() }))
    assert.equal(bank.seen(TOKEN), 2)
    bank.revokeTokens()
    bank.faults.next(TOKEN, fault, 2)
    assert.equal((await bacen.findPaid(payee, { id: newId() })).kind, 'unknown')
    assert.equal(bank.seen(TOKEN), 4)
  })
}

test('a token is renewed before it ends', async () => {
  const { bank, bacen, clock, payee } = await openScene()
  for (const [seconds, asked] of [
    [0, 1],
    [3530, 1],
    [20, 2],
    [3530, 2],
    [20, 3],
  ] as const) {
    clock.advance(seconds)
    given(await bacen.findPaid(payee, { id: newId() }))
    assert.equal(bank.seen(TOKEN), asked)
  }
  assert.ok(bank.state().requests.every(({ status }) => status !== 401))
})

test('a token that the bank has forgotten is renewed once, and the order repeated', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  given(await bacen.findPaid(payee, { id: newId() }))
  bank.revokeTokens()
  const orders = Array.from({ length: 10 }, () => bacen.issueCharge(payee, newCharge(scene)))
  for (const issued of await Promise.all(orders)) given(issued)
  assert.equal(bank.seen(TOKEN), 2)
  assert.equal(bank.state().charges.size, 10)
})

test('a bank that accepts no token leaves the order unknown, and is not asked again and again', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  bank.faults.next('PUT /cob', 'expired token', 2)
  bank.faults.next('GET /cob', 'expired token', 2)
  const outcome = await bacen.issueCharge(payee, newCharge(scene))
  assert.equal(outcome.kind, 'unknown')
  assert.equal(bank.seen('PUT /cob/{txid}'), 2)
  assert.equal(bank.state().charges.size, 0)
})

test('without a token nothing is ordered, and it is said why', async () => {
  const scene = await openScene({ connection: { clientSecret: 'wrong' } })
  const { bank, bacen, payee } = scene
  assert.deepEqual(await bacen.issueCharge(payee, newCharge(scene)), {
    kind: 'unknown',
    reason: 'the bank gives no token: invalid_client',
  })
  assert.deepEqual((await bacen.inspect(payee)).faults, ['the bank gives no token: invalid_client'])
  assert.ok(bank.state().requests.every(({ operation }) => operation === TOKEN))
})

test('a request for a token is repeated when its connection was lost', async () => {
  const { bank, bacen, payee } = await openScene()
  bank.faults.next(TOKEN, 'lose answer')
  given(await bacen.findPaid(payee, { id: newId() }))
  assert.equal(bank.seen(TOKEN), 2)
})

for (const client of ['basic', 'body', 'id only'] as const) {
  for (const body of ['form', 'json'] as const) {
    for (const grant of ['body', 'query'] as const) {
      test(`a bank that wants client ${client}, ${body}, grant in the ${grant} is asked so`, async () => {
        const { bacen, payee } = await openScene({ style: { token: { client, body, grant } } })
        given(await bacen.findPaid(payee, { id: newId() }))
      })
    }
  }
}

test('what is granted is compared with what is needed', async () => {
  const { bank, bacen, payee } = await openScene()
  bank.grant(BASIC)
  const { faults, scopes } = await bacen.inspect(payee)
  assert.deepEqual(faults, [])
  assert.deepEqual(scopes.granted, BASIC)
  assert.ok(scopes.missing.includes('rec.write') && scopes.missing.includes('cobr.read'))
  assert.ok(scopes.missing.every((scope) => !BASIC.includes(scope)))
})

test('a check asks for a token of its own, and says when payments cannot be read', async () => {
  const { bank, bacen, payee } = await openScene()
  given(await bacen.findPaid(payee, { id: newId() }))
  bank.grant(['cob.read', 'cob.write'])
  const { faults, scopes } = await bacen.inspect(payee)
  assert.equal(faults.length, 1)
  assert.match(faults[0]!, /^received payments cannot be read: /)
  assert.ok(scopes.missing.includes('pix.read'))
})

for (const reason of ['invalid_scope', 'the bank answers with status 400'])
  test(`a bank that refuses all for one scope (${reason}) is asked for what charges need`, async () => {
    const { bank, clock } = await openScene()
    const asked: string[] = []
    const transport: Transport = {
      async send({ body }) {
        const scope = new URLSearchParams(body ?? '').get('scope') ?? ''
        asked.push(scope)
        return scope.includes('rec')
          ? { kind: 'refused', reason, status: 400 }
          : { kind: 'done', body: { access_token: 'abc', expires_in: '600' } }
      },
      clockGap_ms: () => null,
      close: async () => {},
    }
    const token = await createTokens(bank.connection(), transport, clock).current()
    assert.ok(token.kind === 'token')
    assert.deepEqual(
      token.scopes?.filter((scope) => !scope.startsWith('cobv')),
      BASIC,
    )
    assert.equal(asked.length, 3)
    assert.equal(token.endsAt.getTime() - clock.now().getTime(), 540_000)
  })

/** A bank that refuses a request for one scope that it has not granted, and names none. */
function strict(refuses: RegExp) {
  const asked: string[] = []
  const limits = { left: Number.POSITIVE_INFINITY }
  const transport: Transport = {
    async send({ body }) {
      const scope = new URLSearchParams(body ?? '').get('scope') ?? ''
      asked.push(scope)
      if (limits.left-- <= 0) return { kind: 'unknown', reason: 'too many', retryAfter_s: 60 }
      return refuses.test(scope)
        ? { kind: 'refused', reason: 'invalid_scope', status: 400 }
        : { kind: 'done', body: { access_token: 'abc', expires_in: '3600' } }
    },
    clockGap_ms: () => null,
    close: async () => {},
  }
  return { asked, limits, transport }
}

const GIVEN_UP: [refuses: RegExp, kept: string[], lost: string[]][] = [
  [/cobv/, ['rec.write', 'pagamento-pix.write', 'cob.write'], ['cobv.write']],
  [/pagamento/, ['rec.write', 'cobv.write'], ['pagamento-pix.write']],
  [/cobv|pagamento/, ['rec.write'], ['cobv.write', 'pagamento-pix.write']],
  [/rec/, ['cobv.write', 'cob.write'], ['rec.write']],
  [/rec|cobv|pagamento/, BASIC, ['rec.write', 'cobv.write', 'pagamento-pix.write']],
]

test('a company without one contract loses nothing of the others that its bank can grant', async () => {
  const { bank, clock } = await openScene()
  const connection = bank.connection({ profile: bank.profile('inter') })
  for (const [refuses, kept, lost] of GIVEN_UP) {
    const token = await createTokens(connection, strict(refuses).transport, clock).current()
    assert.ok(token.kind === 'token', String(refuses))
    assert.ok(
      kept.every((scope) => token.scopes!.includes(scope)),
      `${refuses} ${token.scopes}`,
    )
    assert.ok(
      lost.every((scope) => !token.scopes!.includes(scope)),
      `${refuses} ${token.scopes}`,
    )
  }
})

test('scopes that were refused are asked for again after a day, or by a check', async () => {
  const { bank, clock } = await openScene()
  const connection = bank.connection({ profile: bank.profile('inter') })
  const { asked, limits, transport } = strict(/rec|cobv|pagamento/)
  const tokens = createTokens(connection, transport, clock)
  limits.left = 5
  assert.equal((await tokens.current()).kind, 'unknown')
  limits.left = Number.POSITIVE_INFINITY
  const before = asked.length
  assert.equal((await tokens.current()).kind, 'token')
  assert.equal(asked.length, before + 1, 'it goes on where it has stopped')
  const times = async (act: () => Promise<unknown>) => {
    const start = asked.length
    await act()
    return asked.length - start
  }
  clock.advance(3600)
  assert.equal(await times(tokens.current), 1)
  assert.equal(await times(tokens.fresh), 6)
  clock.advance(3600)
  assert.equal(await times(tokens.current), 1)
  clock.advance(86_400)
  assert.equal(await times(tokens.current), 6)
})

test('a check says which scopes of due dates are missing, apart from the others', async () => {
  const { bank, bacen, payee } = await openScene()
  const of = async () => (await bacen.inspect(payee)).scopes
  assert.deepEqual((await of()).forDueDates, [])
  bank.grant([...BASIC, 'cobv.read'])
  const { missing, forDueDates } = await of()
  assert.deepEqual(forDueDates, ['cobv.write'])
  assert.ok(missing.includes('rec.read') && !missing.some((scope) => scope.startsWith('cobv')))
})

test('scopes are read as a text or a list, and a bank may say nothing of them', async () => {
  const { bank, clock } = await openScene()
  const scopesIn = async (scope: unknown) => {
    const send: Transport['send'] = async () => ({
      kind: 'done',
      body: { access_token: 'a', scope },
    })
    const transport = { send, clockGap_ms: () => null, close: async () => {} }
    const tokens = createTokens(bank.connection(), transport, clock)
    const token = await tokens.current()
    return token.kind === 'token' && token.scopes
  }
  for (const scope of ['cob.read pix.read', 'cob.read, pix.read', ['cob.read', 'pix.read']]) {
    assert.deepEqual(await scopesIn(scope), ['cob.read', 'pix.read'])
  }
  for (const scope of [undefined, null, '', 7]) assert.equal(await scopesIn(scope), null)
})

test('where a bank has two addresses for tokens, the second is tried, and asked first from then on', async () => {
  const scene = await openScene()
  const { bank, bacen, payee, connect, clock } = scene
  const profile = bank.profile('itau')
  connect(bank.connection({ profile }))
  given(await bacen.issueCharge(payee, newCharge(scene)))
  const asked = () =>
    bank
      .state()
      .requests.filter(({ operation }) => operation === TOKEN)
      .map(({ path }) => path)
  const [first, second] = [profile.token.url, ...profile.token.otherUrls].map(
    (url) => new URL(url).pathname,
  )
  assert.deepEqual(asked(), [first, second])
  clock.advance(7200)
  given(await bacen.issueCharge(payee, newCharge(scene)))
  assert.deepEqual(asked(), [first, second, second])
})

test('a bank with a token of its own for agreements gets that one, and its header', async () => {
  const scene = await openScene()
  const { bank, bacen, payee, connect } = scene
  connect(bank.connection({ profile: bank.profile('santander') }))
  given(await bacen.issueCharge(payee, newCharge(scene)))
  assert.equal(bank.state().tokens.length, 1)
  given(await bacen.createAgreement(payee, newAgreement(scene)))
  given(await bacen.issueCharge(payee, newCharge(scene)))
  assert.deepEqual(
    bank.state().tokens.map(({ path }) => path),
    ['/oauth/token', '/auth/oauth/v2/token'],
  )
})

test('a check tries both tokens of such a bank, and says in one sentence which of them fails', async () => {
  const scene = await openScene()
  const { bank, bacen, payee, connect } = scene
  connect(bank.connection({ profile: bank.profile('santander') }))
  const [charges, agreements] = ['/oauth/token', '/auth/oauth/v2/token'] as const
  const inspect = async (...closed: string[]) => {
    bank.style({ token: { closed } })
    const { faults, agreementFault } = await bacen.inspect(payee)
    return [faults, agreementFault]
  }
  assert.deepEqual(await inspect(), [[], null])
  assert.deepEqual(
    bank
      .state()
      .tokens.map(({ path }) => path)
      .sort(),
    [agreements, charges],
  )
  const ofOne = (which: string) =>
    new RegExp(
      `^of the two addresses for tokens the one of ${which} fails: the bank gives no token`,
    )
  const [[first], none] = (await inspect(charges)) as [string[], null]
  assert.match(first!, ofOne('charges'))
  assert.equal(none, null)
  const [others, second] = await inspect(agreements)
  assert.deepEqual(others, [], 'charges can be made')
  assert.match(String(second), ofOne('subscriptions'))
  const [[both]] = (await inspect(charges, agreements)) as [string[], null]
  assert.match(both!, /^both addresses for tokens fail, of charges and of subscriptions: the bank/)
})

test('a scope is requested by the name that the bank has for it', async () => {
  const scene = await openScene({ style: { scopes: { locrec: 'locr' } } })
  const { bank, bacen, payee } = scene
  given(await bacen.createAgreement(payee, newAgreement(scene)))
  const asked = bank.state().tokens[0]!.scope!.split(' ')
  assert.deepEqual(
    asked.filter((name) => name.includes('loc')),
    ['locr.read', 'locr.write'],
  )
})
