import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { formTokenOf } from '../../src/core/people/sessions.ts'
import { setMembership } from '../../src/core/people/store.ts'
import { formatMoment } from '../../src/pix/local-time.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { makeUnmatched } from '../support/payments.ts'

const api = await startApi()
const client = await api.client()

test('a person of the company sees its pages, with the menu of their role', async () => {
  const owner = await signIn(api, client.company)
  const page = await owner.get('')
  assert.equal(page.status, 200, page.text)
  assert.match(page.text, /Configurações/)
  assert.equal(page.headers.get('cache-control'), 'no-store')
  const support = await signIn(api, client.company, { role: 'support', language: 'en' })
  const theirs = await support.get('')
  assert.match(theirs.text, /Charges/)
  assert.doesNotMatch(theirs.text, /Balance/)
})

test('nobody sees the pages of a company that is not theirs', async () => {
  const other = await api.client()
  const stranger = await signIn(api, other.company)
  const asked = await stranger.get(`/${(await signIn(api, client.company)).home}`)
  assert.equal(asked.status, 404)
  const nobody = await fetch(`${api.url}${stranger.home}`, { redirect: 'manual' })
  assert.equal(nobody.status, 303)
  assert.match(nobody.headers.get('location')!, /^\/sign-in\?next=%2Fdashboard/)
})

test('a session ends after 12 idle hours, after 7 days, and when the person signs out', async () => {
  const idle = await signIn(api, client.company)
  api.clock.advance(12 * 3600 - 1)
  assert.equal((await idle.get('')).status, 200)
  api.clock.advance(12 * 3600)
  assert.equal((await idle.get('')).status, 303)
  const busy = await signIn(api, client.company)
  for (let hours = 0; hours < 7 * 24 - 8; hours += 8) {
    api.clock.advance(8 * 3600)
    assert.equal((await busy.get('')).status, 200)
  }
  api.clock.advance(8 * 3600)
  assert.equal((await busy.get('')).status, 303)
  const leaving = await signIn(api, client.company)
  assert.equal((await leaving.post('//sign-out')).location, '/sign-in')
  assert.equal((await leaving.get('')).status, 303)
})

test('a form of another session or another origin is refused', async () => {
  const [one, other] = [await signIn(api, client.company), await signIn(api, client.company)]
  const wrong = await one.post('//account/language', { language: 'en', token: 'x'.repeat(22) })
  assert.equal(wrong.status, 400)
  const longer = await one.post('//account/language', { language: 'en', token: 'é'.repeat(22) })
  assert.equal(longer.status, 400)
  const { session } = other
  const stolen = { language: 'en', token: formTokenOf(api.app.vault, session) }
  assert.equal((await one.post('//account/language', stolen)).status, 400)
  const right = await one.post('//account/language', { language: 'en', next: one.home })
  assert.equal(right.location, one.home)
  assert.match((await one.get('')).text, /Settings/)
})

test('what does not exist keeps the menu and a way back, for every address and every form', async () => {
  const owner = await signIn(api, client.company)
  const unknown = `/charges/charge_${'0'.repeat(26)}`
  const back = new RegExp(`<a class="button slim" href="${owner.home}">Voltar ao início`)
  const isMissing = ({ status, text }: { status: number; text: string }, path: string) => {
    assert.equal(status, 404, path)
    assert.match(text, /<nav class="menu"/, path)
    assert.match(text, back, path)
    assert.doesNotMatch(text, /link de pagamento|aria-current="page"/, path)
  }
  for (const path of ['/no-such-page', '/charges/a/b/c', unknown, '/customers/x', '/']) {
    isMissing(await owner.get(path), path)
  }
  for (const path of [`${unknown}/cancel`, '/no-such-page']) {
    isMissing(await owner.post(path), path)
  }
  // Below a company that is not theirs, or is none.
  for (const path of [
    '//dashboard/x',
    '//dashboard/x/charges',
    `//dashboard/${'0'.repeat(26)}/a`,
  ]) {
    isMissing(await owner.get(path), path)
  }
  const nobody = await fetch(`${api.url}${owner.home}/no-such-page`, { redirect: 'manual' })
  assert.equal(nobody.status, 404)
  const text = await nobody.text()
  assert.match(text, /href="\/sign-in">/)
  assert.doesNotMatch(text, /link de pagamento/)
})

