import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RETRY_S } from '../../src/core/deliveries/rules.ts'
import { fromPublic } from '../../src/lib/ids.ts'
import { type Client, payer, startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { makeReceiver, openDeliveryWorker } from '../support/webhooks.ts'

const api = await startApi()
const delivering = openDeliveryWorker(api)

const makeCharge = (client: Client) =>
  client.post('/charge/pix', { amount: 700, customer: payer() })

/** The deliveries that a page links to, in its order. */
const linked = (text: string): string[] =>
  [...text.matchAll(/\/developers\/deliveries\/([\w-]{43})"/g)].map(([, id]) => id!)

const listed = async (member: Member, query = '') => {
  const page = await member.get(`/developers/deliveries${query}`)
  assert.equal(page.status, 200, page.text)
  return { ids: linked(page.text), text: page.text }
}

/** The link to the next page of a list. */
const nextOf = (text: string): string | null =>
  /rel="next" href="[^?]*(\?[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null

async function failToTheEnd(): Promise<void> {
  await delivering.run()
  for (const seconds of RETRY_S) {
    api.clock.advance(seconds)
    await delivering.run()
  }
}

test('a delivery shows what was sent and what was answered, and is sent again', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client, ['charge.pending'])
  const made = (await makeCharge(client)).body.data
  receiver.answer = (response) => response.writeHead(500).end('<b>não</b>')
  await failToTheEnd()
  const owner = await signIn(api, client.company)
  const { ids, text } = await listed(owner)
  assert.equal(ids.length, 1)
  assert.match(text, /Falhou/)
  assert.match(text, /HTTP 500/)
  const path = `/developers/deliveries/${ids[0]}`
  const page = await owner.get(path)
  assert.match(page.text, /&lt;b&gt;não&lt;\/b&gt;/)
  assert.match(page.text, /Tentativa 6/)
  const [sent] = receiver.received
  assert.ok(page.text.includes(sent!.body.replaceAll('"', '&quot;')), 'the body as it was sent')
  for (const name of ['webhook-id', 'x-webhook-delivery', 'x-webhook-event', 'x-webhook-mode']) {
    assert.ok(page.text.includes(`${name}: ${sent!.headers[name]}`), name)
  }
  assert.ok(!page.text.includes(String(sent!.headers['webhook-signature'])))
  assert.ok(page.text.includes(made.id), 'the charge of the event')
  receiver.answer = (response) => response.end('ok')
  const again = await owner.post(`${path}/redeliver`)
  assert.match(again.location!, /done=redelivered$/)
  await delivering.run()
  assert.match((await owner.get(path)).text, /Entregue/)
  await client.put(`/webhook/${webhook.id}`, { status: 'INACTIVE' })
  const refused = await owner.post(`${path}/redeliver`)
  assert.equal(refused.status, 400)
  assert.match(refused.text, /O webhook está inativo/)
})

test('the list is filtered by status, event, webhook and period, in pages', async () => {
  const client = await api.client()
  const one = await makeReceiver(client, ['charge.pending'])
  const other = await makeReceiver(client, ['charge.pending', 'charge.canceled'])
  other.receiver.answer = (response) => response.writeHead(500).end()
  for (let i = 0; i < 20; i++) await makeCharge(client)
  const start = api.clock.now()
  api.clock.advance(48 * 3600)
  const session = await signIn(api, client.company)
  await makeCharge(client)
  await client.post(`/webhook/${one.webhook.id}/test`)
  await delivering.run()
  const first = await listed(session)
  assert.equal(first.ids.length, 30)
  const second = await listed(session, nextOf(first.text)!)
  assert.equal(second.ids.length, 13)
  assert.equal(new Set([...first.ids, ...second.ids]).size, 43)
  assert.equal(nextOf(second.text), null)
  const delivered = await listed(session, '?status=DELIVERED')
  assert.equal(delivered.ids.length, 22)
  assert.equal((await listed(session, `?webhook=${one.webhook.id}&status=FAILED`)).ids.length, 0)
  assert.equal((await listed(session, `?webhook=${other.webhook.id}`)).ids.length, 21)
  const day = (at: Date) => at.toISOString().slice(0, 10)
  assert.equal((await listed(session, `?from=${day(api.clock.now())}`)).ids.length, 3)
  const early = await listed(session, `?to=${day(start)}`)
  assert.equal(early.ids.length, 30)
  assert.equal((await listed(session, nextOf(early.text)!)).ids.length, 10)
  assert.equal((await listed(session, '?to=2026-01-01')).ids.length, 0)
  assert.equal((await listed(session, '?type=webhook.test')).ids.length, 1)
  assert.equal((await listed(session, '?type=withdrawal.failed')).ids.length, 0)
  assert.equal((await listed(session, '?status=nonsense&webhook=x&from=x')).ids.length, 30)
})

test('a rare event is found beyond what one page looks at', async () => {
  const client = await api.client()
  const { webhook } = await makeReceiver(client, ['charge.pending'])
  const owner = await signIn(api, client.company)
  const tested = (await client.post(`/webhook/${webhook.id}/test`)).body.data.id
  await makeCharge(client)
  const [charge] = await api.rows<{ id: string }>(
    `select id from events where company_id = $1 and type = 'charge.pending'`,
    [client.company.id],
  )
  // 2,100 deliveries of charges after the one of the test.
  await api.rows(
    `with event as (
       insert into events (company_id, id, type, payload, created_at, mode, position)
       select e.company_id, overlay(e.id::text placing lpad(to_hex(i), 12, '0') from 25)::uuid,
         e.type, e.payload, e.created_at, e.mode, e.position
       from events e, generate_series(1, 2100) i where e.id = $1
       returning company_id, id, created_at)
     insert into deliveries (company_id, webhook_id, event_id, next_attempt_at, created_at)
     select company_id, $2, id, created_at, created_at from event`,
    [charge!.id, webhook.id],
  )
  const first = await listed(owner, '?type=webhook.test')
  assert.deepEqual(first.ids, [])
  assert.match(first.text, /A busca ainda não chegou ao fim/)
  const second = await listed(owner, nextOf(first.text)!)
  assert.deepEqual(second.ids, [tested])
  assert.equal(nextOf(second.text), null)
})

test('deliveries are replayed by time and status, after their number is shown', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client, ['charge.pending'])
  receiver.answer = (response) => response.writeHead(500).end()
  await makeCharge(client)
  await failToTheEnd()
  receiver.answer = (response) => response.end()
  await makeCharge(client)
  await delivering.run()
  const owner = await signIn(api, client.company)
  const path = `/developers/webhooks/${webhook.id}/replay`
  assert.doesNotMatch((await owner.get(path)).text, /Reenviar agora/)
  assert.match((await owner.get(`${path}?status=FAILED`)).text, /1 entrega será enviada/)
  assert.match((await owner.get(`${path}?status=ALL`)).text, /2 entregas serão enviadas/)
  const later = `${path}?status=DELIVERED&from=2026-08-20T12:00`
  assert.match((await owner.get(later)).text, /1 entrega será enviada/)
  assert.match((await owner.get(`${path}?status=ALL&to=2026-08-01T00:00`)).text, /Nenhuma entrega/)
  const count = receiver.received.length
  const replayed = await owner.post(path, { status: 'FAILED', from: '', to: '' })
  assert.match(replayed.location!, /done=replayed$/)
  await delivering.run()
  assert.equal(receiver.received.length, count + 1)
  assert.match((await owner.get(`${path}?status=FAILED`)).text, /Nenhuma entrega/)
})

