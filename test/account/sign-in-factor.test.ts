import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { createAuthenticator, questionOf } from '../support/authenticator.ts'
import { type Answer, type Member, signIn } from '../support/dashboard.ts'
import { isLong } from '../support/long.ts'
import { lettersOf } from '../support/mail.ts'
import { cookieOf, getPage, givePassword, PASSWORD, postForm } from '../support/people.ts'
import { addApp, codeOf } from '../support/totp.ts'

const api = await startApi()
const client = await api.client()
const PATH = '/sign-in/second-factor'

/** Somebody with a password and an app. Codes of the next period are new. */
async function ownerWithApp() {
  const owner = await signIn(api, client.company)
  await givePassword(api, owner.person)
  const added = await addApp(api, owner)
  api.clock.advance(30)
  return { owner, ...added }
}

const givePasswordOf = ({ person, home }: Member) =>
  postForm(api, '/sign-in', { email: person.email, password: PASSWORD, next: `${home}/charges` })

const pendingOf = ({ text }: Answer): string => /name="pending" value="([^"]+)"/.exec(text)![1]!

const isRefused = (answer: Answer, status = 422) => {
  assert.equal(answer.status, status)
  assert.equal(answer.headers.get('set-cookie'), null)
}

test('after the password a code is asked for, and only then a session begins', async () => {
  const { owner, secret } = await ownerWithApp()
  const asked = await givePasswordOf(owner)
  assert.equal(asked.status, 200)
  assert.equal(asked.headers.get('set-cookie'), null)
  assert.match(asked.text, /Verificação em duas etapas/)
  const pending = pendingOf(asked)
  isRefused(await postForm(api, PATH, { pending, code: '000000' }))
  const code = codeOf(api, secret)
  const signedIn = await postForm(api, PATH, {
    pending,
    code: `${code.slice(0, 3)} ${code.slice(3)}`,
  })
  assert.equal(signedIn.location, `${owner.home}/charges`)
  const page = await getPage(api, '/account/security', { cookie: cookieOf(signedIn) })
  assert.equal(page.status, 200)
  const sessions = await api.peopleRows(
    'select has_second_factor from sessions where person_id = $1 order by created_at desc',
    [owner.person.id],
  )
  assert.deepEqual(sessions[0], { has_second_factor: true })
  isRefused(await postForm(api, PATH, { pending, code }))
})

test('a recovery code signs in once', async () => {
  const { owner, recoveryCodes } = await ownerWithApp()
  const pending = pendingOf(await givePasswordOf(owner))
  const recovery = recoveryCodes[3]!.toUpperCase().replace('-', ' ')
  const both = await Promise.all([
    postForm(api, PATH, { pending, recovery }),
    postForm(api, PATH, { pending, recovery }),
  ])
  assert.deepEqual(both.map(({ status }) => status).sort(), [303, 422])
  isRefused(await postForm(api, PATH, { pending, recovery }))
  const cookie = cookieOf(both.find(({ status }) => status === 303)!)
  assert.match((await getPage(api, '/account/security', { cookie })).text, /Restam 9 códigos/)
  const other = await ownerWithApp()
  const theirs = {
    pending: pendingOf(await givePasswordOf(other.owner)),
    recovery: recoveryCodes[4]!,
  }
  isRefused(await postForm(api, PATH, theirs))
})

test('a passkey is a second factor too', async () => {
  const owner = await signIn(api, client.company)
  await givePassword(api, owner.person)
  const device = createAuthenticator('http://vintem.test')
  const asked = questionOf((await owner.get('//account/security')).text)
  const form = { name: 'Celular', state: asked.state, response: device.create(asked.options) }
  assert.equal((await owner.post('//account/security/passkeys', form)).status, 200)
  const page = await givePasswordOf(owner)
  const [pending, { options, state }] = [pendingOf(page), questionOf(page.text)]
  const answer = { pending, state, response: device.get(options) }
  assert.equal((await postForm(api, PATH, answer)).location, `${owner.home}/charges`)
  isRefused(await postForm(api, PATH, answer))
})

test('what was begun ends after ten minutes, or when the password is changed', async () => {
  const { owner, secret } = await ownerWithApp()
  const old = pendingOf(await givePasswordOf(owner))
  api.clock.advance(10 * 60)
  const late = await postForm(api, PATH, { pending: old, code: codeOf(api, secret) })
  assert.equal(late.location, '/sign-in')
  assert.equal(late.headers.get('set-cookie'), null)
  const pending = pendingOf(await givePasswordOf(owner))
  await givePassword(api, owner.person, 'outra-senha-bem-comprida')
  const changed = await postForm(api, PATH, { pending, code: codeOf(api, secret) })
  assert.equal(changed.location, '/sign-in')
  const forged = await postForm(api, PATH, { pending: 'x'.repeat(80), code: codeOf(api, secret) })
  assert.equal(forged.location, '/sign-in')
})

const GUESSES = isLong ? 1_000 : 50

test(`of ${GUESSES} guesses at sign-in five are checked`, async () => {
  const { owner, secret } = await ownerWithApp()
  const pending = pendingOf(await givePasswordOf(owner))
  const right = codeOf(api, secret)
  const statuses = new Map<number, number>()
  for (let i = 0; i < GUESSES; i++) {
    const code = String((Number(right) + 2 + i) % 1_000_000).padStart(6, '0')
    const { status } = await postForm(api, PATH, { pending, code })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  // One was used to set the app up.
  assert.deepEqual(Object.fromEntries(statuses), { 422: 4, 429: GUESSES - 4 })
  isRefused(await postForm(api, PATH, { pending, code: right }), 429)
})

test('the person gets a mail about each change', async () => {
  const { company } = await api.client()
  const owner = await signIn(api, company, { language: 'en' })
  await addApp(api, owner)
  await owner.post('//account/security/recovery-codes')
  await owner.post('//account/security/app/remove')
  const letters = await lettersOf(api, owner.person.id)
  assert.deepEqual(
    letters.map(({ to, subject }) => [to, subject]),
    [
      [owner.person.email, 'An authenticator app was added to your account'],
      [owner.person.email, 'New recovery codes were created'],
      [owner.person.email, 'The authenticator app was removed from your account'],
    ],
  )
  assert.match(letters[2]!.text, /no longer has two-step verification/)
})
