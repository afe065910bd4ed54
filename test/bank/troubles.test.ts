import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parse } from '../../src/pix/brcode.ts'
import { findProfile, PROFILE_NAMES } from '../../src/provider/bacen/profiles.ts'
import { openCaller } from './caller.ts'
import { openReceiver, type Taken } from './receiver.ts'
import { charge, KEY, open, TXID } from './scene.ts'

test('callbacks arrive with and without a suffix: lost, doubled, held, reordered or forged', async () => {
  const receiver = await openReceiver()
  after(receiver.close)
  const { bank, call } = await open()
  assert.equal((await call('GET', `/webhook/${KEY}`)).status, 404)
  const webhookUrl = `${receiver.url}/hook?key=1`
  assert.equal((await call('PUT', `/webhook/${KEY}`, { webhookUrl })).status, 200)
  assert.equal((await call('GET', `/webhook/${KEY}`)).body.webhookUrl, webhookUrl)
  await call('PUT', `/cob/${TXID}`, charge())
  const pay = () => bank.payer.pay(TXID).endToEndId
  const arrived = async () => {
    await bank.callbacksSent()
    return receiver.taken().map(({ body }) => body.pix[0].endToEndId)
  }
  const plain = pay()
  await bank.callbacksSent()
  const [{ path, body }] = receiver.taken() as [Taken]
  assert.deepEqual([path, body.pix.length], ['/hook/pix?key=1', 1])
  assert.equal(body.pix[0].endToEndId, plain)
  bank.payer.payKey(KEY, 100)
  bank.faults.nextCallback('lost')
  pay()
  assert.deepEqual(await arrived(), [])
  bank.faults.nextCallback('doubled')
  const twice = pay()
  assert.deepEqual(await arrived(), [twice, twice])
  bank.faults.nextCallback('reordered')
  const [late, soon] = [pay(), pay()]
  assert.deepEqual(await arrived(), [soon, late])
  bank.faults.nextCallback('held', 2)
  const held = [pay(), pay()]
  assert.deepEqual(await arrived(), [])
  bank.callbacks.releaseHeld('reversed')
  assert.deepEqual(await arrived(), held.toReversed())
  bank.style({ suffix: false })
  pay()
  await bank.callbacksSent()
  assert.equal(receiver.taken()[0]!.path, '/hook?key=1')
  await bank.callbacks.forge(`${receiver.url}/hook`, { pix: 'forged' })
  assert.deepEqual(receiver.taken()[0]!.body, { pix: 'forged' })
  assert.equal((await call('DELETE', `/webhook/${KEY}`)).status, 204)
  pay()
  assert.deepEqual(await arrived(), [])
  assert.deepEqual(bank.violations(), [])
})

test('a bank that probes takes no URL that does not answer', async () => {
  const receiver = await openReceiver()
  const { bank, call, send, token } = await open({ probes: true, errors: 'efi' })
  const webhookUrl = `${receiver.url}/hook`
  const open_ = await call('PUT', '/webhookrec', { webhookUrl })
  assert.deepEqual([open_.status, open_.body.nome], [400, 'webhook_invalido'])
  const { access_token } = (await token()).body
  const headers = {
    authorization: `Bearer ${access_token}`,
    'content-type': 'application/json',
    'x-skip-mtls-checking': 'true',
  }
  const text = JSON.stringify({ webhookUrl })
  assert.equal((await send('PUT', '/api/v2/webhookrec', { headers, text })).status, 200)
  assert.equal(receiver.taken().at(-1)!.body.evento, 'teste_webhook')
  await receiver.close()
  assert.equal((await send('PUT', '/api/v2/webhookcobr', { headers, text })).status, 400)
  assert.deepEqual(bank.violations(), [])
})

test('callbacks over HTTPS bear the certificate of the bank', async () => {
  const receiver = await openReceiver('certificates only')
  after(receiver.close)
  const { bank, call } = await open({ probes: true })
  const webhookUrl = `${receiver.url}/hook`
  const put = await call('PUT', `/webhook/${KEY}`, { webhookUrl })
  assert.equal(put.status, 200, 'who has no certificate was not let in')
  await call('PUT', `/cob/${TXID}`, charge())
  bank.payer.pay(TXID)
  await bank.callbacksSent()
  assert.deepEqual(
    receiver.taken().map(({ path, caller }) => [path, caller]),
    [
      ['/hook', '127.0.0.1'],
      ['/hook/pix', '127.0.0.1'],
    ],
  )
  assert.equal(await bank.callbacks.forge(webhookUrl, {}), null)
  assert.deepEqual([receiver.taken(), bank.violations()], [[], []])
})

test('each fault does what its name says, once, to the call that it is meant for', async () => {
  const { bank, call } = await open()
  const put = () => call('PUT', `/cob/${TXID}`, charge())
  const count = () => bank.state().charges.size
  const get = () => call('GET', `/cob/${TXID}`)
  await get()
  bank.faults.next('PUT /cob', 'drop')
  await assert.rejects(put())
  assert.equal(count(), 0)
  for (const [fault, status] of [
    ['5xx', 503],
    ['html', 502],
    ['html 200', 200],
  ] as const) {
    bank.faults.next('PUT /cob', fault)
    const reply = await put()
    assert.deepEqual([reply.status, count()], [status, 0])
    assert.equal(reply.type.startsWith('text/html'), fault !== '5xx')
  }
  bank.faults.next('PUT /cob', 'lose answer')
  assert.equal((await get()).status, 404, 'another call is not meant')
  await assert.rejects(put())
  assert.deepEqual([count(), (await get()).status], [1, 200])
  bank.faults.next('PUT /cob', '5xx after effect')
  assert.deepEqual([(await put()).status, (await get()).body.revisao], [500, 1])
  bank.faults.next('GET', 'slow')
  const slow = get()
  assert.equal((await put()).status, 201, 'others go on')
  bank.faults.release()
  assert.equal((await slow).status, 200)
  bank.faults.next('*', 'expired token')
  assert.deepEqual([(await get()).status, (await get()).status], [401, 401])
  assert.equal(bank.faults.made.length, 8)
  assert.deepEqual(bank.violations(), [])
})