test('without one company only, an unknown address leads to the person and their companies', async () => {
  const both = await signIn(api, client.company)
  const other = await api.client()
  await setMembership(
    api.app.db.control,
    other.company.id,
    both.person.id,
    'owner',
    api.clock.now(),
  )
  const pages = ['//dashboard/x', '//dashboard/x/y', '//account/x', '//operator', '//operator/x']
  const forms = ['//dashboard/x/y', '//account/x', '//account/x/y', '//operator/x']
  const answers = [
    ...pages.map((path) => [path, both.get(path)] as const),
    ...forms.map((path) => [path, both.post(path)] as const),
  ]
  for (const [path, answer] of answers) {
    const { status, text } = await answer
    assert.equal(status, 404, path)
    assert.match(text, /<a class="button slim" href="\/dashboard">Voltar ao início/, path)
    assert.match(text, /Ana Souza/, path)
    assert.doesNotMatch(text, /<nav class="menu"|link de pagamento/, path)
  }
  const stale = await both.post('/customers/new', { token: 'x'.repeat(22) })
  assert.equal(stale.status, 400)
  assert.match(stale.text, /Ana Souza/)
})

test('a sandbox whose clock was moved says its day and the real one on every page', async () => {
  const { company, post } = await api.client()
  const owner = await signIn(api, company)
  assert.doesNotMatch((await owner.get('')).text, /No sandbox/)
  const said = async (path: string) => /No sandbox [^.]*\./.exec((await owner.get(path)).text)?.[0]
  const at = (ahead_s: number) => formatMoment(new Date(api.clock.now().getTime() + ahead_s * 1000))
  const [today, time] = at(0).split(' ')
  await post('/sandbox/clock', { advance: 90 })
  assert.equal(
    await said('/customers'),
    `No sandbox são ${at(90).split(' ')[1]}; hora real: ${time}.`,
  )
  await post('/sandbox/clock', { advance: 43 * 86_400 - 90 })
  const moved = `No sandbox hoje é ${at(43 * 86_400).split(' ')[0]}; data real: ${today}.`
  assert.equal(await said('/customers'), moved)
  assert.equal(await said('/no-such-page'), moved)
  const english = await signIn(api, company, { language: 'en' })
  assert.match((await english.get('')).text, /In the sandbox today is .*; real date: /)
})

/** What the menu says of a section, and what the bar of a phone does. */
const badgeOf = (text: string, label: string) =>
  new RegExp(`<span>${label}</span><span class="badge">([^<]+)<`).exec(text)?.[1]

test('menu and bar count what waits, for whoever may see it', async () => {
  const shop = await api.client()
  const owner = await signIn(api, shop.company)
  assert.doesNotMatch((await owner.get('/customers')).text, /class="badge"/)
  await makeUnmatched(api, shop, 700)
  await makeUnmatched(api, shop, 800)
  await shop.post('/webhook', { url: 'http://127.0.0.1:9/x', name: 'x', events: ['charge.paid'] })
  await api.rows('update webhooks set failing_since = now() where company_id = $1', [
    shop.company.id,
  ])
  for (const path of ['/customers', '/no-such-page']) {
    const { text } = await owner.get(path)
    assert.equal(badgeOf(text, 'Pix sem cobrança'), '2')
    assert.equal(badgeOf(text, 'Desenvolvedores'), '1')
    assert.equal(badgeOf(text, 'Disputas'), undefined)
    assert.equal(badgeOf(text, 'Mais'), '3')
    assert.match(text, /<span class="hide"> à espera de você/)
  }
  const other = await signIn(api, client.company)
  assert.doesNotMatch((await other.get('/customers')).text, /class="badge"/)
})

test('a page asks for what waits once, with one prepared statement', async () => {
  const owner = await signIn(api, client.company)
  const { query } = pg.Client.prototype as { query: (...asked: unknown[]) => unknown }
  for (const path of ['', '/customers', '/unmatched', '/no-such-page']) {
    const sent: string[] = []
    Object.assign(pg.Client.prototype, {
      query(this: pg.Client, ...asked: unknown[]) {
        sent.push((asked[0] as { name?: string }).name ?? '')
        return query.apply(this, asked)
      },
    })
    await owner.get(path).finally(() => Object.assign(pg.Client.prototype, { query }))
    assert.equal(sent.filter((name) => name === 'read_waiting').length, 1, path)
  }
})
