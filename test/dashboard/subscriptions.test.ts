import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromPublic } from '../../src/lib/ids.ts'
import { type Client, startApi } from '../support/api.ts'
import { approvedSubscription, at, chargesOf, moveTo } from '../support/billing.ts'
import { startPlaying } from '../support/clocks.ts'
import { signIn } from '../support/dashboard.ts'
import {
  decide,
  makeSubscription,
  makeTemplate,
  RECURRENCES,
  readSubscription,
  subscribe,
} from '../support/subscriptions.ts'

const api = await startApi()
startPlaying(api)

/** Approved on Thursday, 20 August: the first charge is due on Monday the 24th. */
const APPROVED_AT = '2026-08-20T15:00:01.000Z'

/** A company whose time goes by its own clock, and its owner. */
async function company(): Promise<{ client: Client; owner: Awaited<ReturnType<typeof signIn>> }> {
  const client = await api.client()
  await moveTo(client, APPROVED_AT)
  return { client, owner: await signIn(api, client.company) }
}

test('a subscription says what happens next, and why a charge was not paid', async () => {
  const { client, owner } = await company()
  const { id, emv } = await approvedSubscription(api, client, {}, false)
  await moveTo(client, at('2026-08-21'))
  const first = await owner.get(`/subscriptions/${id}`)
  assert.match(first.text, /O cliente autorizou/)
  assert.match(first.text, /Agendada no banco do cliente para 24\/08\/2026/)
  const [charge] = await chargesOf(client, id)
  assert.match(first.text, new RegExp(`/charges/${charge!.id}`))
  await moveTo(client, at('2026-08-26'))
  const retried = await owner.get(`/subscriptions/${id}`)
  assert.match(retried.text, /Não foi paga em 24\/08\/2026.*O banco tenta de novo em 28\/08\/2026/)
  assert.match((await owner.get('/subscriptions')).text, /Nova tentativa/)
  await moveTo(client, at('2026-09-02'))
  const failed = await owner.get(`/subscriptions/${id}`)
  assert.match(failed.text, /o banco tentou até 31\/08\/2026/)
  assert.match(failed.text, /2ª cobrança/)
  await decide(api, emv, 'approve', true)
  await moveTo(client, at('2026-09-24'))
  assert.match((await owner.get(`/subscriptions/${id}`)).text, /Paga em 23\/09\/2026 08:00/)
})

test('an undecided subscription has a link to copy, and the way to the simulated bank', async () => {
  const { client, owner } = await company()
  const { id, emv, paymentLinkUrl } = await makeSubscription(client)
  const page = await owner.get(`/subscriptions/${id}?done=made`)
  assert.match(page.text, /Aguardando autorização/)
  assert.ok(page.text.includes(`data-copy="${paymentLinkUrl}"`))
  assert.ok(
    page.text.includes(`/bank?${new URLSearchParams({ code: emv })}`.replaceAll('&', '&amp;')),
  )
  await decide(api, emv, 'reject')
  assert.match((await owner.get(`/subscriptions/${id}`)).text, /O cliente recusou/)
})

test('the list is filtered by state, and an overdue one is expired before a task says so', async () => {
  const { client, owner } = await company()
  const [approved, created] = [
    await approvedSubscription(api, client),
    await makeSubscription(client),
  ]
  const template = await makeTemplate(client)
  const idsIn = async (state: string) =>
    new Set((await owner.get(`/subscriptions?state=${state}`)).text.match(/rec_\w+/g))
  assert.deepEqual(await idsIn('all'), new Set([created.id, approved.id]))
  assert.deepEqual(await idsIn('approved'), new Set([approved.id]))
  assert.deepEqual(await idsIn('created'), new Set([created.id]))
  assert.deepEqual(await idsIn('expired'), new Set())
  assert.deepEqual(await idsIn('links'), new Set([template.id]))
  await api.rows(
    `update recurrences set expires_at = created_at where company_id = $1
    and auth_status = 'CREATED' and not is_template`,
    [client.company.id],
  )
  assert.deepEqual(await idsIn('created'), new Set())
  assert.deepEqual(await idsIn('expired'), new Set([created.id]))
})

test('a failed debit waits on Today while it is retried and after that, and leads to it', async () => {
  const { client, owner } = await company()
  const { id } = await approvedSubscription(api, client, {}, false)
  const other = await approvedSubscription(api, client)
  const rows = async () =>
    [...(await owner.get('')).text.matchAll(/<a class="row" href="([^"]+)"><span>([^<]+)/g)]
      .filter(([, path]) => !path!.includes('/charges/'))
      .map(([, path, words]) => [path!.replace(owner.home, '').split('&')[0], words])
  const idsIn = async (state: string) =>
    new Set((await owner.get(`/subscriptions?state=${state}`)).text.match(/rec_\w+/g))
  const retrying = () => idsIn('retrying')
  await moveTo(client, at('2026-08-23'))
  assert.deepEqual([await rows(), await retrying()], [[], new Set()])
  const retried = [
    ['/subscriptions?state=retrying', '1 débito de assinatura falhou e será tentado de novo'],
  ]
  // The first one failed on its day, and the next one is tomorrow.
  for (const moment of [at('2026-08-24', '23:00:00'), at('2026-08-26'), at('2026-08-31')]) {
    await moveTo(client, moment)
    assert.deepEqual([await rows(), await retrying()], [retried, new Set([id])], moment)
  }
  await moveTo(client, at('2026-09-02'))
  assert.deepEqual([await retrying(), await idsIn('overdue')], [new Set(), new Set([id])])
  assert.deepEqual(await rows(), [
    ['/charges?status=EXPIRED', '1 cobrança de assinatura não foi paga nos últimos 30 dias'],
  ])
  const path = /href="([^"]*\/charges\?status=EXPIRED[^"]*)"/.exec((await owner.get('')).text)![1]!
  const list = await owner.get(`/${path.replaceAll('&amp;', '&')}`)
  const [failed] = await chargesOf(client, id)
  assert.deepEqual(new Set(list.text.match(/charge_\w{26}/g)), new Set([failed!.id]))
  assert.ok(other.id)
})

