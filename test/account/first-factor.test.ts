import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeSignInLink } from '../../src/core/people/commands.ts'
import { invite } from '../../src/core/people/invitations.ts'
import { findSession } from '../../src/core/people/store.ts'
import { formatMoment } from '../../src/pix/local-time.ts'
import { startApi } from '../support/api.ts'
import { createAuthenticator, questionOf } from '../support/authenticator.ts'
import { type Answer, type Member, memberOf, signIn } from '../support/dashboard.ts'
import { lettersOf } from '../support/mail.ts'
import { cookieOf, givePassword, PASSWORD, pathIn, postForm } from '../support/people.ts'
import { addApp, codeOf, prepareApp } from '../support/totp.ts'

const api = await startApi()
const live = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
const DAY_S = 24 * 3600

/** Whether the person may make a key, which could move money. */
const mayMoveMoney = async (member: Member) => {
  const { status, text } = await member.get('/developers/keys/new')
  assert.ok(status === 200 || status === 403, `${status} ${text}`)
  return status === 200
}

/** Whoever a browser is signed in as after an answer. */
async function asMember(answer: Answer): Promise<Member> {
  const cookie = cookieOf(answer)
  const token = cookie.split('=')[1]!
  const found = await findSession(api.app.db.control, [api.app.vault.hashCode(token, 'session')])
  return memberOf(api, live.company, found!.person, found!.session, token)
}

async function signInAs({ person }: Member): Promise<Member> {
  const answer = await postForm(api, '/sign-in', { email: person.email, password: PASSWORD })
  return asMember(answer)
}

async function ownerWithPassword(): Promise<Member> {
  const owner = await signIn(api, live.company)
  await givePassword(api, owner.person)
  return owner
}

test('a factor that was set up with a password alone counts after a day', async () => {
  const thief = await signInAs(await ownerWithPassword())
  const { secret } = await addApp(api, thief)
  const counts = new Date(api.clock.now().getTime() + DAY_S * 1000)
  const refused = await thief.get('/developers/keys/new')
  assert.equal(refused.status, 403)
  assert.ok(refused.text.includes(formatMoment(counts)), 'the page says from when on')
  const letter = (await lettersOf(api, thief.person.id)).at(-1)!
  assert.equal(letter.kind, 'factor-changed')
  assert.ok(letter.text.includes(formatMoment(counts)), 'and so does the mail')
  for (let left_s = DAY_S - 60; left_s > 0; left_s -= DAY_S / 4) {
    // The session would end if it were not used.
    api.clock.advance(Math.min(left_s, DAY_S / 4))
    assert.equal((await thief.get('')).status, 200)
  }
  await thief.post('//account/confirm', { code: codeOf(api, secret) })
  assert.equal(await mayMoveMoney(thief), false)
  api.clock.advance(60)
  assert.equal(await mayMoveMoney(thief), true)
})

test('a passkey that was set up with a password alone counts after a day', async () => {
  const thief = await signInAs(await ownerWithPassword())
  const device = createAuthenticator('http://vintem.test')
  const { options, state } = questionOf((await thief.get('//account/security')).text)
  const form = { name: 'Celular', state, response: device.create(options) }
  assert.equal((await thief.post('//account/security/passkeys', form)).status, 200)
  assert.equal(await mayMoveMoney(thief), false)
  const code = codeOf(api, await prepareApp(thief))
  assert.equal((await thief.post('//account/security/app/code', { code })).status, 303)
  assert.equal(await mayMoveMoney(thief), false, 'another factor does not end the wait')
})

test('a factor that is set up after a link from us counts at once', async () => {
  const owner = await ownerWithPassword()
  const asked = await owner.post('//account/security/link')
  assert.equal(asked.status, 200, asked.text)
  const [letter] = await lettersOf(api, owner.person.id)
  assert.equal(letter!.kind, 'sign-in-link')
  const opened = await postForm(api, pathIn(letter!))
  assert.equal(opened.location, '/account/security')
  const again = await asMember(opened)
  await addApp(api, again)
  assert.equal(await mayMoveMoney(again), true)
})

test('so it does after an invitation, and after a link of the command line', async () => {
  const guest = { email: 'nova@example.com', company: live.company, role: 'owner' } as const
  const by = { by: null, invitedBy: null } as const
  const invited = { ...guest, makesOperator: false, language: 'pt', ...by } as const
  const { app } = api
  const { url } = await app.db.transaction((tx, control) =>
    invite(tx, control, app, invited, api.clock.now()),
  )
  const accepted = await postForm(api, new URL(url).pathname, { name: 'Nova', password: PASSWORD })
  const joined = await asMember(accepted)
  await addApp(api, joined)
  assert.equal(await mayMoveMoney(joined), true)
  const { person } = await ownerWithPassword()
  const link = await makeSignInLink(app.db.control, app, person, api.clock.now())
  const owner = await asMember(await postForm(api, new URL(link).pathname))
  await addApp(api, owner)
  assert.equal(await mayMoveMoney(owner), true)
})

test('a session that began with a link is not trusted for long', async () => {
  const { person } = await ownerWithPassword()
  const link = await makeSignInLink(api.app.db.control, api.app, person, api.clock.now())
  const stolen = await asMember(await postForm(api, new URL(link).pathname))
  api.clock.advance(15 * 60)
  const confirmed = await stolen.post('//account/confirm', { password: PASSWORD })
  assert.equal(confirmed.status, 303)
  await addApp(api, stolen)
  assert.equal(await mayMoveMoney(stolen), false)
})

test('a factor that waits counts once its owner opens a link and gives it', async () => {
  const owner = await signInAs(await ownerWithPassword())
  const { secret } = await addApp(api, owner)
  assert.equal(await mayMoveMoney(owner), false)
  assert.match((await owner.get('//account/security')).text, /security\/link/)
  await owner.post('//account/security/link')
  const letter = (await lettersOf(api, owner.person.id)).at(-1)!
  const asked = await postForm(api, pathIn(letter))
  const pending = /name="pending" value="([^"]+)"/.exec(asked.text)![1]!
  api.clock.advance(30)
  const code = codeOf(api, secret)
  const signedIn = await postForm(api, '/sign-in/second-factor', { pending, code })
  assert.equal(signedIn.location, '/account/security')
  assert.equal(await mayMoveMoney(await asMember(signedIn)), true)
})

test('no more than three links an hour are mailed, not even if they are asked for at once', async () => {
  const owner = await ownerWithPassword()
  const asked = await Promise.all(
    Array.from({ length: 8 }, () => owner.post('//account/security/link')),
  )
  assert.ok(asked.every(({ status }) => status === 200))
  assert.equal((await lettersOf(api, owner.person.id)).length, 3)
})

test('play money needs no factor', async () => {
  const { company } = await api.client()
  const owner = await signIn(api, company)
  assert.equal((await owner.get('/developers/keys/new')).status, 200)
})
