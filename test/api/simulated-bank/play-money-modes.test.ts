import assert from 'node:assert/strict'
import { test } from 'node:test'
import { releaseDueCharges } from '../../../src/worker/due.ts'
import { type Client, startApi, type TestApi } from '../../support/api.ts'
import { charged, openBanked } from '../../support/bank.ts'
import {
  balancesOf,
  makeCharge,
  makeCode,
  movementsOf,
  order,
  stateOf,
} from '../../support/payments.ts'
import { makeReceiver, openDeliveryWorker } from '../../support/webhooks.ts'

const home = await startApi()
const production = await startApi({}, { local: false })
const LIVE = { mode: 'live', pixKey: 'dona@example.com' } as const

/** Where a payer, or a payer's bank, meets a code. */
async function doorsOf(api: TestApi, client: Client) {
  const charge = await makeCharge(client, 1990, { devMode: true })
  const code = await makeCode(client, 700, true)
  const { publicUrl, url } = (await client.get(`/charge/${charge.id}`)).body.data
  const page = new URL(publicUrl ?? url).pathname
  // The code at the bank names the charge without the tag of the page.
  const token = page.slice(page.lastIndexOf('/') + 1).slice(0, 43)
  const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  const brCode = new URLSearchParams({ code: charge.brCode, how: 'once', amount: '19,90' })
  return {
    charge,
    code,
    page,
    pix: await order(api, { brCode: charge.brCode }),
    static: await order(api, { brCode: code.brCode }),
    location: await api.call('GET', `/cob/${token}`),
    form: await api.call('POST', '/bank/pay', { raw: String(brCode), ...form }),
    bank: await api.call('GET', `/bank?${brCode}`),
    simulate: await api.call('POST', `${page}/simulate`, { raw: '', ...form }),
  }
}

test('in production nobody meets a live company at the simulated bank, as if it had no code', async () => {
  const client = await production.client(LIVE)
  const doors = await doorsOf(production, client)
  for (const reply of [doors.pix, doors.static, doors.location]) {
    assert.deepEqual([reply.status, reply.body.errors[0].code], [404, 'charge_not_found'])
  }
  const unknown = await order(production, {
    brCode: (await makeCharge(await home.client(), 1990)).brCode,
  })
  assert.deepEqual(doors.pix.body, unknown.body, 'the answer is that for an unknown code')
  for (const reply of [doors.form, doors.bank, doors.simulate]) assert.equal(reply.status, 404)
  assert.deepEqual(await stateOf(client, doors.charge.id), ['OPEN', 'PROCESSING'])
  const { text } = await production.call('GET', doors.page)
  assert.doesNotMatch(text, /\/simulate|\/bank\?/, 'the page leads nowhere either')
})

test('beside a sandbox the bank is open in production, and a live company still not in it', async () => {
  const api = await startApi({}, { local: false })
  const [sandbox, live] = [await api.client(), await api.client(LIVE)]
  const [own, other] = [await doorsOf(api, sandbox), await doorsOf(api, live)]
  assert.deepEqual([own.pix.status, own.static.status, own.location.status], [201, 201, 200])
  assert.deepEqual([own.bank.status, own.simulate.status], [200, 200])
  assert.deepEqual([other.pix.status, other.static.status, other.location.status], [404, 404, 404])
  assert.equal(other.bank.status, 422)
  assert.deepEqual((await live.get('/charge?status=COMPLETED')).body.data, [])
})

test('the own key of a live company pays a dev-mode charge in production, and books nothing', async () => {
  const client = await production.client(LIVE)
  const { id } = await makeCharge(client, 1990, { devMode: true })
  assert.equal((await client.post(`/charge/${id}/simulate-payment`)).status, 200)
  production.clock.advance(60)
  await releaseDueCharges.run(production.app)
  assert.deepEqual(await stateOf(client, id), ['COMPLETED', 'RECEIVED'])
  assert.deepEqual(await movementsOf(production, client), [])
  assert.equal((await balancesOf(production, client)).available, 0)
})

/** The modes of all deliveries to a client, and the devMode of all events in its feed. */
async function modesAfter(client: Client, act: () => Promise<unknown>) {
  const types = ['charge.pending', 'charge.processing', 'charge.paid', 'payment.unmatched']
  const { receiver } = await makeReceiver(client, types)
  await act()
  await openDeliveryWorker(home).run()
  const { body } = await client.get('/event')
  const modes = receiver.received.map(({ headers }) => headers['x-webhook-mode'])
  assert.equal(modes.length, body.data.length)
  return {
    modes: [...new Set(modes)],
    devModes: [...new Set(body.data.map(({ devMode }: { devMode: boolean }) => devMode))],
    types: new Set(body.data.map(({ type }: { type: string }) => type)),
  }
}

test('every event of play money says so, in its delivery and in the feed', async () => {
  const sandbox = await home.client()
  const ofSandbox = await modesAfter(sandbox, async () => {
    const { brCode } = await makeCharge(sandbox, 1990)
    for (let i = 0; i < 2; i++) await order(home, { brCode })
  })
  assert.deepEqual([ofSandbox.modes, ofSandbox.devModes], [['sandbox'], [true]])
  const trying = await openBanked(home)
  const ofTrial = await modesAfter(trying, async () => {
    const { brCode } = await makeCharge(trying, 1990, { devMode: true })
    for (let i = 0; i < 2; i++) await order(home, { brCode })
    await order(home, { brCode: (await makeCode(trying, 700, true)).brCode })
  })
  assert.deepEqual([ofTrial.modes, ofTrial.devModes], [['dev'], [true]])
  const shop = await openBanked(home)
  const ofMoney = await modesAfter(shop, async () => {
    const { brCode } = await charged(shop)
    for (let i = 0; i < 2; i++) shop.bank.payer.pay(brCode)
    await shop.bank.callbacksSent()
    await home.app.callbacks.process.idle()
  })
  assert.deepEqual([ofMoney.modes, ofMoney.devModes], [['live'], [false]])
  for (const { types } of [ofSandbox, ofTrial, ofMoney]) assert.equal(types.size, 4)
})

test('an event from before modes were written has that of its company', async () => {
  const [sandbox, live] = [await home.client(), await home.client(LIVE)]
  for (const client of [sandbox, live]) await makeCharge(client, 700, { devMode: true })
  await home.rows('update events set mode = null')
  for (const [client, expected] of [
    [sandbox, true],
    [live, false],
  ] as const) {
    const { data } = (await client.get('/event')).body
    assert.deepEqual([...new Set(data.map((one: { devMode: boolean }) => one.devMode))], [expected])
  }
})