test('a subscription leads to no customer and no product that was deleted', async () => {
  const client = await api.client()
  const { id } = await makeSubscription(client)
  const [customer] = (await client.get('/client')).body.data
  const [product] = (await client.get('/product')).body.data
  await client.post(`${RECURRENCES}/${id}/cancel`)
  const owner = await signIn(api, client.company)
  const links = (text: string) => [...text.matchAll(/\/(customers|products)\/\w+"/g)].length
  assert.equal(links((await owner.get(`/subscriptions/${id}`)).text), 2)
  assert.equal((await client.delete(`/client/${customer.id}`)).status, 200)
  assert.equal((await client.delete(`/product/${product.id}`)).status, 200)
  assert.equal(links((await owner.get(`/subscriptions/${id}`)).text), 0)
})

test('the revenue of a month is shown when there is one', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const above = async () =>
    /<\/header>.*?<form/s
      .exec((await owner.get('/subscriptions')).text)![0]
      .replaceAll(/<[^>]*>/g, '')
  assert.doesNotMatch(await above(), /\b0\b/)
  await approvedSubscription(api, client)
  assert.match(await above(), /R\$ 19,90/)
})

test('each state has its count, and those with an unpaid day before today are overdue', async () => {
  const { client, owner } = await company()
  const [late, fine] = [
    await approvedSubscription(api, client),
    await approvedSubscription(api, client),
  ]
  await makeTemplate(client)
  const open = async (query: string) => (await owner.get(`/subscriptions?${query}`)).text
  const idsIn = async (query: string) => new Set((await open(query)).match(/rec_\w+/g))
  assert.deepEqual(await idsIn('state=overdue'), new Set())
  await api.rows(
    `insert into billings (company_id, charge_id, recurrence_id, cycle, due_on, status, next_at)
     select company_id, gen_random_uuid(), id, 0, day, 'SCHEDULED', '2026-08-21T12:00:00Z'
     from recurrences cross join (values (date '2026-08-19'), ('2026-08-21')) d (day)
     where company_id = $1 and (id = $2) = (day = '2026-08-19') and not is_template`,
    [client.company.id, fromPublic('rec', late.id)],
  )
  assert.deepEqual(await idsIn('state=overdue'), new Set([late.id]))
  const text = await open('')
  assert.match(text, /Todas <span class="count">2<.*Ativas <span class="count">2</s)
  assert.match(text, /Em atraso <span class="count">1<.*Links <span class="count">1</s)
  assert.deepEqual(await idsIn('q=nobody'), new Set())
  assert.ok((await idsIn('q=Maria&state=approved')).has(fine.id))
})

test('a subscription is canceled after a question, with a reason', async () => {
  const { client, owner } = await company()
  const { id } = await approvedSubscription(api, client)
  const question = await owner.get(`/subscriptions/${id}/cancel`)
  assert.match(question.text, /Cancelar esta assinatura\?/)
  const done = await owner.post(`/subscriptions/${id}/cancel`, { reason: 'CUSTOMER_ASKED' })
  assert.match(done.location!, /done=canceled$/)
  assert.equal((await readSubscription(client, id)).status, 'CANCELED')
  const page = await owner.get(`/subscriptions/${id}`)
  assert.match(page.text, /O cliente pediu/)
  assert.doesNotMatch(page.text, /Cancelar assinatura/)
  const again = await owner.post(`/subscriptions/${id}/cancel`, { reason: 'x' })
  assert.equal(again.status, 303)
  assert.match((await owner.get(`/subscriptions/${id}`)).text, /O cliente pediu/)
})

test('a link shows who subscribed through it, and is closed', async () => {
  const { client, owner } = await company()
  const { id, url } = await makeTemplate(client)
  const customer = { name: 'Bia Lima', taxId: '52998224725', email: 'bia@example.com' }
  const started = await subscribe(api, url, { customer })
  const page = await owner.get(`/subscriptions/${id}`)
  assert.match(page.text, /Bia Lima/)
  assert.match(page.text, new RegExp(`/subscriptions/${started.body.data.id}`))
  assert.equal((await owner.post(`/subscriptions/${id}/cancel`)).status, 303)
  assert.match((await owner.get(`/subscriptions/${id}`)).text, /Link encerrado/)
  assert.equal((await readSubscription(client, started.body.data.id)).status, 'OPEN')
})

test('a viewer sees a subscription without its whole tax id, and cancels nothing', async () => {
  const { client, owner } = await company()
  const { id } = await makeSubscription(client)
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  const whole = /\d{3}\.\d{3}\.\d{3}-\d{2}/
  assert.match((await owner.get(`/subscriptions/${id}`)).text, whole)
  const page = await viewer.get(`/subscriptions/${id}`)
  assert.equal(page.status, 200)
  assert.doesNotMatch(page.text, whole)
  assert.doesNotMatch(page.text, /Cancelar assinatura/)
  assert.equal((await viewer.post(`/subscriptions/${id}/cancel`)).status, 403)
})
