import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formTokenOf } from '../../src/core/people/sessions.ts'
import { formatMoment } from '../../src/pix/local-time.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'

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

test('what does not exist keeps the menu and a way back, also a company that is not theirs', async () => {
  const owner = await signIn(api, client.company)
  const unknown = `/charges/charge_${'0'.repeat(26)}`
  for (const path of ['/no-such-page', '/charges/a/b/c', unknown, '/customers/x']) {
    const { status, text } = await owner.get(path)
    assert.equal(status, 404, path)
    assert.match(text, /<nav class="menu"/, path)
    assert.match(
      text,
      new RegExp(`<a class="button slim" href="${owner.home}">Voltar ao início`),
      path,
    )
    assert.doesNotMatch(text, /link de pagamento|aria-current="page"/, path)
  }
  const { status, text } = await owner.post(`${unknown}/cancel`)
  assert.equal(status, 404)
  assert.match(text, /<nav class="menu"/)
  const pages = await Promise.all(
    ['//dashboard/x', '//dashboard/x/charges', `//dashboard/${'0'.repeat(26)}/charges`].map(
      (path) => owner.get(path),
    ),
  )
  for (const page of pages) {
    assert.equal(page.status, 404)
    assert.match(page.text, /<a class="button slim" href="\/dashboard">Voltar ao início/)
    assert.doesNotMatch(page.text, /<nav class="menu"/)
  }
  const nobody = await fetch(`${api.url}${owner.home}/no-such-page`, { redirect: 'manual' })
  assert.equal(nobody.status, 404)
})

test('a sandbox whose clock was moved says its time on every page, and how far ahead it is', async () => {
  const { company, post } = await api.client()
  const owner = await signIn(api, company)
  assert.doesNotMatch((await owner.get('')).text, /Relógio do sandbox/)
  const said = async (path: string) =>
    /Relógio do sandbox: (.*?)\.</.exec((await owner.get(path)).text)?.[1]
  const moment = (ahead_ms: number) => formatMoment(new Date(api.clock.now().getTime() + ahead_ms))
  for (const [add_s, ahead_s, words] of [
    [90, 90, '1 minuto'],
    [7200 - 90, 7200, '2 horas'],
    [43 * 86_400 - 7200, 43 * 86_400, '43 dias'],
  ] as const) {
    assert.equal((await post('/sandbox/clock', { advance: add_s })).status, 200)
    assert.equal(await said('/customers'), `${moment(ahead_s * 1000)}, ${words} adiante`)
  }
  assert.equal(await said(''), await said('/no-such-page'))
  const english = await signIn(api, company, { language: 'en' })
  assert.match((await english.get('')).text, /Clock of the sandbox: .*, 43 days ahead\./)
})
