import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROLES } from '../../src/core/people/rules.ts'
import { formatMoment } from '../../src/pix/local-time.ts'
import { type Client, startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { linkTo } from '../support/pages.ts'
import { makeCharge, makePaid, makeUnmatched } from '../support/payments.ts'

const api = await startApi()

test('a new sandbox shows what to do first, until a charge is paid', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const first = await owner.get('')
  assert.equal(first.status, 200, first.text)
  assert.match(first.text, /Receba o primeiro Pix em três passos/)
  assert.match(first.text, /aria-current="step"><div><h3>Crie um link/)
  await linkTo(api, client, { total: 1990 })
  assert.match((await owner.get('')).text, /aria-current="step"><div><h3>Pague no banco simulado/)
  await makePaid(api, client, 1990)
  const after = await owner.get('')
  assert.doesNotMatch(after.text, /três passos/)
  assert.match(after.text, /R\$ 19,90/)
})

test('money of today and of the same weekday last week is shown with the balances', async () => {
  const client = await api.client()
  const finance = await signIn(api, client.company, { role: 'finance' })
  await makePaid(api, client, 70_000)
  api.clock.advance(3600)
  await makePaid(api, client, 5_000)
  api.clock.advance(7 * 24 * 3600 - 1800)
  await makePaid(api, client, 123_456)
  const member = await signIn(api, client.company, { role: 'finance' })
  const { text } = await member.get('')
  assert.match(text, /Recebido hoje<\/h2><strong class="big"><span class="money">R\$ 1\.234,56/)
  assert.match(text, /quinta passada até \d\d:\d\d: <span class="money">R\$ 700,00/)
  for (const name of ['Disponível', 'A liberar', 'Reservado', 'Sem cobrança']) {
    assert.ok(text.includes(`${name}</h3>`), name)
  }
  assert.equal((await finance.get('')).status, 303, 'a session of last week has ended')
})

test('balances are shown only to roles that may read them', async () => {
  const client = await api.client()
  await makePaid(api, client, 5_000)
  for (const role of ROLES) {
    const { text, status } = await (await signIn(api, client.company, { role })).get('')
    assert.equal(status, 200)
    const reads = ['owner', 'finance', 'viewer'].includes(role)
    assert.equal(text.includes('Disponível</h3>'), reads, role)
    assert.equal(text.includes('Nova cobrança'), role !== 'viewer', role)
  }
})

const decisionsOf = (text: string) =>
  [...text.matchAll(/<a class="row" href="([^"]+)"><span>([^<]+)/g)].map(([, path, words]) => [
    path!.replace(/^\/dashboard\/[^/]+/, ''),
    words,
  ])

test('what needs a decision is listed with a link, and nothing of other companies', async () => {
  const client = await api.client({ mode: 'sandbox' })
  const calm = await api.client()
  const endsAt = new Date(api.clock.now().getTime() + 5 * 86_400_000)
  await makeWaiting(client, endsAt)
  const owner = await signIn(api, client.company)
  assert.deepEqual(decisionsOf((await owner.get('')).text), [
    ['/unmatched', '2 Pix sem cobrança aguardam decisão'],
    ['/balance', '1 saque aguarda confirmação'],
    ['/subscriptions', '1 cobrança de assinatura falhou nos últimos 30 dias'],
    ['/developers', '1 webhook com falha'],
    ['/settings', `O certificado do banco vence em ${formatMoment(endsAt).split(' ')[0]}`],
  ])
  const support = await signIn(api, client.company, { role: 'support', language: 'en' })
  const theirs = decisionsOf((await support.get('')).text).map(([path]) => path)
  assert.deepEqual(theirs, ['/unmatched', '/subscriptions', '/developers', '/settings'])
  const other = await (await signIn(api, calm.company)).get('')
  assert.deepEqual(decisionsOf(other.text), [])
  assert.match(other.text, /nada aguarda a sua decisão/)
})

/** A company for which everything waits that can wait. */
async function makeWaiting(client: Client, certificateEndsAt: Date) {
  const { id } = client.company
  await makeUnmatched(api, client, 700)
  await makeUnmatched(api, client, 800)
  const webhook = { url: 'http://127.0.0.1:9/x', name: 'loja', events: ['charge.paid'] }
  assert.equal((await client.post('/webhook', webhook)).status, 201)
  await api.rows('update webhooks set failing_since = now(), failures = 3 where company_id = $1', [
    id,
  ])
  assert.equal((await client.post('/account-balance/withdraw', { value: 1000 })).status, 201)
  const { id: charge } = await makeCharge(client, 900)
  assert.ok(charge)
  // A collection that failed, and a bank whose certificate ends: as their commands leave them.
  await api.rows(
    `update charges set kind = 'RECURRING', recurrence_id = id, status = 'EXPIRED',
       payment_status = 'EXPIRED' where company_id = $1 and amount = 900`,
    [id],
  )
  await api.rows(
    `insert into bank_connections (company_id, id, profile, sealed, callback_id, payouts,
       certificate_ends_at, connected_at)
     values ($1, gen_random_uuid(), 'itau', ''::bytea, gen_random_uuid(), 'manual', $2, $3)`,
    [id, certificateEndsAt, api.clock.now()],
  )
}

test('the chart shows 30 or 90 days, with its figures as a table', async () => {
  const client = await api.client()
  await makePaid(api, client, 4_200)
  api.clock.advance(40 * 24 * 3600)
  await makePaid(api, client, 1_300)
  const owner = await signIn(api, client.company, { language: 'en' })
  const short = (await owner.get('')).text
  assert.equal(short.match(/class="bar"/g)?.length, 30)
  assert.match(short, /30-day total: <strong><span class="money">R\$ 13,00/)
  const long = (await owner.get('?days=90')).text
  assert.equal(long.match(/class="bar"/g)?.length, 90)
  assert.match(long, /<svg class="plot"[^>]* role="img"/)
  assert.match(long, /90-day total: <strong><span class="money">R\$ 55,00/)
  assert.match(long, /<details><summary>Show the figures as a table/)
  assert.equal(long.match(/data-title="Received"/g)?.length, 90)
  assert.doesNotMatch(long, / style=/)
})

test('the parts that change are sent alone, to the people of the company only', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  await makePaid(api, client, 1990)
  const now = await owner.get('/now')
  assert.equal(now.status, 200)
  assert.doesNotMatch(now.text, /<html|<main/)
  const ids = [...now.text.matchAll(/id="(\w+)"[^>]* data-part/g)].map(([, id]) => id)
  assert.deepEqual(ids, ['first', 'figures', 'decisions', 'newest'])
  assert.equal(now.headers.get('cache-control'), 'no-store')
  const stranger = await signIn(api, (await api.client()).company)
  assert.equal((await stranger.get(`/${owner.home}/now`)).status, 404)
})

test('conversion counts charges that were made and paid, without sales of static codes', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company, { role: 'viewer' })
  assert.match((await owner.get('')).text, /Nenhuma cobrança criada/)
  await makePaid(api, client, 1000)
  await makeCharge(client, 1000)
  await makeCharge(client, 1000)
  const { text } = await owner.get('')
  assert.match(text, /33,3%/)
  assert.match(text, /1 de 3 cobranças criadas foram pagas/)
})
