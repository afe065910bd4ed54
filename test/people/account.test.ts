import assert from 'node:assert/strict'
import { test } from 'node:test'
import { purgeSessions } from '../../src/core/people/sessions.ts'
import { findPerson } from '../../src/core/people/store.ts'
import { deviceOf } from '../../src/web/account/account.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { lettersOf } from '../support/mail.ts'
import { cookieOf, getPage, givePassword, PASSWORD, postForm } from '../support/people.ts'

const api = await startApi()
const client = await api.client()
const NEW = 'gaveta-neblina-trator-09'

async function withPassword() {
  const member = await signIn(api, client.company)
  await givePassword(api, member.person)
  const found = await findPerson(api.app.db.control, member.person.id)
  return { ...member, person: found! }
}

const signInAgain = async (email: string, password = PASSWORD) =>
  postForm(api, '/sign-in', { email, password })

test('somebody changes their name and language', async () => {
  const member = await withPassword()
  const done = await member.post('//account/profile', { name: ' Zé <Ruela> ', language: 'en' })
  assert.equal(done.location, '/account?done=profile')
  const page = await member.get('//account?done=profile')
  assert.match(page.text, /Zé &lt;Ruela&gt;[\s\S]*Saved\./)
  const empty = await member.post('//account/profile', { name: ' ', language: 'en' })
  assert.equal(empty.status, 400)
  assert.match(empty.text, /Enter your name/)
  assert.equal((await findPerson(api.app.db.control, member.person.id))!.name, 'Zé <Ruela>')
})

test('a new password needs the present one, and ends all other sessions', async () => {
  const member = await withPassword()
  const other = cookieOf(await signInAgain(member.person.email))
  const wrong = await member.post('//account/password', { present: 'x', password: NEW })
  assert.equal(wrong.status, 422)
  assert.match(wrong.text, /A senha atual não confere/)
  const weak = await member.post('//account/password', { present: PASSWORD, password: 'curta' })
  assert.equal(weak.status, 400)
  assert.match(weak.text, /Use pelo menos 12 caracteres/)
  const done = await member.post('//account/password', { present: PASSWORD, password: NEW })
  assert.equal(done.location, '/account?done=password')
  assert.equal((await member.get('')).status, 200, 'this session goes on')
  assert.equal((await getPage(api, member.home, { cookie: other })).status, 303)
  assert.equal((await signInAgain(member.person.email)).status, 401)
  assert.equal((await signInAgain(member.person.email, NEW)).status, 303)
  const kinds = (await lettersOf(api, member.person.id)).map(({ kind }) => kind)
  assert.deepEqual(kinds, ['password-changed'])
  const [entry] = await api.rows(
    `select action from activity where company_id = $1 and action like 'password%'`,
    [client.company.id],
  )
  assert.deepEqual(entry, { action: 'password.change' })
})

test('guesses of the present password count like those at the sign-in', async () => {
  const member = await withPassword()
  const statuses = []
  for (let count = 0; count < 12; count++) {
    const { status } = await member.post('//account/password', { present: 'x', password: NEW })
    statuses.push(status)
  }
  assert.deepEqual(statuses, [...Array(10).fill(422), 429, 429])
  assert.equal((await signInAgain(member.person.email)).status, 429)
})

test('whoever has no password proves who they are before they choose the first', async () => {
  const member = await signIn(api, client.company, { isConfirmed: false })
  assert.match((await member.get('//account')).text, /Confirmar que sou eu/)
  const refused = await member.post('//account/password', { password: NEW })
  assert.equal(refused.location, '/account/confirm?next=/account')
  const confirmed = await signIn(api, client.company)
  const done = await confirmed.post('//account/password', { password: NEW })
  assert.equal(done.location, '/account?done=password')
  assert.equal((await signInAgain(confirmed.person.email, NEW)).status, 303)
})

test('sessions are listed in words, and ended one by one or all others at once', async () => {
  const member = await withPassword()
  const others: string[] = []
  for (let count = 0; count < 3; count++) {
    others.push(cookieOf(await signInAgain(member.person.email)))
  }
  const stranger = await withPassword()
  const { text } = await member.get('//account')
  const ids = [...text.matchAll(/name="session" value="(\w{26})"/g)].map(([, id]) => id!)
  assert.equal(ids.length, 3)
  await stranger.post('//account/sessions/end', { session: ids[0]! })
  const live = async () => {
    const all = await Promise.all(others.map((cookie) => getPage(api, member.home, { cookie })))
    return all.filter(({ status }) => status === 200).length
  }
  assert.equal(await live(), 3, 'nobody ends the session of somebody else')
  await member.post('//account/sessions/end', { session: ids[0]! })
  assert.equal(await live(), 2)
  const done = await member.post('//account/sessions/end-others')
  assert.equal(done.location, '/account?done=ended-others')
  assert.equal(await live(), 0)
  assert.equal((await member.get('')).status, 200)
})

test('the account is nobody’s without a session, and no other site sends its forms', async () => {
  assert.equal((await getPage(api, '/account')).location, '/sign-in?next=/account')
  const member = await withPassword()
  for (const path of ['profile', 'password', 'sessions/end', 'sessions/end-others']) {
    const forged = await member.post(`//account/${path}`, { token: 'x'.repeat(22) })
    assert.equal(forged.status, 400, path)
    const headers = { 'sec-fetch-site': 'cross-site' }
    const foreign = await postForm(api, `/account/${path}`, {}, { ...member, headers })
    assert.equal(foreign.status, 400, path)
  }
})

test('browsers are named in words', () => {
  const chrome = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/130.0.0.0 Safari/537.36'
  assert.equal(deviceOf(chrome, 'pt'), 'Chrome em Windows')
  assert.equal(deviceOf(`${chrome} Edg/130.0`, 'en'), 'Edge on Windows')
  const safari = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1'
  assert.equal(deviceOf(safari, 'pt'), 'Safari em iPhone')
  assert.equal(deviceOf('curl/8', 'pt'), 'Dispositivo desconhecido')
})

test('sessions are deleted when their time is over', async () => {
  const { person } = await signIn(api, client.company)
  const count = 'select count(*)::int as count from sessions where person_id = $1'
  await purgeSessions(api.app.db.control, api.clock.now())
  assert.deepEqual(await api.peopleRows(count, [person.id]), [{ count: 1 }])
  api.clock.advance(12 * 3600)
  await purgeSessions(api.app.db.control, api.clock.now())
  assert.deepEqual(await api.peopleRows(count, [person.id]), [{ count: 0 }])
})
