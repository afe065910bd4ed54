import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { processDueCallbacks, reconcileDue } from '../../../src/worker/due.ts'
import { startApi } from '../../support/api.ts'
import { type Banked, charged, openBanked, read } from '../../support/bank.ts'
import { balancesOf } from '../../support/payments.ts'
import { stopTime } from '../../support/stopped-time.ts'
import { until } from '../../support/until.ts'

const api = await startApi()

const stateOf = async (shop: Banked, id: string) => {
  const { status, paymentStatus } = await read(shop, id)
  return [status, paymentStatus]
}
const PAID = ['COMPLETED', 'PAID']
const OPEN = ['OPEN', 'PROCESSING']
const bookedBy = async (shop: Banked) => {
  const { available, pending, unmatched } = await balancesOf(api, shop)
  return available + pending + unmatched
}

/** Waits until all callbacks of a bank are sent and processed. */
async function callbacksProcessed({ bank }: Banked): Promise<void> {
  await bank.callbacksSent()
  await api.app.callbacks.process.idle()
}

for (const suffix of [true, false]) {
  test(`a callback ${suffix ? 'with' : 'without'} /pix behind its address pays the charge`, async () => {
    const shop = await openBanked(api, { style: { suffix } })
    const { id, brCode } = await charged(shop)
    shop.bank.payer.pay(brCode)
    await callbacksProcessed(shop)
    assert.deepEqual(await stateOf(shop, id), PAID)
    assert.equal(await bookedBy(shop), 1990)
  })
}

test('callbacks that come twice, out of order or never, and asking, pay once', async () => {
  const shop = await openBanked(api)
  const charges = await Promise.all(Array.from({ length: 4 }, () => charged(shop)))
  for (const fault of ['doubled', 'reordered', 'lost', 'held'] as const) {
    shop.bank.faults.nextCallback(fault)
  }
  for (const { brCode } of charges) shop.bank.payer.pay(brCode)
  await callbacksProcessed(shop)
  api.clock.advance(61)
  await reconcileDue.run(api.app)
  shop.bank.callbacks.releaseHeld()
  await callbacksProcessed(shop)
  for (const { id } of charges) assert.deepEqual(await stateOf(shop, id), PAID)
  assert.equal(await bookedBy(shop), 4 * 1990)
})

test('a forged callback moves nothing, nor does one of another company', async () => {
  const [shop, other] = [await openBanked(api), await openBanked(api)]
  const { id, brCode } = await charged(shop)
  const txid = id.slice('charge_'.length)
  const forged = {
    endToEndId: 'E99999999202608201500ABCDEFGHIJK',
    txid,
    valor: '19.90',
    horario: '2026-08-20T15:00:00.000Z',
    chave: shop.company.pixKey,
  }
  const postCallback = (url: string, json: unknown) =>
    api.call('POST', url.slice(api.url.length), { json })
  assert.equal((await postCallback(shop.callback, { pix: [forged] })).status, 200)
  const { endToEndId } = other.bank.payer.pay((await charged(other)).brCode)
  await callbacksProcessed(other)
  assert.equal(
    (await postCallback(shop.callback, { pix: [{ ...forged, endToEndId }] })).status,
    200,
  )
  await callbacksProcessed(shop)
  assert.deepEqual(await stateOf(shop, id), OPEN)
  assert.equal(await bookedBy(shop), 0)
  shop.bank.payer.pay(brCode)
  await callbacksProcessed(shop)
  for (let i = 0; i < 3; i++) {
    const [sent] = shop.bank.state().callbacks.filter(({ kind }) => kind === 'pix')
    await postCallback(shop.callback, sent!.body)
  }
  await callbacksProcessed(shop)
  assert.equal(await bookedBy(shop), 1990)
  assert.equal(await bookedBy(other), 1990)
})

test('what came to another key of the account, or before it was connected, is not ours', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const postCallback = (endToEndId: string) =>
    api.call('POST', shop.callback.slice(api.url.length), { json: { pix: [{ endToEndId }] } })
  const foreign = shop.bank.payer.payKey('outra@example.com', 5000)
  const old = new Date(api.clock.now().getTime() - 3_600_000)
  const early = shop.bank.payer.payKey(shop.company.pixKey, 3000, { at: old })
  const { brCode } = await charged(shop)
  const named = shop.bank.payer.pay(brCode, { at: old })
  for (const { endToEndId } of [foreign, early, named]) await postCallback(endToEndId)
  await callbacksProcessed(shop)
  assert.equal(await bookedBy(shop), 1990, 'only what pays a charge of ours')
  const waiting = await api.rows(
    'select 1 from bank_callbacks where company_id = $1 and processed_at is null',
    [shop.company.id],
  )
  assert.equal(waiting.length, 1, 'the bank has nothing for us under the id of the other key')
})

