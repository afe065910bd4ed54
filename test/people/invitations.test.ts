import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invite, type NewInvitation } from '../../src/core/people/invitations.ts'
import { findPersonByEmail, findRole } from '../../src/core/people/store.ts'
import { newId } from '../../src/lib/ids.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { lettersOf } from '../support/mail.ts'
import { cookieOf, getPage, givePassword, PASSWORD, pathIn, postForm } from '../support/people.ts'

const api = await startApi()
const { db } = api.app
const client = await api.client()
const home = (await signIn(api, client.company)).home

async function pathOf(fields: Partial<NewInvitation> = {}): Promise<string> {
  const invitation = {
    email: `guest-${newId()}@example.com`,
    company: client.company,
    role: 'viewer' as const,
    makesOperator: false,
    language: 'pt' as const,
    by: 'Ana Souza',
    ...fields,
  }
  const made = await db.transaction((tx) => invite(tx, api.app, invitation, api.clock.now()))
  return new URL(made.url).pathname
}

test('somebody new accepts with a name and a password, once', async () => {
  const path = await pathOf({ email: 'Bia@Example.com' })
  const [letter] = await lettersOf(api, client.company.id)
  assert.equal(letter!.to, 'bia@example.com')
  assert.equal(letter!.subject, 'Convite para o painel de Padaria São João')
  assert.match(letter!.text, /Ana Souza convidou você[\s\S]*Seu perfil: Somente leitura/)
  assert.equal(pathIn(letter!), path)
  const page = await getPage(api, path)
  assert.match(page.text, /Convite para Padaria São João/)
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  for (const typed of [
    { name: ' ', password: PASSWORD },
    { name: 'Bia', password: 'curta' },
    { name: 'Bia', password: 'padariasaojoao1' },
    { name: 'x'.repeat(256), password: PASSWORD },
  ]) {
    assert.equal((await postForm(api, path, typed)).status, 400, JSON.stringify(typed))
  }
  const done = await postForm(api, path, { name: 'Bia', password: PASSWORD })
  assert.equal(done.location, home)
  assert.equal((await getPage(api, home, { cookie: cookieOf(done) })).status, 200)
  const person = (await findPersonByEmail(db, 'bia@example.com'))!
  assert.deepEqual([person.name, person.isOperator], ['Bia', false])
  assert.equal(await findRole(db, client.company.id, person.id), 'viewer')
  const again = await postForm(api, path, { name: 'Eva', password: PASSWORD })
  assert.equal(again.status, 410)
})

test('somebody who is known signs in, and then accepts', async () => {
  const other = await api.client()
  const { person, cookie } = await signIn(api, other.company)
  await givePassword(api, person)
  const path = await pathOf({ email: person.email, role: 'finance' })
  assert.match((await getPage(api, path)).text, /Você já tem uma conta/)
  const taken = await postForm(api, path, { name: 'Eva', password: 'outra-senha-do-invasor' })
  assert.equal(taken.location, '/sign-in?next=%2Faccount%2Finvitations')
  const done = await postForm(api, '/sign-in', {
    email: person.email,
    password: PASSWORD,
    next: '/account/invitations',
  })
  assert.equal(done.location, '/account/invitations')
  const list = await getPage(api, '/account/invitations', { cookie: cookieOf(done) })
  assert.match(list.text, /Padaria São João[\s\S]*Financeiro/)
  assert.equal(await findRole(db, client.company.id, person.id), null)
  const accepted = await postForm(api, path, {}, { cookie })
  assert.equal(accepted.location, home)
  assert.equal(await findRole(db, client.company.id, person.id), 'finance')
})

test('an invitation is accepted from the list of whoever is invited, and by nobody else', async () => {
  const [guest, stranger] = [
    await signIn(api, (await api.client()).company),
    await signIn(api, (await api.client()).company),
  ]
  await pathOf({ email: guest.person.email })
  assert.match((await guest.get('//dashboard')).text, /href="\/account\/invitations"/)
  const list = (await guest.get('//account/invitations')).text
  const invitation = /name="invitation" value="([\w-]+)"/.exec(list)![1]!
  const refused = await stranger.post('//account/invitations', { invitation })
  assert.equal(refused.status, 200)
  assert.equal(await findRole(db, client.company.id, stranger.person.id), null)
  const done = await guest.post('//account/invitations', { invitation })
  assert.equal(done.location, home)
  assert.equal(await findRole(db, client.company.id, guest.person.id), 'viewer')
  assert.doesNotMatch((await guest.get('//dashboard')).text, /account\/invitations/)
})

test('whoever is signed in as somebody else does not accept for them', async () => {
  const guest = await signIn(api, (await api.client()).company)
  const other = await signIn(api, (await api.client()).company)
  const path = await pathOf({ email: guest.person.email })
  assert.match((await getPage(api, path, other)).text, /Você está usando a conta/)
  const asked = await postForm(api, path, {}, other)
  assert.equal(asked.location, '/sign-in/other?next=%2Faccount%2Finvitations')
  assert.equal((await getPage(api, asked.location, other)).status, 200)
  assert.equal(await findRole(db, client.company.id, other.person.id), null)
})

test('an invitation ends after 7 days, and when the same e-mail is invited again', async () => {
  const email = 'carla@example.com'
  const [first, second] = [await pathOf({ email }), await pathOf({ email, role: 'support' })]
  assert.equal((await getPage(api, first)).status, 410)
  assert.match((await getPage(api, second)).text, /Atendimento/)
  api.clock.advance(7 * 24 * 3600)
  const late = await postForm(api, second, { name: 'Carla', password: PASSWORD })
  assert.equal(late.status, 410)
})

test('whoever belongs to the company, or has no e-mail address, is not invited', async () => {
  const { person } = await signIn(api, client.company)
  await assert.rejects(pathOf({ email: person.email }), /email: belongs to the company already/)
  await assert.rejects(pathOf({ email: 'nobody' }), /email: must be an e-mail address/)
})

test('at most 100 invitations of a company wait', async () => {
  const { company } = await api.client()
  for (let count = 0; count < 100; count++) {
    if (count === 50) api.clock.advance(3601)
    await pathOf({ company })
  }
  await assert.rejects(pathOf({ company }), /at most 100 invitations wait/)
})

test('an operator is invited to the installation, with a company or without', async () => {
  const alone = await pathOf({ company: null, role: null, makesOperator: true })
  assert.match((await getPage(api, alone)).text, /Operação do serviço/)
  const done = await postForm(api, alone, { name: 'Otávia', password: PASSWORD })
  assert.equal(done.location, '/operator')
  const known = await signIn(api, (await api.client()).company)
  const both = await pathOf({ email: known.person.email, makesOperator: true })
  assert.equal((await postForm(api, both, {}, known)).location, home)
  assert.equal((await findPersonByEmail(db, known.person.email))!.isOperator, true)
})