test('faults at random are the same for the same seed, and over when they are cleared', async () => {
  const run = async () => {
    const { bank, call } = await open()
    await call('GET', `/cob/${TXID}`)
    bank.faults.random(7, { calls: { '5xx': 0.3, drop: 0.2 } })
    const statuses: (number | null)[] = []
    for (let i = 0; i < 12; i++)
      statuses.push(
        await call('GET', `/cob/${TXID}`).then(
          (reply) => reply.status,
          () => null,
        ),
      )
    bank.faults.clear()
    assert.equal((await call('GET', `/cob/${TXID}`)).status, 404)
    return statuses
  }
  const first = await run()
  assert.deepEqual(await run(), first)
  assert.deepEqual(new Set(first), new Set([404, 503, null]))
})

test('a style changes what is answered, not what has happened', async () => {
  const { bank, call } = await open({
    code: 'brcode',
    created: 200,
    dates: 'seconds',
    errors: 'bb',
    extras: true,
  })
  const made = await call('PUT', `/cob/${TXID}`, charge())
  assert.equal(made.status, 200)
  assert.equal(parse(made.body.brcode).kind, 'dynamic')
  assert.equal(made.body.pixCopiaECola, undefined)
  assert.equal(made.body.calendario.criacao, '2026-08-20T15:00:00Z')
  assert.equal(made.body.loc.tipoCob, 'NOVIDADE')
  assert.ok(made.body.campoNovo)
  const missing = await call('GET', `/pix/${'E'.repeat(32)}`)
  assert.deepEqual([missing.status, missing.body.erros.length], [404, 1])
  assert.deepEqual(bank.violations(), [])
  await call('GET', '/pix?inicio=2026-08-01T00:00:00.000Z&fim=2026-08-02T00:00:00Z')
  assert.match(bank.violations().join(), /milliseconds/)
})

test('a bank wants what it demands with each call', async () => {
  const { bank, call, send, token } = await open({
    demands: [{ name: 'gw-dev-app-key', place: 'either', value: 'appKey' }],
  })
  assert.equal((await call('GET', `/cob/${TXID}`)).status, 403)
  const { access_token } = (await token()).body
  const headers = { authorization: `Bearer ${access_token}` }
  const query = `?gw-dev-app-key=${bank.credentials.appKey}`
  assert.equal((await send('GET', `/api/v2/cob/${TXID}${query}`, { headers })).status, 404)
  assert.deepEqual(bank.violations().length, 1)
})

test('money is sent once for its id, and its end can be asked for', async () => {
  const { bank, send } = await open({ sends: 'efi', errors: 'efi' })
  const caller = openCaller(bank)
  after(caller.close)
  const { access_token } = (await caller.token('pix.send gn.pix.send.read')).body
  const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
  const body = {
    valor: '5.00',
    pagador: { chave: KEY },
    favorecido: { chave: 'maria@example.com' },
  }
  const put = () => send('PUT', '/v3/gn/pix/w1', { headers, text: JSON.stringify(body) })
  const sent = await put()
  assert.deepEqual([sent.status, sent.body.status], [201, 'EM_PROCESSAMENTO'])
  assert.equal((await put()).status, 409)
  const found = await send('GET', '/v2/gn/pix/enviados/id-envio/w1', { headers })
  assert.deepEqual([found.body.status, found.body.endToEndId], ['REALIZADO', sent.body.e2eId])
  assert.equal((await send('GET', '/v2/gn/pix/enviados/id-envio/w2', { headers })).status, 404)
  assert.equal(bank.state().sends.size, 1)
})

test('a bank becomes the one that a profile is of, and only the hosts of it are replaced', async () => {
  const { bank } = await open()
  for (const name of PROFILE_NAMES) {
    const [own, real] = [bank.profile(name), findProfile(name)!]
    const { baseUrl, token, paths, agreements, ...rest } = own
    const tokens = [token.url, ...token.otherUrls, agreements?.tokenUrl ?? baseUrl]
    const places = [baseUrl, ...tokens, ...Object.values(paths).filter((one) => one !== null)]
    const hosts = places.filter((place) => /^https:/.test(place)).map((one) => new URL(one).origin)
    assert.deepEqual(new Set(hosts), new Set([bank.url]))
    const { baseUrl: _, token: asked, paths: kept, agreements: apart, ...others } = real
    assert.deepEqual(rest, others)
    const nowhere = { url: '', otherUrls: [] }
    assert.deepEqual({ ...token, ...nowhere }, { ...asked, ...nowhere })
    assert.deepEqual(agreements?.headers, apart?.headers)
    assert.deepEqual(Object.keys(paths), Object.keys(kept))
  }
  assert.equal(bank.state().style.created, 200, 'as Bradesco, the last of them')
})