test('a bank that hangs keeps nobody but its own company waiting', async () => {
  const [hung, well] = [await openBanked(api), await openBanked(api)]
  const held = await Promise.all(Array.from({ length: 6 }, () => charged(hung)))
  const { id, brCode } = await charged(well)
  const { made } = hung.bank.faults
  hung.bank.faults.next('GET /pix/{e2eid}', 'slow', 6)
  for (const [i, one] of held.entries()) {
    hung.bank.payer.pay(one.brCode)
    await hung.bank.callbacksSent()
    if (i === 0) await until('the bank is asked', async () => made.length > 0)
  }
  well.bank.payer.pay(brCode)
  const isPaid = async () => (await read(well, id)).paymentStatus === 'PAID'
  await until('the other is paid', isPaid)
  assert.equal((await read(hung, held[0]!.id)).paymentStatus, 'PROCESSING')
  hung.bank.faults.clear()
  await callbacksProcessed(hung)
})

test('of a callback that names too much, only a part is read', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const pix = Array.from({ length: 1200 }, (_, n) => ({
    endToEndId: `E99999999202608201500${String(n).padStart(11, '0')}`,
  }))
  const path = shop.callback.slice(api.url.length)
  assert.equal((await api.call('POST', path, { json: { pix } })).status, 200)
  await callbacksProcessed(shop)
  assert.ok(shop.bank.seen('GET /pix/{e2eid}') <= 500, String(shop.bank.seen('GET /pix/{e2eid}')))
})

test('what a bank lists hours late is found when it is asked further back, once a day', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const { id, brCode } = await charged(shop, { expiresIn: 604_800 })
  api.clock.advance(601)
  await reconcileDue.run(api.app)
  shop.bank.payer.pay(brCode, { at: new Date(api.clock.now().getTime() - 595_000) })
  const { pix } = shop.bank.state()
  const [late] = [...pix.values()]
  pix.clear()
  for (let hour = 0; hour < 3; hour++) {
    api.clock.advance(3600)
    await reconcileDue.run(api.app)
  }
  pix.set(late!.endToEndId, late!)
  api.clock.advance(3600)
  await reconcileDue.run(api.app)
  assert.deepEqual(await stateOf(shop, id), OPEN)
  api.clock.advance(20 * 3600)
  await reconcileDue.run(api.app)
  assert.deepEqual(await stateOf(shop, id), PAID)
})

test('without callbacks a payment is found within a minute, however idle the company was', async () => {
  const shop = await openBanked(api, { callbacks: false })
  for (let minute = 0; minute < 3; minute++) {
    api.clock.advance(60)
    await reconcileDue.run(api.app)
  }
  const { data } = (await shop.post('/charge/pix/static', { amount: 700 })).body
  api.clock.advance(59)
  await reconcileDue.run(api.app)
  shop.bank.payer.pay(data.brCode)
  api.clock.advance(60)
  await reconcileDue.run(api.app)
  assert.equal(await bookedBy(shop), 700)
})

test('a bank that does not answer is seen by the operator', async () => {
  const silent = await startApi()
  const shop = await openBanked(silent)
  const seconds = async () => {
    const { text } = await silent.operator('/metrics')
    return Number(/^vintem_bank_unasked_oldest_seconds (\S+)$/m.exec(text)![1])
  }
  silent.clock.advance(700)
  shop.bank.faults.next('GET /pix', '5xx')
  await reconcileDue.run(silent.app)
  assert.equal(await seconds(), 700)
  silent.clock.advance(61)
  await reconcileDue.run(silent.app)
  assert.equal(await seconds(), 0)
})

test('what the bank cannot confirm now is asked about again', async () => {
  const shop = await openBanked(api)
  const { id, brCode } = await charged(shop)
  shop.bank.faults.next('GET /pix/{e2eid}', '5xx')
  shop.bank.payer.pay(brCode)
  await callbacksProcessed(shop)
  assert.deepEqual(await stateOf(shop, id), OPEN)
  api.clock.advance(31)
  await processDueCallbacks.run(api.app)
  assert.deepEqual(await stateOf(shop, id), PAID)
})

