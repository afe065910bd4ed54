import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failedSince } from '../../src/core/figures/waiting.ts'
import { ROLES } from '../../src/core/people/rules.ts'
import { formatMoment } from '../../src/pix/local-time.ts'
import { carryOutRefunds } from '../../src/worker/due.ts'
import { type Client, startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { linkTo } from '../support/pages.ts'
import { makeCharge, makePaid, makeUnmatched } from '../support/payments.ts'
import { start } from '../support/withdrawals.ts'

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

test('money of today is compared with the same weekday last week, up to the same time', async () => {
  const client = await api.client()
  const finance = await signIn(api, client.company, { role: 'finance' })
  await makePaid(api, client, 70_000)
  api.clock.advance(3600)
  await makePaid(api, client, 5_000)
  api.clock.advance(7 * 24 * 3600 - 1800)
  const { id } = await makePaid(api, client, 105_000)
  assert.equal((await client.post(`/refund/${id}`, { value: 5_000 })).status, 201)
  await carryOutRefunds.run(api.app)
  const member = await signIn(api, client.company, { role: 'finance' })
  const text = textOf((await member.get('')).text)
  assert.match(text, /comparado com quinta passada até \d\d:\d\d/)
  assert.match(text, /Recebido bruto R\$ 1\.050,00 Aumento de 50% 1 pagamento Antes: R\$ 700,00/)
  assert.match(text, /Devolvido R\$ 50,00 Antes: R\$ 0,00/)
  assert.match(text, /Líquido R\$ 1\.000,00 Aumento de 43% Antes: R\$ 700,00/)
  assert.match(text, /Disponível R\$ .*A liberar R\$ /)
  assert.equal((await finance.get('')).status, 303, 'a session of last week has ended')
})

const textOf = (page: string): string => page.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')

test('balances are shown only to roles that may read them', async () => {
  const client = await api.client()
  await makePaid(api, client, 5_000)
  for (const role of ROLES) {
    const { text, status } = await (await signIn(api, client.company, { role })).get('')
    assert.equal(status, 200)
    const reads = ['owner', 'finance', 'viewer'].includes(role)
    assert.equal(text.includes('Disponível</h3>'), reads, role)
    assert.equal(/slim make"[^>]*>.*?<span>Cobrar<\/span>/.test(text), role !== 'viewer', role)
  }
})

const decisionsOf = (text: string) =>
  [...text.matchAll(/<a class="row" href="([^"]+)"><span>([^<]+)/g)].map(([, path, words]) => [
    path!.replace(/^\/dashboard\/[^/]+/, '').replaceAll('&amp;', '&'),
    words,
  ])

test('what needs a decision is listed with a link, and nothing of other companies', async () => {
  const client = await api.client({ mode: 'sandbox' })
  const calm = await api.client()
  const endsAt = new Date(api.clock.now().getTime() + 5 * 86_400_000)
  const withdrawal = await makeWaiting(client, endsAt)
  const owner = await signIn(api, client.company)
  assert.deepEqual(decisionsOf((await owner.get('')).text), [
    ['/unmatched', '2 Pix sem cobrança aguardam decisão'],
    [`/balance/withdrawals/${withdrawal}`, '1 saque aguarda confirmação'],
    [failed(), '1 cobrança de assinatura não foi paga nos últimos 30 dias'],
    ['/developers/webhooks?state=failing', '1 webhook com falha'],
    ['/settings/bank', `O certificado do banco vence em ${formatMoment(endsAt).split(' ')[0]}`],
  ])
  const support = await signIn(api, client.company, { role: 'support', language: 'en' })
  const theirs = decisionsOf((await support.get('')).text).map(([path]) => path)
  assert.deepEqual(theirs, [
    '/unmatched',
    failed(),
    '/developers/webhooks?state=failing',
    '/settings',
  ])
  const other = await (await signIn(api, calm.company)).get('')
  assert.deepEqual(decisionsOf(other.text), [])
  assert.match(other.text, /nada aguarda a sua decisão/)
})

test('each row leads to a list of just what it counts', async () => {
  const client = await api.client()
  await makeWaiting(client, api.clock.now())
  const calm = { url: 'http://127.0.0.1:9/y', name: 'calmo', events: ['charge.paid'] }
  assert.equal((await client.post('/webhook', calm)).status, 201)
  const owner = await signIn(api, client.company)
  const webhooks = await owner.get('/developers/webhooks?state=failing')
  assert.match(webhooks.text, />loja</)
  assert.doesNotMatch(webhooks.text, />calmo</)
  assert.match((await owner.get('/developers/webhooks')).text, />calmo</)
  const charges = await owner.get(failed())
  assert.equal(new Set(charges.text.match(/charge_\w{26}/g)).size, 1)
})

/** Charges of subscriptions that could not be collected in the last 30 days. */
const failed = () =>
  `/charges?status=EXPIRED&payment=EXPIRED&kind=RECURRING&from=${failedSince(api.clock.now())}`

/** A company for which everything waits that can wait, and the withdrawal that does. */
async function makeWaiting(client: Client, certificateEndsAt: Date) {
  const { id } = client.company
  await makeUnmatched(api, client, 700)
  await makeUnmatched(api, client, 800)
  const webhook = { url: 'http://127.0.0.1:9/x', name: 'loja', events: ['charge.paid'] }
  assert.equal((await client.post('/webhook', webhook)).status, 201)
  await api.rows('update webhooks set failing_since = now(), failures = 3 where company_id = $1', [
    id,
  ])
  const withdrawal = await start(client, 1000)
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
  return withdrawal
}

test('the chart shows 30 or 90 days and those before, with its figures as a table', async () => {
  const client = await api.client()
  await makePaid(api, client, 4_200)
  api.clock.advance(40 * 24 * 3600)
  await makePaid(api, client, 1_300)
  const owner = await signIn(api, client.company, { language: 'en' })
  const short = (await owner.get('')).text
  assert.equal(short.match(/class="bar"/g)?.length, 30)
  assert.match(textOf(short), /30-day total: R\$ 13,00 Down by 69% See reports/)
  const long = (await owner.get('?days=90')).text
  assert.equal(long.match(/class="bar"/g)?.length, 90)
  assert.match(textOf(long), /90-day total: R\$ 55,00 See reports/)
  assert.match(long, /<details><summary>Show the figures as a table/)
  assert.equal(long.match(/data-title="Gross received"/g)?.length, 90)
  assert.equal(long.match(/data-title="90 days before"/g)?.length, 90)
  assert.doesNotMatch(long, / style=/)
})

test('conversion is that of the days of the chart', async () => {
  const client = await api.client()
  await makePaid(api, client, 4_200)
  api.clock.advance(40 * 24 * 3600)
  await makeCharge(client, 1_300)
  const owner = await signIn(api, client.company)
  assert.match(textOf((await owner.get('')).text), /Conversão em 30 dias 0% 0 de 1/)
  assert.match(textOf((await owner.get('?days=90')).text), /Conversão em 90 dias 50% 1 de 2/)
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
