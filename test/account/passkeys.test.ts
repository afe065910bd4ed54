import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { createAuthenticator, questionOf } from '../support/authenticator.ts'
import { type Member, signIn } from '../support/dashboard.ts'

const api = await startApi()
const client = await api.client()
const ORIGIN = 'http://vintem.test'

async function addPasskey(member: Member, name = 'Celular', device = createAuthenticator(ORIGIN)) {
  const { options, state } = questionOf((await member.get('//account/security')).text)
  const form = { name, state, response: device.create(options) }
  const added = await member.post('//account/security/passkeys', form)
  return { device, added, form }
}

const post = (path: string, form: Record<string, string>) =>
  fetch(api.url + path, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' })

/** What the sign-in page asks a device. */
const signInQuestion = async () =>
  questionOf(await (await post('/sign-in/passkey', { state: 'x', response: '{}' })).text())

const sessionsOf = (personId: string) =>
  api.peopleRows<{ has_second_factor: boolean; confirmed_at: Date }>(
    'select has_second_factor, confirmed_at from sessions where person_id = $1',
    [personId],
  )

test('a passkey is added, named, listed, used alone to sign in, and removed', async () => {
  const owner = await signIn(api, client.company)
  await signIn(api, client.company)
  const { device, added } = await addPasskey(owner, '<b>Celular</b>')
  assert.equal(added.status, 200, added.text)
  assert.equal(added.text.match(/<li><code>[0-9a-z]{5}-[0-9a-z]{5}<\/code><\/li>/g)!.length, 10)
  const page = await owner.get('//account/security')
  assert.match(page.text, /&lt;b&gt;Celular&lt;\/b&gt;/)
  assert.match(page.text, /nunca usada/)
  const { options, state } = await signInQuestion()
  const form = { state, response: device.get(options), next: `${owner.home}/charges` }
  const signedIn = await post('/sign-in/passkey', form)
  assert.equal(signedIn.status, 303)
  assert.equal(signedIn.headers.get('location'), `${owner.home}/charges`)
  assert.match(signedIn.headers.get('set-cookie')!, /^vintem=[\w-]{43};.*HttpOnly/)
  const sessions = await sessionsOf(owner.person.id)
  assert.deepEqual(
    sessions.map(({ has_second_factor }) => has_second_factor),
    [true, true],
  )
  assert.doesNotMatch((await owner.get('//account/security')).text, /nunca usada/)
  const removed = await owner.post('//account/security/passkeys/remove', { id: device.id })
  assert.equal(removed.location, '/account/security?done=passkey-removed')
  const again = await signInQuestion()
  const late = { state: again.state, response: device.get(again.options) }
  assert.equal((await post('/sign-in/passkey', late)).status, 401)
})

test('an assertion that was sent before is refused', async () => {
  const owner = await signIn(api, client.company)
  const { device } = await addPasskey(owner)
  const { options, state } = await signInQuestion()
  const form = { state, response: device.get(options) }
  const both = await Promise.all([post('/sign-in/passkey', form), post('/sign-in/passkey', form)])
  assert.deepEqual(both.map(({ status }) => status).sort(), [303, 401])
  assert.equal((await post('/sign-in/passkey', form)).status, 401)
  // A device that does not count its uses signs the same challenge anew.
  assert.equal(
    (await post('/sign-in/passkey', { state, response: device.get(options) })).status,
    401,
  )
})

test('a challenge is of one use, one session and ten minutes', async () => {
  const owner = await signIn(api, client.company)
  const { device } = await addPasskey(owner)
  const other = await signIn(api, client.company)
  const confirm = questionOf((await owner.get('//account/confirm')).text)
  const answer = { state: confirm.state, response: device.get(confirm.options) }
  assert.equal((await post('/sign-in/passkey', answer)).status, 401)
  assert.equal((await other.post('//account/confirm', answer)).status, 422)
  const late = await signInQuestion()
  api.clock.advance(10 * 60)
  const form = { state: late.state, response: device.get(late.options) }
  assert.equal((await post('/sign-in/passkey', form)).status, 401)
})

test('a passkey of another site, another key or another person is refused', async () => {
  const owner = await signIn(api, client.company)
  const { device } = await addPasskey(owner)
  const elsewhere = createAuthenticator('http://vintem.test.evil.test', 'vintem.test')
  const refused = await addPasskey(await signIn(api, client.company), 'x', elsewhere)
  assert.equal(refused.added.status, 422)
  const { options, state } = await signInQuestion()
  const unknown = createAuthenticator(ORIGIN).get(options)
  assert.equal((await post('/sign-in/passkey', { state, response: unknown })).status, 401)
  const wrong = JSON.parse(createAuthenticator(ORIGIN).get(options))
  const forged = JSON.stringify({ ...wrong, id: device.id, rawId: device.id })
  assert.equal((await post('/sign-in/passkey', { state, response: forged })).status, 401)
  for (const response of ['', '{', 'null', '[]', '{"id":1}', `{"id":"${device.id}"}`]) {
    assert.equal((await post('/sign-in/passkey', { state, response })).status, 401, response)
  }
  const thief = await signIn(api, client.company)
  await addPasskey(thief)
  const asked = questionOf((await thief.get('//account/confirm')).text)
  const theirs = { state: asked.state, response: device.get(asked.options) }
  assert.equal((await thief.post('//account/confirm', theirs)).status, 422)
  const removal = await thief.post('//account/security/passkeys/remove', { id: device.id })
  assert.equal(removal.status, 303)
  assert.match((await owner.get('//account/security')).text, /Celular/)
})

test('a passkey confirms a session for five minutes', async () => {
  const owner = await signIn(api, client.company)
  const { device } = await addPasskey(owner)
  api.clock.advance(5 * 60)
  const locked = await owner.post('//account/security/recovery-codes')
  assert.equal(locked.location, '/account/confirm?next=/account/security')
  const { options, state } = questionOf((await owner.get('//account/confirm')).text)
  const form = { state, response: device.get(options), next: '/account/security' }
  assert.equal((await owner.post('//account/confirm', form)).location, '/account/security')
  assert.equal((await owner.post('//account/security/recovery-codes')).status, 200)
  assert.equal((await owner.post('//account/confirm', form)).status, 422, 'a second time')
})

test('the first factor ends the other sessions, and a new one cannot be added twice', async () => {
  const owner = await signIn(api, client.company)
  const { form, device } = await addPasskey(owner)
  const again = await owner.post('//account/security/passkeys', form)
  assert.equal(again.status, 422)
  const second = await addPasskey(owner, 'Notebook', device)
  assert.equal(second.added.status, 422, 'the device has one for us already')
  const third = await addPasskey(owner, 'Notebook')
  assert.equal(third.added.location, '/account/security?done=passkey', 'codes are shown once')
})