test('an address that names no bank is not found, however close it comes', async () => {
  const shop = await openBanked(api)
  const path = shop.callback.slice(api.url.length)
  const changed = path.slice(0, -2) + (path.endsWith('AA') ? 'BQ' : 'AA')
  const json = { pix: [] }
  for (const wrong of [changed, '/bank/callbacks/x', `${path}/pix/more`]) {
    assert.equal((await api.call('POST', wrong, { json })).status, 404, wrong)
  }
})

test('of wrong addresses that are called together 200 are looked up, and the bank goes on', async (t) => {
  const limited = await startApi({ RATE_LIMIT: '100', RATE_LIMIT_BURST: '200' })
  const shop = await openBanked(limited)
  stopTime(t)
  const path = shop.callback.slice(limited.url.length)
  const callAll = async (paths: string[]) => {
    const call = async (url: string) =>
      (await limited.service.server.inject({ method: 'POST', url, payload: { pix: [] } }))
        .statusCode
    const counts: Record<number, number> = {}
    for (const status of await Promise.all(paths.map(call)))
      counts[status] = (counts[status] ?? 0) + 1
    return counts
  }
  // A bank that calls often takes nothing from its address.
  assert.deepEqual(await callAll(Array(300).fill(path)), { 200: 300 })
  const wrong = Array.from({ length: 500 }, (_, n) => `/bank/callbacks/${n}`)
  assert.deepEqual(await callAll(wrong), { 404: 200, 429: 300 })
})

test('a bank that probes the callback URL is answered', async () => {
  const shop = await openBanked(api)
  const path = shop.callback.slice(api.url.length)
  const probes: Parameters<typeof api.call>[] = [
    ['GET', path],
    ['POST', path],
    ['POST', `${path}/pix`, { json: {} }],
    ['POST', path, { json: { evento: 'teste_webhook' } }],
    ['POST', path, { raw: '{"pix":[]}', headers: { 'content-type': 'text/plain' } }],
    ['POST', `${path}/rec`, { raw: '', headers: { 'content-type': 'application/json' } }],
  ]
  for (const probe of probes) assert.equal((await api.call(...probe)).status, 200, String(probe))
  assert.equal((await fetch(shop.callback, { method: 'HEAD' })).status, 200)
  const nonsense = await api.call('POST', path, {
    raw: '<html>',
    headers: { 'content-type': 'text/html' },
  })
  assert.deepEqual([nonsense.status, nonsense.body.errors[0].code], [400, 'invalid_json'])
})

type Sent = { path?: string; raw: string | Uint8Array; headers?: Record<string, string> }

const FORMS: Record<string, (pix: Record<string, unknown>) => Sent> = {
  'a bare object': (pix) => ({ raw: JSON.stringify(pix) }),
  'a bare object with txId': ({ txid: txId, ...pix }) => ({
    raw: JSON.stringify({ ...pix, txId }),
  }),
  'a bare object with nothing but a txid': ({ txid }) => ({ raw: JSON.stringify({ txid }) }),
  'a top-level array': (pix) => ({ raw: JSON.stringify([pix]) }),
  'a top-level array of reports': (pix) => ({ raw: JSON.stringify([{ pix: [pix] }]) }),
  'an object in the place of the list': (pix) => ({ raw: JSON.stringify({ pix }) }),
  'a slash at the end': (pix) => ({ path: '/', raw: JSON.stringify({ pix: [pix] }) }),
  'a slash behind /pix': (pix) => ({ path: '/pix/', raw: JSON.stringify({ pix: [pix] }) }),
  'a byte-order mark': (pix) => ({ raw: `\ufeff${JSON.stringify({ pix: [pix] })}` }),
  gzip: (pix) => ({
    raw: gzipSync(JSON.stringify({ pix: [pix] })),
    headers: { 'content-encoding': 'gzip' },
  }),
  'gzip that no header names, with a byte-order mark': (pix) => ({
    raw: gzipSync(`\ufeff${JSON.stringify({ pix: [pix] })}`),
  }),
}

/** Posts as a bank does, and returns the status of the answer. */
async function post(shop: Banked, { path = '', raw, headers = {} }: Sent): Promise<number> {
  const { status } = await fetch(shop.callback + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: raw as Uint8Array<ArrayBuffer>,
  })
  return status
}

const waitingOf = ({ company }: Banked) =>
  api.rows('select 1 from bank_callbacks where company_id = $1 and processed_at is null', [
    company.id,
  ])