test('events are listed newest first, with their body and deliveries', async () => {
  const client = await api.client()
  const { webhook } = await makeReceiver(client, ['charge.pending'])
  const viewer = await signIn(api, client.company, { role: 'viewer', language: 'en' })
  for (let i = 0; i < 26; i++) await makeCharge(client)
  await client.post(`/webhook/${webhook.id}/test`)
  const ids = (text: string) =>
    [...text.matchAll(/\/developers\/events\/(evt_\w+)"/g)].map(([, id]) => id!)
  const first = (await viewer.get('/developers/events')).text
  assert.equal(ids(first).length, 50)
  const second = (await viewer.get(`/developers/events${nextOf(first)}`)).text
  assert.equal(ids(second).length, 3)
  const all = [...ids(first), ...ids(second)].map((id) => fromPublic('evt', id)!)
  assert.deepEqual(all, all.toSorted().toReversed())
  const test = (await viewer.get('/developers/events?type=webhook.test')).text
  assert.equal(ids(test).length, 1)
  assert.equal(ids((await viewer.get('/developers/events?to=2026-08-01')).text).length, 0)
  const page = (await viewer.get(`/developers/events/${ids(second)[0]}`)).text
  assert.match(page, /&quot;event&quot;: &quot;Charge.Pending&quot;/)
  assert.equal(linked(page).length, 1)
  assert.doesNotMatch(page, /52998224725|529\.982/)
})

test('another company sees none of it, and who may only read sends nothing', async () => {
  const [client, other] = [await api.client(), await api.client()]
  const { webhook } = await makeReceiver(client, ['charge.pending'])
  await makeCharge(client)
  const owner = await signIn(api, client.company)
  const stranger = await signIn(api, other.company)
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  const [id] = (await listed(owner)).ids
  const event = /evt_\w+/.exec((await owner.get(`/developers/deliveries/${id}`)).text)![0]
  assert.equal((await stranger.get(`/developers/deliveries/${id}`)).status, 404)
  assert.equal((await stranger.post(`/developers/deliveries/${id}/redeliver`)).status, 404)
  assert.equal((await stranger.get(`/developers/events/${event}`)).status, 404)
  assert.deepEqual((await listed(stranger, `?webhook=${webhook.id}`)).ids, [])
  const replay = `/developers/webhooks/${webhook.id}/replay`
  assert.equal((await stranger.get(`${replay}?status=ALL`)).status, 404)
  assert.equal((await stranger.post(replay, { status: 'ALL' })).status, 404)
  assert.equal((await viewer.post(replay, { status: 'ALL' })).status, 403)
  assert.equal((await viewer.post(`/developers/deliveries/${id}/redeliver`)).status, 403)
  assert.doesNotMatch((await viewer.get(`/developers/deliveries/${id}`)).text, /Enviar de novo/)
})

test('a webhook shows how often and how fast its receiver has accepted', async () => {
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client, ['charge.pending'])
  const owner = await signIn(api, client.company)
  const page = async () => (await owner.get(`/developers/webhooks/${webhook.id}`)).text
  assert.doesNotMatch(await page(), /Desempenho/)
  await makeCharge(client)
  receiver.answer = (response) => response.writeHead(500).end()
  await delivering.run()
  receiver.answer = (response) => response.end('ok')
  for (let n = 0; n < 2; n += 1) {
    await makeCharge(client)
    await delivering.run()
  }
  api.clock.advance(60)
  await delivering.run()
  const text = await page()
  assert.match(text, /<dt>Aceitas<\/dt><dd><strong>75%<\/strong>/)
  assert.match(text, /<dt>Tentativas<\/dt><dd>4 tentativas/)
  assert.match(text, /Tempo de resposta \(mediana\)<\/dt><dd><strong>\d+ ms/)
})
