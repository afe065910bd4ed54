import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailNewPassword, makeSignInLink } from '../../src/core/people/commands.ts'
import { purgeLinks } from '../../src/core/people/link-store.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { lettersOf } from '../support/mail.ts'
import { cookieOf, getPage, givePassword, PASSWORD, pathIn, postForm } from '../support/people.ts'
import { until } from '../support/until.ts'

const api = await startApi()
const client = await api.client()

async function signInPath(person: Parameters<typeof makeSignInLink>[2]): Promise<string> {
  const url = await makeSignInLink(api.app.db.control, api.app, person, api.clock.now())
  assert.match(url, /^http:\/\/vintem\.test\/sign-in\/link\/[\w-]{43}$/)
  return new URL(url).pathname
}

test('a sign-in link works once, and only by its button', async () => {
  const { person, home } = await signIn(api, client.company)
  const path = await signInPath(person)
  for (let count = 0; count < 3; count++) {
    const page = await getPage(api, path)
    assert.equal(page.status, 200, 'a program that checks mails does not use it up')
    assert.match(page.text, /<button class="button">Entrar no painel<\/button>/)
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
    assert.equal(page.headers.get('set-cookie'), null)
  }
  const done = await postForm(api, path)
  assert.equal(done.location, '/dashboard')
  assert.equal((await getPage(api, home, { cookie: cookieOf(done) })).status, 200)
  for (const replayed of [await postForm(api, path), await getPage(api, path)]) {
    assert.equal(replayed.status, 410)
    assert.equal(replayed.headers.get('set-cookie'), null)
  }
})

test('of two who use a link at the same time one signs in', async () => {
  const { person } = await signIn(api, client.company)
  const path = await signInPath(person)
  const both = await Promise.all([postForm(api, path), postForm(api, path)])
  assert.deepEqual(both.map(({ status }) => status).sort(), [303, 410])
})

test('a sign-in link ends after 15 minutes, and only its hash is stored', async () => {
  const { person } = await signIn(api, client.company)
  const path = await signInPath(person)
  const token = path.split('/').at(-1)!
  const stored = await api.peopleRows('select person_links::text as row from person_links')
  assert.equal(JSON.stringify(stored).includes(token), false)
  assert.equal(JSON.stringify(stored).includes(Buffer.from(token).toString('hex')), false)
  api.clock.advance(15 * 60 - 1)
  assert.equal((await getPage(api, path)).status, 200)
  api.clock.advance(1)
  assert.equal((await postForm(api, path)).status, 410)
})

test('a link of one kind is no link of another, and an unknown one is none', async () => {
  const { person } = await signIn(api, client.company)
  const token = (await signInPath(person)).split('/').at(-1)
  for (const path of [`/password/${token}`, `/invitation/${token}`, '/sign-in/link/x']) {
    assert.equal((await getPage(api, path)).status, 410)
    assert.equal((await postForm(api, path, { password: PASSWORD })).status, 410)
  }
})

test('a link is refused as a form of another site', async () => {
  const { person } = await signIn(api, client.company)
  const path = await signInPath(person)
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    const asking = { headers: headers as Record<string, string> }
    assert.equal((await postForm(api, path, {}, asking)).status, 400)
  }
  assert.equal((await postForm(api, path, {}, { headers: { origin: 'null' } })).status, 303)
})

/** The letters that a person waits for. */
const waitForLetters = (personId: string, count: number) =>
  until('the mail for a new password', async () => {
    const letters = await lettersOf(api, personId)
    return letters.filter(({ kind }) => kind === 'new-password').length >= count && letters
  })

test('whoever forgot the password chooses a new one by mail, which ends all sessions', async () => {
  const member = await signIn(api, client.company, { language: 'en' })
  const { person } = member
  await givePassword(api, person, 'another-abajur-quintal')
  const asked = await postForm(api, '/password', { email: person.email })
  const unknown = await postForm(api, '/password', { email: 'nobody@example.com' })
  assert.deepEqual([asked.status, asked.text], [unknown.status, unknown.text])
  const [letter] = await waitForLetters(person.id, 1)
  assert.equal(letter!.to, person.email)
  assert.equal(letter!.subject, 'Choose a new password')
  const path = pathIn(letter!)
  assert.match(path, /^\/password\/[\w-]{43}$/)
  const page = await getPage(api, path)
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  const weak = await postForm(api, path, { password: 'senhasenha123' })
  assert.equal(weak.status, 400)
  assert.match(weak.text, /Esta senha é fácil de adivinhar/)
  assert.doesNotMatch(weak.text, /senhasenha123/)
  const own = await postForm(api, path, { password: `${person.email.split('@')[0]}` })
  assert.equal(own.status, 400, 'nor their own e-mail')
  const done = await postForm(api, path, { password: PASSWORD })
  assert.equal(done.location, '/dashboard')
  assert.equal((await member.get('')).status, 303, 'the session of before has ended')
  assert.equal((await getPage(api, member.home, { cookie: cookieOf(done) })).status, 200)
  assert.equal((await postForm(api, path, { password: PASSWORD })).status, 410)
  const typed = { email: person.email, password: PASSWORD }
  assert.equal((await postForm(api, '/sign-in', typed)).status, 303)
  const kinds = (await lettersOf(api, person.id)).map(({ kind }) => kind)
  assert.deepEqual(kinds, ['new-password', 'password-changed'])
})

test('a new password ends the other links of the person, and a link ends after 30 minutes', async () => {
  const { person } = await signIn(api, client.company)
  const signInLink = await signInPath(person)
  await postForm(api, '/password', { email: person.email })
  await waitForLetters(person.id, 1)
  await postForm(api, '/password', { email: person.email })
  const letters = await waitForLetters(person.id, 2)
  const [one, other] = letters.map(pathIn)
  assert.equal((await postForm(api, one!, { password: PASSWORD })).status, 303)
  for (const path of [other!, signInLink]) assert.equal((await postForm(api, path)).status, 410)
  await postForm(api, '/password', { email: person.email })
  const last = await waitForLetters(person.id, 3)
  const late = pathIn(last.findLast(({ kind }) => kind === 'new-password')!)
  api.clock.advance(30 * 60)
  assert.equal((await postForm(api, late, { password: PASSWORD })).status, 410)
})

test('a person is mailed at most three links in an hour, also by requests at the same moment', async () => {
  const { person } = await signIn(api, client.company)
  const requests = Array.from({ length: 12 }, () => mailNewPassword(api.app, person.email))
  await Promise.all(requests)
  assert.equal((await lettersOf(api, person.id)).length, 3)
})

test('a person is mailed at most three links in an hour, whoever asks', async () => {
  const { person } = await signIn(api, client.company)
  for (let count = 1; count <= 3; count++) {
    await postForm(api, '/password', { email: person.email })
    await waitForLetters(person.id, count)
  }
  await mailNewPassword(api.app, person.email)
  assert.equal((await lettersOf(api, person.id)).length, 3)
  api.clock.advance(3601)
  await mailNewPassword(api.app, person.email)
  assert.equal((await lettersOf(api, person.id)).length, 4)
})

test('links are deleted when their time is over', async () => {
  const { person } = await signIn(api, client.company)
  await signInPath(person)
  const left = 'select count(*)::int as count from person_links where person_id = $1'
  await purgeLinks(api.app.db.control, api.clock.now())
  assert.deepEqual(await api.peopleRows(left, [person.id]), [{ count: 1 }])
  api.clock.advance(15 * 60)
  await purgeLinks(api.app.db.control, api.clock.now())
  assert.deepEqual(await api.peopleRows(left, [person.id]), [{ count: 0 }])
})