test('a callback is understood in every form that banks send it in, and done with', async () => {
  const shop = await openBanked(api, { callbacks: false })
  for (const [form, write] of Object.entries(FORMS)) {
    const { id, brCode } = await charged(shop)
    const { endToEndId, txid } = shop.bank.payer.pay(brCode)
    const pix = { endToEndId, txid, valor: '19.90', horario: api.clock.now().toISOString() }
    assert.equal(await post(shop, write(pix)), 200, form)
    await callbacksProcessed(shop)
    assert.deepEqual(await stateOf(shop, id), PAID, form)
    assert.deepEqual(await waitingOf(shop), [], form)
  }
  assert.equal(await bookedBy(shop), Object.keys(FORMS).length * 1990)
})

test('a txid alone is asked about again while the bank is silent, and foreign ones are done with', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const { id, brCode } = await charged(shop)
  const { txid } = shop.bank.payer.pay(brCode)
  shop.bank.faults.next('GET /cob/{txid}', '5xx')
  assert.equal(await post(shop, { raw: JSON.stringify({ txid, status: 'CONCLUIDA' }) }), 200)
  await callbacksProcessed(shop)
  assert.equal((await waitingOf(shop)).length, 1)
  for (const foreign of ['x'.repeat(26), '0'.repeat(26), 'pedido77']) {
    assert.equal(await post(shop, { raw: JSON.stringify({ txid: foreign }) }), 200)
  }
  await callbacksProcessed(shop)
  assert.equal((await waitingOf(shop)).length, 1)
  assert.equal(shop.bank.seen('GET /cob/{txid}'), 1, 'nothing is asked about what is not ours')
  api.clock.advance(31)
  await processDueCallbacks.run(api.app)
  assert.deepEqual(await stateOf(shop, id), PAID)
  assert.deepEqual(await waitingOf(shop), [])
})

test('what cannot be unpacked, or is too large then, is refused', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const packed = gzipSync(JSON.stringify({ pix: [{ endToEndId: 'x'.repeat(100) }] }))
  assert.equal(await post(shop, { raw: packed.subarray(0, 20) }), 400)
  assert.equal(await post(shop, { raw: gzipSync('{"pix":') }), 400)
  assert.equal(await post(shop, { raw: gzipSync(' '.repeat(64 * 1024 + 1)) }), 413)
})

test('a callback may name many payments, up to 64 KiB', async () => {
  const shop = await openBanked(api)
  const path = shop.callback.slice(api.url.length)
  const pix = Array.from({ length: 500 }, (_, n) => ({ endToEndId: '', note: `${n}`.padEnd(50) }))
  assert.equal((await api.call('POST', path, { json: { pix } })).status, 200)
  const raw = JSON.stringify({ pix: 'x'.repeat(64 * 1024) })
  assert.equal((await api.call('POST', path, { raw })).status, 413)
})

test('a callback is stored sealed', async () => {
  const shop = await openBanked(api)
  const { brCode } = await charged(shop)
  const { endToEndId } = shop.bank.payer.pay(brCode)
  await callbacksProcessed(shop)
  const [row] = await api.rows<{ sealed: Buffer; provider: string }>(
    'select sealed, provider from bank_callbacks where company_id = $1',
    [shop.company.id],
  )
  assert.equal(row!.provider, 'bacen')
  assert.ok(!row!.sealed.includes(endToEndId))
})

test('if a proxy checks certificates, only its header is trusted', async () => {
  const environment = {
    TRUSTED_PROXIES: '127.0.0.0/8',
    CALLBACK_CLIENT_HEADER: 'X-Client-Verify: SUCCESS',
  }
  const guarded = await startApi(environment)
  const far = await startApi({ ...environment, TRUSTED_PROXIES: '10.0.0.1' })
  const verified = { 'x-client-verify': 'SUCCESS' }
  for (const [own, headers, status] of [
    [guarded, verified, 200],
    [guarded, {}, 403],
    [guarded, { 'x-client-verify': 'NONE' }, 403],
    [far, verified, 403],
  ] as const) {
    const shop = await openBanked(own, { callbacks: false })
    const path = shop.callback.slice(own.url.length)
    const reply = await own.call('POST', path, { json: {}, headers })
    assert.equal(reply.status, status)
    if (status === 403) assert.equal(reply.body.errors[0].code, 'client_certificate_required')
  }
})
